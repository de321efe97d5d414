import type { SelfTradePolicy } from "../terms.ts";
import { BookSide } from "./book-side.ts";
import {
  ACCOUNT,
  COUNT,
  LEVEL,
  NEXT,
  NO_SLOT,
  OPEN,
  type OrderPool,
  PLACE,
  PREVIOUS,
  TOTAL,
} from "./order-pool.ts";
import type { MatchPlan } from "./plan.ts";

/** The two sides of a book; also the direction of an order in the book's own terms. */
export type BookDirection = 0 | 1;
export const BID = 0;
export const ASK = 1;

/** No account has this number. */
const NOBODY = -1;

/**
 * A central limit order book with price-time priority over a ladder of price levels (ticks 1..levels).
 * It holds who rests where and how much is open, nothing else: no ids, no money, no time.
 */
export class Book {
  readonly pool: OrderPool;
  readonly levels: number;
  readonly #bids: BookSide;
  readonly #asks: BookSide;

  constructor(
    pool: OrderPool,
    levels: number,
    bids = new BookSide(pool, levels, BID),
    asks = new BookSide(pool, levels, ASK),
  ) {
    this.pool = pool;
    this.levels = levels;
    this.#bids = bids;
    this.#asks = asks;
  }

  /** A book of its own with the same orders; `pool` is the copy of its pool. */
  copy(pool: OrderPool): Book {
    return new Book(pool, this.levels, this.#bids.copy(pool), this.#asks.copy(pool));
  }

  /** The highest bid, in ticks, or 0 when nobody buys. */
  get bestBid(): number {
    return this.levels + 1 - this.#bids.best;
  }

  /** The lowest ask, in ticks, or levels + 1 when nobody sells. */
  get bestAsk(): number {
    return this.#asks.best;
  }

  /**
   * Walks the opposite side as an order would, best price first, then arrival, and writes what it would meet into
   * `plan`. Reads only: the book changes when the plan is carried out with `fill` and `remove`.
   */
  plan(
    direction: BookDirection,
    limit: number,
    size: number,
    account: number,
    policy: SelfTradePolicy,
    plan: MatchPlan,
  ): void {
    plan.clear();
    const side = direction === BID ? this.#asks : this.#bids;
    const last = direction === BID ? limit : this.levels + 1 - limit;
    let rank = side.best;
    if (rank > last) return;
    const { cells } = this.pool;
    const own = policy === "allow" ? NOBODY : account;
    let remaining = size;
    for (; rank <= last; rank = side.after(rank)) {
      const level = side.levelAt(rank);
      for (let slot = cells[level + NEXT] as number; slot !== level; slot = cells[slot + NEXT] as number) {
        if (cells[slot + ACCOUNT] === own) {
          if (plan.own === NO_SLOT) plan.own = slot;
          if (policy !== "cancel-taker") plan.push(slot, 0);
          if (policy === "cancel-maker") continue;
          plan.stopped = true;
          plan.filled = size - remaining;
          return;
        }
        const quantity = Math.min(cells[slot + OPEN] as number, remaining);
        plan.push(slot, quantity);
        remaining -= quantity;
        if (remaining === 0) {
          plan.filled = size;
          return;
        }
      }
    }
    plan.filled = size - remaining;
  }

  /** How many orders rest at a price level. */
  countAt(direction: BookDirection, tick: number): number {
    return direction === BID ? this.#bids.count(this.levels + 1 - tick) : this.#asks.count(tick);
  }

  /** What is open at a price level, in size units. */
  totalAt(direction: BookDirection, tick: number): number {
    return direction === BID ? this.#bids.total(this.levels + 1 - tick) : this.#asks.total(tick);
  }

  /** Rests an order at the end of its level's queue and answers its slot. */
  rest(direction: BookDirection, tick: number, size: number, order: number, account: number): number {
    const slot = this.pool.take(order, account, size);
    if (direction === BID) this.#bids.append(slot, this.levels + 1 - tick);
    else this.#asks.append(slot, tick);
    return slot;
  }

  /** Fills part or all of a resting order; one that is filled whole leaves the book. */
  fill(slot: number, quantity: number): void {
    const { cells, sums } = this.pool;
    const open = cells[slot + OPEN] as number;
    if (quantity === open) {
      this.remove(slot);
      return;
    }
    cells[slot + OPEN] = open - quantity;
    const total = ((cells[slot + LEVEL] as number) >> 1) + TOTAL;
    sums[total] = (sums[total] as number) - quantity;
  }

  /** Takes a resting order out of the book. */
  remove(slot: number): void {
    const { cells, sums } = this.pool;
    const level = cells[slot + LEVEL] as number;
    const previous = cells[slot + PREVIOUS] as number;
    const next = cells[slot + NEXT] as number;
    cells[previous + NEXT] = next;
    cells[next + PREVIOUS] = previous;
    cells[level + COUNT] = (cells[level + COUNT] as number) - 1;
    const total = (level >> 1) + TOTAL;
    sums[total] = (sums[total] as number) - (cells[slot + OPEN] as number);
    if (next === previous) this.#vacate(cells[level + PLACE] as number);
    this.pool.free(slot);
  }

  /** The price level an order rests at, in ticks. */
  tickOf(slot: number): number {
    const { cells } = this.pool;
    const place = cells[(cells[slot + LEVEL] as number) + PLACE] as number;
    return (place & 1) === BID ? this.levels + 1 - (place >> 1) : place >> 1;
  }

  /** Visits the occupied levels of one side, best first: tick, open size, number of orders. */
  depth(direction: BookDirection, visit: (tick: number, total: number, orders: number) => void): void {
    const side = direction === BID ? this.#bids : this.#asks;
    for (let rank = side.best; rank <= this.levels; rank = side.after(rank)) {
      visit(direction === BID ? this.levels + 1 - rank : rank, side.total(rank), side.count(rank));
    }
  }

  /** Visits the resting orders of one side in priority order: best price first, then arrival. */
  queue(direction: BookDirection, visit: (slot: number) => void): void {
    const side = direction === BID ? this.#bids : this.#asks;
    const { cells } = this.pool;
    for (let rank = side.best; rank <= this.levels; rank = side.after(rank)) {
      const level = side.levelAt(rank);
      for (let slot = cells[level + NEXT] as number; slot !== level; slot = cells[slot + NEXT] as number)
        visit(slot);
    }
  }

  #vacate(place: number): void {
    ((place & 1) === BID ? this.#bids : this.#asks).vacate(place >> 1);
  }
}
