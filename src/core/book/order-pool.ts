/** The slot that means "no order". */
export const NO_SLOT = 0;

const WIDTH = 8;

/** Where, counted from its slot, an order keeps the next order of its level's queue; of a free slot, the next free one. */
export const NEXT = 0;
/** The order before it in the queue. */
export const PREVIOUS = 1;
/** Where it rests: `rank * 2`, plus 1 on the ask side. */
export const PLACE = 2;
/** What is still open, in size units. */
export const OPEN = 3;
/** The number that the owner of the book knows the order by. */
export const ORDER = 4;
/** The account it belongs to. */
export const ACCOUNT = 5;

/**
 * Places for resting orders, shared by all books of an exchange, in one typed array so that an order is one line of
 * the processor's cache. A slot is the offset of its first cell; a freed slot is used again.
 */
export class OrderPool {
  cells: Int32Array;
  #free = NO_SLOT;
  #used = WIDTH;

  constructor(capacity = 1024) {
    this.cells = new Int32Array(capacity * WIDTH);
  }

  /** Takes a slot for an order that is about to rest. */
  take(order: number, account: number, open: number): number {
    let slot = this.#free;
    if (slot === NO_SLOT) {
      if (this.#used === this.cells.length) this.#grow();
      slot = this.#used;
      this.#used += WIDTH;
    } else {
      this.#free = this.cells[slot + NEXT] as number;
    }
    const { cells } = this;
    cells[slot + ORDER] = order;
    cells[slot + ACCOUNT] = account;
    cells[slot + OPEN] = open;
    return slot;
  }

  /** Gives a slot back. */
  free(slot: number): void {
    this.cells[slot + NEXT] = this.#free;
    this.#free = slot;
  }

  /** The order that rests in a slot. */
  orderIn(slot: number): number {
    return this.cells[slot + ORDER] as number;
  }

  /** What is open of the order in a slot. */
  openIn(slot: number): number {
    return this.cells[slot + OPEN] as number;
  }

  /** The slot before in the queue of the level, or NO_SLOT. */
  before(slot: number): number {
    return this.cells[slot + PREVIOUS] as number;
  }

  /** A pool of its own with the same orders in the same slots. */
  copy(): OrderPool {
    const copy = new OrderPool(0);
    copy.cells = this.cells.slice(0, this.#used);
    copy.#free = this.#free;
    copy.#used = this.#used;
    return copy;
  }

  #grow(): void {
    const cells = new Int32Array(this.cells.length * 2);
    cells.set(this.cells);
    this.cells = cells;
  }
}
