// Made from the schemas of src/api by `npx vitest run test/client/generated-messages.test.ts -u`.

/** Which part of a list is asked for; what is left out is the server's default. */
export interface PageWindow {
  /** How many items at most; the server clamps it to its maximum. */
  readonly limit?: number;
  /** How many items to skip. */
  readonly offset?: number;
}

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  /** The limit that was applied. */
  readonly limit: number;
  readonly offset: number;
  /** How many items the whole list has. */
  readonly total: number;
  readonly hasMore: boolean;
}

export interface Book {
  readonly tokenId: string;
  readonly marketId: string;
  readonly outcome: Outcome;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly tickSize: number;
  readonly lastTradePrice: number | null;
  readonly sequence: number;
  readonly hash: string;
  readonly updatedAt: string;
}

export interface CancelResult {
  readonly canceled: readonly string[];
  readonly notCanceled: Readonly<Record<string, "already matched" | "already canceled" | "already expired">>;
}

export interface Cancellation {
  readonly orderId?: string;
  readonly id?: string;
  readonly orderID?: string;
}

export interface Credentials {
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

export interface Derivation {
  readonly address?: string;
  readonly signature?: string;
  readonly timestamp?: string | number;
  readonly nonce?: string | number;
}

export interface MarketEvent {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly active: boolean;
  readonly volume: number;
  readonly liquidity: number;
  readonly marketCount: number;
  readonly createdAt: string;
  readonly endDate: string | null;
}

export interface EventDetail {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly active: boolean;
  readonly volume: number;
  readonly liquidity: number;
  readonly marketCount: number;
  readonly createdAt: string;
  readonly endDate: string | null;
  readonly markets: readonly Market[];
}

export interface EventResult {
  readonly type: "event";
  readonly event: MarketEvent;
}

export interface FeeRate {
  readonly tokenId: string;
  readonly feeRateBps: number;
}

export interface LastTrade {
  readonly tokenId: string;
  readonly lastTradePrice: number | null;
  readonly side: Side | null;
  readonly tradedAt: string | null;
}

export interface Level {
  readonly price: number;
  readonly size: number;
  readonly orders: number;
}

export interface Market {
  readonly id: string;
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly conditionId: `0x${string}`;
  readonly eventId: string;
  readonly status: "ACTIVE" | "CLOSED" | "RESOLVED";
  readonly active: boolean;
  readonly tokens: readonly Token[];
  readonly tickSize: number;
  readonly minOrderSize: number;
  readonly feeRateBps: number;
  readonly matching: "complementary" | "independent";
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
  readonly lastTradePrice: number | null;
  readonly volume: number;
  readonly liquidity: number;
  readonly createdAt: string;
  readonly endDate: string | null;
  readonly resolvedAt: string | null;
  readonly winningOutcome: WinningOutcome | null;
}

export interface MarketDetail {
  readonly id: string;
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly conditionId: `0x${string}`;
  readonly eventId: string;
  readonly status: "ACTIVE" | "CLOSED" | "RESOLVED";
  readonly active: boolean;
  readonly tokens: readonly Token[];
  readonly tickSize: number;
  readonly minOrderSize: number;
  readonly feeRateBps: number;
  readonly matching: "complementary" | "independent";
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
  readonly lastTradePrice: number | null;
  readonly volume: number;
  readonly liquidity: number;
  readonly createdAt: string;
  readonly endDate: string | null;
  readonly resolvedAt: string | null;
  readonly winningOutcome: WinningOutcome | null;
  readonly event: MarketEvent;
}

export interface MarketResult {
  readonly type: "market";
  readonly market: Market;
}

export interface MarketTrade {
  readonly id: string;
  readonly tokenId: string;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly matchType: MatchType;
  readonly status: SettlementStatus;
  readonly transactionHash: `0x${string}` | null;
  readonly createdAt: string;
}

export type MatchType = "COMPLEMENTARY" | "MINT" | "MERGE";

export interface Midpoint {
  readonly tokenId: string;
  readonly mid: number | null;
}

export interface OrderBody {
  /** Id of the outcome token to trade. */
  readonly tokenId: string;
  readonly side: "BUY" | "SELL";
  /** Default "GTC". */
  readonly orderType?: "GTC" | "GTD" | "FOK" | "FAK";
  /** Limit price, a multiple of the token's tick size. */
  readonly price: number;
  /** Shares, a multiple of 0.01. */
  readonly size: number;
  /** Required for GTD and only for GTD: Unix seconds, Unix milliseconds or ISO-8601 with a zone. "0", "", 0 and null stand for none. */
  readonly expiration?: string | 0 | null;
}

export interface Order {
  readonly id: string;
  readonly status: "LIVE" | "MATCHED" | "CANCELED" | "EXPIRED";
  readonly marketId: string;
  readonly tokenId: string;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly sizeMatched: number;
  readonly sizeRemaining: number;
  readonly avgPrice: number | null;
  readonly fee: number;
  readonly orderType: OrderType;
  readonly expiration: string | null;
  readonly cancelReason:
    | "USER"
    | "FOK_UNFILLED"
    | "FAK_UNFILLED"
    | "FAK_REMAINDER"
    | "SELF_TRADE"
    | "MARKET_CLOSED"
    | "SETTLEMENT_FAILED"
    | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type OrderType = "GTC" | "GTD" | "FOK" | "FAK";

export type Outcome = "YES" | "NO";

export interface PlacedOrder {
  readonly id: string;
  readonly status: "LIVE" | "MATCHED" | "CANCELED" | "EXPIRED";
  readonly marketId: string;
  readonly tokenId: string;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly sizeMatched: number;
  readonly sizeRemaining: number;
  readonly avgPrice: number | null;
  readonly fee: number;
  readonly orderType: OrderType;
  readonly expiration: string | null;
  readonly cancelReason:
    | "USER"
    | "FOK_UNFILLED"
    | "FAK_UNFILLED"
    | "FAK_REMAINDER"
    | "SELF_TRADE"
    | "MARKET_CLOSED"
    | "SETTLEMENT_FAILED"
    | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly trades: readonly Trade[];
}

export interface PricePoint {
  readonly t: number;
  readonly p: number;
}

export interface PricesHistory {
  readonly data: readonly PricePoint[];
  readonly tokenId: string;
}

export interface Quote {
  readonly tokenId: string;
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
}

export type SearchResult = EventResult | MarketResult;

export type SettlementStatus = "MATCHED" | "MINED" | "CONFIRMED" | "RETRYING" | "FAILED";

export type Side = "BUY" | "SELL";

export interface Spread {
  readonly tokenId: string;
  readonly spread: number | null;
}

export interface TickSize {
  readonly tokenId: string;
  readonly tickSize: number;
}

export interface Time {
  readonly time: number;
}

export interface Token {
  readonly tokenId: string;
  readonly outcome: Outcome;
  readonly price: number | null;
  readonly winner: boolean | null;
}

export interface Trade {
  readonly id: string;
  readonly status: SettlementStatus;
  readonly marketId: string;
  readonly tokenId: string;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly fee: number;
  readonly role: "TAKER" | "MAKER";
  readonly orderId: string;
  readonly counterOrderId: string;
  readonly matchType: MatchType;
  readonly transactionHash: `0x${string}` | null;
  readonly blockNumber: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type WinningOutcome = "YES" | "NO" | "SPLIT";

/** Which of the caller's open orders. */
export type OrderFilter = {
  /** Only orders of this token. */
  readonly tokenId?: string;
  /** Only orders of this market: id or slug. */
  readonly market?: string;
  /** Only orders of this side. */
  readonly side?: "BUY" | "SELL";
  /** How many items; default 100, anything above 500 means 500. */
  readonly limit?: number;
  /** How many items to skip. */
  readonly offset?: number;
};

/** Which of the caller's fills. */
export type TradeFilter = {
  /** Only fills of this token. */
  readonly tokenId?: string;
  /** Only fills of this market: id or slug. */
  readonly market?: string;
  /** Only fills of this order. */
  readonly order?: string;
  /** Only fills from this Unix second on, inclusive. */
  readonly after?: number;
  /** Only fills before this Unix second, exclusive. */
  readonly before?: number;
  /** How many items; default 100, anything above 500 means 500. */
  readonly limit?: number;
  /** How many items to skip. */
  readonly offset?: number;
};

/** Which markets, and in what order. */
export type MarketFilter = {
  /** How many items; default 50, anything above 100 means 100. */
  readonly limit?: number;
  /** How many items to skip. */
  readonly offset?: number;
  /** true: only what is open; false: only what is not. */
  readonly active?: boolean;
  /** What to sort by; default createdAt. */
  readonly sort?: "volume" | "liquidity" | "createdAt" | "endDate";
  /** Only what carries this category or tag slug. */
  readonly tag?: string;
};

/** Which part of a price history, and at most how many points. */
export type HistoryRange = {
  /** One of the market's tokens; default the YES token. */
  readonly tokenId?: string;
  /** At most this many points, sampled uniformly over the range. */
  readonly fidelity?: number;
  /** Lower bound in Unix seconds, inclusive. */
  readonly startTs?: number;
  /** Upper bound in Unix seconds, inclusive. */
  readonly endTs?: number;
};

/** Which of a market's trades. */
export type MarketTradeFilter = {
  /** How many items; default 50, anything above 500 means 500. */
  readonly limit?: number;
  /** How many items to skip. */
  readonly offset?: number;
  /** true: takers of both outcomes; default only of YES. */
  readonly all?: boolean;
};

/** Which events. */
export type EventFilter = {
  /** How many items; default 50, anything above 100 means 100. */
  readonly limit?: number;
  /** How many items to skip. */
  readonly offset?: number;
  /** true: only what is open; false: only what is not. */
  readonly active?: boolean;
  /** Only what carries this category or tag slug. */
  readonly tag?: string;
};

/** Why the server refuses; docs/reference/errors.md says what each means. */
export type ErrorCode =
  | "INVALID_JSON"
  | "INVALID_ORDER"
  | "INVALID_SIDE"
  | "INVALID_ORDER_TYPE"
  | "PRICE_OUT_OF_RANGE"
  | "INVALID_TICK_SIZE"
  | "INVALID_SIZE"
  | "SIZE_TOO_SMALL"
  | "EXPIRATION_REQUIRED"
  | "INVALID_EXPIRATION"
  | "EXPIRATION_IN_PAST"
  | "EXPIRATION_NOT_ALLOWED"
  | "INSUFFICIENT_BALANCE"
  | "ORDER_ID_REQUIRED"
  | "CONFLICTING_FIELDS"
  | "TOKEN_ID_REQUIRED"
  | "TOKEN_NOT_IN_MARKET"
  | "INVALID_PARAMETER"
  | "QUERY_REQUIRED"
  | "INVALID_AUTH_PAYLOAD"
  | "INVALID_HTTP"
  | "MISSING_AUTH_HEADER"
  | "DUPLICATE_AUTH_HEADER"
  | "INVALID_TIMESTAMP"
  | "TIMESTAMP_OUT_OF_WINDOW"
  | "UNKNOWN_API_KEY"
  | "ADDRESS_MISMATCH"
  | "INVALID_PASSPHRASE"
  | "INVALID_SIGNATURE"
  | "INVALID_WALLET_SIGNATURE"
  | "SIM_TOKEN_REQUIRED"
  | "HOST_NOT_ALLOWED"
  | "ORIGIN_NOT_ALLOWED"
  | "TOKEN_NOT_FOUND"
  | "MARKET_NOT_FOUND"
  | "EVENT_NOT_FOUND"
  | "ORDER_NOT_FOUND"
  | "SNAPSHOT_NOT_FOUND"
  | "FAULT_NOT_FOUND"
  | "ROUTE_NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "REQUEST_TIMEOUT"
  | "MARKET_CLOSED"
  | "CREDENTIALS_ALREADY_DERIVED"
  | "LIMIT_REACHED"
  | "SESSION_TOO_LONG"
  | "SESSION_NOT_RECORDABLE"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "EXPECTATION_FAILED"
  | "RATE_LIMITED"
  | "HEADERS_TOO_LARGE"
  | "INTERNAL_ERROR"
  | "UNAVAILABLE";
