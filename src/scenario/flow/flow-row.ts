import type { OrderType, Outcome, Side } from "../../core/terms.ts";
import type { Money, Price, Size } from "../../core/units.ts";

/** The columns of a flow, in the order in which they are written; `market` only where there are several. */
export const COLUMNS = [
  "at",
  "account",
  "op",
  "ref",
  "side",
  "outcome",
  "price",
  "size",
  "type",
  "market",
] as const;
export type Column = (typeof COLUMNS)[number];

/** What every row says. */
interface RowBase {
  /** Milliseconds since the start of the flow, never less than those of the row before. */
  readonly at: number;
  /** Name of who acts. */
  readonly account: string;
  /** Name of the market; null leaves it to the reader, as where there is only one. */
  readonly market: string | null;
}

export interface PlaceRow extends RowBase {
  readonly op: "place";
  /** Name of the order in the flow; empty when nothing refers to it. */
  readonly ref: string;
  readonly side: Side;
  readonly outcome: Outcome;
  readonly price: Price;
  readonly size: Size;
  readonly type: OrderType;
  /** Milliseconds after `at` at which a GTD order expires, at least 1; null for the other types. */
  readonly expiresIn: number | null;
}

export interface CancelRow extends RowBase {
  readonly op: "cancel";
  /** Name of the order to cancel. */
  readonly ref: string;
}

export interface CancelAllRow extends RowBase {
  readonly op: "cancel-all";
}

export interface FundCollateralRow extends RowBase {
  readonly op: "fund";
  readonly asset: "USDC";
  readonly amount: Money;
}

export interface FundSharesRow extends RowBase {
  readonly op: "fund";
  readonly asset: Outcome;
  readonly amount: Size;
}

/** One row of an order flow: what somebody does at a moment. */
export type FlowRow = PlaceRow | CancelRow | CancelAllRow | FundCollateralRow | FundSharesRow;
