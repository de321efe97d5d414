import type { accountSchema, credentialsSchema, fundingSchema } from "../api/accounts.ts";
import type { authExplanationSchema, pastedRequestSchema } from "../api/authentication.ts";
import type {
  blockSchema,
  bumpedSchema,
  chainSchema,
  endedSettlementFaultsSchema,
  newSettlementFaultSchema,
  settlementFaultSchema,
  supplySchema,
  transactionSchema,
} from "../api/chain.ts";
import type {
  clockChangeSchema,
  clockSchema,
  infoSchema,
  invariantsSchema,
  newClockSchema,
  stateHashSchema,
  stateSchema,
} from "../api/control.ts";
import type { faultSchema, newFaultSchema, removedFaultsSchema } from "../api/faults.ts";
import type {
  eventDetailSchema,
  eventSchema,
  marketDetailSchema,
  marketSchema,
  marketTradePageSchema,
  newEventSchema,
  newMarketSchema,
  pricesHistorySchema,
  resolutionSchema,
  searchPageSchema,
} from "../api/markets.ts";
import type {
  bookSchema,
  feeRateSchema,
  lastTradeSchema,
  midpointSchema,
  quoteSchema,
  spreadSchema,
  tickSizeSchema,
  timeSchema,
} from "../api/order-book.ts";
import type { newOrderSchema } from "../api/order-request.ts";
import type { orderStorySchema } from "../api/order-story.ts";
import type { recordedScenarioSchema } from "../api/recording.ts";
import type { snapshotSchema } from "../api/snapshots.ts";
import type { cancelResultSchema, orderSchema, placedOrderSchema, tradeSchema } from "../api/trading.ts";

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

export type Credentials = OutputOf<typeof credentialsSchema>;
/** Credentials with the wallet that they belong to: all that signing takes. */
export type SigningCredentials = Credentials & { readonly address: `0x${string}` };
export type Order = OutputOf<typeof orderSchema>;
export type PlacedOrder = OutputOf<typeof placedOrderSchema>;
export type Trade = OutputOf<typeof tradeSchema>;
export type CancelResult = OutputOf<typeof cancelResultSchema>;

export type Time = OutputOf<typeof timeSchema>;
export type Book = OutputOf<typeof bookSchema>;
export type Quote = OutputOf<typeof quoteSchema>;
export type Midpoint = OutputOf<typeof midpointSchema>;
export type Spread = OutputOf<typeof spreadSchema>;
export type LastTrade = OutputOf<typeof lastTradeSchema>;
/** Best bid and ask, mid, spread and last trade of a token; null where there is none. `side` is the last taker's. */
export type Quotes = Quote & Midpoint & Spread & LastTrade;
export type TickSize = OutputOf<typeof tickSizeSchema>;
export type FeeRate = OutputOf<typeof feeRateSchema>;

export type Market = OutputOf<typeof marketSchema>;
export type MarketDetail = OutputOf<typeof marketDetailSchema>;
export type MarketEvent = OutputOf<typeof eventSchema>;
export type EventDetail = OutputOf<typeof eventDetailSchema>;
export type PricesHistory = OutputOf<typeof pricesHistorySchema>;
export type MarketTrade = OutputOf<typeof marketTradePageSchema>["data"][number];
export type SearchResult = OutputOf<typeof searchPageSchema>["data"][number];

export type Info = OutputOf<typeof infoSchema>;
export type Clock = OutputOf<typeof clockSchema>;
export type ClockChange = OutputOf<typeof clockChangeSchema>;
export type Account = OutputOf<typeof accountSchema>;
export type State = OutputOf<typeof stateSchema>;
export type StateHash = OutputOf<typeof stateHashSchema>;
export type OrderStory = OutputOf<typeof orderStorySchema>;
export type Invariants = OutputOf<typeof invariantsSchema>;
export type AuthExplanation = OutputOf<typeof authExplanationSchema>;
export type Snapshot = OutputOf<typeof snapshotSchema>;
export type Fault = OutputOf<typeof faultSchema>;
export type RemovedFaults = OutputOf<typeof removedFaultsSchema>;
export type Chain = OutputOf<typeof chainSchema>;
export type ChainBlock = OutputOf<typeof blockSchema>;
export type ChainTransaction = OutputOf<typeof transactionSchema>;
export type MarketSupply = OutputOf<typeof supplySchema>;
export type BumpedFees = OutputOf<typeof bumpedSchema>;
export type SettlementFault = OutputOf<typeof settlementFaultSchema>;
export type EndedSettlementFaults = OutputOf<typeof endedSettlementFaultsSchema>;
export type RecordedScenario = OutputOf<typeof recordedScenarioSchema>;

/** An order to place; `orderType` is GTC when it is left out. */
export type NewOrder = Omit<InputOf<typeof newOrderSchema>, "expiration"> & {
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

export type NewClock = InputOf<typeof newClockSchema>;
export type Funding = InputOf<typeof fundingSchema>;
export type NewEvent = InputOf<typeof newEventSchema>;
export type NewMarket = InputOf<typeof newMarketSchema>;
export type WinningOutcome = InputOf<typeof resolutionSchema>["winningOutcome"];
export type PastedRequest = InputOf<typeof pastedRequestSchema>;
export type NewSettlementFault = InputOf<typeof newSettlementFaultSchema>;
export type NewFault = InputOf<typeof newFaultSchema>;
