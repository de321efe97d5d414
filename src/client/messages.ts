import type { Credentials, LastTrade, Midpoint, OrderBody, Quote, Replies, Spread } from "./api-messages.ts";

/** Credentials with the wallet that they belong to: all that signing takes. */
export interface SigningCredentials extends Credentials {
  readonly address: `0x${string}`;
}

/** Best bid and ask, mid, spread and last trade of a token; null where there is none. `side` is the last taker's. */
export interface Quotes extends Quote, Midpoint, Spread, LastTrade {}

/** An order to place; `orderType` is GTC when it is left out. */
export interface NewOrder extends Omit<OrderBody, "expiration"> {
  /** With GTD and only with it: a moment, ISO-8601 with a zone, or Unix seconds. */
  readonly expiration?: Date | string | number;
}

/** What any operation of the API answers, by its name in the OpenAPI document: `ReplyTo<"getClock">`. */
export type ReplyTo<Operation extends keyof Replies> = Replies[Operation];
