import type { Credentials, LastTrade, Midpoint, OrderBody, Quote, Replies, Spread } from "./api-messages.ts";

/** Credentials and the address of their wallet, which together sign requests. */
export interface SigningCredentials extends Credentials {
  readonly address: `0x${string}`;
}

/** Best bid and ask, mid, spread and last trade of a token; null if there is none. `side` is the last taker's. */
export interface Quotes extends Quote, Midpoint, Spread, LastTrade {}

/** An order to place; `orderType` defaults to GTC. */
export interface NewOrder extends Omit<OrderBody, "expiration"> {
  /** Required with GTD, otherwise not allowed: a Date, ISO-8601 with a zone, or Unix seconds. */
  readonly expiration?: Date | string | number;
}

/** Reply of an operation, by its name in the OpenAPI document: `ReplyTo<"getClock">`. */
export type ReplyTo<Operation extends keyof Replies> = Replies[Operation];
