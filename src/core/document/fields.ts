import type { Address } from "../terms.ts";
import { MAX_MILLIS, type Millis } from "../units.ts";
import { DocumentError, type Where } from "./document-error.ts";

const ADDRESS = /^0x[0-9a-f]{40}$/;
const ADDRESS_TEXT = "an address, 0x and 40 lower-case hex digits";
const WEI = /^(?:0|-?[1-9][0-9]{0,99})$/;
const HEX = /^0x(?:[0-9a-f]{2})*$/;
const HASH = /^0x[0-9a-f]{64}$/;
const MOST = Number.MAX_SAFE_INTEGER;

/** The fields of one object of a document, each read as what it must be. @throws DocumentError where it is something else. */
export class Fields<Key extends string> {
  readonly where: Where;
  /** Where the object stands in its record, such as `.holdings[3].yes`; empty for the record itself. */
  readonly path: string;
  readonly #values: Readonly<Record<string, unknown>>;

  /** @param keys what the object must have, no more and no less, in whatever order. */
  constructor(value: unknown, where: Where, path: string, keys: readonly Key[]) {
    this.where = where;
    this.path = path;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new DocumentError(where, path, "an object", value);
    }
    this.#values = value as Record<string, unknown>;
    const found = Object.keys(value);
    let alike = 0;
    while (alike < keys.length && found[alike] === keys[alike]) alike += 1;
    if (alike < keys.length || found.length > keys.length) this.#compare(found, keys);
  }

  /** What a field must be and is not. */
  wrong(key: Key, expected: string): DocumentError {
    return new DocumentError(this.where, `${this.path}.${key}`, expected, this.#values[key]);
  }

  /** @throws DocumentError that says what was expected, unless it is true. */
  demand(isTrue: boolean, key: Key, expected: string): void {
    if (!isTrue) throw this.wrong(key, expected);
  }

  integer(key: Key, low = 0, high = MOST): number {
    const value = this.#values[key];
    if (typeof value === "number" && Number.isInteger(value) && value >= low && value <= high) return value;
    const range =
      low === high
        ? `${low}`
        : high === MOST
          ? `an integer from ${low}`
          : `an integer from ${low} to ${high}`;
    throw this.wrong(key, range);
  }

  integerOrNull(key: Key, low = 0, high = MOST): number | null {
    return this.#values[key] === null ? null : this.integer(key, low, high);
  }

  /** A moment. */
  millis(key: Key): Millis {
    return this.integer(key, 0, MAX_MILLIS) as Millis;
  }

  millisOrNull(key: Key): Millis | null {
    return this.#values[key] === null ? null : this.millis(key);
  }

  text(key: Key): string {
    const value = this.#values[key];
    if (typeof value === "string") return value;
    throw this.wrong(key, "a text");
  }

  textOrNull(key: Key): string | null {
    return this.#values[key] === null ? null : this.text(key);
  }

  boolean(key: Key): boolean {
    const value = this.#values[key];
    if (typeof value === "boolean") return value;
    throw this.wrong(key, "true or false");
  }

  /** One of a few texts. */
  oneOf<Value extends string>(key: Key, values: readonly Value[]): Value {
    const value = this.#values[key];
    for (const each of values) if (each === value) return each;
    throw this.wrong(key, `one of ${values.join(", ")}`);
  }

  oneOfOrNull<Value extends string>(key: Key, values: readonly Value[]): Value | null {
    if (this.#values[key] === null) return null;
    for (const each of values) if (each === this.#values[key]) return each;
    throw this.wrong(key, `null or one of ${values.join(", ")}`);
  }

  /** A text of a certain form. */
  textLike(key: Key, form: RegExp, what: string): string {
    const value = this.#values[key];
    if (typeof value === "string" && form.test(value)) return value;
    throw this.wrong(key, what);
  }

  address(key: Key): Address {
    return this.textLike(key, ADDRESS, ADDRESS_TEXT);
  }

  addresses(key: Key): Address[] {
    return this.texts(key, ADDRESS, ADDRESS_TEXT);
  }

  /** An integer of any size, as decimal text. */
  decimal(key: Key): string {
    return this.textLike(key, WEI, "an integer in quotes");
  }

  hex(key: Key): string {
    return this.textLike(key, HEX, "0x and bytes in lower-case hex digits");
  }

  hexOrNull(key: Key): string | null {
    return this.#values[key] === null ? null : this.hex(key);
  }

  /** 32 bytes in hex. */
  word(key: Key): string {
    return this.textLike(key, HASH, "0x and 64 lower-case hex digits");
  }

  wordOrNull(key: Key): string | null {
    return this.#values[key] === null ? null : this.word(key);
  }

  isNull(key: Key): boolean {
    return this.#values[key] === null;
  }

  /** An object in this one. */
  fields<Inner extends string>(key: Key, keys: readonly Inner[]): Fields<Inner> {
    return new Fields(this.#values[key], this.where, `${this.path}.${key}`, keys);
  }

  /** What a field of another kind of object holds that says which kind it is. */
  static kindIn(value: unknown): unknown {
    return typeof value === "object" && value !== null && "kind" in value ? value.kind : undefined;
  }

  /** The value as it stands there. */
  value(key: Key): unknown {
    return this.#values[key];
  }

  /** A list, each item read with its path in the record. */
  list<Item>(key: Key, read: (item: unknown, path: string) => Item): Item[] {
    const value = this.#values[key];
    if (!Array.isArray(value)) throw this.wrong(key, "a list");
    return value.map((item, index) => read(item, `${this.path}.${key}[${index}]`));
  }

  texts(key: Key, form = /^/, what = "a text"): string[] {
    return this.list(key, (item, path) => {
      if (typeof item === "string" && form.test(item)) return item;
      throw new DocumentError(this.where, path, what, item);
    });
  }

  integers(key: Key, low: number, high = MOST): number[] {
    return this.list(key, (item, path) => {
      if (typeof item === "number" && Number.isInteger(item) && item >= low && item <= high) return item;
      throw new DocumentError(this.where, path, `an integer from ${low} to ${high}`, item);
    });
  }

  #compare(found: readonly string[], keys: readonly Key[]): void {
    const missing = keys.find((key) => !found.includes(key));
    if (missing !== undefined) throw this.wrong(missing, "a value");
    const known: readonly string[] = keys;
    const stray = found.find((key) => !known.includes(key));
    if (stray !== undefined) {
      throw new DocumentError(this.where, this.path, `only the fields ${keys.join(", ")}`, stray);
    }
  }
}
