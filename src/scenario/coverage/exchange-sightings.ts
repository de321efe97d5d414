import { PRICE_PLACES, textOf } from "../../api/decimals.ts";
import type { DomainEvent, OrderPlaced, OrderTraded } from "../../core/events.ts";
import { type Market, marketOfToken } from "../../core/market.ts";
import type { OrderStatus } from "../../core/order.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { isItem, PARTIAL_FILL } from "./items.ts";
import { SettlementObserver } from "./settlement-sightings.ts";
import type { Sightings } from "./sightings.ts";

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
    const placed = events.find(({ kind }) => kind === "orderPlaced") as OrderPlaced | undefined;
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

  #placed({ order, orderType, token, ownInWay }: OrderPlaced): void {
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

  #traded({ taker, maker, matchType }: OrderTraded): void {
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
