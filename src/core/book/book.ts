import type { SelfTradePolicy } from "../terms.ts";
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
  WIDTH,
} from "./order-pool.ts";

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
    if (next === previous) {
      const place = cells[level + PLACE] as number;
      ((place & 1) === BID ? this.#bids : this.#asks).vacate(place >> 1);
    }
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
}

/** Matches of an incoming order: resting slots in priority order, each with the quantity to fill. */
export class MatchPlan {
  slots = new Int32Array(64);
  /** Quantities to fill, in size units; 0 marks an own order that the self-trade policy cancels. */
  quantities = new Int32Array(64);
  count = 0;
  filled = 0;
  /** Whether a self-trade policy ended the matching before size or limit did. */
  stopped = false;
  /** Slot of the first own order to which a self-trade policy applied; 0 if none. */
  ownSlot = 0;

  clear(): void {
    this.count = 0;
    this.filled = 0;
    this.stopped = false;
    this.ownSlot = 0;
  }

  push(slot: number, quantity: number): void {
    if (this.count === this.slots.length) this.#grow();
    this.slots[this.count] = slot;
    this.quantities[this.count] = quantity;
    this.count += 1;
  }

  #grow(): void {
    const slots = new Int32Array(this.slots.length * 2);
    const quantities = new Int32Array(this.slots.length * 2);
    slots.set(this.slots);
    quantities.set(this.quantities);
    this.slots = slots;
    this.quantities = quantities;
  }
}

/** Minimum number of levels in the window. */
const MIN_WIDTH = 64;
/** Occupancy bits in one slot. */
const BITS = 32 * WIDTH;

/**
 * One side of a book: a ladder of price levels, identified by rank. Rank 1 is the best price possible on the side, so
 * one class serves bids and asks. The pool holds a window of adjacent levels around the ranks used so far, preceded by
 * one bit for each that is set while orders rest there. The window grows when an order rests outside it.
 */
class BookSide {
  /** The best occupied rank, or `levels + 1` when the side is empty. */
  best: number;
  readonly levels: number;
  readonly #pool: OrderPool;
  /** 1 on the ask side: the low bit of a level's place. */
  readonly #sideBit: 0 | 1;
  /** First rank of the window, and number of ranks in it. */
  #base = 1;
  #width = 0;
  /** Slot of the window's bits, and the slot that rank 0 would have. */
  #bits = NO_SLOT;
  #origin = NO_SLOT;

  constructor(pool: OrderPool, levels: number, sideBit: 0 | 1) {
    this.levels = levels;
    this.best = levels + 1;
    this.#pool = pool;
    this.#sideBit = sideBit;
  }

  levelAt(rank: number): number {
    return this.#origin + rank * WIDTH;
  }

  /** Open size at a level, in size units; a 32-bit integer if possible, which takes no memory of its own in a record. */
  total(rank: number): number {
    if (!this.#hasLevel(rank)) return 0;
    const total = this.#pool.sums[(this.levelAt(rank) >> 1) + TOTAL] as number;
    const integer = total | 0;
    return integer === total ? integer : total;
  }

  count(rank: number): number {
    return this.#hasLevel(rank) ? (this.#pool.cells[this.levelAt(rank) + COUNT] as number) : 0;
  }

  append(slot: number, rank: number): void {
    if (!this.#hasLevel(rank)) this.#reach(rank);
    const { cells, sums } = this.#pool;
    const level = this.#origin + rank * WIDTH;
    const tail = cells[level + PREVIOUS] as number;
    cells[slot + LEVEL] = level;
    cells[slot + PREVIOUS] = tail;
    cells[slot + NEXT] = level;
    cells[tail + NEXT] = slot;
    cells[level + PREVIOUS] = slot;
    cells[level + COUNT] = (cells[level + COUNT] as number) + 1;
    const total = (level >> 1) + TOTAL;
    sums[total] = (sums[total] as number) + (cells[slot + OPEN] as number);
    if (tail === level) {
      const index = rank - this.#base;
      const word = this.#bits + (index >> 5);
      cells[word] = (cells[word] as number) | (1 << (index & 31));
      if (rank < this.best) this.best = rank;
    }
  }

  /** Called when the last order of a level has left. */
  vacate(rank: number): void {
    const { cells } = this.#pool;
    const index = rank - this.#base;
    const word = this.#bits + (index >> 5);
    cells[word] = (cells[word] as number) & ~(1 << (index & 31));
    if (rank === this.best) this.best = this.after(rank);
  }

  /** The next occupied rank after `rank`, or `levels + 1`. */
  after(rank: number): number {
    const { cells } = this.#pool;
    const index = Math.max(0, rank + 1 - this.#base);
    const end = (this.#width + 31) >> 5;
    let word = index >> 5;
    let bits = word < end ? (cells[this.#bits + word] as number) & (-1 << (index & 31)) : 0;
    while (bits === 0) {
      word += 1;
      if (word >= end) return this.levels + 1;
      bits = cells[this.#bits + word] as number;
    }
    return this.#base + (word << 5) + 31 - Math.clz32(bits & -bits);
  }

  /** An independent side with the same content; `pool` is the copy of its pool. */
  copy(pool: OrderPool): BookSide {
    const copy = new BookSide(pool, this.levels, this.#sideBit);
    copy.best = this.best;
    copy.#base = this.#base;
    copy.#width = this.#width;
    copy.#bits = this.#bits;
    copy.#origin = this.#origin;
    return copy;
  }

  #hasLevel(rank: number): boolean {
    return rank >= this.#base && rank < this.#base + this.#width;
  }

  /** Moves the window to a new block, wide enough for twice the span of the ranks used so far and `rank`. */
  #reach(rank: number): void {
    const [first, width, bits] = [this.#base, this.#width, this.#bits];
    const low = width === 0 ? rank : Math.min(rank, first);
    const high = width === 0 ? rank : Math.max(rank, first + width - 1);
    const span = high - low + 1;
    this.#width = Math.min(this.levels, Math.max(MIN_WIDTH, span * 2));
    this.#base = Math.max(1, Math.min(low - ((this.#width - span) >> 1), this.levels - this.#width + 1));
    const bitSlots = Math.ceil(this.#width / BITS);
    this.#bits = this.#pool.takeBlock(bitSlots + this.#width);
    const before = this.#origin;
    this.#origin = this.#bits + (bitSlots - this.#base) * WIDTH;
    const { cells } = this.#pool;
    for (let at = this.#base; at < this.#base + this.#width; at += 1) {
      const level = this.levelAt(at);
      cells[level + NEXT] = level;
      cells[level + PREVIOUS] = level;
      cells[level + PLACE] = (at << 1) | this.#sideBit;
    }
    for (let at = first; at < first + width; at += 1) this.#move(before + at * WIDTH, at);
    for (let slot = bits; slot < before + (first + width) * WIDTH; slot += WIDTH) this.#pool.free(slot);
  }

  /** Moves the queue of a level from the window before. */
  #move(from: number, rank: number): void {
    const { cells } = this.#pool;
    for (let slot = cells[from + NEXT] as number; slot !== from; ) {
      const next = cells[slot + NEXT] as number;
      this.append(slot, rank);
      slot = next;
    }
  }
}
