/** The slot that means "no order". */
export const NO_SLOT = 0;

/** Places for resting orders in typed arrays, shared by all books of an exchange; a freed slot is used again. */
export class OrderPool {
  /** The neighbours in the queue of the order's level; of a free slot, `next` is the next free one. */
  next: Int32Array;
  previous: Int32Array;
  /** Where the order rests: `rank * 2`, plus 1 on the ask side. */
  place: Int32Array;
  /** What is still open, in size units. */
  open: Int32Array;
  /** The number that the owner of the book knows the order by. */
  order: Int32Array;
  /** The account the order belongs to. */
  account: Int32Array;
  #free = NO_SLOT;
  #used = 1;

  constructor(capacity = 1024) {
    this.next = new Int32Array(capacity);
    this.previous = new Int32Array(capacity);
    this.place = new Int32Array(capacity);
    this.open = new Int32Array(capacity);
    this.order = new Int32Array(capacity);
    this.account = new Int32Array(capacity);
  }

  /** Takes a slot for an order that is about to rest. */
  take(order: number, account: number, open: number): number {
    let slot = this.#free;
    if (slot === NO_SLOT) {
      if (this.#used === this.next.length) this.#grow();
      slot = this.#used++;
    } else {
      this.#free = this.next[slot] as number;
    }
    this.order[slot] = order;
    this.account[slot] = account;
    this.open[slot] = open;
    return slot;
  }

  /** Gives a slot back. */
  free(slot: number): void {
    this.next[slot] = this.#free;
    this.#free = slot;
  }

  #grow(): void {
    const capacity = this.next.length * 2;
    const grown = (from: Int32Array): Int32Array => {
      const to = new Int32Array(capacity);
      to.set(from);
      return to;
    };
    this.next = grown(this.next);
    this.previous = grown(this.previous);
    this.place = grown(this.place);
    this.open = grown(this.open);
    this.order = grown(this.order);
    this.account = grown(this.account);
  }
}
