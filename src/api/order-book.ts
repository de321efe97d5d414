import { createHash } from "node:crypto";
import * as z from "zod";
import { ASK, BID, type BookDirection } from "../core/book/book.ts";
import { bookFor, isMirrored, type Market, type MarketBook, priceIn, tokenIdIn } from "../core/market.ts";
import type { Outcome } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import { complement, type Price, price, type Size, size } from "../core/units.ts";
import { endpoints, tokenId } from "./endpoint.ts";
import * as field from "./schemas.ts";
import { exactly, type ReplyOf } from "./schemas.ts";
import type { Decimal, Numbers, View } from "./view.ts";

const level = exactly("Level", { price: field.price, size: field.shares, orders: z.int().min(1) });

const bookSchema = exactly("Book", {
  tokenId: field.tokenId,
  marketId: field.uuid,
  outcome: field.outcome,
  bids: z.array(level),
  asks: z.array(level),
  tickSize: field.price,
  lastTradePrice: field.price.nullable(),
  sequence: field.count,
  hash: field.digest,
  updatedAt: field.moment,
});

const ofToken = { query: { token_id: tokenId }, errors: ["TOKEN_ID_REQUIRED", "TOKEN_NOT_FOUND"] } as const;

/** Describes the reply of an endpoint with figures of one token. */
const figures = <Shape extends z.core.$ZodShape>(id: string, shape: Shape) => ({
  ...ofToken,
  reply: exactly(id, { tokenId: field.tokenId, ...shape }),
});

/** GET /clob: public order-book endpoints (specification, "Public order-book reads"). */
export const orderBookEndpoints = endpoints("public", "Order book", {
  getBook: {
    route: "GET /clob/book",
    summary: "Aggregated bids and asks of a token, best first",
    reply: bookSchema,
    ...ofToken,
  },
  getPrice: {
    route: "GET /clob/price",
    summary: "Best bid and best ask of a token",
    ...figures("Quote", { bestBid: field.price.nullable(), bestAsk: field.price.nullable() }),
  },
  getMidpoint: {
    route: "GET /clob/midpoint",
    summary: "Mean of best bid and best ask",
    ...figures("Midpoint", { mid: field.price.nullable() }),
  },
  getSpread: {
    route: "GET /clob/spread",
    summary: "Best ask minus best bid",
    ...figures("SpreadReply", { spread: field.spread.nullable() }),
  },
  getLastTradePrice: {
    route: "GET /clob/last-trade-price",
    summary: "Price, taker side and time of the last trade",
    ...figures("LastTrade", {
      lastTradePrice: field.price.nullable(),
      side: field.side.nullable(),
      tradedAt: field.moment.nullable(),
    }),
  },
  getTickSize: {
    route: "GET /clob/tick-size",
    summary: "Price step of a token",
    ...figures("TickSize", { tickSize: field.price }),
  },
  getFeeRate: {
    route: "GET /clob/fee-rate",
    summary: "Taker fee of a token in basis points",
    ...figures("FeeRate", { feeRateBps: field.count }),
  },
  getTime: {
    route: "GET /clob/time",
    summary: "Server time in Unix seconds, to synchronise signatures",
    reply: exactly("Time", { time: field.unixSeconds }),
  },
});

/** Best prices of a token as its traders quote them; null for an empty side. */
interface Quotes {
  readonly bid: Price | null;
  readonly ask: Price | null;
}

export function quotesOf(market: Market, outcome: Outcome): Quotes {
  const { book } = bookFor(market, outcome);
  if (book === null) return { bid: null, ask: null };
  const bid = book.bestBid === 0 ? null : price(book.bestBid * market.tickSize);
  const ask = book.bestAsk > book.levels ? null : price(book.bestAsk * market.tickSize);
  if (!isMirrored(market, outcome)) return { bid, ask };
  return { bid: ask === null ? null : complement(ask), ask: bid === null ? null : complement(bid) };
}

/** Returns price, taker side and time of an outcome's last trade, in that outcome's prices; null before the first. */
export function lastTradeOf(market: Market, outcome: Outcome): MarketBook["last"] {
  const { last } = bookFor(market, outcome);
  if (last === null || !isMirrored(market, outcome)) return last;
  return { price: complement(last.price), side: last.side === "BUY" ? "SELL" : "BUY", at: last.at };
}

export const MID_PLACES = 5;

/** Returns the midpoint of best bid and best ask; half a price unit needs a fifth decimal. */
export const midOf = (numbers: Numbers, { bid, ask }: Quotes): Decimal | null =>
  bid === null || ask === null ? null : numbers.decimal((bid + ask) * 5, MID_PLACES);

/** 0.10 USDC; above this spread the last trade is used as the price instead of the mid. */
const WIDE_SPREAD = 1_000;

/** Returns a token's price by the contract's rule: the mid if the spread is narrow, else the last trade, else null. */
export function tokenPriceOf(numbers: Numbers, market: Market, outcome: Outcome): Decimal | null {
  const quotes = quotesOf(market, outcome);
  if (quotes.bid !== null && quotes.ask !== null && quotes.ask - quotes.bid <= WIDE_SPREAD) {
    return midOf(numbers, quotes);
  }
  const last = lastTradeOf(market, outcome);
  return last === null ? null : numbers.price(last.price);
}

export const priceOrNull = (numbers: Numbers, of: Price | null): Decimal | null =>
  of === null ? null : numbers.price(of);

/** Converts a price of the market's book to the price of an outcome. */
export const priceFor = (market: Market, outcome: Outcome, of: Price): Price =>
  priceIn(isMirrored(market, outcome), of);

type BookText = Readonly<{ sequence: number; json: string }>;

/** Caches the JSON of each token's book until the book changes. */
export class BookTexts {
  readonly #texts = new WeakMap<MarketBook, { readonly [O in Outcome]?: BookText }>();

  /** Returns the body of GET /clob/book for one token as text. */
  json(view: View, market: Market, outcome: Outcome): string {
    const bookState = bookFor(market, outcome);
    const known = this.#texts.get(bookState);
    let text = known?.[outcome];
    if (text?.sequence !== bookState.sequence) {
      text = { sequence: bookState.sequence, json: JSON.stringify(bookReply(view, market, outcome)) };
      this.#texts.set(bookState, { ...known, [outcome]: text });
    }
    return text.json;
  }
}

/** Builds the aggregated book of a token, best prices first (contract, section 4). */
export function bookReply(view: View, market: Market, outcome: Outcome): ReplyOf<typeof bookSchema> {
  const { numbers } = view;
  const bookState = bookFor(market, outcome);
  const { bids, asks } = sidesOf(market, outcome);
  const shown = (of: Level) => ({
    price: numbers.price(of.price),
    size: numbers.size(of.size),
    orders: of.orders,
  });
  const hashed = (side: readonly Level[]) => side.map(({ price, size, orders }) => [price, size, orders]);
  return {
    tokenId: tokenIdIn(market, outcome),
    marketId: market.id,
    outcome,
    bids: bids.map(shown),
    asks: asks.map(shown),
    tickSize: numbers.price(market.tickSize),
    lastTradePrice: priceOrNull(numbers, lastTradeOf(market, outcome)?.price ?? null),
    sequence: bookState.sequence,
    hash: createHash("sha256")
      .update(JSON.stringify([hashed(bids), hashed(asks)]))
      .digest("hex"),
    updatedAt: toIso(bookState.updatedAt),
  };
}

/** A price level in the core's units. */
interface Level {
  readonly price: Price;
  readonly size: Size;
  readonly orders: number;
}

/** Returns both sides of an outcome's book, best first, in terms of that outcome. */
export function sidesOf(market: Market, outcome: Outcome) {
  const { book } = bookFor(market, outcome);
  const mirrored = isMirrored(market, outcome);
  const side = (direction: BookDirection): Level[] => {
    const levels: Level[] = [];
    book?.depth(direction, (tick, open, orders) => {
      levels.push({ price: priceIn(mirrored, price(tick * market.tickSize)), size: size(open), orders });
    });
    return levels;
  };
  return { bids: side(mirrored ? ASK : BID), asks: side(mirrored ? BID : ASK) };
}
