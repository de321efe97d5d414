import type { BodyAt, QueryAt, ReplyAt } from "../api/endpoints.ts";

// What is sent and answered, as the contract's schemas describe it. Prices, sizes and money are numbers; a server that was
// started with `--numbers string` sends their decimal text instead, which these types do not show.

/** Which part of a list is asked for; what is left out is the server's default. */
export interface PageWindow {
  /** How many items at most; the server clamps it to its maximum. */
  readonly limit?: number;
  /** How many items to skip. */
  readonly offset?: number;
}

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  /** The limit that was applied. */
  readonly limit: number;
  readonly offset: number;
  /** How many items the whole list has. */
  readonly total: number;
  readonly hasMore: boolean;
}

export type Credentials = ReplyAt<"POST /clob/auth/derive-api-key">;
/** Credentials with the wallet that they belong to: all that signing takes. */
export type SigningCredentials = Credentials & { readonly address: `0x${string}` };
export type PlacedOrder = ReplyAt<"POST /clob/order">;
export type Order = ReplyAt<"GET /clob/orders">["data"][number];
export type Trade = ReplyAt<"GET /clob/trades">["data"][number];
export type CancelResult = ReplyAt<"DELETE /clob/order">;

export type Time = ReplyAt<"GET /clob/time">;
export type Book = ReplyAt<"GET /clob/book">;
export type Quote = ReplyAt<"GET /clob/price">;
export type Midpoint = ReplyAt<"GET /clob/midpoint">;
export type Spread = ReplyAt<"GET /clob/spread">;
export type LastTrade = ReplyAt<"GET /clob/last-trade-price">;
/** Best bid and ask, mid, spread and last trade of a token; null where there is none. `side` is the last taker's. */
export type Quotes = Quote & Midpoint & Spread & LastTrade;
export type TickSize = ReplyAt<"GET /clob/tick-size">;
export type FeeRate = ReplyAt<"GET /clob/fee-rate">;

export type Market = ReplyAt<"GET /api/markets">["data"][number];
export type MarketDetail = ReplyAt<"GET /api/markets/{idOrSlug}">;
export type MarketEvent = ReplyAt<"GET /api/events">["data"][number];
export type EventDetail = ReplyAt<"GET /api/events/{idOrSlug}">;
export type PricesHistory = ReplyAt<"GET /api/markets/{idOrSlug}/prices-history">;
export type MarketTrade = ReplyAt<"GET /api/markets/{idOrSlug}/trades">["data"][number];
export type SearchResult = ReplyAt<"GET /api/search">["data"][number];

export type Info = ReplyAt<"GET /sim">;
export type Clock = ReplyAt<"GET /sim/clock">;
export type ClockChange = ReplyAt<"POST /sim/clock">;
export type Account = ReplyAt<"GET /sim/accounts/{address}">;
export type State = ReplyAt<"GET /sim/state">;
export type StateHash = ReplyAt<"GET /sim/state/hash">;
export type OrderStory = ReplyAt<"GET /sim/orders/{id}">;
export type Invariants = ReplyAt<"GET /sim/invariants">;
export type AuthExplanation = ReplyAt<"POST /sim/explain-auth">;
export type Snapshot = ReplyAt<"POST /sim/snapshots">;
export type Fault = ReplyAt<"POST /sim/faults">;
export type RemovedFaults = ReplyAt<"DELETE /sim/faults">;
export type Chain = ReplyAt<"GET /sim/chain">;
export type ChainBlock = ReplyAt<"GET /sim/chain/blocks">["data"][number];
export type ChainTransaction = ReplyAt<"GET /sim/chain/pending">["data"][number];
export type MarketSupply = ReplyAt<"GET /sim/chain/supply/{idOrSlug}">;
export type BumpedFees = ReplyAt<"POST /sim/chain/bump">;
export type SettlementFault = ReplyAt<"POST /sim/chain/faults">;
export type EndedSettlementFaults = ReplyAt<"DELETE /sim/chain/faults">;
export type RecordedScenario = ReplyAt<"GET /sim/scenario">;

/** An order to place; `orderType` is GTC when it is left out. */
export type NewOrder = Omit<BodyAt<"POST /clob/order">, "expiration"> & {
  /** With GTD and only with it: a moment, ISO-8601 with a zone, or Unix seconds. */
  readonly expiration?: Date | string | number;
};

type OfToken<Filter> = Omit<Filter, "token_id"> & { readonly tokenId?: string };

/** Which of the caller's open orders; `market` is an id or a slug. */
export type OrderFilter = OfToken<QueryAt<"GET /clob/orders">>;
/** Which of the caller's fills; `after` (inclusive) and `before` (exclusive) are Unix seconds. */
export type TradeFilter = OfToken<QueryAt<"GET /clob/trades">>;
/** Which events: only open ones (`active`), only those that carry a category or tag slug. */
export type EventFilter = QueryAt<"GET /api/events">;
/** Which markets, and in what order. */
export type MarketFilter = QueryAt<"GET /api/markets">;
/** Which of a market's trades: takers of both outcomes with `all`, else only of YES. */
export type MarketTradeFilter = QueryAt<"GET /api/markets/{idOrSlug}/trades">;
/** Which part of a price history, bounds in Unix seconds and inclusive, and at most how many points (`fidelity`). */
export type HistoryRange = QueryAt<"GET /api/markets/{idOrSlug}/prices-history">;

export type NewClock = BodyAt<"POST /sim/clock">;
export type Funding = BodyAt<"POST /sim/accounts/{address}/fund">;
export type NewEvent = BodyAt<"POST /sim/events">;
export type NewMarket = BodyAt<"POST /sim/markets">;
export type WinningOutcome = BodyAt<"POST /sim/markets/{idOrSlug}/resolve">["winningOutcome"];
export type PastedRequest = BodyAt<"POST /sim/explain-auth">;
export type NewSettlementFault = BodyAt<"POST /sim/chain/faults">;
export type NewFault = BodyAt<"POST /sim/faults">;
