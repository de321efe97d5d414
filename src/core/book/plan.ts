/** What an order would meet if it came now: resting slots in priority order, each with the quantity to be filled. */
export class MatchPlan {
  /** Slots met, in order. */
  slots = new Int32Array(64);
  /** Quantity each would fill, in size units; 0 marks an own order that the self-trade policy cancels. */
  quantities = new Int32Array(64);
  count = 0;
  /** The sum of the quantities. */
  filled = 0;
  /** Whether a self-trade policy ended the walk before size or limit did. */
  stopped = false;
  /** The slot of the first own order that a self-trade policy met; 0 for none. */
  own = 0;

  /** Forgets the walk before. */
  clear(): void {
    this.count = 0;
    this.filled = 0;
    this.stopped = false;
    this.own = 0;
  }

  /** Notes one resting order. */
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
