import type * as api from "../../src/client/api-messages.ts";

/** Types of reply bodies. Every reply is checked against the served document, so tests may cast to them. */
export type * from "../../src/client/api-messages.ts";
export type Event = api.MarketEvent;
export type MarketPage = api.Page<api.Market>;
export type OrderPage = api.Page<api.Order>;
export type AccountPage = api.Page<api.Account>;
export type FaultPage = api.Page<api.Fault>;

/** The body of every error. */
export interface Refusal {
  readonly error: string;
  readonly code: string;
  readonly status: number;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}
