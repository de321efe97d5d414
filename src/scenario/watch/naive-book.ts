import { countWhile } from "../../core/table.ts";
import type { CancelReason, OrderType, SelfTradePolicy, Side } from "../../core/terms.ts";

/** A limit order: price in ticks, size in any whole unit. */
export interface BookOrder {
  readonly id: number;
  readonly owner: number;
  readonly side: Side;
  readonly tick: number;
  readonly size: number;
  /** The unfilled size. The book reduces it. */
  open: number;
}

/** A resting order that an incoming one meets. */
export interface Match<Order> {
  readonly maker: Order;
  /** The maker's open size before. */
  readonly open: number;
  /** What is filled, at the maker's tick; 0 if the self-trade policy removes the maker. */
  readonly quantity: number;
}

/** What happens to an incoming order after its last match. */
export type LastEvent = CancelReason | "rests" | "nothing more";

interface Placement<Order> {
  /** In the order of the book. */
  readonly matches: Match<Order>[];
  readonly last: LastEvent;
}

/** A price level: its orders in order of arrival, and the sum of their open sizes. */
interface Level<Order> {
  readonly tick: number;
  readonly orders: Order[];
  open: number;
}

/**
 * A simple limit order book: sorted lists of price levels, each a list of orders. It is the model with which the real book
 * and its fills are compared, so it shares no code with the engine and is written for readability.
 */
export class NaiveBook<Order extends BookOrder = BookOrder> {
  /** The best price first. */
  readonly #levels: Readonly<Record<Side, Level<Order>[]>> = { BUY: [], SELL: [] };
  readonly #resting: Map<number, Order>;

  /** `resting` has the resting orders by id; several books may share it. */
  constructor(resting: Map<number, Order> = new Map()) {
    this.#resting = resting;
  }

  /** Matches an order. The rest of it rests unless its type or the self-trade policy says otherwise. */
  place(order: Order, type: OrderType = "GTC", policy: SelfTradePolicy = "allow"): Placement<Order> {
    const matches: Match<Order>[] = [];
    const isKilled = type === "FOK" && this.#fillable(order, policy) < order.size;
    if (isKilled) return { matches, last: "FOK_UNFILLED" };
    while (order.open > 0) {
      const maker = this.#next(order);
      if (maker === undefined) break;
      const { open } = maker;
      const isOwn = policy !== "allow" && maker.owner === order.owner;
      if (isOwn && policy === "cancel-taker") return { matches, last: "SELF_TRADE" };
      const quantity = isOwn ? 0 : Math.min(order.open, open);
      matches.push({ maker, open, quantity });
      if (isOwn) this.cancel(maker.id);
      else this.#fill(maker, quantity);
      order.open -= quantity;
      if (isOwn && policy === "cancel-both") return { matches, last: "SELF_TRADE" };
    }
    if (order.open === 0) return { matches, last: "nothing more" };
    if (type === "FAK") return { matches, last: order.open < order.size ? "FAK_REMAINDER" : "FAK_UNFILLED" };
    this.rest(order);
    return { matches, last: "rests" };
  }

  /** Adds an order behind those at its price. */
  rest(order: Order): void {
    const { id, side, tick, open } = order;
    const index = this.#indexOf(order);
    const levels = this.#levels[side];
    if (levels[index]?.tick !== tick) levels.splice(index, 0, { tick, orders: [], open: 0 });
    const level = levels[index] as Level<Order>;
    level.orders.push(order);
    level.open += open;
    this.#resting.set(id, order);
  }

  /** Removes an order from the book. Returns whether it was there. */
  cancel(id: number): boolean {
    const order = this.#resting.get(id);
    if (order === undefined) return false;
    this.#resting.delete(id);
    const index = this.#indexOf(order);
    const level = this.#levels[order.side][index] as Level<Order>;
    level.orders.splice(level.orders.indexOf(order), 1);
    level.open -= order.open;
    if (level.orders.length === 0) this.#levels[order.side].splice(index, 1);
    return true;
  }

  /** Returns the orders of a side, the next to trade first. */
  queue(side: Side): Order[] {
    return this.#levels[side].flatMap(({ orders }) => orders);
  }

  /** Returns the price levels of a side with their numbers of orders, best first. */
  depth(side: Side) {
    return this.#levels[side].map(({ tick, open, orders }) => ({ tick, open, orders: orders.length }));
  }

  /** Returns the open size and the number of orders at the price of an order, on its side. */
  levelOf(order: Order) {
    const level = this.#levels[order.side][this.#indexOf(order)];
    return level?.tick === order.tick
      ? { open: level.open, orders: level.orders.length }
      : { open: 0, orders: 0 };
  }

  /** Returns the order with which another trades next; undefined if none is within its limit. */
  #next(order: Order): Order | undefined {
    const [best] = this.#levels[order.side === "BUY" ? "SELL" : "BUY"];
    return best !== undefined && accepts(order, best.tick) ? best.orders[0] : undefined;
  }

  /** Fills an order at the best price. */
  #fill(order: Order, quantity: number): void {
    const level = this.#levels[order.side][0] as Level<Order>;
    level.open -= quantity;
    order.open -= quantity;
    if (order.open === 0) this.cancel(order.id);
  }

  /** Returns the size that an order could trade now. Own orders do not count, and some policies stop at the first. */
  #fillable(order: Order, policy: SelfTradePolicy): number {
    let fillable = 0;
    for (const { tick, orders } of this.#levels[order.side === "BUY" ? "SELL" : "BUY"]) {
      if (!accepts(order, tick)) break;
      for (const maker of orders) {
        if (policy === "allow" || maker.owner !== order.owner) fillable += maker.open;
        else if (policy !== "cancel-maker") return fillable;
      }
    }
    return fillable;
  }

  /** Returns the index of an order's price level, or the one that it would have. */
  #indexOf({ side, tick }: Order): number {
    const levels = this.#levels[side];
    const sign = side === "BUY" ? -1 : 1;
    return countWhile(levels.length, (index) => sign * (levels[index] as Level<Order>).tick < sign * tick);
  }
}

/** Whether an order would trade at a price: a buy at its limit or below, a sell at its limit or above. */
const accepts = ({ side, tick: limit }: BookOrder, tick: number): boolean =>
  side === "BUY" ? tick <= limit : tick >= limit;

/** Returns side and tick of an order in its book; an order for NO is mirrored in a book of YES that both outcomes share. */
export const inBook = (side: Side, price: number, tickSize: number, isMirrored: boolean) =>
  isMirrored
    ? ({ side: side === "BUY" ? "SELL" : "BUY", tick: (10_000 - price) / tickSize } as const)
    : ({ side, tick: price / tickSize } as const);
