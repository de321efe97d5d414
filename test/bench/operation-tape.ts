export const PLACE = 0;
export const CANCEL = 1;
export const BUY = 0;
export const SELL = 1;
export const GTC = 0;
export const FAK = 1;
export const FOK = 2;

/** Operations on one book, in order, as columns of integers: reading them back costs next to nothing. */
export class OperationTape {
  /** How many operations were recorded. */
  length = 0;
  /** PLACE or CANCEL. */
  readonly kind: Uint8Array;
  /** The order that is placed, or the one that is canceled; the columns below are 0 for a CANCEL. */
  readonly id: Int32Array;
  /** BUY or SELL. */
  readonly side: Uint8Array;
  /** Limit, in ticks. */
  readonly tick: Int32Array;
  readonly size: Int32Array;
  /** GTC, FAK or FOK. */
  readonly timeInForce: Uint8Array;

  constructor(capacity: number) {
    this.kind = new Uint8Array(capacity);
    this.id = new Int32Array(capacity);
    this.side = new Uint8Array(capacity);
    this.tick = new Int32Array(capacity);
    this.size = new Int32Array(capacity);
    this.timeInForce = new Uint8Array(capacity);
  }

  /** Records a limit order. */
  place(id: number, side: number, tick: number, size: number, timeInForce: number): void {
    const at = this.length++;
    this.kind[at] = PLACE;
    this.id[at] = id;
    this.side[at] = side;
    this.tick[at] = tick;
    this.size[at] = size;
    this.timeInForce[at] = timeInForce;
  }

  /** Records the cancellation of a resting order. */
  cancel(id: number): void {
    const at = this.length++;
    this.kind[at] = CANCEL;
    this.id[at] = id;
  }
}
