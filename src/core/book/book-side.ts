import {
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

/** Minimum number of levels in the window. */
const MIN_WIDTH = 64;
/** Occupancy bits in one slot. */
const BITS = 32 * WIDTH;

/**
 * One side of a book: a ladder of price levels, identified by rank. Rank 1 is the best price possible on the side, so
 * one class serves bids and asks. The pool holds a window of adjacent levels around the ranks used so far, preceded by
 * one bit for each that is set while orders rest there. The window grows when an order rests outside it.
 */
export class BookSide {
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

  /** The slot of a level in the window. */
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

  /** Number of orders at a level. */
  count(rank: number): number {
    return this.#hasLevel(rank) ? (this.#pool.cells[this.levelAt(rank) + COUNT] as number) : 0;
  }

  /** Appends an order to the queue of a level. */
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
