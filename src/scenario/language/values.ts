import { textOf as decimalText, unitsOf } from "../../api/decimals.ts";
import { parseDuration, parseIso } from "../../core/time.ts";
import type { Millis } from "../../core/units.ts";
import { notThis } from "./fields.ts";
import { meantDuration, meantNumber } from "./near-misses.ts";
import { orOf, type Page } from "./page.ts";
import { isNothing, type Node } from "./yaml-tree.ts";

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
