import { BUY, FOK, GTC, SELL } from "./operation-tape.ts";
import type { TradeTally } from "./trade-tally.ts";

/** A resting order, with its place in the list of live ones. */
export interface LiveOrder {
  readonly id: number;
  readonly side: number;
  readonly tick: number;
  open: number;
  index: number;
}

/** The book that makes a flow: a plain array of orders for each price, and the list of live orders that a flow cancels from. */
export class FlowBook {
  /** Appended to when an order rests; one that leaves is replaced by the last. */
  readonly live: LiveOrder[] = [];
  /** In ticks; 0 when nobody buys. */
  bestBid = 0;
  /** In ticks; levels + 1 when nobody sells. */
  bestAsk: number;
  readonly #levels: number;
  readonly #bids: LiveOrder[][];
  readonly #asks: LiveOrder[][];
  readonly #tally: TradeTally;

  constructor(levels: number, tally: TradeTally) {
    this.#levels = levels;
    this.#tally = tally;
    this.bestAsk = levels + 1;
    this.#bids = Array.from({ length: levels + 2 }, () => []);
    this.#asks = Array.from({ length: levels + 2 }, () => []);
  }

  /** Matches a limit order, rests what a GTC leaves over, and answers the makers that were filled whole. */
  place(id: number, side: number, tick: number, size: number, timeInForce: number): readonly LiveOrder[] {
    if (timeInForce === FOK && this.#fillable(side, tick) < size) return [];
    const filled: LiveOrder[] = [];
    let left = size;
    while (left > 0 && this.#crosses(side, tick)) {
      const maker = this.#queue(1 - side, side === BUY ? this.bestAsk : this.bestBid)[0] as LiveOrder;
      const quantity = Math.min(left, maker.open);
      this.#tally.add(id, maker.id, maker.tick, quantity);
      left -= quantity;
      maker.open -= quantity;
      if (maker.open === 0) {
        this.remove(maker);
        filled.push(maker);
      }
    }
    if (left > 0 && timeInForce === GTC) this.#rest({ id, side, tick, open: left, index: this.live.length });
    return filled;
  }

  /** Takes a resting order out. */
  remove(order: LiveOrder): void {
    const queue = this.#queue(order.side, order.tick);
    queue.splice(queue.indexOf(order), 1);
    const last = this.live.pop() as LiveOrder;
    if (last !== order) {
      this.live[order.index] = last;
      last.index = order.index;
    }
    while (this.bestBid > 0 && this.#queue(BUY, this.bestBid).length === 0) this.bestBid -= 1;
    while (this.bestAsk <= this.#levels && this.#queue(SELL, this.bestAsk).length === 0) this.bestAsk += 1;
  }

  #rest(order: LiveOrder): void {
    this.live.push(order);
    this.#queue(order.side, order.tick).push(order);
    if (order.side === BUY) this.bestBid = Math.max(this.bestBid, order.tick);
    else this.bestAsk = Math.min(this.bestAsk, order.tick);
  }

  /** Whether the best price of the other side is within a limit, 1..levels. */
  #crosses(side: number, limit: number): boolean {
    return side === BUY ? this.bestAsk <= limit : this.bestBid >= limit;
  }

  #fillable(side: number, limit: number): number {
    let fillable = 0;
    const step = side === BUY ? 1 : -1;
    for (let tick = side === BUY ? this.bestAsk : this.bestBid; (limit - tick) * step >= 0; tick += step) {
      for (const maker of this.#queue(1 - side, tick)) fillable += maker.open;
    }
    return fillable;
  }

  #queue(side: number, tick: number): LiveOrder[] {
    return (side === BUY ? this.#bids : this.#asks)[tick] as LiveOrder[];
  }
}
