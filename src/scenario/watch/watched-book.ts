import type { Market } from "../../core/market.ts";
import type { OrderType, SelfTradePolicy, Side } from "../../core/terms.ts";
import { FULL_PRICE, type Millis, type Price, type Size } from "../../core/units.ts";

export interface OrderTerms {
  readonly account: number;
  readonly token: number;
  readonly side: Side;
  /** Price of its own token. */
  readonly price: Price;
  readonly size: Size;
  readonly orderType: OrderType;
  readonly expiration: Millis | null;
}

/** A live order, built from domain events. */
export interface WatchedOrder extends OrderTerms {
  readonly number: number;
  /** In size units. */
  open: number;
  /** Terms of its market. */
  readonly selfTrade: SelfTradePolicy;
  readonly feeRateBps: number;
  /** The side of the book that it rests on, and the side that it trades with. */
  readonly own: WatchedSide;
  readonly opposite: WatchedSide;
  /** Its price in ticks, in the terms of its book. */
  readonly tick: number;
  /** Its price level: ticks from the best possible price of its own side, from 1. */
  readonly rank: number;
  /** The worst level of the opposite side that it trades with. */
  readonly limit: number;
  isResting: boolean;
}

interface WatchedLevel {
  /** In order of arrival. */
  readonly orders: Set<WatchedOrder>;
  /** In size units. */
  open: number;
}

/** One side of a book: its resting orders by level, in order of arrival, built from domain events. */
class WatchedSide {
  readonly isBid: boolean;
  readonly #levels: WatchedLevel[] = [];
  /** No order rests at a better level. */
  #best = 1;

  constructor(isBid: boolean) {
    this.isBid = isBid;
  }

  /** Returns the order that trades next, up to a level; null if there is none. */
  next(limit: number): WatchedOrder | null {
    const end = Math.min(limit, this.#levels.length - 1);
    for (; this.#best <= end; this.#best += 1) {
      for (const first of this.#level(this.#best).orders) return first;
    }
    return null;
  }

  add(order: WatchedOrder): void {
    const { rank } = order;
    while (this.#levels.length <= rank) this.#levels.push({ orders: new Set(), open: 0 });
    const level = this.#level(rank);
    level.orders.add(order);
    level.open += order.open;
    order.isResting = true;
    if (rank < this.#best) this.#best = rank;
  }

  /** Reduces the open size of a resting order, and removes it if nothing is left. */
  reduce(order: WatchedOrder, by: number): void {
    this.#level(order.rank).open -= by;
    order.open -= by;
    if (order.open === 0) this.remove(order);
  }

  remove(order: WatchedOrder): void {
    const level = this.#level(order.rank);
    level.orders.delete(order);
    level.open -= order.open;
    order.isResting = false;
  }

  /** Returns the open size of a level, in size units, and its number of orders. */
  at(rank: number): { readonly open: number; readonly count: number } {
    const level = this.#levels[rank];
    return { open: level?.open ?? 0, count: level?.orders.size ?? 0 };
  }

  /** Returns how much of an order could be filled now, at most its size. */
  fillable({ limit, size, selfTrade, account }: WatchedOrder): number {
    let sum = 0;
    const end = Math.min(limit, this.#levels.length - 1);
    for (let rank = this.#best; rank <= end; rank += 1) {
      for (const maker of this.#level(rank).orders) {
        const isOwn = selfTrade !== "allow" && maker.account === account;
        if (isOwn && selfTrade !== "cancel-maker") return sum;
        if (!isOwn) sum += maker.open;
        if (sum >= size) return size;
      }
    }
    return sum;
  }

  #level(rank: number): WatchedLevel {
    return this.#levels[rank] as WatchedLevel;
  }
}

/** The sides of a market's books: bids and asks in YES terms, then those of NO if it has its own book. */
export type WatchedMarket = ReturnType<typeof watchedMarket>;

export const watchedMarket = () =>
  [new WatchedSide(true), new WatchedSide(false), new WatchedSide(true), new WatchedSide(false)] as const;

/** Creates an incoming order of a market, which does not rest yet. */
export function watchedOrder(
  { matching, tickSize, selfTrade, feeRateBps }: Market,
  [bids, asks, noBids, noAsks]: WatchedMarket,
  number: number,
  { account, token, side, price, size, orderType, expiration }: OrderTerms,
): WatchedOrder {
  const isNo = (token & 1) === 1;
  const isMirrored = isNo && matching === "complementary";
  const [buyers, sellers] = isNo && !isMirrored ? [noBids, noAsks] : [bids, asks];
  const isBid = (side === "BUY") !== isMirrored;
  const ticks = FULL_PRICE / tickSize;
  const tick = (isMirrored ? FULL_PRICE - price : price) / tickSize;
  const rank = isBid ? ticks - tick : tick;
  return {
    number,
    account,
    token,
    side,
    price,
    size,
    open: size,
    orderType,
    expiration,
    selfTrade,
    feeRateBps,
    own: isBid ? buyers : sellers,
    opposite: isBid ? sellers : buyers,
    tick,
    rank,
    limit: ticks - rank,
    isResting: false,
  };
}
