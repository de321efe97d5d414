export type Side = "BUY" | "SELL";
export type TimeInForce = "GTC" | "FAK" | "FOK";
/** What happens when a taker reaches a resting order of the same owner. */
export type SelfTradePolicy = "allow" | "cancel-taker" | "cancel-maker" | "cancel-both";

/** A limit order: price in ticks, size in any whole unit. */
interface NaiveOrder {
  readonly id: number;
  readonly owner: number;
  readonly side: Side;
  readonly tick: number;
  readonly size: number;
}

/** An order in the book. `open` is the unfilled size. */
export interface RestingOrder extends NaiveOrder {
  readonly open: number;
}

/** One fill, at the maker's tick. */
export interface NaiveTrade {
  readonly taker: number;
  readonly maker: number;
  readonly tick: number;
  readonly quantity: number;
}

/** Result of placing an order. The sizes of `trades`, `rested` and `canceled` add up to the order's size. */
interface Placement {
  readonly trades: readonly NaiveTrade[];
  /** Own resting orders that the self-trade policy removed from the book, in the order reached. */
  readonly removed: readonly number[];
  /** Size that rests in the book. */
  readonly rested: number;
  /** Size that neither traded nor rests. */
  readonly canceled: number;
}

/** A price level. */
interface NaiveLevel {
  readonly tick: number;
  readonly open: number;
  readonly orders: number;
}

/**
 * A simple limit order book: two sorted arrays of orders, the next to trade first. It is the model with which the real
 * book is compared, so it is written for readability, not speed.
 */
export class NaiveBook {
  /** Resting buys: highest price first, then order of arrival. */
  readonly bids: RestingOrder[] = [];
  /** Resting sells: lowest price first, then order of arrival. */
  readonly asks: RestingOrder[] = [];

  /** Matches an order. The rest of a GTC order rests unless the self-trade policy stopped it. */
  place(order: NaiveOrder, timeInForce: TimeInForce = "GTC", policy: SelfTradePolicy = "allow"): Placement {
    if (timeInForce === "FOK" && this.#fillable(order, policy) < order.size) {
      return { trades: [], removed: [], rested: 0, canceled: order.size };
    }
    const trades: NaiveTrade[] = [];
    const removed: number[] = [];
    const makers = order.side === "BUY" ? this.asks : this.bids;
    let left = order.size;
    let stopped = false;
    while (left > 0 && !stopped) {
      const maker = makers[0];
      if (maker === undefined || !accepts(order, maker.tick)) break;
      if (policy !== "allow" && maker.owner === order.owner) {
        if (policy !== "cancel-taker") {
          makers.shift();
          removed.push(maker.id);
        }
        stopped = policy !== "cancel-maker";
      } else {
        const quantity = Math.min(left, maker.open);
        trades.push({ taker: order.id, maker: maker.id, tick: maker.tick, quantity });
        left -= quantity;
        if (quantity === maker.open) makers.shift();
        else makers[0] = resting(maker, maker.open - quantity);
      }
    }
    const rested = timeInForce === "GTC" && !stopped ? left : 0;
    if (rested > 0) this.#rest(resting(order, rested));
    return { trades, removed, rested, canceled: left - rested };
  }

  /** Removes an order from the book. Returns whether it was there. */
  cancel(id: number): boolean {
    for (const queue of [this.bids, this.asks]) {
      const index = queue.findIndex((order) => order.id === id);
      if (index >= 0) {
        queue.splice(index, 1);
        return true;
      }
    }
    return false;
  }

  /** Returns the price levels of a side, best first. */
  depth(side: Side): NaiveLevel[] {
    const queue = side === "BUY" ? this.bids : this.asks;
    return [...new Set(queue.map((order) => order.tick))].map((tick) => {
      const level = queue.filter((order) => order.tick === tick);
      return { tick, open: level.reduce((sum, order) => sum + order.open, 0), orders: level.length };
    });
  }

  /** Returns the size that an order could trade now. Own orders do not count, and some policies stop at the first. */
  #fillable(order: NaiveOrder, policy: SelfTradePolicy): number {
    let fillable = 0;
    for (const maker of order.side === "BUY" ? this.asks : this.bids) {
      if (!accepts(order, maker.tick)) break;
      if (policy === "allow" || maker.owner !== order.owner) fillable += maker.open;
      else if (policy !== "cancel-maker") break;
    }
    return fillable;
  }

  #rest(order: RestingOrder): void {
    const queue = order.side === "BUY" ? this.bids : this.asks;
    const behind = queue.findIndex(({ tick }) =>
      order.side === "BUY" ? tick < order.tick : tick > order.tick,
    );
    queue.splice(behind < 0 ? queue.length : behind, 0, order);
  }
}

/** Copies property by property because objects made with `...` are forty times slower to search here. */
function resting({ id, owner, side, tick, size }: NaiveOrder, open: number): RestingOrder {
  return { id, owner, side, tick, size, open };
}

/** Whether an order would trade at a price: a buy at its limit or below, a sell at its limit or above. */
function accepts(order: NaiveOrder, tick: number): boolean {
  return order.side === "BUY" ? tick <= order.tick : tick >= order.tick;
}
