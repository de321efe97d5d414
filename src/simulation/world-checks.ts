import { shown } from "../core/document/document-error.ts";

/** A world file that cannot be read: where, what was expected and what was found, in one line. */
export class WorldFileError extends Error {
  override readonly name = "WorldFileError";
  /** JSON path of the value at fault, such as `events[3].markets[0].tickSize`. */
  readonly path: string;

  constructor(path: string, expected: string, found: unknown) {
    super(`${path}: expected ${expected}, found ${shown(found)}`);
    this.path = path;
  }
}

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/**
 * The fields of an object that has these keys, its own and no others; some may be left out.
 * @throws WorldFileError otherwise.
 */
export function fieldsOf<Key extends string>(
  value: unknown,
  path: string,
  keys: readonly Key[],
  optional: readonly Key[] = [],
): Readonly<Record<Key, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new WorldFileError(path, "an object", value);
  }
  const known: readonly string[] = keys;
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new WorldFileError(path, `only the keys ${keys.join(", ")}`, unknown);
  const missing = keys.find((key) => !Object.hasOwn(value, key) && !optional.includes(key));
  if (missing !== undefined) throw new WorldFileError(path, `the key ${missing}`, undefined);
  return value as Record<Key, unknown>;
}

/** An array, each item read at its own path. @throws WorldFileError when it is none or too long. */
export function listOf<Item>(
  value: unknown,
  path: string,
  most: number,
  read: (item: unknown, path: string) => Item,
): Item[] {
  const items = itemsOf(value, path, most);
  return items.map((item, index) => read(item, `${path}[${index}]`));
}

/** An array of any items. @throws WorldFileError when it is none or too long. */
export function itemsOf(value: unknown, path: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new WorldFileError(path, "an array", value);
  if (value.length > most) throw new WorldFileError(path, `at most ${most} items`, value.length);
  return value;
}

/** One of a few values. @throws WorldFileError otherwise. */
export function oneOf<Value extends string | number>(
  value: unknown,
  path: string,
  values: readonly Value[],
): Value {
  const found = values.find((candidate) => candidate === value);
  if (found === undefined) throw new WorldFileError(path, `one of ${values.join(", ")}`, value);
  return found;
}

/** Whether a value is a whole number in a range. */
export function isInteger(value: unknown, low: number, high: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
}

/** Whether a value is a decimal in a range and the nearest number to a whole count of units. */
export function isDecimal(value: unknown, low: number, high: number, unitsPerOne: number): value is number {
  if (typeof value !== "number" || !(value >= low && value <= high)) return false;
  return Math.round(value * unitsPerOne) / unitsPerOne === value;
}

/** A whole number in a range. @throws WorldFileError otherwise. */
export function integerOf(value: unknown, path: string, low: number, high: number): number {
  if (isInteger(value, low, high)) return value;
  throw new WorldFileError(path, `an integer from ${low} to ${high}`, value);
}

/** A decimal in a range with no more digits than its unit has. @throws WorldFileError otherwise. */
export function decimalOf(
  value: unknown,
  path: string,
  low: number,
  high: number,
  unitsPerOne: number,
): number {
  if (isDecimal(value, low, high, unitsPerOne)) return value;
  throw new WorldFileError(path, `a multiple of ${1 / unitsPerOne} from ${low} to ${high}`, value);
}

/** Any text. @throws WorldFileError otherwise. */
export function textOf(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw new WorldFileError(path, "a text", value);
}

/** A text of at least one character. @throws WorldFileError otherwise. */
export function wordsOf(value: unknown, path: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new WorldFileError(path, "a text that is not empty", value);
}

/** Lower-case words joined by hyphens. @throws WorldFileError otherwise. */
export function slugIn(value: unknown, path: string): string {
  if (typeof value === "string" && value.length <= 80 && SLUG.test(value)) return value;
  throw new WorldFileError(path, "a slug of at most 80 characters", value);
}

/** An address in lower case. @throws WorldFileError otherwise. */
export function addressOf(value: unknown, path: string): string {
  if (typeof value === "string" && ADDRESS.test(value)) return value;
  throw new WorldFileError(path, "an address, 0x and 40 lower-case hex digits", value);
}

/** A value that none before had. @throws WorldFileError otherwise. */
export function firstOf(value: string, path: string, taken: Set<string>, what: string): string {
  if (taken.has(value)) throw new WorldFileError(path, `${what} that none before has`, value);
  taken.add(value);
  return value;
}
