import type * as chain from "../api/schemas/chain.ts";
import type * as control from "../api/schemas/control.ts";
import type * as faults from "../api/schemas/faults.ts";
import type * as trading from "../api/schemas/trading.ts";
import type { PageWindow } from "./pages.ts";
import type { InputOf } from "./schema-inference.ts";

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
