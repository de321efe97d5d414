import { unitsOf } from "../../api/decimals.ts";
import { textOf as decimalText, MONEY_PLACES, PRICE_PLACES, SIZE_PLACES } from "../../core/format.ts";
import { parseDuration, parseIso } from "../../core/time.ts";
import { FULL_PRICE, MAX_ISSUANCE, MAX_SIZE, type Millis } from "../../core/units.ts";
import { shown } from "../../simulation/flow-error.ts";
import { meantDuration, meantNumber } from "./near-misses.ts";
import {
  attempt,
  type Entry,
  isNothing,
  type MappingNode,
  type Node,
  orOf,
  type Page,
  type TextNode,
  UNREADABLE,
} from "./page.ts";

/** What stands somewhere, for a sentence that says it is not as expected. */
export const described = (node: Node): string =>
  node.kind === "text" ? shown(node.value) : `a ${node.kind}`;

/** Notes that something else stands where `expected` should. */
export const notThis = (page: Page, node: Node, expected: string, hint: string | null = null): Error =>
  page.wrong(node.start, `expected ${expected}, found ${described(node)}`, hint);

/** A mapping, whose parts know that they came through the alias through which it came. */
export function mappingOf(page: Page, node: Node, expected: string): MappingNode {
  if (node.kind !== "mapping") throw notThis(page, node, expected);
  const { aliasAt } = node;
  if (aliasAt === undefined) return node;
  const entries = node.entries.map(({ key, value }) => ({
    key: { ...key, aliasAt },
    value: { ...value, aliasAt },
  }));
  return { ...node, entries };
}

/** The items of a list, which know of the alias as well. */
export function itemsOf(page: Page, node: Node, expected: string): readonly Node[] {
  if (node.kind !== "list") throw notThis(page, node, expected);
  const { aliasAt, items } = node;
  return aliasAt === undefined ? items : items.map((item) => ({ ...item, aliasAt }));
}

/** What is read of each item; those that cannot be read are left out. */
export const eachOf = <Item, Value>(items: readonly Item[], read: (item: Item) => Value): Value[] =>
  items.flatMap((item) => attempt(() => [read(item)]) ?? []);

/** The entries of a mapping that says something; an empty one is a problem. */
export function entriesOf(page: Page, node: Node, expected: string): readonly Entry[] {
  const { entries } = mappingOf(page, node, `${expected}, a mapping`);
  if (entries.length === 0) throw page.wrong(node.start, `expected ${expected}, found an empty mapping`);
  return entries;
}

/** How the value of each key is read. */
export type Readers = Readonly<Record<string, (node: Node, key: TextNode) => unknown>>;
/** What is read by keys: undefined where the key is not given, or its value cannot be read. */
export type Values<Of extends Readers> = { readonly [Key in keyof Of]?: ReturnType<Of[Key]> | undefined };

/** Reads entries by their keys; a key without a reader is a problem. */
export function valuesBy<Of extends Readers>(page: Page, entries: readonly Entry[], readers: Of): Values<Of> {
  const values: Record<string, unknown> = {};
  for (const { key, value } of entries) {
    const read = Object.hasOwn(readers, key.value) ? readers[key.value] : undefined;
    if (read === undefined) page.unknown(key.start, "key", key.value, Object.keys(readers));
    else values[key.value] = attempt(() => read(value, key));
  }
  return values as Values<Of>;
}

/** Reads the values of a mapping, of which some key may be needed. */
export function valuesOf<Of extends Readers, Needed extends keyof Of & string = never>(
  page: Page,
  node: Node,
  expected: string,
  readers: Of,
  needed?: Needed,
): Values<Of> & { readonly [Key in Needed]: ReturnType<Of[Key]> } {
  const { entries } = mappingOf(page, node, `${expected}, a mapping`);
  const values = valuesBy(page, entries, readers);
  if (needed !== undefined && values[needed] === undefined) {
    const isGiven = entries.some(({ key }) => key.value === needed);
    throw isGiven ? UNREADABLE : page.wrong(node.start, `expected the key ${needed}, found none`);
  }
  return values as Values<Of> & { readonly [Key in Needed]: ReturnType<Of[Key]> };
}

/** The node of a text that says something. */
export function textNodeOf(page: Page, node: Node, expected: string): TextNode {
  if (node.kind === "text" && !isNothing(node) && node.value !== "") return node;
  throw notThis(page, node, expected);
}

export const textOf = (page: Page, node: Node, expected: string): string =>
  textNodeOf(page, node, expected).value;

/** A text of some kind, by default a name. */
export function matching(page: Page, node: Node, isRight: (text: string) => boolean, rule: string): string {
  const text = textOf(page, node, rule);
  if (isRight(text)) return text;
  throw page.unexpected(node.start, rule, text);
}

/** One of a few words; of another the nearest is named. */
export function oneOf<Word extends string>(page: Page, node: Node, words: readonly Word[]): Word {
  const text = textOf(page, node, orOf(words));
  return wordIn(page, node.start, text, words);
}

/** The same of a word of a line. */
export function wordIn<Word extends string>(
  page: Page,
  at: number,
  text: string,
  words: readonly Word[],
  expected = orOf(words),
  meant: string | null = null,
): Word {
  const word = words.find((each) => each === text);
  if (word === undefined) throw page.unexpected(at, expected, text, words, meant);
  return word;
}

/** A decimal that is read exactly. */
export interface DecimalRule {
  readonly what: string;
  readonly places: number;
  /** In units of 10^-places. */
  readonly least: number;
  readonly most: number;
}

/** A whole number of something. */
export const countOf = (what: string, least: number, most: number): DecimalRule => ({
  what,
  places: 0,
  least,
  most,
});

/** As many shares as all the USDC of an exchange can back. */
const MAX_SHARES = MAX_ISSUANCE / FULL_PRICE;
const sizeRule = (what: string, least: number, most: number): DecimalRule => ({
  what,
  places: SIZE_PLACES,
  least,
  most,
});

/** A price of some market; whether it is on the market's tick the exchange says. */
export const PRICE: DecimalRule = { what: "a price", places: PRICE_PLACES, least: 1, most: FULL_PRICE - 1 };
/** A size of an order; whether it is large enough for the market the exchange says. */
export const SIZE = sizeRule("a size", 1, MAX_SIZE);
/** What stands on a level of a book, which may be several orders. */
export const LEVEL_SIZE = sizeRule("a size", 1, MAX_SHARES);
/** What of an order is matched. */
export const MATCHED = sizeRule("a size", 0, MAX_SIZE);
/** What an account has of an outcome, and of USDC. */
export const SHARES = sizeRule("a number of shares", 0, MAX_SHARES);
export const USDC: DecimalRule = {
  what: "an amount of USDC",
  places: MONEY_PLACES,
  least: 0,
  most: MAX_ISSUANCE,
};

/** The same, but not nothing. */
export const positive = (rule: DecimalRule): DecimalRule => ({ ...rule, least: 1 });

/** A decimal in units of 10^-places; null when the text is none, or none in these bounds. */
export function decimalIn(text: string, { places, least, most }: DecimalRule): number | null {
  const units = unitsOf(text, places);
  return units !== null && units >= least && units <= most ? units : null;
}

/** `a size from 0.01 to 10000000 with at most 2 decimals`. */
export function ruleText({ what, places, least, most }: DecimalRule): string {
  const bounds = `${what} from ${decimalText(least, places)} to ${decimalText(most, places)}`;
  return places === 0 ? bounds : `${bounds} with at most ${places} decimals`;
}

/** A number that is as the rule says, or the one that a text almost is; null where it is like none. */
export const corrected = (text: string, rule: DecimalRule): string | null =>
  decimalIn(text, rule) === null ? meantNumber(text, (each) => decimalIn(each, rule) !== null) : text;

/** The units of a decimal at some place; of another text, what it almost is. */
export function unitsIn<Units extends number>(
  page: Page,
  at: number,
  text: string,
  rule: DecimalRule,
): Units {
  const units = decimalIn(text, rule);
  if (units === null) throw page.unexpected(at, ruleText(rule), text, [], corrected(text, rule));
  return units as Units;
}

export const unitsAt = <Units extends number = number>(page: Page, node: Node, rule: DecimalRule): Units =>
  unitsIn(page, node.start, textOf(page, node, ruleText(rule)), rule);

const DURATION_RULE = "a duration such as 30s or 1h30m";

/** A length of time in milliseconds. */
export function durationAt(page: Page, node: Node): number {
  const text = textOf(page, node, DURATION_RULE);
  const duration = parseDuration(text);
  if (duration === null) throw page.unexpected(node.start, DURATION_RULE, text, [], meantDuration(text));
  return duration;
}

export const MOMENT_RULE = "a moment such as 2026-01-01T00:00:00Z";

export function momentIn(page: Page, at: number, text: string, rule = MOMENT_RULE): Millis {
  const moment = parseIso(text);
  if (moment === null) throw page.unexpected(at, rule, text);
  return moment;
}

/** How accounts, orders and snapshots are named. */
export const isName = (text: string): boolean => /^[A-Za-z][A-Za-z\d_-]{0,63}$/.test(text);
export const NAME_RULE = "a name: a letter, then letters, digits, _ and -, at most 64";

/** How a party of a trade may be named, an account of a flow among them. */
export const isPartyName = (text: string): boolean => /^[A-Za-z][A-Za-z\d_-]{0,127}$/.test(text);

/** How markets are named; the name is the market's slug. */
export const isMarketName = (text: string): boolean =>
  text.length <= 64 && /^[a-z\d]+(?:-[a-z\d]+)*$/.test(text);
export const MARKET_NAME_RULE =
  "a market's name: lower-case words and digits joined by hyphens, at most 64 characters";
