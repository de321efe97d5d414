import { ASK, BID } from "../../core/book/book.ts";
import { NO_SLOT } from "../../core/book/order-pool.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
import { moneyText, sizeText } from "../../core/format.ts";
import { bookFor, marketOfToken, outcomeOf } from "../../core/market.ts";
import { remainingOf, reservationOf } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import type { Millis, Size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import {
  type BrokenRule,
  Incoming,
  leftOver,
  type NameOf,
  orderText,
  wrongEnd,
  wrongFill,
  wrongSelfCancel,
} from "./matching-rules.ts";
import { type OrderTerms, WatchedMarket, type WatchedOrder, WatchedOrders } from "./watched-book.ts";

const LIVE_ORDERS = "only what rests is canceled, expires or is met";

/**
 * Judges each fill as it happens. It keeps queues of its own, made from domain events alone, so that nothing that is wrong
 * in the exchange's books can mislead it, and says the first rule that does not hold. After each command it compares the
 * orders that the command has changed, their levels and what their accounts have reserved with the exchange's own records.
 */
export class FillWatcher {
  readonly #exchange: Exchange;
  readonly #incoming: Incoming;
  #markets: (WatchedMarket | undefined)[] = [];
  #accounts = new WatchedAccounts();
  #orders = new WatchedOrders();
  /** The orders that the command has changed: so many of the list. */
  readonly #changed: WatchedOrder[] = [];
  #changes = 0;
  #broken: BrokenRule | null = null;

  /** Watches an exchange from where it stands. */
  constructor(exchange: Exchange, nameOf: NameOf) {
    this.#exchange = exchange;
    this.#incoming = new Incoming(nameOf);
    this.begin();
    exchange.watch((_sequence, at, events) => this.#take(at, events));
  }

  /** The first rule that did not hold; what came after it is not judged. */
  get broken(): BrokenRule | null {
    return this.#broken;
  }

  /** Begins anew with the orders that are live, in order of arrival: the exchange has gone to another state. */
  begin(): void {
    this.#markets = [];
    this.#accounts = new WatchedAccounts();
    this.#orders = new WatchedOrders();
    this.#broken = null;
    for (const record of this.#exchange.state.orders) {
      if (record.status !== "LIVE") continue;
      const order = this.#add(record.number, record);
      this.#reduce(order, order.size - remainingOf(record));
      order.own.add(order);
    }
    this.#changes = 0;
  }

  #take(at: Millis, events: readonly DomainEvent[]): void {
    if (this.#broken !== null) return;
    for (const event of events) {
      this.#broken = this.#wrongIn(event, at);
      if (this.#broken !== null) return;
    }
    if (this.#changes === 0) return;
    this.#broken = leftOver(this.#incoming);
    this.#incoming.order = null;
    for (let index = 0; index < this.#changes && this.#broken === null; index += 1) {
      const order = this.#changed[index] as WatchedOrder;
      this.#broken = this.#disagreement(order);
      if (!order.isResting) this.#orders.end(order);
    }
    this.#changes = 0;
  }

  #wrongIn(event: DomainEvent, at: Millis): BrokenRule | null {
    switch (event.kind) {
      case "orderPlaced":
        this.#incoming.come(this.#add(event.order, event));
        return null;
      case "orderTraded":
        return this.#trade(event, at);
      case "orderRested":
        return this.#end(event.order, null);
      case "orderCanceled":
        return event.order === this.#incoming.order?.number
          ? this.#end(event.order, event)
          : this.#cancel(event);
      case "orderExpired":
        return this.#expire(event, at);
      default:
        return null;
    }
  }

  #trade(event: EventOf<"orderTraded">, at: Millis): BrokenRule | null {
    const taker = this.#incoming.order;
    if (taker === null) return notLive(event.taker, "trades");
    const wrong = wrongFill(this.#incoming, taker, event, at);
    if (wrong !== null) return wrong;
    const maker = this.#orders.find(event.maker);
    if (maker === undefined) return notLive(event.maker, "is met");
    this.#reduce(taker, event.size);
    this.#reduce(maker, event.size);
    this.#change(maker);
    return null;
  }

  /** The order that came rests, or is canceled before it could. */
  #end(number: number, event: EventOf<"orderCanceled"> | null): BrokenRule | null {
    const { order } = this.#incoming;
    if (order === null || order.number !== number) return notLive(number, "rests");
    const wrong = wrongEnd(this.#incoming, order, event?.reason ?? null);
    this.#incoming.hasEnded = true;
    if (wrong !== null) return wrong;
    if (event === null) order.own.add(order);
    else this.#accounts.change(order, order.open, 0);
    return null;
  }

  #cancel(event: EventOf<"orderCanceled">): BrokenRule | null {
    const order = this.#orders.find(event.order);
    if (order?.isResting !== true) return notLive(event.order, "is canceled");
    const wrong = event.reason === "SELF_TRADE" ? wrongSelfCancel(this.#incoming, order) : null;
    this.#leave(order);
    return wrong;
  }

  #expire(event: EventOf<"orderExpired">, at: Millis): BrokenRule | null {
    const order = this.#orders.find(event.order);
    if (order?.isResting !== true || order.expiration === null || order.expiration > at) {
      return notLive(event.order, "expires");
    }
    this.#leave(order);
    return null;
  }

  /** A resting order has ended with something open. */
  #leave(order: WatchedOrder): void {
    order.own.remove(order);
    this.#accounts.change(order, order.open, 0);
    this.#change(order);
  }

  #add(number: number, terms: OrderTerms): WatchedOrder {
    const order = this.#marketOf(terms.token).order(number, terms);
    this.#accounts.change(order, 0, order.open);
    this.#change(order);
    return order;
  }

  /** Some of an order is filled. */
  #reduce(order: WatchedOrder, by: number): void {
    this.#accounts.change(order, order.open, order.open - by);
    if (order.isResting) order.own.reduce(order, by);
    else order.open -= by;
  }

  #change(order: WatchedOrder): void {
    this.#changed[this.#changes] = order;
    this.#changes += 1;
  }

  #disagreement(order: WatchedOrder): BrokenRule | null {
    const tick = this.#marketOf(order.token).tickOf(order);
    return disagreement(this.#exchange.state, order, tick, this.#accounts, this.#incoming.nameOf);
  }

  #marketOf(token: number): WatchedMarket {
    const number = marketOfToken(token);
    let market = this.#markets[number];
    if (market === undefined) {
      market = new WatchedMarket(this.#exchange.state.markets.get(number), this.#orders);
      this.#markets[number] = market;
    }
    return market;
  }
}

const notLive = (order: number, what: string): BrokenRule => ({
  name: LIVE_ORDERS,
  text: `order ${order} ${what}, and no such order rests or has just come`,
});

// The names of the invariants that say the same of the whole state.
const FILLS = "an order's matched size = sum of its fills";
const LEVELS = "book levels = sum of live orders";
const RESERVED = "reserved = what live orders may cost";

/**
 * What the exchange says of an order that a command has changed, and of its level and account, where that is something
 * else than the events say; null when it is the same.
 */
function disagreement(
  state: State,
  order: WatchedOrder,
  tick: number,
  accounts: WatchedAccounts,
  nameOf: NameOf,
): BrokenRule | null {
  const { number, open, own, rank, token, isResting } = order;
  const record = state.orders.get(number);
  const matched = order.size - open;
  if (record.matched !== matched) {
    const text = `${orderText(order, nameOf)} has matched ${sizeText(record.matched)}, expected ${sizeText(matched)}`;
    return { name: FILLS, text };
  }
  const { pool } = state;
  const { slot } = record;
  const isInBook = slot !== NO_SLOT && pool.orderIn(slot) === number && pool.openIn(slot) === open;
  if ((record.status === "LIVE") !== isResting || isInBook !== isResting) {
    const found = `${record.status}, ${isInBook ? "in the book" : "not in the book"} with ${sizeText(open)} open`;
    const text = `${orderText(order, nameOf)} is ${found}, expected it ${isResting ? "there" : "to have left"}`;
    return { name: LEVELS, text };
  }
  const { book } = bookFor(state.markets.get(marketOfToken(token)), outcomeOf(token));
  const direction = own.isBid ? BID : ASK;
  const size = book === null ? 0 : book.totalAt(direction, tick);
  const count = book === null ? 0 : book.countAt(direction, tick);
  if (size !== own.openAt(rank) || count !== own.countAt(rank)) {
    const level = `the level of ${orderText(order, nameOf)}`;
    const text = `${level} has ${sizeText(size)} (${count}), expected ${sizeText(own.openAt(rank))} (${own.countAt(rank)})`;
    return { name: LEVELS, text };
  }
  return otherReserved(state, order, accounts, nameOf);
}

function otherReserved(
  state: State,
  order: WatchedOrder,
  accounts: WatchedAccounts,
  nameOf: NameOf,
): BrokenRule | null {
  const { account, side, token } = order;
  const record = state.accounts.get(account);
  const holding = record.holdings.get(marketOfToken(token));
  const shares = outcomeOf(token) === "YES" ? holding?.yes : holding?.no;
  const found = side === "BUY" ? record.collateral.reserved : (shares?.reserved ?? 0);
  const expected = accounts.reservedFor(order);
  if (found === expected) return null;
  const amount = (units: number): string =>
    side === "BUY" ? `${moneyText(units)} USDC` : `${sizeText(units)} ${outcomeOf(token)}`;
  return {
    name: RESERVED,
    text: `${nameOf(account)} has ${amount(found)} reserved, expected ${amount(expected)}`,
  };
}

const FEW_ACCOUNTS = 64;

/** What accounts keep reserved, as the events of their orders say it. */
class WatchedAccounts {
  /** Micro-USDC by account. */
  #collateral = new Float64Array(FEW_ACCOUNTS);
  /** Size units by token and account. */
  readonly #shares: (Map<number, number> | undefined)[] = [];

  /** An order has so much open instead. */
  change(order: WatchedOrder, before: number, after: number): void {
    const { account, token, feeRateBps } = order;
    if (order.side === "SELL") {
      let shares = this.#shares[token];
      if (shares === undefined) {
        shares = new Map();
        this.#shares[token] = shares;
      }
      shares.set(account, (shares.get(account) ?? 0) + after - before);
      return;
    }
    if (account >= this.#collateral.length) this.#grow(account);
    const change =
      reservationOf(order, after as Size, feeRateBps) - reservationOf(order, before as Size, feeRateBps);
    this.#collateral[account] = (this.#collateral[account] as number) + change;
  }

  /** What the account of an order keeps reserved of the asset that the order pays with. */
  reservedFor({ account, side, token }: WatchedOrder): number {
    return (side === "BUY" ? this.#collateral[account] : this.#shares[token]?.get(account)) ?? 0;
  }

  #grow(account: number): void {
    const collateral = new Float64Array(2 * account);
    collateral.set(this.#collateral);
    this.#collateral = collateral;
  }
}
