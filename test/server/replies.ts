import type { z } from "zod";
import type * as control from "../../src/api/schemas/control.ts";
import type * as data from "../../src/api/schemas/market-data.ts";
import type * as trading from "../../src/api/schemas/trading.ts";

/** Bodies of replies by name; every reply is checked against the served document, so a test may rely on them. */
export type Book = z.infer<typeof data.book>;
export type Quote = z.infer<typeof data.quote>;
export type LastTrade = z.infer<typeof data.lastTrade>;
export type Market = z.infer<typeof data.market>;
export type MarketDetail = z.infer<typeof data.marketDetail>;
export type MarketPage = z.infer<typeof data.marketPage>;
export type Event = z.infer<typeof data.event>;
export type EventDetail = z.infer<typeof data.eventDetail>;
export type EventPage = z.infer<typeof data.eventPage>;
export type PricesHistory = z.infer<typeof data.pricesHistory>;
export type MarketTradePage = z.infer<typeof data.marketTradePage>;
export type SearchPage = z.infer<typeof data.searchPage>;
export type Credentials = z.infer<typeof trading.credentials>;
export type Order = z.infer<typeof trading.order>;
export type PlacedOrder = z.infer<typeof trading.placedOrder>;
export type OrderPage = z.infer<typeof trading.orderPage>;
export type TradePage = z.infer<typeof trading.tradePage>;
export type CancelResult = z.infer<typeof trading.cancelResult>;
export type Info = z.infer<typeof control.info>;
export type Clock = z.infer<typeof control.clock>;
export type ClockChange = z.infer<typeof control.clockChange>;
export type Account = z.infer<typeof control.account>;
export type AccountPage = z.infer<typeof control.accountPage>;
export type StateHash = z.infer<typeof control.stateHash>;
export type OrderStory = z.infer<typeof control.orderStory>;
export type Invariants = z.infer<typeof control.invariants>;

/** The body of every error. */
export interface Refusal {
  readonly error: string;
  readonly code: string;
  readonly status: number;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}
