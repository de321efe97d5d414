// Made from the schemas of src/api by `npx vitest run test/client/generated-messages.test.ts -u`.

import type { MatchType, Order, Outcome, Trade, WinningOutcome } from "./service-messages.ts";
export interface Account {
  readonly address: `0x${string}`;
  readonly collateral: {
    readonly balance: number;
    readonly available: number;
    readonly reserved: number;
    readonly onChain: number;
  };
  readonly sharesOfEveryOtherToken: number;
  readonly tokens: readonly {
    readonly tokenId: string;
    readonly marketId: string;
    readonly outcome: Outcome;
    readonly balance: number;
    readonly available: number;
    readonly reserved: number;
    readonly onChain: number;
  }[];
}

export interface AuthCheck {
  readonly check: string;
  readonly code: string;
  readonly ok: boolean | null;
  readonly message: string;
}

export interface AuthExplanation {
  readonly verdict: string;
  readonly hint: string | null;
  readonly checks: readonly AuthCheck[];
  readonly canonicalMessage: string;
  readonly serverTime: number;
}

export interface Bot {
  readonly name: string;
  readonly kind: "maker" | "noise" | "momentum" | "informed";
  readonly address: `0x${string}`;
  readonly openOrders: number;
  readonly fills: number;
}

export interface Bots {
  /** Null: none act. */
  readonly profile: "thin" | "normal" | "busy" | "toxic" | null;
  /** Decides what they do. */
  readonly seed: string | null;
  readonly bots: readonly Bot[];
}

export interface BumpedFees {
  readonly bumped: number;
}

export interface Chain {
  readonly chainId: number;
  readonly settlement: "instant" | "auto" | "manual";
  readonly balances: "optimistic" | "settled";
  readonly head: ChainHead;
  /** The number of the latest block that is final. */
  readonly confirmed: number;
  /** How many transactions wait for a block. */
  readonly pending: number;
  /** How many will never be mined, though the ledger counts on them. */
  readonly lost: number;
  readonly nextBlockAt: string | null;
  readonly baseFeeGwei: number;
  readonly contracts: ChainContracts;
  readonly oracle: `0x${string}`;
  readonly operator: `0x${string}`;
}

export interface ChainBlock {
  /** The first block is 0. */
  readonly number: number;
  readonly hash: `0x${string}`;
  readonly parentHash: `0x${string}`;
  readonly minedAt: string;
  /** Whether nothing can take it back. */
  readonly confirmed: boolean;
  readonly transactions: readonly ChainTransaction[];
}

export interface ChainContracts {
  readonly collateral: `0x${string}`;
  readonly conditionalTokens: `0x${string}`;
  readonly exchange: `0x${string}`;
}

export interface ChainHead {
  /** The first block is 0. */
  readonly number: number;
  readonly hash: `0x${string}`;
  readonly minedAt: string;
}

export interface ChainTransaction {
  readonly hash: `0x${string}`;
  readonly kind: "MATCH" | "DEPOSIT" | "PREPARE" | "REPORT" | "CALL";
  readonly status: "PENDING" | "MINED" | "REVERTED" | "FAILED" | "LOST" | "REPLACED" | "DROPPED";
  /** Why it reverted or failed, or what it waits for. */
  readonly reason: string | null;
  readonly tradeIds: readonly string[];
}

export interface Clock {
  readonly mode: "real" | "frozen" | "scaled";
  readonly time: string;
  readonly rate: number;
  readonly unixTime: number;
}

export interface ClockChange {
  readonly mode: "real" | "frozen" | "scaled";
  readonly time: string;
  readonly rate: number;
  readonly unixTime: number;
  readonly fired: readonly Fired[];
}

export interface DevAccount {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
  /** A command for a shell that gets its API credentials. */
  readonly curl: string;
}

export interface EndedBots {
  /** Those that acted until now. */
  readonly profile: "thin" | "normal" | "busy" | "toxic" | null;
  readonly canceled: number;
}

export interface EndedSettlementFaults {
  readonly removed: readonly string[];
}

export interface Fault {
  readonly id: string;
  readonly route: string;
  readonly status: 429 | 500 | 502 | 503 | 504 | null;
  readonly retryAfter: number | null;
  readonly latency: string | null;
  readonly drop: "connection" | "reply" | null;
  readonly probability: number;
  readonly times: number | null;
  readonly after: number;
  /** How many requests of its route have come. */
  readonly matched: number;
  readonly fired: number;
  /** How often it will yet fire; null: without end. */
  readonly remaining: number | null;
}

export type Fired =
  | {
      readonly kind: "ORDER_EXPIRED";
      readonly orderId: string;
      readonly at: string;
    }
  | {
      readonly kind: "BLOCK_MINED";
      readonly blockNumber: number;
      readonly transactions: number;
      readonly at: string;
    };

export interface Funding {
  /** USDC to add. */
  readonly collateral?: number;
  /** Shares to add, by token id. */
  readonly tokens?: Readonly<Record<string, number>>;
}

export interface Health {
  readonly status: "ok";
  readonly time: string;
}

export interface Info {
  readonly name: "clobsim";
  readonly version: string;
  readonly seed: string;
  readonly clock: Clock;
  readonly sequence: number;
  readonly stateHash: string;
  readonly config: {
    readonly numbers: "number" | "string";
    readonly credentials: "rotate" | "once";
    readonly personalSign: boolean;
    readonly unknownFields: "accept" | "refuse";
    readonly settlement: "instant" | "auto" | "manual";
    readonly balances: "optimistic" | "settled";
    readonly approvals: "granted" | "required";
    readonly faucet: {
      readonly collateral: number;
      readonly sharesOfEveryToken: number;
    };
  };
  readonly events: number;
  readonly markets: number;
  readonly orders: number;
  readonly trades: number;
  readonly devAccounts: readonly DevAccount[];
  readonly houseAccounts: {
    readonly faucet: `0x${string}`;
    readonly fees: `0x${string}`;
  };
}

export interface Invariant {
  readonly name: string;
  readonly holds: boolean;
  readonly checked: number;
  readonly differences: readonly string[];
}

export interface Invariants {
  readonly hold: boolean;
  readonly invariants: readonly Invariant[];
}

export interface MarketSupply {
  readonly marketId: string;
  readonly conditionId: `0x${string}`;
  /** With what pending settlements will change. */
  readonly ledger: {
    readonly YES: number;
    readonly NO: number;
    readonly collateral: number;
  };
  readonly onChain: {
    readonly YES: number;
    readonly NO: number;
    readonly collateral: number;
  };
}

export interface Mining {
  /** Default 1. */
  readonly blocks?: number;
}

export interface NewBots {
  readonly profile: "thin" | "normal" | "busy" | "toxic";
  /** Another market from another seed; left out, that of the exchange. */
  readonly seed?: string;
}

export interface NewClock {
  readonly mode?: "real" | "frozen" | "scaled";
  /** ISO-8601 with a zone; never before the clock's time. */
  readonly time?: string;
  /** A duration such as 90s, 2h or 500ms. */
  readonly advance?: string;
  /** With mode scaled. */
  readonly rate?: number;
}

export interface NewEvent {
  readonly title: string;
  readonly slug?: string;
  readonly description?: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  /** ISO-8601 with a zone. */
  readonly endDate?: string | null;
}

export interface NewFault {
  /** Method and path as this document writes them, such as POST /clob/order; or a path; or *. Default "*". */
  readonly route?: string;
  /** Answers this, and nothing is executed. */
  readonly status?: 429 | 500 | 502 | 503 | 504;
  /** Seconds in Retry-After; with status 429 or 503, where 1 is the default. */
  readonly retryAfter?: number;
  /** How long a request waits before anything else, such as 200ms; at most 1h. */
  readonly latency?: string;
  /** Hangs up before the request is executed (connection), or instead of the answer (reply). */
  readonly drop?: "connection" | "reply";
  /** Default 1. */
  readonly probability?: number;
  /** How often it fires; left out: always. */
  readonly times?: number;
  /** How many requests it first lets pass. Default 0. */
  readonly after?: number;
}

export interface NewMarket {
  readonly question: string;
  /** Left out: an event of the same name is made. */
  readonly eventId?: string;
  readonly slug?: string;
  readonly description?: string;
  readonly category?: string;
  /** Default 0.01. */
  readonly tickSize?: 0.1 | 0.01 | 0.005 | 0.0025 | 0.001 | 0.0001;
  /** Default 1. */
  readonly minOrderSize?: number;
  /** Default 0. */
  readonly feeRateBps?: number;
  /** Default "complementary". */
  readonly matching?: "complementary" | "independent";
  /** Default "allow". */
  readonly selfTrade?: "allow" | "cancel-taker" | "cancel-maker" | "cancel-both";
  /** ISO-8601 with a zone. */
  readonly endDate?: string | null;
  readonly tags?: readonly string[];
}

export interface NewSettlementFault {
  /** fail: mined and reverted; retry: put off to the next block; delay: put off by some blocks; ghost: never mined; gas-spike: the base fee rises above what the exchange offers; reorg: the latest blocks are replaced, at once. */
  readonly kind: "fail" | "retry" | "delay" | "ghost" | "gas-spike" | "reorg";
  /** How many settlements it hits. Left out: the next one or, with a probability, any number. */
  readonly times?: number;
  /** Of each settlement, drawn by the seed. */
  readonly probability?: number;
  /** Of a delay; default 1. */
  readonly blocks?: number;
  /** Of a gas-spike; default 500. */
  readonly baseFeeGwei?: number;
  /** Of a reorg; default 1. */
  readonly depth?: number;
  /** Of a failure: what it says. */
  readonly reason?: string;
  /** The id of an order: only the settlement of what it took. `next`: of the order that is placed next. */
  readonly of?: string;
}

export interface NewSnapshot {
  /** Another name for it than its id; of several with one name the latest is meant. */
  readonly name?: string;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly [name: string]: unknown;
}

export interface OrderPreview {
  /** Whether POST /clob/order would take it; one that is killed, as a FOK that cannot be filled, is taken. */
  readonly accepted: boolean;
  readonly refusal: PreviewedRefusal | null;
  readonly order: PreviewedOrder | null;
}

export interface OrderStory {
  readonly order: Order;
  readonly owner: `0x${string}`;
  readonly summary: string;
  readonly story: readonly StoryLine[];
  readonly queue: QueuePlace | null;
  readonly fills: readonly Trade[];
}

export interface OrderToPreview {
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
  /** Whose order it would be. */
  readonly address: string;
}

export interface PastedRequest {
  readonly method: string;
  /** The URL, or the path from /clob on. */
  readonly url?: string;
  /** The same under another name. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Unix seconds; left out: now. */
  readonly serverTime?: number;
}

export interface PreviewedFill {
  readonly price: number;
  readonly size: number;
  readonly fee: number;
  readonly matchType: MatchType;
  readonly counterOrderId: string;
}

export interface PreviewedOrder {
  readonly status: "LIVE" | "MATCHED" | "CANCELED" | "EXPIRED";
  readonly cancelReason:
    | "USER"
    | "FOK_UNFILLED"
    | "FAK_UNFILLED"
    | "FAK_REMAINDER"
    | "SELF_TRADE"
    | "MARKET_CLOSED"
    | "SETTLEMENT_FAILED"
    | null;
  readonly sizeMatched: number;
  readonly sizeRemaining: number;
  readonly avgPrice: number | null;
  readonly fee: number;
  /** USDC that the fills of a BUY would take, fees included. */
  readonly paid: number;
  /** USDC that the fills of a SELL would bring, after fees. */
  readonly received: number;
  readonly fills: readonly PreviewedFill[];
  readonly reserved: PreviewedReservation | null;
  /** Orders of the same account that it would cancel. */
  readonly cancels: readonly string[];
}

export interface PreviewedRefusal {
  readonly error: string;
  readonly code: string;
  readonly status: number;
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
}

export interface PreviewedReservation {
  readonly asset: string;
  readonly amount: number;
}

export interface QueuePlace {
  readonly joinedBehind: {
    readonly orders: number;
    readonly shares: number;
  };
  readonly nowBehind: {
    readonly orders: number;
    readonly shares: number;
  };
}

export interface RecordedScenario {
  readonly name: string;
  /** A scenario file, YAML, that passes. */
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

export interface RemovedFaults {
  readonly removed: readonly string[];
}

export interface Resolution {
  readonly winningOutcome: WinningOutcome;
}

export interface RpcFailure {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly data?: unknown;
  };
}

export type RpcReply = RpcResult | RpcFailure | readonly (RpcResult | RpcFailure)[];

export interface RpcResult {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly result: unknown;
}

export interface SettlementFault {
  /** Null of a reorg, which is over when it is answered. */
  readonly id: string | null;
  readonly kind: "fail" | "retry" | "delay" | "ghost" | "gas-spike" | "reorg";
  readonly times: number | null;
  readonly probability: number;
  readonly blocks: number | null;
  readonly baseFeeGwei: number | null;
  readonly depth: number | null;
  readonly reason: string | null;
  /** The one order whose settlement it hits. */
  readonly of?: string;
  /** How many settlements it has hit. */
  readonly struck: number;
  /** How many it will still hit; null: without end. */
  readonly remaining: number | null;
}

export interface Snapshot {
  readonly id: string;
  readonly name: string | null;
  readonly sequence: number;
  readonly time: string;
  readonly hash: string;
}

export interface State {
  readonly units: Readonly<Record<string, string>>;
  readonly [name: string]: unknown;
}

export interface StateHash {
  readonly hash: string;
  readonly sequence: number;
}

export interface StoryLine {
  readonly at: string;
  readonly what: string;
}
