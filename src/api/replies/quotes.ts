import { bookFor, isMirrored, type Market, priceIn } from "../../core/market.ts";
import type { Outcome, Side } from "../../core/terms.ts";
import { complement, type Millis, type Price, price } from "../../core/units.ts";
import type { Decimal, Numbers } from "../decimals.ts";

/** The best prices of a token, in its own terms; null where nobody stands. */
export interface Quotes {
  readonly bid: Price | null;
  readonly ask: Price | null;
}

/** The best bid and ask of an outcome. */
export function quotesOf(market: Market, outcome: Outcome): Quotes {
  const { book } = bookFor(market, outcome);
  if (book === null) return { bid: null, ask: null };
  const bid = book.bestBid === 0 ? null : price(book.bestBid * market.tickSize);
  const ask = book.bestAsk > book.levels ? null : price(book.bestAsk * market.tickSize);
  if (!isMirrored(market, outcome)) return { bid, ask };
  return {
    bid: ask === null ? null : complement(ask),
    ask: bid === null ? null : complement(bid),
  };
}

/** The last trade of an outcome in its own terms: price, the taker's side, when; null before the first. */
export function lastTradeOf(
  market: Market,
  outcome: Outcome,
): { readonly price: Price; readonly side: Side; readonly at: Millis } | null {
  const { last } = bookFor(market, outcome);
  if (last === null || !isMirrored(market, outcome)) return last;
  return { price: complement(last.price), side: last.side === "BUY" ? "SELL" : "BUY", at: last.at };
}

const MID_PLACES = 5;

/** Halfway between best bid and best ask; half a price unit is a fifth decimal. */
export const midOf = (numbers: Numbers, { bid, ask }: Quotes): Decimal | null =>
  bid === null || ask === null ? null : numbers.decimal((bid + ask) * 5, MID_PLACES);

/** Above this spread, 0.10 USDC, the mid says little and the last trade stands for the price. */
const WIDE_SPREAD = 1_000;

/** What a token is worth by the contract's rule: the mid of a narrow spread, else the last trade, else null. */
export function tokenPriceOf(numbers: Numbers, market: Market, outcome: Outcome): Decimal | null {
  const quotes = quotesOf(market, outcome);
  if (quotes.bid !== null && quotes.ask !== null && quotes.ask - quotes.bid <= WIDE_SPREAD) {
    return midOf(numbers, quotes);
  }
  const last = lastTradeOf(market, outcome);
  return last === null ? null : numbers.price(last.price);
}

/** A price, or null. */
export const priceOrNull = (numbers: Numbers, of: Price | null): Decimal | null =>
  of === null ? null : numbers.price(of);

/** A price of the book's own terms in terms of an outcome. */
export const priceFor = (market: Market, outcome: Outcome, of: Price): Price =>
  priceIn(isMirrored(market, outcome), of);
