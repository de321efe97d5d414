import { plainNumber } from "../../api/errors.ts";
import type { Scalar } from "../../core/refusals.ts";
import type { Matching, OrderType, Outcome, SelfTradePolicy, Side } from "../../core/terms.ts";
import { toIso } from "../../core/time.ts";
import { type Millis, type Money, millis, type Price, type Size } from "../../core/units.ts";
import type { Place } from "./problem.ts";

/** A market that the scenario declares; its name is its slug. */
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

/** An outcome of a market; the market is null if the scenario has only one. */
export interface TokenName {
  readonly market: string | null;
  readonly outcome: Outcome;
}

/** Returns `YES`, or `rain YES` with a market. */
export const tokenText = ({ market, outcome }: TokenName): string =>
  market === null ? outcome : `${market} ${outcome}`;

export const assetText = (asset: "USDC" | TokenName): string => (asset === "USDC" ? asset : tokenText(asset));

/** USDC in micro-USDC, or shares in size units. */
export type Funding =
  | { readonly asset: "USDC"; readonly amount: Money }
  | { readonly asset: TokenName; readonly amount: Size };

/** A value with its place, which a failure reports. */
export interface Placed<Value> {
  readonly value: Value;
  readonly place: Place;
}

/** Fields of every step: its number in the scenario, from 1; its source text on one line; its place. */
export interface StepBase {
  readonly number: number;
  readonly text: string;
  readonly place: Place;
}

/** Stands for the order that is placed next. No order can have this name, because it contains a space. */
export const NEXT_ORDER = "next order";

/** Why a wallet's transaction is not accepted: it would revert, or the node refuses it. */
export const TRANSACTION_CODES = ["TRANSACTION_REVERTED", "TRANSACTION_REFUSED"] as const;

/** The words of an order line, for the reference page. */
export const ORDER_FORMS = "`BUY`, `SELL`; `YES`, `NO`; `GTC`, `FOK`, `FAK`, `GTD`; `in MARKET`";

/** Expiration of an order: milliseconds after it is placed, a moment, or an invalid text. */
export type Expiry = { readonly after: number } | { readonly at: Millis } | { readonly text: string };

/** The words of an order line as written. They may be invalid only in a step that expects a refusal. */
export interface OrderWords {
  readonly side: string;
  readonly size: string;
  readonly outcome: string;
  readonly price: string;
  readonly type: string;
  readonly expiry: Expiry | null;
  readonly market: string | null;
}

/** An order line whose words are all valid; the market's own rules are not checked yet. */
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

/** Returns the body of POST /clob/order for the words of an order line, valid or not. */
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

/** Returns the words that make such a body; a value that is neither text nor number becomes an empty word. */
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
  typeof value === "number" ? plainNumber(value) : typeof value === "string" ? value : "";
