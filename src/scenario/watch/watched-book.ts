import type { Market } from "../../core/market.ts";
import type { OrderType, SelfTradePolicy, Side } from "../../core/terms.ts";
import { FULL_PRICE, type Millis, type Price, type Size } from "../../core/units.ts";

/** A live order as the events of the exchange describe it. */
export interface WatchedOrder {
  number: number;
  account: number;
  token: number;
  side: Side;
  /** In terms of its own token. */
  price: Price;
  /** In size units, as `open`. */
  size: number;
  open: number;
  orderType: OrderType;
  expiration: Millis | null;
  /** Those of its market. */
  selfTrade: SelfTradePolicy;
  feeRateBps: number;
  /** The side of the book it rests on, and the one it trades with. */
  own: WatchedSide;
  opposite: WatchedSide;
  /** Its price level on its own side: ticks from the best price that the side could ever have, from 1. */
  rank: number;
  /** The worst level of the opposite side that it trades with. */
  limit: number;
  isResting: boolean;
}

/** The live orders by number. Records are used again: what a long flow throws away would cost more than all the rest. */
export class WatchedOrders {
  /** Undefined where an order is not live. */
  readonly #orders: (WatchedOrder | undefined)[] = [undefined];
  readonly #free: WatchedOrder[] = [];

  /** A record to be filled in for another order; undefined when there is none. */
  unused(): WatchedOrder | undefined {
    return this.#free.pop();
  }

  /** Keeps an order whose number is the greatest so far. */
  add(order: WatchedOrder): void {
    while (this.#orders.length < order.number) this.#orders.push(undefined);
    this.#orders.push(order);
  }

  find(number: number): WatchedOrder | undefined {
    return this.#orders[number];
  }

  /** An order is not live any more. */
  end(order: WatchedOrder): void {
    if (this.#orders[order.number] !== order) return;
    this.#orders[order.number] = undefined;
    this.#free.push(order);
  }
}

/** A queue is made anew when it has so many more orders that are gone than orders. */
const SLACK = 128;

/** The orders at one price, oldest first. Those that are gone stay in the list until it is mostly made of them. */
class WatchedLevel {
  /** What is open here in size units, and of how many orders. */
  open = 0;
  count = 0;
  readonly #orders: WatchedOrders;
  #queue: number[] = [];
  #first = 0;

  constructor(orders: WatchedOrders) {
    this.#orders = orders;
  }

  add(order: WatchedOrder): void {
    if (this.#queue.length > 2 * this.count + SLACK) {
      this.#queue = this.orders.map(({ number }) => number);
      this.#first = 0;
    }
    this.#queue.push(order.number);
    this.count += 1;
    this.open += order.open;
  }

  get first(): WatchedOrder | null {
    for (; this.#first < this.#queue.length; this.#first += 1) {
      const order = this.#orders.find(this.#queue[this.#first] as number);
      if (order?.isResting === true) return order;
    }
    return null;
  }

  /** The resting orders in order of arrival. */
  get orders(): readonly WatchedOrder[] {
    const found: WatchedOrder[] = [];
    for (let index = this.#first; index < this.#queue.length; index += 1) {
      const order = this.#orders.find(this.#queue[index] as number);
      if (order?.isResting === true) found.push(order);
    }
    return found;
  }
}

/** One side of a book: who rests at which price since when. It follows the events alone. */
class WatchedSide {
  readonly isBid: boolean;
  readonly #orders: WatchedOrders;
  readonly #levels: (WatchedLevel | undefined)[] = [];
  /** No order rests at a better level than this. */
  #best = 1;

  constructor(orders: WatchedOrders, isBid: boolean) {
    this.#orders = orders;
    this.isBid = isBid;
  }

  /** The order that trades next, if a limit reaches it. */
  next(limit: number): WatchedOrder | null {
    const end = Math.min(limit, this.#levels.length - 1);
    for (; this.#best <= end; this.#best += 1) {
      const level = this.#levels[this.#best];
      if (level !== undefined && level.count > 0) return level.first;
    }
    return null;
  }

  /** Rests an order behind those of its price. */
  add(order: WatchedOrder): void {
    const { rank } = order;
    while (this.#levels.length <= rank) this.#levels.push(undefined);
    let level = this.#levels[rank];
    if (level === undefined) {
      level = new WatchedLevel(this.#orders);
      this.#levels[rank] = level;
    }
    order.isResting = true;
    level.add(order);
    if (rank < this.#best) this.#best = rank;
  }

  /** A resting order has less open. */
  reduce(order: WatchedOrder, by: number): void {
    (this.#levels[order.rank] as WatchedLevel).open -= by;
    order.open -= by;
    if (order.open === 0) this.remove(order);
  }

  /** A resting order has left the book. */
  remove(order: WatchedOrder): void {
    const level = this.#levels[order.rank] as WatchedLevel;
    level.open -= order.open;
    level.count -= 1;
    order.isResting = false;
  }

  /** What is open at a level, in size units, and of how many orders. */
  openAt(rank: number): number {
    return this.#levels[rank]?.open ?? 0;
  }

  countAt(rank: number): number {
    return this.#levels[rank]?.count ?? 0;
  }

  /** The resting orders that a limit reaches, in the order in which they trade. */
  *reached(limit: number): Generator<WatchedOrder> {
    const end = Math.min(limit, this.#levels.length - 1);
    for (let rank = this.#best; rank <= end; rank += 1) yield* this.#levels[rank]?.orders ?? [];
  }
}

/** What an order asks for. */
export interface OrderTerms {
  readonly account: number;
  readonly token: number;
  readonly side: Side;
  readonly price: Price;
  readonly size: Size;
  readonly orderType: OrderType;
  readonly expiration: Millis | null;
}

interface Sides {
  readonly bids: WatchedSide;
  readonly asks: WatchedSide;
}

const emptySides = (orders: WatchedOrders): Sides => ({
  bids: new WatchedSide(orders, true),
  asks: new WatchedSide(orders, false),
});

/** The books of a market as the events of the exchange describe them: one in YES terms, or one for each outcome. */
export class WatchedMarket {
  readonly #orders: WatchedOrders;
  readonly #selfTrade: SelfTradePolicy;
  readonly #feeRateBps: number;
  readonly #yes: Sides;
  /** Null where NO is the mirror of YES. */
  readonly #no: Sides | null;
  readonly #tickSize: number;
  /** One more than there are price levels: a price of this many ticks is 1 USDC. */
  readonly #ticks: number;

  constructor({ tickSize, selfTrade, feeRateBps, matching }: Market, orders: WatchedOrders) {
    this.#orders = orders;
    this.#selfTrade = selfTrade;
    this.#feeRateBps = feeRateBps;
    this.#yes = emptySides(orders);
    this.#no = matching === "complementary" ? null : emptySides(orders);
    this.#tickSize = tickSize;
    this.#ticks = FULL_PRICE / tickSize;
  }

  /** An order that comes to this market, in no queue yet. */
  order(number: number, terms: OrderTerms): WatchedOrder {
    const { token, side, price, size } = terms;
    const isNo = (token & 1) === 1;
    const isMirror = isNo && this.#no === null;
    const { bids, asks } = (isNo ? this.#no : null) ?? this.#yes;
    const isBid = (side === "BUY") !== isMirror;
    const ticks = price / this.#tickSize;
    const rank = isBid === isMirror ? ticks : this.#ticks - ticks;
    const order = this.#orders.unused() ?? ({} as WatchedOrder);
    order.number = number;
    order.account = terms.account;
    order.token = token;
    order.side = side;
    order.price = price;
    order.size = size;
    order.open = size;
    order.orderType = terms.orderType;
    order.expiration = terms.expiration;
    order.selfTrade = this.#selfTrade;
    order.feeRateBps = this.#feeRateBps;
    order.own = isBid ? bids : asks;
    order.opposite = isBid ? asks : bids;
    order.rank = rank;
    order.limit = this.#ticks - rank;
    order.isResting = false;
    this.#orders.add(order);
    return order;
  }

  /** The price of an order's level in ticks, in the book's own terms. */
  tickOf({ own, rank }: WatchedOrder): number {
    return own.isBid ? this.#ticks - rank : rank;
  }
}
