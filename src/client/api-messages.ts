import type { BodyAt, Operation, QueryAt, ReplyTo as ReplyOf } from "../api/endpoints.ts";
import type { ErrorCode as Code } from "../api/errors.ts";

// Named types of API requests and replies, inferred from the schemas of the endpoints. `bin/setup/published-types.ts`
// writes them out in full for the package, with those that have no name here.

/** The requested part of a list; omitted fields have the server's defaults. */
export type PageWindow = QueryAt<"GET /sim/accounts">;
/** One page of a list. */
export interface Page<Item> extends Omit<ReplyOf<"listOrders">, "data"> {
  readonly data: readonly Item[];
}

/** Replies by the operation's name in the OpenAPI document. */
export type Replies = { readonly [O in Operation]: ReplyOf<O> };
/** Reply of an operation, by its name in the OpenAPI document: `ReplyTo<"getClock">`. */
export type ReplyTo<O extends keyof Replies> = Replies[O];
type ItemOf<O extends Operation> = Replies[O] extends Page<infer Item> ? Item : never;

/** Error codes of the server, described in docs/reference/errors.md. */
export type ErrorCode = Code;

export type Account = Replies["getAccount"];
export type AuthExplanation = Replies["explainAuth"];
export type Book = Replies["getBook"];
export type Bots = Replies["getBots"];
export type CancelResult = Replies["cancelOrder"];
export type Chain = Replies["getChain"];
export type Clock = Replies["getClock"];
export type ClockChange = Replies["setClock"];
export type Credentials = Replies["deriveApiKey"];
export type EndedBots = Replies["endBots"];
export type EventDetail = Replies["getEvent"];
export type Fault = Replies["addFault"];
export type FeeRate = Replies["getFeeRate"];
export type Info = Replies["getInfo"];
export type Invariants = Replies["getInvariants"];
export type JournalEntry = ItemOf<"listJournal">;
export type LastTrade = Replies["getLastTradePrice"];
export type Level = Book["bids"][number];
export type Market = ItemOf<"listMarkets">;
export type MarketDetail = Replies["getMarket"];
export type MarketEvent = ItemOf<"listEvents">;
export type MarketSupply = Replies["getSupply"];
export type MarketTrade = ItemOf<"listMarketTrades">;
export type Midpoint = Replies["getMidpoint"];
export type Order = ItemOf<"listOrders">;
export type OrderPreview = Replies["previewOrder"];
export type OrderStory = Replies["explainOrder"];
export type PlacedOrder = Replies["placeOrder"];
export type PricesHistory = Replies["getPricesHistory"];
export type Quote = Replies["getPrice"];
export type RecordedScenario = Replies["recordScenario"];
export type SearchResult = ItemOf<"search">;
export type Snapshot = Replies["takeSnapshot"];
export type Spread = Replies["getSpread"];
export type StateHash = Replies["getStateHash"];
export type TickSize = Replies["getTickSize"];
export type Time = Replies["getTime"];
export type Trade = ItemOf<"listTrades">;
export type WinningOutcome = NonNullable<Market["winningOutcome"]>;

export type NewFault = BodyAt<"POST /sim/faults">;
export type OrderBody = BodyAt<"POST /clob/order">;

/** A query with camel-case names only, as in the rest of the client. */
type Filter<Query> = {
  readonly [Name in keyof Query as Name extends "token_id" ? "tokenId" : Name]: Query[Name];
};
export type EventFilter = QueryAt<"GET /api/events">;
export type HistoryRange = QueryAt<"GET /api/markets/{idOrSlug}/prices-history">;
export type MarketFilter = QueryAt<"GET /api/markets">;
export type MarketTradeFilter = QueryAt<"GET /api/markets/{idOrSlug}/trades">;
export type OrderFilter = Filter<QueryAt<"GET /clob/orders">>;
export type TradeFilter = Filter<QueryAt<"GET /clob/trades">>;
