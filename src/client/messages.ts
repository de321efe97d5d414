import type * as chain from "../api/schemas/chain.ts";
import type * as control from "../api/schemas/control.ts";
import type * as faults from "../api/schemas/faults.ts";
import type * as data from "../api/schemas/market-data.ts";
import type * as recording from "../api/schemas/recording.ts";
import type * as snapshots from "../api/schemas/snapshots.ts";
import type * as trading from "../api/schemas/trading.ts";

/** A schema as Standard Schema shows it (standardschema.dev), which zod's are: the client names no package for it. */
interface Typed {
  readonly "~standard": {
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

type Types<Schema extends Typed> = NonNullable<Schema["~standard"]["types"]>;

/** What a schema takes: fields with a default may be left out. */
export type InputOf<Schema extends Typed> = Types<Schema>["input"];

/** What a schema promises. */
export type OutputOf<Schema extends Typed> = Types<Schema>["output"];

// Bodies of replies as the contract's schemas describe them. Prices, sizes and money are numbers; a server that was
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

export type Credentials = OutputOf<typeof trading.credentials>;
/** Credentials with the wallet that they belong to: all that signing takes. */
export type SigningCredentials = Credentials & { readonly address: `0x${string}` };
export type Order = OutputOf<typeof trading.order>;
export type PlacedOrder = OutputOf<typeof trading.placedOrder>;
export type Trade = OutputOf<typeof trading.trade>;
export type CancelResult = OutputOf<typeof trading.cancelResult>;

export type Time = OutputOf<typeof data.time>;
export type Book = OutputOf<typeof data.book>;
export type Quote = OutputOf<typeof data.quote>;
export type Midpoint = OutputOf<typeof data.midpoint>;
export type Spread = OutputOf<typeof data.spreadReply>;
export type LastTrade = OutputOf<typeof data.lastTrade>;
/** Best bid and ask, mid, spread and last trade of a token; null where there is none. `side` is the last taker's. */
export type Quotes = Quote & Midpoint & Spread & LastTrade;
export type TickSize = OutputOf<typeof data.tickSize>;
export type FeeRate = OutputOf<typeof data.feeRate>;

export type Market = OutputOf<typeof data.market>;
export type MarketDetail = OutputOf<typeof data.marketDetail>;
export type MarketEvent = OutputOf<typeof data.event>;
export type EventDetail = OutputOf<typeof data.eventDetail>;
export type PricesHistory = OutputOf<typeof data.pricesHistory>;
export type MarketTrade = OutputOf<typeof data.marketTradePage>["data"][number];
export type SearchResult = OutputOf<typeof data.searchPage>["data"][number];

export type Info = OutputOf<typeof control.info>;
export type Clock = OutputOf<typeof control.clock>;
export type ClockChange = OutputOf<typeof control.clockChange>;
export type Account = OutputOf<typeof control.account>;
export type State = OutputOf<typeof control.state>;
export type StateHash = OutputOf<typeof control.stateHash>;
export type OrderStory = OutputOf<typeof control.orderStory>;
export type Invariants = OutputOf<typeof control.invariants>;
export type AuthExplanation = OutputOf<typeof control.authExplanation>;
export type Snapshot = OutputOf<typeof snapshots.snapshot>;
export type Fault = OutputOf<typeof faults.fault>;
export type RemovedFaults = OutputOf<typeof faults.removedFaults>;
export type Chain = OutputOf<typeof chain.chain>;
export type ChainBlock = OutputOf<typeof chain.block>;
export type ChainTransaction = OutputOf<typeof chain.transaction>;
export type MarketSupply = OutputOf<typeof chain.supply>;
export type BumpedFees = OutputOf<typeof chain.bumped>;
export type SettlementFault = OutputOf<typeof chain.settlementFault>;
export type EndedSettlementFaults = OutputOf<typeof chain.endedSettlementFaults>;
export type RecordedScenario = OutputOf<typeof recording.recordedScenario>;

/** An order to place; `orderType` is GTC when it is left out. */
export type NewOrder = Omit<InputOf<typeof trading.newOrder>, "expiration"> & {
  /** With GTD and only with it: a moment, ISO-8601 with a zone, or Unix seconds. */
  readonly expiration?: Date | string | number;
};

/** Which of the caller's open orders. */
export interface OrderFilter extends PageWindow {
  readonly tokenId?: string;
  /** Id or slug. */
  readonly market?: string;
  readonly side?: "BUY" | "SELL";
}

/** Which of the caller's fills. */
export interface TradeFilter extends PageWindow {
  readonly tokenId?: string;
  /** Id or slug. */
  readonly market?: string;
  /** Id of an order. */
  readonly order?: string;
  /** Unix seconds, inclusive. */
  readonly after?: number;
  /** Unix seconds, exclusive. */
  readonly before?: number;
}

/** Which events. */
export interface EventFilter extends PageWindow {
  /** True: only open ones; false: only others. */
  readonly active?: boolean;
  /** A category or tag slug. */
  readonly tag?: string;
}

/** Which markets, and in what order. */
export interface MarketFilter extends EventFilter {
  readonly sort?: "volume" | "liquidity" | "createdAt" | "endDate";
}

/** Which of a market's trades. */
export interface MarketTradeFilter extends PageWindow {
  /** True: takers of both outcomes; else only of YES. */
  readonly all?: boolean;
}

/** Which part of a price history, and how fine. */
export interface HistoryRange {
  /** One of the market's tokens; YES when left out. */
  readonly tokenId?: string;
  /** Unix seconds, inclusive. */
  readonly startTs?: number;
  /** Unix seconds, inclusive. */
  readonly endTs?: number;
  /** At most this many points. */
  readonly fidelity?: number;
}

export type NewClock = InputOf<typeof control.newClock>;
export type Funding = InputOf<typeof control.funding>;
export type NewEvent = InputOf<typeof control.newEvent>;
export type NewMarket = InputOf<typeof control.newMarket>;
export type WinningOutcome = InputOf<typeof control.resolution>["winningOutcome"];
export type PastedRequest = InputOf<typeof control.pastedRequest>;
export type NewSettlementFault = InputOf<typeof chain.newSettlementFault>;
export type NewFault = InputOf<typeof faults.newFault>;
