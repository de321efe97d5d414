import type * as chain from "../api/schemas/chain.ts";
import type * as control from "../api/schemas/control.ts";
import type * as faults from "../api/schemas/faults.ts";
import type * as data from "../api/schemas/market-data.ts";
import type * as recording from "../api/schemas/recording.ts";
import type * as snapshots from "../api/schemas/snapshots.ts";
import type * as trading from "../api/schemas/trading.ts";
import type { OutputOf } from "./schema-inference.ts";

// Bodies of replies as the contract's schemas describe them. Prices, sizes and money are numbers; a server that was
// started with `--numbers string` sends their decimal text instead, which these types do not show.

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
