import { unitsOf } from "../../api/decimals.ts";
import { textOf as decimalText, MONEY_PLACES, PRICE_PLACES, SIZE_PLACES } from "../../core/format.ts";
import { parseDuration, parseIso } from "../../core/time.ts";
import {
  FULL_PRICE,
  MAX_ISSUANCE,
  MAX_SIZE,
  type Millis,
  type Money,
  type Price,
  type Size,
} from "../../core/units.ts";
import { shown } from "../../simulation/flow-error.ts";
import { meantDuration, meantNumber } from "./near-misses.ts";
import {
  aliasedThrough,
  type Entry,
  isNothing,
  type MappingNode,
  type Node,
  orOf,
  type Page,
} from "./page.ts";

/** The values of some keys, by key; those that are not given are missing. */
export type Fields<Key extends string> = { readonly [Name in Key]?: Entry };

/** What stands somewhere, for a sentence that says it is not as expected. */
export const described = (node: Node): string =>
  node.kind === "text" ? shown(node.value) : `a ${node.kind}`;

/** Notes that something else stands where `expected` should. */
export const notThis = (page: Page, node: Node, expected: string): null =>
  page.wrong(node.start, `expected ${expected}, found ${described(node)}`);

/** A mapping, or null with a problem. */
export const mappingOf = (page: Page, node: Node, expected: string): MappingNode | null =>
  node.kind === "mapping" ? aliasedThrough(node) : notThis(page, node, expected);

/** The items of a list, or null with a problem. */
export const itemsOf = (page: Page, node: Node, expected: string): readonly Node[] | null =>
  node.kind === "list" ? aliasedThrough(node).items : notThis(page, node, expected);

/** The entries of a mapping by its keys; a key that is none of them is a problem. */
export function fieldsOf<Key extends string>(
  page: Page,
  node: Node,
  expected: string,
  keys: readonly Key[],
): Fields<Key> | null {
  const mapping = mappingOf(page, node, `${expected}, a mapping`);
  return mapping === null ? null : entriesBy(page, mapping.entries, keys);
}

/** Entries by key; a key that is none of those given is a problem. */
export function entriesBy<Key extends string>(
  page: Page,
  entries: readonly Entry[],
  keys: readonly Key[],
): Fields<Key> {
  const fields: { [Name in Key]?: Entry } = {};
  for (const entry of entries) {
    const key = keys.find((name) => name === entry.key.value);
    if (key === undefined) page.unknown(entry.key.start, "key", entry.key.value, keys);
    else fields[key] = entry;
  }
  return fields;
}

/** The text that stands there, or null with a problem. */
export const textOf = (page: Page, node: Node, expected: string): string | null =>
  node.kind === "text" && !isNothing(node) && node.value !== "" ? node.value : notThis(page, node, expected);

/** One of a few words, or null with a problem that names the nearest. */
export function oneOf<Word extends string>(page: Page, node: Node, words: readonly Word[]): Word | null {
  const expected = orOf(words);
  const text = textOf(page, node, expected);
  if (text === null) return null;
  return words.find((word) => word === text) ?? page.unexpected(node.start, expected, text, words);
}

/** A decimal that is read exactly. */
export interface DecimalRule {
  readonly what: string;
  readonly places: number;
  /** In units of 10^-places. */
  readonly least: number;
  readonly most: number;
}

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

/** A decimal in units of 10^-places, or null with a problem. */
export function unitsAt(page: Page, node: Node, rule: DecimalRule): number | null {
  const text = textOf(page, node, ruleText(rule));
  if (text === null) return null;
  return decimalIn(text, rule) ?? wrongNumber(page, node.start, rule, text);
}

/** A number that is as the rule says, or the one that a text almost is; null where it is like none. */
export const corrected = (text: string, rule: DecimalRule): string | null =>
  decimalIn(text, rule) === null ? meantNumber(text, (each) => decimalIn(each, rule) !== null) : text;

/** Notes a number that is not as the rule says, with the one that it almost is. */
export function wrongNumber(page: Page, at: number, rule: DecimalRule, text: string): null {
  return page.unexpected(at, ruleText(rule), text, [], corrected(text, rule));
}

/** A length of time in milliseconds, or null with a problem. */
export function durationAt(page: Page, node: Node): number | null {
  const expected = "a duration such as 30s or 1h30m";
  const text = textOf(page, node, expected);
  if (text === null) return null;
  return parseDuration(text) ?? page.unexpected(node.start, expected, text, [], meantDuration(text));
}

export const MOMENT_RULE = "a moment such as 2026-01-01T00:00:00Z";

/** A moment, or null with a problem. */
export function momentAt(page: Page, node: Node): Millis | null {
  const text = textOf(page, node, MOMENT_RULE);
  if (text === null) return null;
  return parseIso(text) ?? page.unexpected(node.start, MOMENT_RULE, text);
}

/** A name of some kind, or null with a problem. */
export function nameAt(
  page: Page,
  node: Node,
  isName: (text: string) => boolean,
  rule: string,
): string | null {
  const text = textOf(page, node, rule);
  if (text === null) return null;
  return isName(text) ? text : page.unexpected(node.start, rule, text);
}

/** As many shares as all the USDC of an exchange can back. */
const MAX_SHARES = MAX_ISSUANCE / FULL_PRICE;

/** A price of some market; whether it is on the market's tick the exchange says. */
export const PRICE: DecimalRule = { what: "a price", places: PRICE_PLACES, least: 1, most: FULL_PRICE - 1 };
/** A size of an order; whether it is large enough for the market the exchange says. */
export const SIZE: DecimalRule = { what: "a size", places: SIZE_PLACES, least: 1, most: MAX_SIZE };
/** What stands on a level of a book, which may be several orders. */
export const LEVEL_SIZE: DecimalRule = { what: "a size", places: SIZE_PLACES, least: 1, most: MAX_SHARES };
/** What of an order is matched. */
export const MATCHED: DecimalRule = { what: "a size", places: SIZE_PLACES, least: 0, most: MAX_SIZE };
/** What an account has of USDC, and of an outcome. */
export const USDC: DecimalRule = {
  what: "an amount of USDC",
  places: MONEY_PLACES,
  least: 0,
  most: MAX_ISSUANCE,
};
export const SHARES: DecimalRule = {
  what: "a number of shares",
  places: SIZE_PLACES,
  least: 0,
  most: MAX_SHARES,
};

/** The same, but not nothing. */
export const positive = (rule: DecimalRule): DecimalRule => ({ ...rule, least: 1 });

export const priceOf = (text: string): Price | null => decimalIn(text, PRICE) as Price | null;
export const sizeOf = (text: string, rule = SIZE): Size | null => decimalIn(text, rule) as Size | null;
export const moneyOf = (text: string): Money | null => decimalIn(text, USDC) as Money | null;

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
