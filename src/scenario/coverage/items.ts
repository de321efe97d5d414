import type { Operation } from "../../api/endpoints/all.ts";
import type { ErrorCode } from "../../api/errors.ts";
import type { TICK_SIZES } from "../../api/schemas/control.ts";
import type { SelfTradePolicy } from "../../core/book/book.ts";
import type { SettlementFaultKind } from "../../core/chain/settlement-fault.ts";
import type { HoldReason } from "../../core/chain/transaction.ts";
import type { MarketStatus } from "../../core/market.ts";
import type { OrderStatus } from "../../core/order.ts";
import type {
  BalancePolicy,
  CancelReason,
  Matching,
  MatchType,
  OrderType,
  SettlementMode,
  WinningOutcome,
} from "../../core/terms.ts";
import type { CallStep, TransactionCode } from "../language/chain-steps.ts";
import type { Expectation, OwnExpectations, RequestStep, Step } from "../language/scenario.ts";

export const PARTIAL_FILL = "LIVE -> LIVE (partial fill)";
export const REORGANIZED = "MINED -> MATCHED (reorganized)";
export const GHOST = "MATCHED for ever (never mined)";

type Ended = Exclude<OrderStatus, "LIVE">;
/** A step that may say `rejects`. */
type Rejecting = Extract<Step, { readonly expects: OwnExpectations } | Pick<RequestStep, "rejects">>;

type Call = CallStep["kind"];
/** Why the settlement of a match is put off; what else there is holds wallets' own transactions, or comes with a reorganization. */
type Held = Exclude<HoldReason, "NONCE_GAP" | "NO_GAS_MONEY" | "REORGANIZED">;

/** What a suite can exercise, group by group. */
export interface Items {
  "order types": OrderType;
  /** Of an order as it is when its own command is over, and of one that rested before. */
  "order states": `new -> ${Exclude<OrderStatus, "EXPIRED">}` | typeof PARTIAL_FILL | `LIVE -> ${Ended}`;
  "market states": "ACTIVE -> CLOSED" | `${Exclude<MarketStatus, "RESOLVED">} -> RESOLVED`;
  "winning outcomes": WinningOutcome;
  "match types": MatchType;
  "cancel reasons": CancelReason;
  "matching modes": Matching;
  "self-trade policies": SelfTradePolicy;
  "tick sizes": `${(typeof TICK_SIZES)[number]}`;
  "settlement modes": SettlementMode;
  "balance policies": BalancePolicy;
  /** Of the fills of a match, and why they wait. `instant` makes them CONFIRMED at once. */
  settlement:
    | `MATCHED -> ${"MINED" | "CONFIRMED" | "FAILED"}`
    | `RETRYING -> ${"MINED" | "CONFIRMED" | "FAILED"}`
    | "MINED -> CONFIRMED"
    | typeof REORGANIZED
    | typeof GHOST
    | `held: ${Held}`;
  "settlement faults": SettlementFaultKind;
  "chain calls": Call | "reverted";
  "error codes of trading": ErrorCode;
  steps: Step["kind"];
  expectations: Expectation["kind"] | keyof OwnExpectations | Extract<keyof RequestStep, "answers">;
  "refused steps":
    | `${Exclude<Rejecting["kind"], Call>}: rejects`
    | `${Call}: ${TransactionCode}`
    | `cancel: already ${Lowercase<Ended>}`
    | "race: without rejects"
    | "replay: rows";
  endpoints: Operation;
  "errors by endpoint": `${Operation} ${ErrorCode}`;
}

export type GroupName = keyof Items;

/** The groups whose items the types of the core and of the language name. */
export type Named = Exclude<GroupName, "error codes of trading" | "endpoints" | "errors by endpoint">;

/** Every item of those, `true` or what it is called: one that is missing, or that does not exist, does not compile. */
export const NAMED: { readonly [Group in Named]: Readonly<Record<Items[Group], true | string>> } = {
  "order types": { GTC: true, GTD: true, FOK: true, FAK: true },
  "order states": {
    "new -> LIVE": true,
    "new -> MATCHED": true,
    "new -> CANCELED": true,
    [PARTIAL_FILL]: true,
    "LIVE -> MATCHED": true,
    "LIVE -> CANCELED": true,
    "LIVE -> EXPIRED": true,
  },
  "market states": { "ACTIVE -> CLOSED": true, "ACTIVE -> RESOLVED": true, "CLOSED -> RESOLVED": true },
  "winning outcomes": { YES: true, NO: true, SPLIT: true },
  "match types": { COMPLEMENTARY: true, MINT: true, MERGE: true },
  "cancel reasons": {
    USER: true,
    FOK_UNFILLED: true,
    FAK_UNFILLED: true,
    FAK_REMAINDER: true,
    SELF_TRADE: true,
    MARKET_CLOSED: true,
    SETTLEMENT_FAILED: true,
  },
  "matching modes": { complementary: true, independent: true },
  "self-trade policies": { allow: true, "cancel-taker": true, "cancel-maker": true, "cancel-both": true },
  "tick sizes": { "0.1": true, "0.01": true, "0.005": true, "0.0025": true, "0.001": true, "0.0001": true },
  "settlement modes": { instant: true, auto: true, manual: true },
  "balance policies": { optimistic: true, settled: true },
  settlement: {
    "MATCHED -> MINED": true,
    "MATCHED -> CONFIRMED": true,
    "MATCHED -> FAILED": true,
    "RETRYING -> MINED": true,
    "RETRYING -> CONFIRMED": true,
    "RETRYING -> FAILED": true,
    "MINED -> CONFIRMED": true,
    [REORGANIZED]: true,
    [GHOST]: true,
    "held: RETRIED": "MATCHED -> RETRYING",
    "held: UNFUNDED": "MATCHED -> RETRYING (waits for funds)",
    "held: DELAYED": "MATCHED (delayed)",
    "held: UNDERPRICED": "MATCHED (underpriced)",
  },
  "settlement faults": { fail: true, retry: true, delay: true, ghost: true, gasSpike: "gas-spike" },
  "chain calls": {
    split: true,
    merge: true,
    redeem: true,
    reverted: "reverted when mined",
  },
  steps: {
    order: "BUY, SELL",
    cancel: true,
    cancelAll: "cancel all",
    fund: true,
    advance: true,
    at: true,
    close: true,
    resolve: true,
    fault: true,
    snapshot: true,
    restore: true,
    replay: true,
    generate: true,
    race: true,
    request: true,
    expect: true,
    split: true,
    merge: true,
    redeem: true,
    mine: true,
    failSettlement: "fail settlement",
    chainFault: "chain fault",
    bump: true,
    reorg: true,
  },
  expectations: {
    book: true,
    trades: true,
    order: "orders",
    balance: "balances",
    quote: true,
    history: true,
    chain: "chain: head, confirmed, pending",
    supply: "chain: supply",
    settled: "chain: settled",
    stateHash: true,
    golden: true,
    status: true,
    fills: true,
    rejects: true,
    answers: true,
  },
  "refused steps": {
    "order: rejects": "BUY, SELL: rejects",
    "cancel: rejects": true,
    "cancel: already matched": true,
    "cancel: already canceled": true,
    "cancel: already expired": true,
    "cancelAll: rejects": "cancel all: rejects",
    "request: rejects": true,
    "reorg: rejects": true,
    "split: TRANSACTION_REVERTED": true,
    "split: TRANSACTION_REFUSED": true,
    "merge: TRANSACTION_REVERTED": true,
    "merge: TRANSACTION_REFUSED": true,
    "redeem: TRANSACTION_REVERTED": true,
    "redeem: TRANSACTION_REFUSED": true,
    "race: without rejects": true,
    "replay: rows": true,
  },
};

/** Whether a text names an item of a group. */
export const isItem = <Group extends Named>(group: Group, text: string): text is Items[Group] =>
  Object.hasOwn(NAMED[group], text);
