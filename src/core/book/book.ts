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

/** Side of a book; also the direction of an order in the book's own terms. */
export type BookDirection = 0 | 1;
export const BID = 0;
export const ASK = 1;

/** Number that no account has. */
const NO_ACCOUNT = -1;

/**
 * Central limit order book with price-time priority over a ladder of price levels (ticks 1..levels).
 * It holds the account, place and open size of resting orders; no ids, money or time.
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

  /** Returns a copy; `pool` is the copy of its pool. */
  copy(pool: OrderPool): Book {
    return new Book(pool, this.levels, this.#bids.copy(pool), this.#asks.copy(pool));
  }

  /** Highest bid, in ticks; 0 if there are no bids. */
  get bestBid(): number {
    return this.levels + 1 - this.#bids.best;
  }

  /** Lowest ask, in ticks; levels + 1 if there are no asks. */
  get bestAsk(): number {
    return this.#asks.best;
  }

  /**
   * Writes into `plan` the resting orders that an order would match, best price first, then in order of arrival. Does not
   * change the book; `fill` and `remove` execute the plan.
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
    const own = policy === "allow" ? NO_ACCOUNT : account;
    let remaining = size;
    for (; rank <= last; rank = side.after(rank)) {
      const level = side.levelAt(rank);
      for (let slot = cells[level + NEXT] as number; slot !== level; slot = cells[slot + NEXT] as number) {
        if (cells[slot + ACCOUNT] === own) {
          if (plan.ownSlot === NO_SLOT) plan.ownSlot = slot;
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

  /** Returns the number of orders at a price level. */
  countAt(direction: BookDirection, tick: number): number {
    return direction === BID ? this.#bids.count(this.levels + 1 - tick) : this.#asks.count(tick);
  }

  /** Returns the open size at a price level, in size units. */
  totalAt(direction: BookDirection, tick: number): number {
    return direction === BID ? this.#bids.total(this.levels + 1 - tick) : this.#asks.total(tick);
  }

  /** Appends an order to the queue of its level and returns its slot. */
  rest(direction: BookDirection, tick: number, size: number, order: number, account: number): number {
    const slot = this.pool.take(order, account, size);
    if (direction === BID) this.#bids.append(slot, this.levels + 1 - tick);
    else this.#asks.append(slot, tick);
    return slot;
  }

  /** Fills part or all of a resting order; removes it if completely filled. */
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

  /** Removes a resting order from the book. */
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

  /** Returns the price level of a resting order, in ticks. */
  tickOf(slot: number): number {
    const { cells } = this.pool;
    const place = cells[(cells[slot + LEVEL] as number) + PLACE] as number;
    return (place & 1) === BID ? this.levels + 1 - (place >> 1) : place >> 1;
  }

  /** Visits the occupied levels of one side, best first. */
  depth(direction: BookDirection, visit: (tick: number, total: number, orders: number) => void): void {
    const side = direction === BID ? this.#bids : this.#asks;
    for (let rank = side.best; rank <= this.levels; rank = side.after(rank)) {
      visit(direction === BID ? this.levels + 1 - rank : rank, side.total(rank), side.count(rank));
    }
  }

  /** Visits the resting orders of one side, best price first, then in order of arrival. */
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
