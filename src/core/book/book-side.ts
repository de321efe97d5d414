import { NEXT, NO_SLOT, OPEN, type OrderPool, PLACE, PREVIOUS } from "./order-pool.ts";

const WIDTH = 3;
/** Where, counted from its first cell, a level keeps the first order of its queue, the last, and how many there are. */
const HEAD = 0;
const TAIL = 1;
const COUNT = 2;

/** How many levels a side first has cells for. */
const FEW = 64;

/**
 * One side of a book as a ladder of levels. A level is named by its rank, 1 for the best price the side could ever
 * have, so that one class serves bids and asks; a bitset over the ranks finds the next occupied level. Cells exist for
 * a window of ranks around those that were ever used, which grows as orders rest outside it.
 */
export class BookSide {
  /** The best occupied rank, or `levels + 1` when the side is empty. */
  best: number;
  readonly levels: number;
  readonly #pool: OrderPool;
  /** 1 on the ask side: the low bit of an order's place. */
  readonly #sideBit: 0 | 1;
  /** The rank of the first cells, and how many ranks have cells. */
  #base = 1;
  #width = 0;
  #queues = new Int32Array(0);
  #totals = new Float64Array(0);
  readonly #occupied: Int32Array;

  constructor(pool: OrderPool, levels: number, sideBit: 0 | 1) {
    this.levels = levels;
    this.best = levels + 1;
    this.#pool = pool;
    this.#sideBit = sideBit;
    this.#occupied = new Int32Array((levels >> 5) + 1);
  }

  /** The first order in the queue of an occupied level. */
  first(rank: number): number {
    return this.#queues[(rank - this.#base) * WIDTH + HEAD] as number;
  }

  /** What is open at a level, in size units. */
  total(rank: number): number {
    return this.#hasCells(rank) ? (this.#totals[rank - this.#base] as number) : 0;
  }

  /** How many orders rest at a level. */
  count(rank: number): number {
    return this.#hasCells(rank) ? (this.#queues[(rank - this.#base) * WIDTH + COUNT] as number) : 0;
  }

  /** Puts an order at the end of its level's queue. */
  append(slot: number, rank: number): void {
    if (!this.#hasCells(rank)) this.#reach(rank);
    const { cells } = this.#pool;
    const queues = this.#queues;
    const index = rank - this.#base;
    const level = index * WIDTH;
    const tail = queues[level + TAIL] as number;
    cells[slot + PLACE] = (rank << 1) | this.#sideBit;
    cells[slot + PREVIOUS] = tail;
    cells[slot + NEXT] = NO_SLOT;
    if (tail === NO_SLOT) {
      queues[level + HEAD] = slot;
      this.#occupied[rank >> 5] = (this.#occupied[rank >> 5] as number) | (1 << (rank & 31));
      if (rank < this.best) this.best = rank;
    } else {
      cells[tail + NEXT] = slot;
    }
    queues[level + TAIL] = slot;
    queues[level + COUNT] = (queues[level + COUNT] as number) + 1;
    this.#totals[index] = (this.#totals[index] as number) + (cells[slot + OPEN] as number);
  }

  /** Takes `quantity` off an order that keeps its place in the queue. */
  reduce(slot: number, rank: number, quantity: number): void {
    const { cells } = this.#pool;
    cells[slot + OPEN] = (cells[slot + OPEN] as number) - quantity;
    const index = rank - this.#base;
    this.#totals[index] = (this.#totals[index] as number) - quantity;
  }

  /** Takes an order out of its level's queue. */
  unlink(slot: number, rank: number): void {
    const { cells } = this.#pool;
    const queues = this.#queues;
    const index = rank - this.#base;
    const level = index * WIDTH;
    const previous = cells[slot + PREVIOUS] as number;
    const next = cells[slot + NEXT] as number;
    if (previous === NO_SLOT) queues[level + HEAD] = next;
    else cells[previous + NEXT] = next;
    if (next === NO_SLOT) queues[level + TAIL] = previous;
    else cells[next + PREVIOUS] = previous;
    queues[level + COUNT] = (queues[level + COUNT] as number) - 1;
    this.#totals[index] = (this.#totals[index] as number) - (cells[slot + OPEN] as number);
    if (previous === NO_SLOT && next === NO_SLOT) {
      this.#occupied[rank >> 5] = (this.#occupied[rank >> 5] as number) & ~(1 << (rank & 31));
      if (rank === this.best) this.best = this.after(rank);
    }
  }

  /** The next occupied rank behind `rank`, or `levels + 1`. */
  after(rank: number): number {
    const occupied = this.#occupied;
    const from = rank + 1;
    let word = from >> 5;
    let bits = word < occupied.length ? (occupied[word] as number) & (-1 << (from & 31)) : 0;
    while (bits === 0) {
      word += 1;
      if (word >= occupied.length) return this.levels + 1;
      bits = occupied[word] as number;
    }
    return (word << 5) + 31 - Math.clz32(bits & -bits);
  }

  /** A side of its own with the same queues; `pool` is the copy of its pool. */
  copy(pool: OrderPool): BookSide {
    const copy = new BookSide(pool, this.levels, this.#sideBit);
    copy.best = this.best;
    copy.#base = this.#base;
    copy.#width = this.#width;
    copy.#queues = this.#queues.slice();
    copy.#totals = this.#totals.slice();
    copy.#occupied.set(this.#occupied);
    return copy;
  }

  #hasCells(rank: number): boolean {
    return rank >= this.#base && rank < this.#base + this.#width;
  }

  /** Widens the window to twice what the ranks used so far and this one span, as far as there are levels. */
  #reach(rank: number): void {
    const isFirst = this.#width === 0;
    const low = isFirst ? rank : Math.min(rank, this.#base);
    const high = isFirst ? rank : Math.max(rank, this.#base + this.#width - 1);
    const span = high - low + 1;
    const width = Math.min(this.levels, Math.max(FEW, span * 2));
    const base = Math.max(1, Math.min(low - ((width - span) >> 1), this.levels - width + 1));
    const queues = new Int32Array(width * WIDTH);
    const totals = new Float64Array(width);
    if (!isFirst) {
      queues.set(this.#queues, (this.#base - base) * WIDTH);
      totals.set(this.#totals, this.#base - base);
    }
    this.#base = base;
    this.#width = width;
    this.#queues = queues;
    this.#totals = totals;
  }
}
