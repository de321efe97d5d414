/** The slot that means "no order". */
export const NO_SLOT = 0;

export const WIDTH = 8;

// Cells of an order, as offsets from its slot.

/** The next order in the queue of its level, or the level itself; in a free slot, the next free slot. */
export const NEXT = 0;
/** The previous order in the queue, or the level itself. */
export const PREVIOUS = 1;
export const LEVEL = 2;
/** Open size, in size units. */
export const OPEN = 3;
/** Number by which the owner of the book knows the order. */
export const ORDER = 4;
export const ACCOUNT = 5;
/** The account's open orders before and after this one, in order of time, or NO_SLOT. */
export const OLDER = 6;
export const NEWER = 7;

// Cells of a price level. NEXT and PREVIOUS are the first and the last order of its queue, or the level itself when it is empty.

/** Number of orders at the level. */
export const COUNT = 2;
/** `rank * 2`, plus 1 on the ask side. */
export const PLACE = 3;
/** Offset from half the slot, in `sums`: the open size at the level. */
export const TOTAL = 2;

/**
 * Memory of all books of an exchange: resting orders and price levels in one typed array, 32 bytes each, linked by slots.
 * A slot is the offset of its first cell. Freed slots are reused.
 */
export class OrderPool {
  cells: Int32Array;
  /** Same memory as `cells`, read as 64-bit numbers. */
  sums: Float64Array;
  #free = NO_SLOT;
  #used = WIDTH;

  constructor(capacity = 1024) {
    this.cells = new Int32Array(capacity * WIDTH);
    this.sums = new Float64Array(this.cells.buffer);
  }

  /** Allocates a slot for an order that is about to rest. */
  take(order: number, account: number, open: number): number {
    let slot = this.#free;
    if (slot === NO_SLOT) slot = this.takeBlock(1);
    else this.#free = this.cells[slot + NEXT] as number;
    const { cells } = this;
    cells[slot + ORDER] = order;
    cells[slot + ACCOUNT] = account;
    cells[slot + OPEN] = open;
    return slot;
  }

  /** Allocates adjacent slots, all cells 0, and returns the first. */
  takeBlock(count: number): number {
    const slot = this.#used;
    this.#used += count * WIDTH;
    if (this.#used > this.cells.length) this.#grow();
    return slot;
  }

  free(slot: number): void {
    this.cells[slot + NEXT] = this.#free;
    this.#free = slot;
  }

  orderIn(slot: number): number {
    return this.cells[slot + ORDER] as number;
  }

  openIn(slot: number): number {
    return this.cells[slot + OPEN] as number;
  }

  /** The previous slot in the queue of the level, or NO_SLOT. */
  before(slot: number): number {
    const previous = this.cells[slot + PREVIOUS] as number;
    return previous === this.cells[slot + LEVEL] ? NO_SLOT : previous;
  }

  /** An independent pool with the same content. */
  copy(): OrderPool {
    const copy = new OrderPool(this.cells.length / WIDTH);
    copy.cells.set(this.cells.subarray(0, this.#used));
    copy.#free = this.#free;
    copy.#used = this.#used;
    return copy;
  }

  #grow(): void {
    const cells = new Int32Array(Math.max(this.cells.length * 2, this.#used));
    cells.set(this.cells);
    this.cells = cells;
    this.sums = new Float64Array(cells.buffer);
  }
}
