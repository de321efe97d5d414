import type { Millis } from "./units.ts";

/**
 * Binary heap of orders by expiration, then by number. An order that ends in another way remains as a stale entry until
 * it reaches the top or stale entries outnumber the live ones.
 */
export class ExpiryQueue {
  #at: number[] = [];
  #order: number[] = [];
  #stale = 0;

  add(at: Millis, order: number): void {
    this.#at.push(at);
    this.#order.push(order);
    this.#up(this.#at.length - 1);
  }

  /** Returns the order that expires first, or 0. */
  first(): number {
    return this.#order[0] ?? 0;
  }

  /** Returns at most `count` orders, soonest first; `isWaiting` tells whether an order is still open. */
  soonest(count: number, isWaiting: (order: number) => boolean): number[] {
    const found: number[] = [];
    // In a heap, the next entry is a child of one already visited.
    const next = this.#order.length > 0 ? [0] : [];
    while (next.length > 0 && found.length < count) {
      next.sort((a, b) => (this.#before(a, b) ? 1 : -1));
      const place = next.pop() as number;
      const order = this.#order[place] as number;
      if (isWaiting(order)) found.push(order);
      for (const child of [place * 2 + 1, place * 2 + 2]) if (child < this.#order.length) next.push(child);
    }
    return found;
  }

  /** Called after an order in the queue has ended; removes stale entries. */
  ended(isWaiting: (order: number) => boolean): void {
    this.#stale += 1;
    while (this.#order.length > 0 && !isWaiting(this.first())) {
      this.#pop();
      this.#stale -= 1;
    }
    if (this.#stale * 2 > this.#order.length && this.#stale > 64) this.#rebuild(isWaiting);
  }

  copy(): ExpiryQueue {
    const copy = new ExpiryQueue();
    copy.#at = this.#at.slice();
    copy.#order = this.#order.slice();
    copy.#stale = this.#stale;
    return copy;
  }

  #rebuild(isWaiting: (order: number) => boolean): void {
    const at = this.#at;
    const order = this.#order;
    this.#at = [];
    this.#order = [];
    this.#stale = 0;
    for (const [index, number] of order.entries()) {
      if (isWaiting(number)) this.add(at[index] as Millis, number);
    }
  }

  #pop(): void {
    const lastAt = this.#at.pop() as number;
    const lastOrder = this.#order.pop() as number;
    if (this.#order.length === 0) return;
    this.#at[0] = lastAt;
    this.#order[0] = lastOrder;
    this.#down(0);
  }

  #before(a: number, b: number): boolean {
    const earlier = (this.#at[a] as number) - (this.#at[b] as number);
    return earlier !== 0 ? earlier < 0 : (this.#order[a] as number) < (this.#order[b] as number);
  }

  #swap(a: number, b: number): void {
    const at = this.#at[a] as number;
    const order = this.#order[a] as number;
    this.#at[a] = this.#at[b] as number;
    this.#order[a] = this.#order[b] as number;
    this.#at[b] = at;
    this.#order[b] = order;
  }

  #up(from: number): void {
    let child = from;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#before(child, parent)) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  #down(from: number): void {
    let parent = from;
    for (;;) {
      const left = parent * 2 + 1;
      if (left >= this.#at.length) return;
      const right = left + 1;
      const child = right < this.#at.length && this.#before(right, left) ? right : left;
      if (!this.#before(child, parent)) return;
      this.#swap(child, parent);
      parent = child;
    }
  }
}
