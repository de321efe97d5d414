import type * as control from "../../src/client/control-messages.ts";
import type * as service from "../../src/client/service-messages.ts";

/** Bodies of replies by name; every reply is checked against the served document, so a test may rely on them. */
export type * from "../../src/client/control-messages.ts";
export type * from "../../src/client/messages.ts";
export type * from "../../src/client/service-messages.ts";
export type Event = service.MarketEvent;
export type MarketPage = service.Page<service.Market>;
export type EventPage = service.Page<service.MarketEvent>;
export type MarketTradePage = service.Page<service.MarketTrade>;
export type SearchPage = service.Page<service.SearchResult>;
export type OrderPage = service.Page<service.Order>;
export type TradePage = service.Page<service.Trade>;
export type AccountPage = service.Page<control.Account>;
export type SnapshotPage = service.Page<control.Snapshot>;
export type FaultPage = service.Page<control.Fault>;

/** The body of every error. */
export interface Refusal {
  readonly error: string;
  readonly code: string;
  readonly status: number;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}
