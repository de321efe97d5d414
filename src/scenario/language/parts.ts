import { plain } from "../../api/errors.ts";
import type { Scalar } from "../../core/refusals.ts";
import type { Matching, OrderType, Outcome, SelfTradePolicy, Side } from "../../core/terms.ts";
import { toIso } from "../../core/time.ts";
import { type Millis, type Money, millis, type Price, type Size } from "../../core/units.ts";
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

/** What an order line may say, for the reference. */
export const ORDER_FORMS = "`BUY`, `SELL`; `YES`, `NO`; `GTC`, `FOK`, `FAK`, `GTD`; `in MARKET`";

/** When an order expires: so long after it is placed, at a moment, or at something that is no moment. */
export type Expiry = { readonly after: number } | { readonly at: Millis } | { readonly text: string };

/** The words of an order line as they stand, which only a step that expects to be refused may get wrong. */
export interface OrderWords {
  readonly side: string;
  readonly size: string;
  readonly outcome: string;
  readonly price: string;
  readonly type: string;
  readonly expiry: Expiry | null;
  readonly market: string | null;
}

/** An order line of which every word is right; only what depends on the market is still to be seen. */
export interface ExactOrder {
  readonly side: Side;
  readonly size: Size;
  readonly outcome: Outcome;
  readonly price: Price;
  readonly orderType: OrderType;
  /** Set for GTD and only for GTD. */
  readonly expiry: { readonly after: number } | { readonly at: Millis } | null;
  readonly market: string | null;
}

const PLAIN_NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** The body of POST /clob/order that the words of an order line make, right or wrong. */
export function orderBodyOf(words: OrderWords, tokenId: string, now: Millis): Record<string, unknown> {
  const decimal = (text: string): number | string => (PLAIN_NUMBER.test(text) ? Number(text) : text);
  return {
    tokenId,
    side: words.side,
    price: decimal(words.price),
    size: decimal(words.size),
    orderType: words.type,
    ...(words.expiry === null ? {} : { expiration: expirationText(words.expiry, now) }),
  };
}

const expirationOf = (expiry: { readonly after: number } | { readonly at: Millis }, now: Millis): Millis =>
  "after" in expiry ? millis(now + expiry.after) : expiry.at;

const expirationText = (expiry: Expiry, now: Millis): string =>
  "text" in expiry ? expiry.text : toIso(expirationOf(expiry, now));

/** The words that make such a body; what is no text and no number makes no word. */
export function wordsOfBody(
  { side, size, price, orderType = "GTC", expiration = "" }: Readonly<Record<string, Scalar>>,
  outcome: Outcome,
  market: string | null,
) {
  const expiry = expiration === "" ? null : { text: text(expiration) };
  const words = { side: text(side), size: text(size), price: text(price), type: text(orderType) };
  return { ...words, outcome, expiry, market };
}

const text = (value: Scalar | undefined): string =>
  typeof value === "number" ? plain(value) : typeof value === "string" ? value : "";
