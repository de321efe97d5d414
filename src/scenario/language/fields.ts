import { decimalText, MONEY_PLACES, PRICE_PLACES, SIZE_PLACES, unitsOf } from "../../core/format.ts";
import { anyOf, SLUG } from "../../core/terms.ts";
import { MAX_DAYS, parseDuration, parseIso } from "../../core/time.ts";
import { FULL_PRICE, MAX_ISSUANCE, MAX_SIZE, type Millis } from "../../core/units.ts";
import { nearest } from "../../nearest.ts";
import { attempt, isNothing, type MappingEntry, meaning, type Node, UNREADABLE, Word } from "./page.ts";

/** Reads a value from a word of a line, or from the text of a node. */
export type Reader<Value> = (word: Word) => Value;

export const keyOf = (entries: readonly MappingEntry[], name: string): Node | undefined =>
  entries.find(({ key }) => key.text === name)?.key;

export function entriesIn(node: Node, expected: string): readonly MappingEntry[] {
  if (node.kind === "mapping") return node.entries;
  throw node.unexpected(`${expected}, a mapping`);
}

/** Returns the entries of a mapping, which must not be empty. */
export function entriesOf(node: Node, expected: string): readonly MappingEntry[] {
  const entries = entriesIn(node, expected);
  if (entries.length === 0) throw node.wrong(`expected ${expected}, found an empty mapping`);
  return entries;
}

export function itemsOf(node: Node, expected: string, hint: string | null = null): readonly Node[] {
  if (node.kind === "list") return node.items;
  throw node.unexpected(expected, [], hint);
}

/** Reads each item; those that cannot be read are left out. */
export const readEach = <Item, Value>(items: readonly Item[], read: (item: Item) => Value): Value[] =>
  items.flatMap((item) => attempt(() => [read(item)]) ?? []);

export type Readers = Readonly<Record<string, (node: Node, key: Node) => unknown>>;
/** Values by key; undefined if the key is missing or its value cannot be read. */
export type Values<Of extends Readers> = { readonly [Key in keyof Of]?: ReturnType<Of[Key]> | undefined };

/** Whether a key is missing; a mistyped one, which is reported as unknown, is not. */
export const isMissing = (entries: readonly MappingEntry[], readers: Readers, name: string): boolean =>
  entries.every(({ key }) => nearest(key.text, Object.keys(readers)) !== name);

/** Reports a key that is like none of the known ones after a key without a value, under which it was probably meant. */
export function isMisplaced(before: MappingEntry, key: Node | undefined, known: Iterable<string>): boolean {
  if (key === undefined || !isNothing(before.value) || nearest(key.text, known) !== undefined) return false;
  key.unknown("key", [], `indent it if it belongs to ${before.key.text}`);
  return true;
}

/**
 * Reads entries by their keys; a key without a reader is a problem. Unknown keys after a key without a value are one problem,
 * because they were probably meant under it.
 */
export function valuesBy<Of extends Readers>(entries: readonly MappingEntry[], readers: Of): Values<Of> {
  const values: Record<string, unknown> = {};
  const known = Object.keys(readers);
  let isBelow = false;
  for (const [index, entry] of entries.entries()) {
    const { key, value } = entry;
    if (known.includes(key.text)) {
      isBelow = isMisplaced(entry, entries[index + 1]?.key, known);
      if (!isBelow) values[key.text] = attempt(() => readers[key.text]?.(value, key));
    } else if (!isBelow) key.unknown("key", known);
  }
  return values as Values<Of>;
}

/** Reads the values of a mapping; one key may be required. */
export function valuesOf<Of extends Readers, Required extends keyof Of & string = never>(
  node: Node,
  expected: string,
  readers: Of,
  required?: Required,
): Values<Of> & { readonly [Key in Required]: ReturnType<Of[Key]> } {
  const entries = entriesIn(node, expected);
  const values = valuesBy(entries, readers);
  if (required !== undefined && values[required] === undefined)
    throw isMissing(entries, readers, required)
      ? node.wrong(`expected the key ${required}, found none`)
      : UNREADABLE;
  return values as Values<Of> & { readonly [Key in Required]: ReturnType<Of[Key]> };
}

export const matching =
  (isValid: (text: string) => boolean, rule: string): Reader<string> =>
  (word) => {
    if (isValid(word.textFor(rule))) return word.text;
    throw word.unexpected(rule);
  };

/** Reads one of some words; for another word, suggests the nearest. */
export const oneOf =
  <Text extends string>(words: readonly Text[], expected = anyOf(words), hint: string | null = null) =>
  (word: Word): Text => {
    const given = word.textFor(expected);
    const found = words.find((each) => each === given);
    if (found === undefined) throw word.unexpected(expected, words, hint);
    return found;
  };

export interface DecimalRule {
  readonly what: string;
  readonly places: number;
  /** In units of 10^-places. */
  readonly min: number;
  readonly max: number;
}

export function decimal(what: string, min: number, max: number, places = 0): DecimalRule {
  return { what, places, min, max };
}

const MAX_ISSUED = MAX_ISSUANCE / FULL_PRICE;

/** Tick size and minimum order size are checked by the exchange. */
export const PRICE = decimal("a price", 1, FULL_PRICE - 1, PRICE_PLACES);
export const SIZE = decimal("a size", 1, MAX_SIZE, SIZE_PLACES);
/** Total size of a price level, which may hold several orders. */
export const LEVEL_SIZE = { ...SIZE, max: MAX_ISSUED };
export const MATCHED = { ...SIZE, min: 0 };
export const SHARES = decimal("a number of shares", 0, MAX_ISSUED, SIZE_PLACES);
export const USDC = decimal("an amount of USDC", 0, MAX_ISSUANCE, MONEY_PLACES);

export const positive = (of: DecimalRule): DecimalRule => ({ ...of, min: 1 });

/** Returns a decimal in units of 10^-places; null if the text is not a decimal, or out of bounds. */
export function decimalIn(text: string, { places, min, max }: DecimalRule): number | null {
  const found = unitsOf(text, places);
  return found !== null && found >= min && found <= max ? found : null;
}

/** `a size from 0.01 to 10000000 with at most 2 decimals`. */
export function ruleText({ what, places, min, max }: DecimalRule): string {
  const bounds = `${what} from ${decimalText(min, places)} to ${decimalText(max, places)}`;
  return places === 0 ? bounds : `${bounds} with at most ${places} decimals`;
}

const THOUSANDS = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;

/** Returns the valid number that was meant by `0,55`, `1,000`, `+10`, `$0.55`, `55c` or `10x`; null if there is none. */
function meantNumber(text: string, isRight: (text: string) => boolean): string | null {
  const plain = text.replace(/^[+$x×]|(?:[$¢%c×x]|shares?)$/gi, "");
  const hundredths = /^\d{2}$/.test(plain) || (plain !== text && /^\d$/.test(plain));
  const candidates = [
    THOUSANDS.test(plain) ? plain.replaceAll(",", "") : plain,
    plain.replace(",", "."),
    plain.replaceAll("_", ""),
    plain.replace(/^[.,]/, "0."),
    plain.replace(/^(\d+)k$/i, "$1000"),
    hundredths ? `0.${plain.padStart(2, "0")}` : "",
  ];
  return candidates.find((each) => each !== text && isRight(each)) ?? null;
}

/** Returns a text that obeys the rule, or the number that was probably meant; null if there is none. */
export const corrected = (text: string, of: DecimalRule): string | null =>
  decimalIn(text, of) === null ? meantNumber(text, (each) => decimalIn(each, of) !== null) : text;

/** Reads a decimal as units; suggests the number that was probably meant. */
export const units =
  <Units extends number = number>(of: DecimalRule): Reader<Units> =>
  (word) => {
    const found = decimalIn(word.textFor(ruleText(of)), of);
    if (found === null) throw word.unexpected(ruleText(of), [], meaning(corrected(word.text, of)));
    return found as Units;
  };

const UNITS = [
  [/^(?:ms|millis(?:econds?)?)$/, "ms"],
  [/^s(?:ec(?:ond)?s?)?$/, "s"],
  [/^m(?:in(?:ute)?s?)?$/, "m"],
  [/^h(?:r|our)?s?$/, "h"],
  [/^d(?:ay)?s?$/, "d"],
] as const;

/** Returns the duration that was meant by `60`, `60 sec` or `+1hour`, a bare number in seconds; null if there is none. */
export function meantDuration(text: string): string | null {
  const plain = text.toLowerCase().replace(/^\+|\s/g, "");
  const spelled = plain.replace(/(\d+)([a-z]*)/g, (_, digits: string, unit: string) => {
    const known = unit === "" ? "s" : UNITS.find(([like]) => like.test(unit))?.[1];
    return `${digits}${known ?? "?"}`;
  });
  return spelled !== text && parseDuration(spelled) !== null ? spelled : null;
}

/** In milliseconds. */
export const duration =
  (expected = "a duration such as 30s or 1h30m"): Reader<number> =>
  (word) => {
    const found = parseDuration(word.textFor(expected));
    if (found !== null) return found;
    const isTooLong = /^(?:\d+(?:d|h|m|s|ms))+$/.test(word.text);
    const rule = isTooLong ? `${expected}, at most ${MAX_DAYS}d` : expected;
    throw word.unexpected(rule, [], meaning(meantDuration(word.text)));
  };

export const MOMENT_RULE = "a moment such as 2026-01-01T00:00:00Z";

export const moment =
  (expected = MOMENT_RULE): Reader<Millis> =>
  (word) => {
    const found = parseIso(word.textFor(expected));
    if (found === null) throw word.unexpected(expected);
    return found;
  };

/** Maximum length of the name of an account, an order or a market. */
export const MAX_NAME_LENGTH = 64;

/** Whether a text can name a party of a trade, which may be an account of a flow. */
export const isPartyName = (text: string): boolean => /^[A-Za-z][A-Za-z\d_-]{0,127}$/.test(text);

export const isName = (text: string): boolean => text.length <= MAX_NAME_LENGTH && isPartyName(text);
export const NAME_RULE = `a name: a letter, then letters, digits, _ and -, at most ${MAX_NAME_LENGTH}`;

export const isMarketName = (text: string): boolean => text.length <= MAX_NAME_LENGTH && SLUG.test(text);
export const MARKET_NAME_RULE = `a market's name: lower-case words and digits joined by hyphens, at most ${MAX_NAME_LENGTH} characters`;

/** Reads the words of a line in order. Throws `UNREADABLE` after reporting an unexpected word. */
export class LineWords {
  readonly #words: readonly Word[];
  readonly end: Word;
  #next = 0;

  constructor(node: Node, expected: string) {
    node.textFor(expected);
    this.#words = wordsOf(node);
    const last = this.#words.at(-1);
    this.end = new Word(node.page, last === undefined ? node.at : last.at + last.text.length, "");
  }

  peek(): Word | undefined {
    return this.#words[this.#next];
  }

  get left(): readonly Word[] {
    return this.#words.slice(this.#next);
  }

  take(expected: string): Word {
    const word = this.#words[this.#next];
    if (word === undefined) throw this.end.wrong(`expected ${expected}, found the end of the line`);
    this.#next += 1;
    return word;
  }

  takeIf<Text extends string>(...words: readonly Text[]): Text | null {
    const next = this.peek()?.text;
    const found = words.find((each) => each === next);
    if (found !== undefined) this.#next += 1;
    return found ?? null;
  }

  require(expected: string): void {
    const word = this.take(expected);
    if (word.text === expected) return;
    const isJoined = word.text.startsWith(expected);
    throw word.unexpected(expected, [expected], isJoined ? `put a space after ${expected}` : null);
  }

  oneOf<Text extends string>(words: readonly Text[], expected = anyOf(words)): Text {
    return oneOf(words, expected)(this.take(expected));
  }

  units<Units extends number>(of: DecimalRule): Units {
    return units<Units>(of)(this.take(ruleText(of)));
  }

  /** Reads a market after `in`; null if the next word is not `in`. */
  market(): Word | null {
    return this.takeIf("in") === null ? null : this.take("a market after in");
  }

  requireEnd(expected = "the end of the line", words: readonly string[] = []): void {
    const word = this.peek();
    if (word !== undefined) throw word.unexpected(expected, words);
  }

  rest(): string {
    const rest = this.left;
    this.#next = this.#words.length;
    return rest.map((word) => word.text).join(" ");
  }
}

/** Returns each word with its place, also in a quoted or multi-line text; words after an escape sequence share one place. */
function wordsOf({ page, text: line, at, end }: Node): readonly Word[] {
  const own = page.text.slice(at, end);
  const words: Word[] = [];
  let from = 0;
  let isFound = true;
  for (const [each] of line.matchAll(/\S+/g)) {
    const index: number = isFound ? own.indexOf(each, from) : -1;
    isFound = index >= 0;
    words.push(new Word(page, at + (isFound ? index : from), each));
    if (isFound) from = index + each.length;
  }
  return words;
}
