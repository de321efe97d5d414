import type { ReplyAt } from "../../src/api/endpoints.ts";

/** Bodies of replies by name; every reply is checked against the served document, so a test may rely on them. */
export type * from "../../src/client/messages.ts";
export type Event = ReplyAt<"POST /sim/events">;
export type MarketPage = ReplyAt<"GET /api/markets">;
export type EventPage = ReplyAt<"GET /api/events">;
export type MarketTradePage = ReplyAt<"GET /api/markets/{idOrSlug}/trades">;
export type SearchPage = ReplyAt<"GET /api/search">;
export type OrderPage = ReplyAt<"GET /clob/orders">;
export type TradePage = ReplyAt<"GET /clob/trades">;
export type AccountPage = ReplyAt<"GET /sim/accounts">;
export type SnapshotPage = ReplyAt<"GET /sim/snapshots">;
export type FaultPage = ReplyAt<"GET /sim/faults">;

/** The body of every error. */
export interface Refusal {
  readonly error: string;
  readonly code: string;
  readonly status: number;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}
