import type { OrderPool } from "./order-pool.ts";
import { NO_SLOT } from "./order-pool.ts";

/**
 * One side of a book as a ladder of levels. A level is named by its rank, 1 for the best price the side could ever
 * have, so that one class serves bids and asks; a bitset over the ranks finds the next occupied level.
 */
export class BookSide {
  /** The best occupied rank, or `levels + 1` when the side is empty. */
  best: number;
  readonly levels: number;
  readonly #pool: OrderPool;
  /** 1 on the ask side: the low bit of an order's place. */
  readonly #sideBit: number;
  readonly #head: Int32Array;
  readonly #tail: Int32Array;
  readonly #total: Float64Array;
  readonly #count: Int32Array;
  readonly #occupied: Int32Array;

  constructor(pool: OrderPool, levels: number, sideBit: 0 | 1) {
    this.levels = levels;
    this.best = levels + 1;
    this.#pool = pool;
    this.#sideBit = sideBit;
    this.#head = new Int32Array(levels + 2);
    this.#tail = new Int32Array(levels + 2);
    this.#total = new Float64Array(levels + 2);
    this.#count = new Int32Array(levels + 2);
    this.#occupied = new Int32Array((levels >> 5) + 1);
  }

  /** The first order in the queue of a level, or NO_SLOT. */
  first(rank: number): number {
    return this.#head[rank] as number;
  }

  /** What is open at a level, in size units. */
  total(rank: number): number {
    return this.#total[rank] as number;
  }

  /** How many orders rest at a level. */
  count(rank: number): number {
    return this.#count[rank] as number;
  }

  /** Puts an order at the end of its level's queue. */
  append(slot: number, rank: number): void {
    const pool = this.#pool;
    const tail = this.#tail[rank] as number;
    pool.place[slot] = (rank << 1) | this.#sideBit;
    pool.previous[slot] = tail;
    pool.next[slot] = NO_SLOT;
    if (tail === NO_SLOT) {
      this.#head[rank] = slot;
      this.#occupied[rank >> 5] = (this.#occupied[rank >> 5] as number) | (1 << (rank & 31));
      if (rank < this.best) this.best = rank;
    } else {
      pool.next[tail] = slot;
    }
    this.#tail[rank] = slot;
    this.#total[rank] = (this.#total[rank] as number) + (pool.open[slot] as number);
    this.#count[rank] = (this.#count[rank] as number) + 1;
  }

  /** Takes `quantity` off an order that keeps its place in the queue. */
  reduce(slot: number, rank: number, quantity: number): void {
    this.#pool.open[slot] = (this.#pool.open[slot] as number) - quantity;
    this.#total[rank] = (this.#total[rank] as number) - quantity;
  }

  /** Takes an order out of its level's queue. */
  unlink(slot: number, rank: number): void {
    const pool = this.#pool;
    const previous = pool.previous[slot] as number;
    const next = pool.next[slot] as number;
    if (previous === NO_SLOT) this.#head[rank] = next;
    else pool.next[previous] = next;
    if (next === NO_SLOT) this.#tail[rank] = previous;
    else pool.previous[next] = previous;
    this.#total[rank] = (this.#total[rank] as number) - (pool.open[slot] as number);
    this.#count[rank] = (this.#count[rank] as number) - 1;
    if (previous === NO_SLOT && next === NO_SLOT) {
      this.#occupied[rank >> 5] = (this.#occupied[rank >> 5] as number) & ~(1 << (rank & 31));
      if (rank === this.best) this.best = this.after(rank);
    }
  }

  /** The next occupied rank behind `rank`, or `levels + 1`. */
  after(rank: number): number {
    const from = rank + 1;
    let word = from >> 5;
    let bits = word < this.#occupied.length ? (this.#occupied[word] as number) & (-1 << (from & 31)) : 0;
    while (bits === 0) {
      word += 1;
      if (word >= this.#occupied.length) return this.levels + 1;
      bits = this.#occupied[word] as number;
    }
    return (word << 5) + 31 - Math.clz32(bits & -bits);
  }
}
