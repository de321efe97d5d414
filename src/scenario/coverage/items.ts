import { type AnyEndpoint, codesOf, ENDPOINTS, isTradingEndpoint } from "../../api/endpoints.ts";
import { ERROR_CODES, type ErrorCode } from "../../api/errors.ts";
import { TICK_SIZES } from "../../api/markets.ts";
import { confirmationsOf, minedAt, type SettlementFaultKind } from "../../core/chain/chain.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
import { priceText } from "../../core/format.ts";
import { type Market, marketOfToken } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import {
  BALANCE_POLICIES,
  CANCEL_REASONS,
  MATCH_TYPES,
  MATCHINGS,
  ORDER_TYPES,
  SELF_TRADE_POLICIES,
  SETTLEMENT_MODES,
  WINNING_OUTCOMES,
} from "../../core/terms.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { EXPECTATIONS, type ExpectationInfo, OWN_EXPECTATIONS } from "../language/expectations.ts";
import type { StepInfo } from "../language/step-source.ts";
import { STEPS } from "../language/steps.ts";

export const PARTIAL_FILL = "LIVE -> LIVE (partial fill)";
export const REORGANIZED = "MINED -> MATCHED (reorganized)";
export const GHOST = "MATCHED for ever (never mined)";

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
  ([kind, { key = kind, name = key }]) => [kind, name] as const,
);

const GROUPS = {
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
  "market states": items("ACTIVE -> CLOSED", "ACTIVE -> RESOLVED", "CLOSED -> RESOLVED"),
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
      ["held: RETRIED", "MATCHED -> RETRYING"],
      ["held: UNFUNDED", "MATCHED -> RETRYING (waits for funds)"],
      ["held: DELAYED", "MATCHED (delayed)"],
      ["held: UNDERPRICED", "MATCHED (underpriced)"],
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

export type GroupName = keyof typeof GROUPS;

export type Group = ReturnType<typeof universe>[number];

const OVER_HTTP: readonly string[] = ["endpoints", "errors by endpoint"];

/** Returns all groups; those of HTTP only if all scenarios run over HTTP. */
export const universe = (via: "auto" | "process" | "http") =>
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

export const isItem = (group: GroupName, text: string): boolean => GROUPS[group].has(text);

/** Counts what happens in an exchange from now on; the orders of its world do not count. */
export function watchExchange(exchange: Exchange, counts: Counts): void {
  const observer = new Observer(exchange, counts);
  exchange.watch((sequence, _at, events) => observer.observe(sequence, events));
}

class Observer {
  readonly #exchange: Exchange;
  readonly #counts: Counts;
  /** Closed markets, each with the sequence number of the command that closed it. */
  readonly #closings = new Map<number, number>();
  /** Kind of each fault by number, because the state drops faults that are used up. */
  readonly #faults = new Map<number, SettlementFaultKind>();
  #sequence = 0;
  /** The order placed by the current command; 0 if none. */
  #placed = 0;

  constructor(exchange: Exchange, counts: Counts) {
    this.#exchange = exchange;
    this.#counts = counts;
    const { markets, chain } = exchange.state;
    for (const { number, status } of markets) if (status === "CLOSED") this.#closings.set(number, 0);
    for (const { number, fault } of chain.faults) this.#faults.set(number, fault);
  }

  observe(sequence: number, events: readonly DomainEvent[]): void {
    // A restored snapshot has undone later closings.
    for (const [market, closing] of this.#closings) if (closing >= sequence) this.#closings.delete(market);
    this.#sequence = sequence;
    this.#placed = 0;
    for (const event of events) if (event.kind === "orderPlaced") this.#placed = event.order;
    for (const event of events) {
      const fault =
        "fault" in event && typeof event.fault === "number" ? this.#faults.get(event.fault) : undefined;
      if (fault !== undefined) this.#counts.add("settlement faults", fault);
      (this.#handlers[event.kind] as ((event: DomainEvent) => void) | undefined)?.(event);
    }
  }

  /** Other kinds of events have no items. */
  readonly #handlers: { readonly [Kind in DomainEvent["kind"]]?: (event: EventOf<Kind>) => void } = {
    orderPlaced: ({ order, orderType, token, blockingOwnOrder }) => {
      const { matching, selfTrade, tickSize } = this.#marketOf(token);
      this.#counts.add("order types", orderType);
      this.#counts.add("order states", `new -> ${this.#state.orders.get(order).status}`);
      this.#counts.add("matching modes", matching);
      this.#counts.add("tick sizes", priceText(tickSize));
      if (blockingOwnOrder !== 0) this.#counts.add("self-trade policies", selfTrade);
    },
    orderTraded: ({ taker, maker, matchType }) => {
      const { orders, config } = this.#state;
      this.#counts.add("match types", matchType);
      this.#counts.add("settlement modes", config.settlement);
      this.#counts.add("balance policies", config.balances);
      this.#changed(maker);
      const { account, token } = orders.get(maker);
      if (orders.get(taker).account === account)
        this.#counts.add("self-trade policies", this.#marketOf(token).selfTrade);
    },
    orderCanceled: ({ order, reason }) => {
      this.#counts.add("cancel reasons", reason);
      if (order !== this.#placed) this.#changed(order);
    },
    orderExpired: ({ order }) => this.#changed(order),
    marketClosed: ({ market }) => {
      this.#closings.set(market, this.#sequence);
      this.#counts.add("market states", "ACTIVE -> CLOSED");
    },
    marketResolved: ({ market, winningOutcome }) => {
      const before = this.#closings.has(market) ? "CLOSED" : "ACTIVE";
      this.#counts.add("market states", `${before} -> RESOLVED`);
      this.#counts.add("winning outcomes", winningOutcome);
    },
    settlementFaultSet: ({ number, fault }) => {
      this.#faults.set(number, fault);
    },
    blocksMined: ({ height, empty }) => {
      for (const transaction of this.#matchesAt(height)) this.#mined(transaction);
      this.#confirmed(height, height + empty);
    },
    blockSealed: ({ height }) => this.#confirmed(height, height),
    transactionMined: ({ transaction }) => this.#mined(this.#transaction(transaction)),
    transactionHeld: ({ transaction, hold }) => {
      if (this.#transaction(transaction).content === null) this.#counts.add("settlement", `held: ${hold}`);
    },
    settlementLost: () => this.#counts.add("settlement", GHOST),
    settlementFailed: ({ transaction }) =>
      this.#counts.add("settlement", `${statusBefore(this.#transaction(transaction))} -> FAILED`),
    chainReorganized: () => {
      for (const number of this.#state.chain.deferred) {
        const { content, exception } = this.#transaction(number);
        if (content === null && exception?.hold === "REORGANIZED")
          this.#counts.add("settlement", REORGANIZED);
      }
    },
    callExecuted: ({ transaction, isRepeated }) => {
      const { content } = this.#transaction(transaction);
      if (!isRepeated && content?.kind === "call") this.#counts.add("chain calls", content.call.kind);
    },
    callReverted: () => this.#counts.add("chain calls", "reverted"),
  };

  get #state(): State {
    return this.#exchange.state;
  }

  #marketOf(token: number): Market {
    return this.#state.markets.get(marketOfToken(token));
  }

  #transaction(number: number): Transaction {
    return this.#state.chain.transactions.get(number);
  }

  #matchesAt(height: number): Transaction[] {
    return minedAt(this.#state.chain, height).filter(({ content }) => content === null);
  }

  #changed(order: number): void {
    const { status } = this.#state.orders.get(order);
    this.#counts.add("order states", status === "LIVE" ? PARTIAL_FILL : `LIVE -> ${status}`);
  }

  #mined(transaction: Transaction): void {
    if (transaction.content !== null) return;
    const isFinal = confirmationsOf(this.#state.config.settlement) === 0;
    this.#counts.add("settlement", `${statusBefore(transaction)} -> ${isFinal ? "CONFIRMED" : "MINED"}`);
  }

  /** Counts the transactions that become final with the blocks from one height to another. */
  #confirmed(from: number, to: number): void {
    const depth = confirmationsOf(this.#state.config.settlement);
    if (depth === 0) return;
    for (let height = Math.max(1, from - depth); height <= to - depth; height += 1) {
      for (const { status } of this.#matchesAt(height)) {
        if (status === "MINED") this.#counts.add("settlement", "MINED -> CONFIRMED");
      }
    }
  }
}

const statusBefore = ({ exception }: Transaction): "RETRYING" | "MATCHED" =>
  (exception?.attempts ?? 0) > 0 ? "RETRYING" : "MATCHED";
