import {
  type AnyEndpoint,
  codesOf,
  ENDPOINTS,
  isTradingEndpoint,
  type Operation,
} from "../../api/endpoints.ts";
import { ERROR_CODES, type ErrorCode } from "../../api/errors.ts";
import type { TICK_SIZES } from "../../api/markets.ts";
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
import type {
  CallStep,
  Expectation,
  OwnExpectations,
  RequestStep,
  Step,
  TransactionCode,
} from "../language/scenario.ts";

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
type Named = Exclude<GroupName, "error codes of trading" | "endpoints" | "errors by endpoint">;

/** Every item of those, `true` or what it is called: one that is missing, or that does not exist, does not compile. */
const NAMED: { readonly [Group in Named]: Readonly<Record<Items[Group], true | string>> } = {
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

/** A group with its items, each with its words, a column for each. */
export interface Group {
  readonly name: GroupName;
  readonly items: ReadonlyMap<string, readonly string[]>;
}

const namedGroup = (name: Named): Group => ({
  name,
  items: new Map(
    Object.entries<true | string>(NAMED[name]).map(([item, text]) => [item, [text === true ? item : text]]),
  ),
});

/** What no scenario can meet: its exchange lets every wallet derive credentials again. */
const OUT_OF_REACH: ReadonlySet<string> = new Set<ErrorCode>(["CREDENTIALS_ALREADY_DERIVED"]);

/** The error codes of an endpoint on the servers of scenarios, which accept unknown fields. */
const documentedCodes = (endpoint: AnyEndpoint) => codesOf(endpoint, "accept");

/** In the order of the API's contract. */
function tradingCodes(): Group {
  const codes = new Set<string>(
    ENDPOINTS.filter(isTradingEndpoint)
      .flatMap(documentedCodes)
      .filter((code) => !OUT_OF_REACH.has(code)),
  );
  const items = ERROR_CODES.filter((code) => codes.has(code));
  return { name: "error codes of trading", items: new Map(items.map((code) => [code, [code]])) };
}

function endpoints(): Group {
  const items = ENDPOINTS.map(
    ({ operation, method, path }) => [operation, [operation, method, path]] as const,
  );
  return { name: "endpoints", items: new Map(items) };
}

/** What the imitated service answers, without the control plane, and without what every endpoint of it can answer. */
function endpointErrors(): Group {
  const items = new Map<string, readonly string[]>();
  const imitated = ENDPOINTS.filter(({ path }) => /^\/(?:api|clob)\//.test(path));
  const everywhere = new Set<string>(
    documentedCodes(imitated[0] as AnyEndpoint).filter((code) =>
      imitated.every((endpoint) => documentedCodes(endpoint).includes(code)),
    ),
  );
  for (const endpoint of imitated) {
    for (const code of documentedCodes(endpoint)) {
      if (OUT_OF_REACH.has(code) || everywhere.has(code)) continue;
      items.set(`${endpoint.operation} ${code}`, [endpoint.operation, code]);
    }
  }
  return { name: "errors by endpoint", items };
}

/** All that a suite can exercise; what only HTTP has counts only where all scenarios are run over it. */
export function universe(via: "auto" | "process" | "http"): readonly Group[] {
  const trade = ["order types", "order states"] as const;
  const markets = ["market states", "winning outcomes"] as const;
  const matching = [
    "match types",
    "cancel reasons",
    "matching modes",
    "self-trade policies",
    "tick sizes",
  ] as const;
  const settlement = [
    "settlement modes",
    "balance policies",
    "settlement",
    "settlement faults",
    "chain calls",
  ] as const;
  const language = ["steps", "expectations", "refused steps"] as const;
  return [
    ...[...trade, ...markets, ...matching, ...settlement].map(namedGroup),
    tradingCodes(),
    ...language.map(namedGroup),
    ...(via === "http" ? [endpoints(), endpointErrors()] : []),
  ];
}

/** What has been seen, and how often. */
export class Sightings {
  readonly #times = new Map<GroupName, Map<string, number>>();

  note<Name extends GroupName>(group: Name, item: Items[Name]): void {
    let times = this.#times.get(group);
    if (times === undefined) {
      times = new Map();
      this.#times.set(group, times);
    }
    times.set(item, (times.get(item) ?? 0) + 1);
  }

  /** How often an item has been seen. */
  times(group: GroupName, item: string): number {
    return this.#times.get(group)?.get(item) ?? 0;
  }
}
