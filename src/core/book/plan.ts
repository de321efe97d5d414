/** Matches of an incoming order: resting slots in priority order, each with the quantity to fill. */
export class MatchPlan {
  /** Slots in order of matching. */
  slots = new Int32Array(64);
  /** Quantities to fill, in size units; 0 marks an own order that the self-trade policy cancels. */
  quantities = new Int32Array(64);
  count = 0;
  /** The sum of the quantities. */
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

  /** Appends one resting order. */
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
