import { PRICE_PLACES, unitsOf } from "../../api/decimals.ts";
import type { SelfTradePolicy } from "../../core/book/book.ts";
import type { Matching } from "../../core/terms.ts";
import { type Price, price, type Size, size } from "../../core/units.ts";
import { positive, SIZE } from "./amounts.ts";
import { fieldsOf, mappingOf } from "./fields.ts";
import { isMarketName, MARKET_NAME_RULE } from "./names.ts";
import { orOf, type Page } from "./page.ts";
import type { MarketTerms } from "./scenario.ts";
import { type DecimalRule, oneOf, textOf, unitsAt } from "./values.ts";
import type { Node } from "./yaml-tree.ts";

const TICK_SIZES = ["0.1", "0.01", "0.005", "0.0025", "0.001", "0.0001"] as const;
const MATCHINGS: readonly Matching[] = ["complementary", "independent"];
const POLICIES: readonly SelfTradePolicy[] = ["allow", "cancel-taker", "cancel-maker", "cancel-both"];
const FEE: DecimalRule = { what: "a number of basis points", places: 0, least: 0, most: 10_000 };
const KEYS = ["tickSize", "minOrderSize", "feeRateBps", "matching", "selfTrade"] as const;

/** What a market is unless its terms say otherwise. */
const DEFAULT: Omit<MarketTerms, "name"> = {
  tickSize: price(100),
  minOrderSize: size(100),
  feeRateBps: 0,
  matching: "complementary",
  selfTrade: "allow",
};

/** The only market, where a scenario names none. */
export const defaultMarket = (): MarketTerms => ({ name: "market", ...DEFAULT });

/** Reads `{ tickSize: 0.01, feeRateBps: 100 }`, or null with a problem. */
export function readMarketTerms(page: Page, name: string, node: Node): MarketTerms | null {
  const fields = fieldsOf(page, node, "the terms of a market", KEYS);
  if (fields === null) return null;
  const { tickSize, minOrderSize, feeRateBps, matching, selfTrade } = fields;
  const terms = {
    name,
    tickSize: tickSize === undefined ? DEFAULT.tickSize : tickSizeOf(page, tickSize.value),
    minOrderSize: minOrderSize === undefined ? DEFAULT.minOrderSize : minimumOf(page, minOrderSize.value),
    feeRateBps: feeRateBps === undefined ? DEFAULT.feeRateBps : unitsAt(page, feeRateBps.value, FEE),
    matching: matching === undefined ? DEFAULT.matching : oneOf(page, matching.value, MATCHINGS),
    selfTrade: selfTrade === undefined ? DEFAULT.selfTrade : oneOf(page, selfTrade.value, POLICIES),
  };
  return isWhole(terms) ? terms : null;
}

/** Reads several markets by name, or null with a problem. */
export function readMarkets(page: Page, node: Node): readonly MarketTerms[] | null {
  const mapping = mappingOf(page, node, "markets by name, a mapping");
  if (mapping === null) return null;
  if (mapping.entries.length === 0) return page.wrong(node.start, "expected at least one market, found none");
  const markets = mapping.entries.map(({ key, value }) => {
    const isNamed = isMarketName(key.value);
    if (!isNamed) page.unexpected(key.start, MARKET_NAME_RULE, key.value);
    const terms = readMarketTerms(page, key.value, value);
    return isNamed ? terms : null;
  });
  return markets.every((terms) => terms !== null) ? markets : null;
}

function tickSizeOf(page: Page, node: Node): Price | null {
  const text = textOf(page, node, orOf(TICK_SIZES));
  if (text === null) return null;
  const units = unitsOf(text, PRICE_PLACES);
  const isKnown = units !== null && TICK_SIZES.some((known) => unitsOf(known, PRICE_PLACES) === units);
  return isKnown ? price(units) : page.unexpected(node.start, orOf(TICK_SIZES), text);
}

const minimumOf = (page: Page, node: Node): Size | null => unitsAt(page, node, positive(SIZE)) as Size | null;

type Read<T> = { readonly [Key in keyof T]: T[Key] | null };

const isWhole = (terms: Read<MarketTerms>): terms is MarketTerms =>
  Object.values(terms).every((value) => value !== null);
