import type { z } from "zod";
import type { accountPageSchema, accountSchema, credentialsSchema } from "../../src/api/accounts.ts";
import type {
  clockChangeSchema,
  clockSchema,
  infoSchema,
  invariantsSchema,
  stateHashSchema,
} from "../../src/api/control.ts";
import type {
  eventDetailSchema,
  eventPageSchema,
  eventSchema,
  marketDetailSchema,
  marketPageSchema,
  marketSchema,
  marketTradePageSchema,
  pricesHistorySchema,
  searchPageSchema,
} from "../../src/api/markets.ts";
import type { bookSchema, lastTradeSchema, quoteSchema } from "../../src/api/order-book.ts";
import type { orderStorySchema } from "../../src/api/order-story.ts";
import type {
  cancelResultSchema,
  orderPageSchema,
  orderSchema,
  placedOrderSchema,
  tradePageSchema,
} from "../../src/api/trading.ts";

/** Bodies of replies by name; every reply is checked against the served document, so a test may rely on them. */
export type Book = z.infer<typeof bookSchema>;
export type Quote = z.infer<typeof quoteSchema>;
export type LastTrade = z.infer<typeof lastTradeSchema>;
export type Market = z.infer<typeof marketSchema>;
export type MarketDetail = z.infer<typeof marketDetailSchema>;
export type MarketPage = z.infer<typeof marketPageSchema>;
export type Event = z.infer<typeof eventSchema>;
export type EventDetail = z.infer<typeof eventDetailSchema>;
export type EventPage = z.infer<typeof eventPageSchema>;
export type PricesHistory = z.infer<typeof pricesHistorySchema>;
export type MarketTradePage = z.infer<typeof marketTradePageSchema>;
export type SearchPage = z.infer<typeof searchPageSchema>;
export type Credentials = z.infer<typeof credentialsSchema>;
export type Order = z.infer<typeof orderSchema>;
export type PlacedOrder = z.infer<typeof placedOrderSchema>;
export type OrderPage = z.infer<typeof orderPageSchema>;
export type TradePage = z.infer<typeof tradePageSchema>;
export type CancelResult = z.infer<typeof cancelResultSchema>;
export type Info = z.infer<typeof infoSchema>;
export type Clock = z.infer<typeof clockSchema>;
export type ClockChange = z.infer<typeof clockChangeSchema>;
export type Account = z.infer<typeof accountSchema>;
export type AccountPage = z.infer<typeof accountPageSchema>;
export type StateHash = z.infer<typeof stateHashSchema>;
export type OrderStory = z.infer<typeof orderStorySchema>;
export type Invariants = z.infer<typeof invariantsSchema>;

/** The body of every error. */
export interface Refusal {
  readonly error: string;
  readonly code: string;
  readonly status: number;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}
