import type { SettlementStatus } from "../../core/chain/settlement.ts";
import type { Outcome } from "../../core/terms.ts";
import type { Price, Size } from "../../core/units.ts";
import type { BalanceLook, LevelLine, OrderLook, TradeLine } from "./looks.ts";
import type { Place } from "./problem.ts";
import type { Placed, TokenName } from "./scenario.ts";

/** What stands in the book of a token. */
export interface BookExpectation {
  readonly kind: "book";
  readonly place: Place;
  readonly token: TokenName;
  /** Best first; null compares nothing. */
  readonly bids: readonly LevelLine[] | null;
  readonly asks: readonly LevelLine[] | null;
}

/** All trades since the last such expectation, in order. */
export interface TradesExpectation {
  readonly kind: "trades";
  readonly place: Place;
  readonly trades: readonly Placed<TradeLine>[];
}

/** The state of an order named before. */
export interface OrderExpectation {
  readonly kind: "order";
  readonly place: Place;
  readonly name: string;
  readonly look: OrderLook;
}

/** What an account has of one asset. */
export interface BalanceExpectation {
  readonly kind: "balance";
  readonly place: Place;
  readonly account: string;
  readonly look: BalanceLook;
}

/** The prices of a token. */
export interface QuoteExpectation {
  readonly kind: "quote";
  readonly place: Place;
  readonly token: TokenName;
  readonly look: QuoteLook;
}

/** Prices of a token; undefined compares nothing, null says there is none. The mid counts in 0.00001 USDC. */
export interface QuoteLook {
  readonly bid?: Price | null;
  readonly ask?: Price | null;
  readonly mid?: number | null;
  readonly spread?: Price | null;
  readonly last?: Price | null;
}

/** The whole price history of a token. */
export interface HistoryExpectation {
  readonly kind: "history";
  readonly place: Place;
  readonly token: TokenName;
  /** Oldest first, times in Unix seconds. */
  readonly points: readonly { readonly t: number; readonly price: Price }[];
}

/** How the settlement chain stands: its latest block, the latest that is final, how many transactions wait for one. */
export interface ChainExpectation {
  readonly kind: "chain";
  readonly place: Place;
  readonly part: "head" | "confirmed" | "pending";
  readonly count: number;
}

/** How many shares of a market there are on the chain. */
export interface SupplyExpectation {
  readonly kind: "supply";
  readonly place: Place;
  readonly market: string | null;
  /** Null: of both outcomes, so many sets. */
  readonly outcome: Outcome | null;
  readonly size: Size;
}

/** How far the settlement of an order's fills has come, in their order. */
export interface SettledExpectation {
  readonly kind: "settled";
  readonly place: Place;
  readonly name: string;
  /** One for all of them, or one for each. */
  readonly statuses: SettlementStatus | readonly SettlementStatus[];
}

/** The hash of everything; empty where it is to be written. */
export interface HashExpectation {
  readonly kind: "stateHash";
  readonly place: Place;
  readonly hash: string;
  /** Offsets of the value in its file, in UTF-16 code units, for `--update`: quotes that it has stay outside. */
  readonly range: readonly [start: number, end: number];
  /** What a new hash is to stand between: quotes where the value has none, a space where it would touch the colon. */
  readonly around: readonly [before: string, after: string];
}

/** Books and trades as a file holds them. */
export interface GoldenExpectation {
  readonly kind: "golden";
  readonly place: Place;
  /** Absolute path. */
  readonly file: string;
}
