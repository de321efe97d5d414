import { confirmationsOf, minedAt } from "../../core/chain/chain.ts";
import type { SettlementFaultKind } from "../../core/chain/settlement-fault.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import type { ChainEvent, DomainEvent, EventOf } from "../../core/events.ts";
import { PRICE_PLACES, textOf } from "../../core/format.ts";
import { type Market, marketOfToken } from "../../core/market.ts";
import type { OrderStatus } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import { unreachable } from "../../core/unreachable.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { GHOST, isItem, PARTIAL_FILL, REORGANIZED, type Sightings } from "./items.ts";

/** Notes what happens in an exchange from now on; what its world brought is no merit of a scenario. */
export function watchExchange(exchange: Exchange, sightings: Sightings): void {
  const observer = new Observer(exchange, sightings);
  exchange.watch((sequence, _at, events) => observer.saw(sequence, events));
}

class Observer {
  readonly #exchange: Exchange;
  readonly #sightings: Sightings;
  readonly #settlement: SettlementObserver;
  /** The markets that are closed, each with the sequence of the command that closed it. */
  readonly #closings = new Map<number, number>();

  constructor(exchange: Exchange, sightings: Sightings) {
    this.#exchange = exchange;
    this.#sightings = sightings;
    this.#settlement = new SettlementObserver(exchange, sightings);
    for (const { number, status } of exchange.state.markets) {
      if (status === "CLOSED") this.#closings.set(number, 0);
    }
  }

  /** A command has been applied with all that it caused. */
  saw(sequence: number, events: readonly DomainEvent[]): void {
    for (const [market, closing] of this.#closings) {
      // A restore has taken it back.
      if (closing >= sequence) this.#closings.delete(market);
    }
    const placed = events.find(({ kind }) => kind === "orderPlaced") as EventOf<"orderPlaced"> | undefined;
    for (const event of events) this.#note(event, sequence, placed?.order ?? 0);
  }

  /** `placed` is the order that came with the same command: it was nothing before. */
  #note(event: DomainEvent, sequence: number, placed: number): void {
    switch (event.kind) {
      case "orderPlaced":
        this.#placed(event);
        break;
      case "orderTraded":
        this.#traded(event);
        break;
      case "orderCanceled":
        this.#sightings.note("cancel reasons", event.reason);
        if (event.order !== placed) this.#changed(event.order);
        break;
      case "orderExpired":
        this.#changed(event.order);
        break;
      case "marketClosed":
        this.#closings.set(event.market, sequence);
        this.#sightings.note("market states", "ACTIVE -> CLOSED");
        break;
      case "marketResolved": {
        const before = this.#closings.has(event.market) ? "CLOSED" : "ACTIVE";
        this.#sightings.note("market states", `${before} -> RESOLVED`);
        this.#sightings.note("winning outcomes", event.winningOutcome);
        break;
      }
      case "eventCreated":
      case "marketCreated":
      case "accountOpened":
      case "collateralIssued":
      case "setsIssued":
      case "grantRaised":
      case "grantMinted":
      case "credentialsDerived":
      case "orderRested":
        break;
      default:
        this.#settlement.saw(event);
    }
  }

  #placed({ order, orderType, token, ownInWay }: EventOf<"orderPlaced">): void {
    const { matching, selfTrade, tickSize } = this.#marketOf(token);
    this.#sightings.note("order types", orderType);
    // One that has expired already is refused.
    const status = this.#statusOf(order) as Exclude<OrderStatus, "EXPIRED">;
    this.#sightings.note("order states", `new -> ${status}`);
    this.#sightings.note("matching modes", matching);
    const step = textOf(tickSize, PRICE_PLACES);
    if (isItem("tick sizes", step)) this.#sightings.note("tick sizes", step);
    if (ownInWay !== 0) this.#sightings.note("self-trade policies", selfTrade);
  }

  #traded({ taker, maker, matchType }: EventOf<"orderTraded">): void {
    const { orders, config } = this.#exchange.state;
    this.#sightings.note("match types", matchType);
    this.#sightings.note("settlement modes", config.settlement);
    this.#sightings.note("balance policies", config.balances);
    this.#changed(maker);
    const { account, token } = orders.get(maker);
    if (orders.get(taker).account !== account) return;
    this.#sightings.note("self-trade policies", this.#marketOf(token).selfTrade);
  }

  /** An order that was live has been filled or has ended. */
  #changed(order: number): void {
    const status = this.#statusOf(order);
    this.#sightings.note("order states", status === "LIVE" ? PARTIAL_FILL : `LIVE -> ${status}`);
  }

  #statusOf(order: number): OrderStatus {
    return this.#exchange.state.orders.get(order).status;
  }

  #marketOf(token: number): Market {
    return this.#exchange.state.markets.get(marketOfToken(token));
  }
}

/** Notes what becomes of settlements, and what wallets do on the chain. */
class SettlementObserver {
  readonly #exchange: Exchange;
  readonly #sightings: Sightings;
  /** The kind of each fault that was set, by number: one that has struck for the last time is gone from the state. */
  readonly #faults = new Map<number, SettlementFaultKind>();

  constructor(exchange: Exchange, sightings: Sightings) {
    this.#exchange = exchange;
    this.#sightings = sightings;
    for (const { number, fault } of exchange.state.chain.faults) this.#faults.set(number, fault);
  }

  /** An event of the chain has been applied, with all that its command caused. */
  saw(event: ChainEvent): void {
    if ("fault" in event && typeof event.fault === "number") this.#struck(event.fault);
    switch (event.kind) {
      case "settlementFaultSet":
        this.#faults.set(event.number, event.fault);
        break;
      case "blocksMined":
        for (const transaction of this.#matchesAt(event.height)) this.#mined(transaction);
        this.#confirmed(event.height, event.height + event.empty);
        break;
      case "blockSealed":
        this.#confirmed(event.height, event.height);
        break;
      case "transactionMined":
        this.#mined(this.#transaction(event.transaction));
        break;
      case "transactionHeld":
        this.#held(this.#transaction(event.transaction), `held: ${event.hold}`);
        break;
      case "settlementLost":
        this.#sightings.note("settlement", GHOST);
        break;
      case "settlementFailed":
        this.#sightings.note("settlement", `${statusBefore(this.#transaction(event.transaction))} -> FAILED`);
        break;
      case "chainReorganized":
        this.#reorganized();
        break;
      case "callExecuted":
        if (!event.isRepeated) this.#called(this.#transaction(event.transaction));
        break;
      case "callReverted":
        this.#sightings.note("chain calls", "reverted");
        break;
      case "blockOpened":
      case "blocksAsked":
      case "transactionSent":
      case "settlementFaultEnded":
      case "feesBumped":
      case "nativeBalanceSet":
        break;
      default:
        throw unreachable(event);
    }
  }

  get #state(): State {
    return this.#exchange.state;
  }

  #transaction(number: number): Transaction {
    return this.#state.chain.transactions.get(number);
  }

  #struck(number: number): void {
    const fault = this.#faults.get(number);
    if (fault !== undefined) this.#sightings.note("settlement faults", fault);
  }

  #mined(transaction: Transaction): void {
    if (transaction.content !== null) return;
    const isFinal = confirmationsOf(this.#state.config.settlement) === 0;
    const status = isFinal ? "CONFIRMED" : "MINED";
    this.#sightings.note("settlement", `${statusBefore(transaction)} -> ${status}`);
  }

  #held({ content }: Transaction, item: string): void {
    if (content === null && isItem("settlement", item)) this.#sightings.note("settlement", item);
  }

  /** With the blocks from one height to another, those that stand deep enough below them are final. */
  #confirmed(from: number, to: number): void {
    const depth = confirmationsOf(this.#state.config.settlement);
    if (depth === 0) return;
    for (let height = Math.max(1, from - depth); height <= to - depth; height += 1) {
      for (const { status } of this.#matchesAt(height)) {
        if (status === "MINED") this.#sightings.note("settlement", "MINED -> CONFIRMED");
      }
    }
  }

  #reorganized(): void {
    const { held } = this.#state.chain;
    for (const { content, oddity } of held.map((number) => this.#transaction(number))) {
      if (content === null && oddity?.hold === "REORGANIZED") this.#sightings.note("settlement", REORGANIZED);
    }
  }

  #called({ content }: Transaction): void {
    const kind = content?.kind === "call" ? content.call.kind : "";
    if (isItem("chain calls", kind)) this.#sightings.note("chain calls", kind);
  }

  #matchesAt(height: number): Transaction[] {
    return minedAt(this.#state.chain, height).filter(({ content }) => content === null);
  }
}

/** Where a settlement stood before it was mined or failed. */
const statusBefore = ({ oddity }: Transaction): "RETRYING" | "MATCHED" =>
  (oddity?.attempts ?? 0) > 0 ? "RETRYING" : "MATCHED";
