import { type AnyEndpoint, codesOf, ENDPOINTS, isTradingEndpoint } from "../../api/endpoints.ts";
import { ERROR_CODES, type ErrorCode } from "../../api/errors.ts";
import { confirmationsOf, minedAt, type SettlementFaultKind } from "../../core/chain/chain.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import type { DomainEvent } from "../../core/events.ts";
import { priceText } from "../../core/format.ts";
import { type Market, marketOfToken } from "../../core/market.ts";
import { STATUSES } from "../../core/rules/markets.ts";
import type { State } from "../../core/state.ts";
import {
  BALANCE_POLICIES,
  CANCEL_REASONS,
  MATCH_TYPES,
  MATCHINGS,
  ORDER_TYPES,
  SELF_TRADE_POLICIES,
  SETTLEMENT_MODES,
  TICK_SIZES,
  WINNING_OUTCOMES,
} from "../../core/terms.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { EXPECTATIONS, type ExpectationInfo, OWN_EXPECTATIONS } from "../language/expectations.ts";
import type { StepInfo } from "../language/step-source.ts";
import { STEPS } from "../language/steps.ts";
import type { SuiteOptions } from "../run/run-suite.ts";

const PARTIAL_FILL = "LIVE -> LIVE (partial fill)";
const REORGANIZED = "MINED -> MATCHED (reorganized)";
const GHOST = "MATCHED for ever (never mined)";

/** Items that a suite can exercise: the key under which each is counted, and its columns in the report. */
type Items = ReadonlyMap<string, readonly string[]>;

const items = (...texts: readonly string[]): Items => new Map(texts.map((text) => [text, [text]]));
const namedItems = (names: Iterable<readonly [item: string, name: string]>): Items =>
  new Map([...names].map(([item, name]) => [item, [name]]));

const stepNames = Object.entries<StepInfo>(STEPS).map(([kind, info]) => ({
  kind,
  name: info.name ?? info.key ?? kind,
  refusals: info.refusals ?? [],
}));
const expectationNames = Object.entries<ExpectationInfo>(EXPECTATIONS).map(
  ([kind, { key = kind, parts }]) =>
    [kind, parts === undefined ? key : `${key}: ${parts.join(", ")}`] as const,
);

export const GROUPS = {
  "order types": items(...ORDER_TYPES),
  // States after the order's own command, and changes of a resting order.
  "order states": items(
    "new -> LIVE",
    "new -> MATCHED",
    "new -> CANCELED",
    PARTIAL_FILL,
    "LIVE -> MATCHED",
    "LIVE -> CANCELED",
    "LIVE -> EXPIRED",
  ),
  "market states": items(
    ...Object.entries(STATUSES).flatMap(([status, { next }]) => next.map((each) => `${status} -> ${each}`)),
  ),
  "winning outcomes": items(...WINNING_OUTCOMES),
  "match types": items(...MATCH_TYPES),
  "cancel reasons": items(...CANCEL_REASONS),
  "matching modes": items(...MATCHINGS),
  "self-trade policies": items(...SELF_TRADE_POLICIES),
  "tick sizes": items(...TICK_SIZES.map(String)),
  "settlement modes": items(...SETTLEMENT_MODES),
  "balance policies": items(...BALANCE_POLICIES),
  // Settlement of fills, and why they wait. `instant` confirms them at once.
  settlement: new Map([
    ...items(
      "MATCHED -> MINED",
      "MATCHED -> CONFIRMED",
      "MATCHED -> FAILED",
      "RETRYING -> MINED",
      "RETRYING -> CONFIRMED",
      "RETRYING -> FAILED",
      "MINED -> CONFIRMED",
      REORGANIZED,
      GHOST,
    ),
    ...namedItems([
      ["deferred: RETRIED", "MATCHED -> RETRYING"],
      ["deferred: UNFUNDED", "MATCHED -> RETRYING (waits for funds)"],
      ["deferred: DELAYED", "MATCHED (delayed)"],
      ["deferred: UNDERPRICED", "MATCHED (underpriced)"],
    ]),
  ]),
  "settlement faults": new Map([...items("fail", "retry", "delay", "ghost"), ["gasSpike", ["gas-spike"]]]),
  "chain calls": new Map([...items("split", "merge", "redeem"), ["reverted", ["reverted when mined"]]]),
  "error codes of trading": tradingCodes(),
  steps: namedItems(stepNames.map(({ kind, name }) => [kind, name])),
  expectations: new Map([...namedItems(expectationNames), ...items(...OWN_EXPECTATIONS)]),
  "refused steps": namedItems(
    stepNames.flatMap(({ kind, name, refusals }) =>
      refusals.map((refusal) => [`${kind}: ${refusal}`, `${name}: ${refusal}`] as const),
    ),
  ),
  endpoints: new Map(
    ENDPOINTS.map(({ operation, method, path }) => [operation, [operation, method, path]]),
  ) as Items,
  "errors by endpoint": endpointErrors(),
} as const;

type GroupName = keyof typeof GROUPS;

export type Group = ReturnType<typeof universe>[number];

const OVER_HTTP: readonly string[] = ["endpoints", "errors by endpoint"];

/** Returns all groups; those of HTTP only if all scenarios run over HTTP. */
export const universe = (via: SuiteOptions["via"]) =>
  (Object.keys(GROUPS) as GroupName[])
    .filter((name) => via === "http" || !OVER_HTTP.includes(name))
    .map((name) => ({ name, items: GROUPS[name] as Items }));

/** Returns the possible error codes of an endpoint on the servers of scenarios, which accept unknown fields. */
function documentedCodes(endpoint: AnyEndpoint): readonly ErrorCode[] {
  // A scenario's exchange allows every wallet to derive credentials again.
  return codesOf(endpoint, "accept").filter((code) => code !== "CREDENTIALS_ALREADY_DERIVED");
}

function tradingCodes(): Items {
  const codes = new Set<string>(ENDPOINTS.filter(isTradingEndpoint).flatMap(documentedCodes));
  return items(...ERROR_CODES.filter((code) => codes.has(code)));
}

/** Returns the errors of the imitated service's endpoints, without codes that all of them share. */
function endpointErrors(): Items {
  const imitated = ENDPOINTS.filter(({ path }) => /^\/(?:api|clob)\//.test(path));
  const isOwn = (code: ErrorCode): boolean =>
    !imitated.every((endpoint) => documentedCodes(endpoint).includes(code));
  return new Map(
    imitated.flatMap((endpoint) =>
      documentedCodes(endpoint)
        .filter(isOwn)
        .map((code) => [`${endpoint.operation} ${code}`, [endpoint.operation, code]] as const),
    ),
  );
}

/** Counts of items. Keys that are not items of their group are ignored by the report. */
export class Counts {
  readonly #times = new Map<string, number>();

  add(group: GroupName, item: string): void {
    const key = `${group}: ${item}`;
    this.#times.set(key, (this.#times.get(key) ?? 0) + 1);
  }

  times(group: GroupName, item: string): number {
    return this.#times.get(`${group}: ${item}`) ?? 0;
  }
}

/** Counts what happens in an exchange from now on; the orders of its world do not count. */
export function watchExchange(exchange: Exchange, counts: Counts): void {
  /** Kind of each fault by number, because the state drops faults that are used up. */
  const faults = new Map<number, SettlementFaultKind>();
  for (const { number, fault } of exchange.state.chain.faults) faults.set(number, fault);
  const statuses = new Map<number, Market["status"]>();
  const readStatuses = (): void => {
    statuses.clear();
    for (const { number, status } of exchange.state.markets) statuses.set(number, status);
  };
  readStatuses();
  exchange.watchRewind(readStatuses);
  exchange.watch((_sequence, _at, events) => {
    const placed = events.find((event) => event.kind === "orderPlaced")?.order ?? 0;
    const context: Context = { state: exchange.state, placed, count: (...of) => counts.add(...of) };
    for (const event of events) {
      if (event.kind === "settlementFaultSet") faults.set(event.number, event.fault);
      const fault = "fault" in event && typeof event.fault === "number" ? faults.get(event.fault) : undefined;
      if (fault !== undefined) counts.add("settlement faults", fault);
      if ("market" in event) {
        const { market } = event;
        const before = statuses.get(market) ?? "ACTIVE";
        const { status } = exchange.state.markets.get(market);
        if (status !== before) {
          counts.add("market states", `${before} -> ${status}`);
          statuses.set(market, status);
        }
      }
      (EVENTS[event.kind] as ((event: DomainEvent, context: Context) => void) | undefined)?.(event, context);
    }
  });
}

/** What an event is counted with. */
interface Context {
  readonly state: State;
  /** The order placed by the command; 0 if none. */
  readonly placed: number;
  readonly count: Counts["add"];
}

/** Other kinds of events have no items. */
const EVENTS: {
  readonly [Kind in DomainEvent["kind"]]?: (event: DomainEvent<Kind>, context: Context) => void;
} = {
  orderPlaced: ({ order, orderType, token, blockingOwnOrder }, { state, count }) => {
    const { matching, selfTrade, tickSize } = state.markets.get(marketOfToken(token));
    count("order types", orderType);
    count("order states", `new -> ${state.orders.get(order).status}`);
    count("matching modes", matching);
    count("tick sizes", priceText(tickSize));
    if (blockingOwnOrder !== 0) count("self-trade policies", selfTrade);
  },
  orderTraded: ({ taker, maker, matchType }, context) => {
    const { state, count } = context;
    const { orders, config } = state;
    count("match types", matchType);
    count("settlement modes", config.settlement);
    count("balance policies", config.balances);
    countChange(maker, context);
    const { account, token } = orders.get(maker);
    if (orders.get(taker).account === account)
      count("self-trade policies", state.markets.get(marketOfToken(token)).selfTrade);
  },
  orderCanceled: ({ order, reason }, context) => {
    context.count("cancel reasons", reason);
    if (order !== context.placed) countChange(order, context);
  },
  orderExpired: ({ order }, context) => countChange(order, context),
  marketResolved: ({ winningOutcome }, { count }) => count("winning outcomes", winningOutcome),
  blocksMined: ({ height, empty }, context) => {
    for (const transaction of minedAt(context.state.chain, height)) countMined(transaction, context);
    countConfirmed(height, height + empty, context);
  },
  blockSealed: ({ height }, context) => countConfirmed(height, height, context),
  transactionMined: ({ transaction }, context) =>
    countMined(context.state.chain.transactions.get(transaction), context),
  transactionHeld: ({ transaction, hold }, { state, count }) => {
    if (state.chain.transactions.get(transaction).content === null) count("settlement", `deferred: ${hold}`);
  },
  settlementLost: (_event, { count }) => count("settlement", GHOST),
  settlementFailed: ({ transaction }, { state, count }) =>
    count("settlement", `${statusBefore(state.chain.transactions.get(transaction))} -> FAILED`),
  chainReorganized: (_event, { state: { chain }, count }) => {
    for (const number of chain.deferred) {
      const { content, exception } = chain.transactions.get(number);
      if (content === null && exception?.hold === "REORGANIZED") count("settlement", REORGANIZED);
    }
  },
  callExecuted: ({ transaction, isRepeated }, { state, count }) => {
    const { content } = state.chain.transactions.get(transaction);
    if (!isRepeated && content?.kind === "call") count("chain calls", content.call.kind);
  },
  callReverted: (_event, { count }) => count("chain calls", "reverted"),
};

function countChange(order: number, { state, count }: Context): void {
  const { status } = state.orders.get(order);
  count("order states", status === "LIVE" ? PARTIAL_FILL : `LIVE -> ${status}`);
}

function countMined(transaction: Transaction, { state, count }: Context): void {
  if (transaction.content !== null) return;
  const isFinal = confirmationsOf(state.config.settlement) === 0;
  count("settlement", `${statusBefore(transaction)} -> ${isFinal ? "CONFIRMED" : "MINED"}`);
}

/** Counts the transactions that become final with the blocks from one height to another. */
function countConfirmed(from: number, to: number, { state, count }: Context): void {
  const depth = confirmationsOf(state.config.settlement);
  if (depth === 0) return;
  for (let height = Math.max(1, from - depth); height <= to - depth; height += 1) {
    for (const { content, status } of minedAt(state.chain, height))
      if (content === null && status === "MINED") count("settlement", "MINED -> CONFIRMED");
  }
}

const statusBefore = ({ exception }: Transaction): "RETRYING" | "MATCHED" =>
  (exception?.attempts ?? 0) > 0 ? "RETRYING" : "MATCHED";
