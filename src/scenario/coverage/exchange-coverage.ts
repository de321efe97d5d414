import { confirmationsOf, minedAt, type SettlementFaultKind } from "../../core/chain/chain.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
import { priceText } from "../../core/format.ts";
import { type Market, marketOfToken } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { type Counts, GHOST, PARTIAL_FILL, REORGANIZED } from "./items.ts";

/** Counts what happens in an exchange from now on; the orders of its world do not count. */
export function watchExchange(exchange: Exchange, counts: Counts): void {
  const observer = new Observer(exchange, counts);
  exchange.watch((sequence, _at, events) => observer.observe(sequence, events));
}

type Handlers = {
  readonly [Kind in DomainEvent["kind"]]?: (event: EventOf<Kind>) => void;
};

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
  readonly #handlers: Handlers = {
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
