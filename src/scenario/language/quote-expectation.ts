import { parseIso } from "../../core/time.ts";
import { FULL_PRICE, type Price } from "../../core/units.ts";
import { PRICE, priceOf } from "./amounts.ts";
import type { HistoryExpectation, QuoteLook } from "./expectation.ts";
import { type ExpectationSource, saidEntries } from "./expectation-source.ts";
import { entriesBy, itemsOf } from "./fields.ts";
import { LineWords } from "./line-words.ts";
import type { Page } from "./page.ts";
import { readTokenName } from "./token-name.ts";
import { type DecimalRule, MOMENT_RULE, ruleText, textOf, unitsAt } from "./values.ts";
import { type Entry, isNothing, type Node } from "./yaml-tree.ts";

const MID: DecimalRule = { what: "a mid", places: 5, least: 0, most: FULL_PRICE * 10 };
const SPREAD: DecimalRule = { ...PRICE, what: "a spread" };
const RULES = { bid: PRICE, ask: PRICE, mid: MID, spread: SPREAD, last: PRICE } as const;
const NAMES = ["bid", "ask", "mid", "spread", "last"] as const;
const POINT_RULE = "a time and a price such as 2026-01-01T00:00:30Z 0.55";
const SECOND = 1000;

type Point = HistoryExpectation["points"][number];

/** Reads `quote: { YES: { bid: 0.5, ask: 0.6, mid: 0.55, spread: 0.1, last: none } }`. */
export function readQuotes({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: prices } of saidEntries(page, value, "prices by outcome")) {
    const token = readTokenName(page, key, declared);
    const fields = entriesBy(page, saidEntries(page, prices, "bid, ask, mid, spread or last"), NAMES);
    const look: Partial<Record<(typeof NAMES)[number], number | null>> = {};
    for (const name of NAMES) {
      const entry: Entry | undefined = fields[name];
      if (entry !== undefined) look[name] = priceAt(page, entry.value, RULES[name]);
    }
    if (token !== null)
      into.push({ kind: "quote", place: page.placeOf(key), token, look: look as QuoteLook });
  }
}

/** A price in its units; null for none, or with a problem. */
function priceAt(page: Page, node: Node, rule: DecimalRule): number | null {
  const isNone = isNothing(node) || (node.kind === "text" && node.value === "none");
  return isNone ? null : unitsAt(page, node, { ...rule, what: `none or ${rule.what}` });
}

/** Reads `history: { YES: ["2026-01-01T00:00:30Z 0.55"] }`. */
export function readHistories({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: list } of saidEntries(page, value, "histories by outcome")) {
    const token = readTokenName(page, key, declared);
    const items = itemsOf(page, list, "a list of times and prices") ?? [];
    const points = items.flatMap((item) => pointOf(page, item) ?? []);
    if (token !== null) into.push({ kind: "history", place: page.placeOf(key), token, points });
  }
}

function pointOf(page: Page, node: Node): Point | null {
  if (textOf(page, node, POINT_RULE) === null || node.kind !== "text") return null;
  const line = new LineWords(page, node);
  const time = line.take(POINT_RULE);
  const word = time && line.take(ruleText(PRICE));
  if (time === null || word === null || !line.isOver()) return null;
  const at = parseIso(time.text);
  if (at === null || at % SECOND !== 0)
    return page.unexpected(time.at, `${MOMENT_RULE}, a whole second`, time.text);
  const price: Price | null = priceOf(word.text);
  if (price === null) return page.unexpected(word.at, ruleText(PRICE), word.text);
  return { t: at / SECOND, price };
}
