import { priceText, sizeText } from "../../core/format.ts";
import { marketOfToken } from "../../core/market.ts";
import { type Order, remainingOf } from "../../core/order.ts";
import { type Size, size } from "../../core/units.ts";
import { defaultMarket } from "../language/header.ts";
import type { MarketTerms } from "../language/scenario.ts";
import type { TouchedMarket } from "./touched-markets.ts";
import { type Entry, map } from "./yaml-text.ts";

/** What a market's smallest order is unless it says otherwise. */
const DEFAULT_MINIMUM = defaultMarket().minOrderSize;

/** The markets of a scenario by name, and what about them is not as it was in the session. */
export interface MarketEntries {
  readonly entries: readonly Entry[];
  /** The same, as the language reads it. */
  readonly terms: readonly MarketTerms[];
  readonly remarks: readonly string[];
}

/**
 * The terms of the markets that a session touched; what is as by default is left out, but for the tick size. The
 * smallest order is as small as what is left of an order that must rest anew.
 */
export function marketEntries(markets: readonly TouchedMarket[], resting: readonly Order[]): MarketEntries {
  const remarks: string[] = [];
  const all: MarketTerms[] = [];
  const left = leastLeft(resting);
  const entries = markets.map(({ number, name, after }): Entry => {
    const { tickSize, minOrderSize, feeRateBps, matching, selfTrade } = after;
    const terms: Entry[] = [["tickSize", priceText(tickSize)]];
    const minimum = size(Math.min(minOrderSize, left.get(number) ?? minOrderSize));
    all.push({ name, tickSize, minOrderSize: minimum, feeRateBps, matching, selfTrade });
    if (minimum < minOrderSize) {
      remarks.push(
        `${name} had a minOrderSize of ${sizeText(minOrderSize)}, but less is left of an order that rests from the start.`,
      );
    }
    if (minimum !== DEFAULT_MINIMUM) terms.push(["minOrderSize", sizeText(minimum)]);
    if (feeRateBps !== 0) terms.push(["feeRateBps", String(feeRateBps)]);
    if (matching !== "complementary") terms.push(["matching", matching]);
    if (selfTrade !== "allow") terms.push(["selfTrade", selfTrade]);
    return [name, map(terms)];
  });
  return { entries, terms: all.length === 0 ? [defaultMarket()] : all, remarks };
}

/** What is left of the order with the least left, by market. */
function leastLeft(resting: readonly Order[]): Map<number, Size> {
  const least = new Map<number, Size>();
  for (const order of resting) {
    const market = marketOfToken(order.token);
    const left = remainingOf(order);
    if (left < (least.get(market) ?? Number.POSITIVE_INFINITY)) least.set(market, left);
  }
  return least;
}
