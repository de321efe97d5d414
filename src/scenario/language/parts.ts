import type { Matching, Outcome, SelfTradePolicy } from "../../core/terms.ts";
import type { Money, Price, Size } from "../../core/units.ts";
import type { Place } from "./problem.ts";

/** A market of the scenario's own; its name is its slug. */
export interface MarketTerms {
  readonly name: string;
  readonly tickSize: Price;
  readonly minOrderSize: Size;
  readonly feeRateBps: number;
  readonly matching: Matching;
  readonly selfTrade: SelfTradePolicy;
}

export interface AccountTerms {
  readonly name: string;
  readonly place: Place;
  readonly funding: readonly Funding[];
}

/** An outcome of a market; the market is null where the scenario has but one. */
export interface TokenName {
  readonly market: string | null;
  readonly outcome: Outcome;
}

/** USDC in micro-USDC, or shares in size units. */
export type Funding =
  | { readonly asset: "USDC"; readonly amount: Money }
  | { readonly asset: TokenName; readonly amount: Size };

/** A value with its place, for a failure to point at. */
export interface Placed<Value> {
  readonly value: Value;
  readonly place: Place;
}

/** What every step has: its number from 1 in the scenario, its text as a person reads it, its place. */
export interface StepBase {
  readonly number: number;
  readonly text: string;
  readonly place: Place;
}

/** Stands for the order that is placed next: no name of an order holds a blank. */
export const NEXT_ORDER = "next order";

/** Why a wallet's transaction does not come to the chain: it would have no effect, or no node takes it. */
export const TRANSACTION_CODES = ["TRANSACTION_REVERTED", "TRANSACTION_REFUSED"] as const;
