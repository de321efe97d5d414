import type { BookDirection } from "../../src/core/book/book.ts";
import { FULL_PRICE } from "../../src/core/units.ts";
import { SimulatedBook } from "../../src/simulation/simulator.ts";

/**
 * Makes a stream of integers, 0 <= n < bound, by Tommy Ettinger's mulberry32. It has 32 bits of state and gives the same
 * numbers in every language.
 */
export function mulberry32(seed: number): (bound: number) => number {
  let state = seed | 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const bits = (mixed ^ (mixed >>> 14)) >>> 0;
    return Math.floor((bits * bound) / 4_294_967_296);
  };
}

const PLACE = 0;
export const CANCEL = 1;
export const BUY = 0;
const SELL = 1;
export const GTC = 0;
export const FAK = 1;
export const FOK = 2;

/** Returns columns of integers, which are fast to read, for so many operations on one book, in order. */
const openTape = (capacity: number) => ({
  /** Number of recorded operations. */
  length: 0,
  /** PLACE or CANCEL. */
  kind: new Uint8Array(capacity),
  /** Order that is placed or canceled; the columns below are 0 for a CANCEL. */
  id: new Int32Array(capacity),
  /** BUY or SELL. */
  side: new Uint8Array(capacity),
  /** Limit, in ticks. */
  tick: new Int32Array(capacity),
  size: new Int32Array(capacity),
  /** GTC, FAK or FOK. */
  timeInForce: new Uint8Array(capacity),
});
export type OperationTape = Readonly<ReturnType<typeof openTape>>;

const mixed = (hash: number, value: number): number => Math.imul(hash ^ value, 16_777_619);

/** Count, volume and hash of trades; books with the same trades have the same tally. */
export class TradeTally {
  trades = 0;
  volume = 0;
  /** Hash of taker, maker, tick and quantity of every trade, in order: `h = imul(h ^ value, 16777619)`, unsigned 32 bits. */
  hash = 0;

  /** Counts one trade. */
  add(taker: number, maker: number, tick: number, quantity: number): void {
    this.trades += 1;
    this.volume += quantity;
    const hash = mixed(mixed(mixed(this.hash, taker), maker), tick);
    this.hash = mixed(hash, quantity) >>> 0;
  }
}

/** Resting order with its index in the list of live ones. */
interface LiveOrder {
  readonly id: number;
  readonly side: number;
  readonly tick: number;
  readonly slot: number;
  index: number;
}

/** Book for generating a flow, with the list of live orders that can be canceled. */
class FlowBook extends SimulatedBook {
  /** An order that rests is appended; one that leaves is replaced by the last. */
  readonly live: LiveOrder[] = [];
  readonly #byId = new Map<number, LiveOrder>();
  readonly #tally: TradeTally;

  constructor(levels: number, tally: TradeTally) {
    super(FULL_PRICE / (levels + 1));
    this.#tally = tally;
  }

  /** Matches a limit order, rests the remainder of a GTC, and returns the completely filled makers. */
  place(id: number, side: number, tick: number, size: number, timeInForce: number): readonly LiveOrder[] {
    const direction = side as BookDirection;
    if (timeInForce === FOK && this.fillable(direction, tick, size) < size) return [];
    const filled: LiveOrder[] = [];
    const left = this.match(direction, tick, size, (slot, quantity) => {
      const maker = this.#byId.get(this.pool.orderIn(slot)) as LiveOrder;
      this.#tally.add(id, maker.id, maker.tick, quantity);
      if (this.pool.openIn(slot) > quantity) return;
      this.#leave(maker);
      filled.push(maker);
    });
    if (left > 0 && timeInForce === GTC) {
      const slot = this.rest(direction, tick, left, id, 0);
      const order = { id, side, tick, slot, index: this.live.length };
      this.live.push(order);
      this.#byId.set(id, order);
    }
    return filled;
  }

  /** Removes a resting order. */
  cancel(order: LiveOrder): void {
    this.remove(order.slot);
    this.#leave(order);
  }

  #leave(order: LiveOrder): void {
    this.#byId.delete(order.id);
    const last = this.live.pop() as LiveOrder;
    if (last === order) return;
    this.live[order.index] = last;
    last.index = order.index;
  }
}

/** Operations on a book, and the resulting trades. */
export interface Flow {
  /** Prices are 1..levels, in ticks. */
  readonly levels: number;
  readonly tape: OperationTape;
  /** Number of operations at the start that only fill the book and are not measured. */
  readonly opening: number;
  /** Trades of the operations; the opening has none. */
  readonly expected: TradeTally;
}

export interface FlowChoice {
  /** Price levels of the book. */
  readonly levels: 99 | 999 | 9999;
  /** Whether crossing orders are a mix of GTC, FAK and FOK instead of all GTC. */
  readonly typed?: boolean;
  /** Number of first operations of the whole flow of 1,000,000. */
  readonly operations?: number;
}

/** Maximum distance from the best opposite price of a resting order (window) and of a crossing one (slip), in ticks. */
const SHAPES = {
  99: { window: 20, slip: 5 },
  999: { window: 100, slip: 20 },
  9999: { window: 1000, slip: 160 },
} as const;

/** Records operations on a tape, and their trades in a book. */
class FlowRecorder {
  readonly tape: ReturnType<typeof openTape>;
  readonly tally = new TradeTally();
  readonly book: FlowBook;
  #lastId = 0;

  constructor(levels: number, operations: number) {
    this.tape = openTape(operations);
    this.book = new FlowBook(levels, this.tally);
  }

  /** Records a limit order, which is in no book. Returns its id. */
  record(side: number, tick: number, size: number, timeInForce: number): number {
    const { tape } = this;
    const at = tape.length++;
    this.#lastId += 1;
    tape.kind[at] = PLACE;
    tape.id[at] = this.#lastId;
    tape.side[at] = side;
    tape.tick[at] = tick;
    tape.size[at] = size;
    tape.timeInForce[at] = timeInForce;
    return this.#lastId;
  }

  /** Places an order. Returns the completely filled makers. */
  place(side: number, tick: number, size: number, timeInForce: number): readonly LiveOrder[] {
    return this.book.place(this.record(side, tick, size, timeInForce), side, tick, size, timeInForce);
  }

  /** Records the cancellation of a resting order. */
  cancel(id: number): void {
    const at = this.tape.length++;
    this.tape.kind[at] = CANCEL;
    this.tape.id[at] = id;
  }
}

/**
 * The common order flow: about half passive orders, a quarter cancellations of random live orders and a fifth crossing
 * orders, around 10,000 live orders. The same choice makes the same flow, whichever engine or language reads it.
 */
export function commonFlow({ levels, typed = false, operations = 1_000_000 }: FlowChoice): Flow {
  const recorder = new FlowRecorder(levels, operations);
  const { tape, tally, book } = recorder;
  const { window, slip } = SHAPES[levels];
  const below = mulberry32(0x5eed0000 + levels);
  const clamp = (tick: number): number => Math.min(Math.max(tick, 1), levels);
  const drawTimeInForce = (): number => {
    const draw = below(100);
    if (draw < 50) return GTC;
    return draw < 85 ? FAK : FOK;
  };

  /** Adds a passive order in the window behind the best opposite price; small sizes are the most frequent. */
  const add = (): void => {
    const { bestBid, bestAsk } = book;
    const middle = levels >> 1;
    let side = below(2);
    const offset = 1 + below(window);
    if (side === BUY && bestAsk <= 1) side = SELL;
    else if (side === SELL && bestBid >= levels) side = BUY;
    const ask = bestAsk <= levels ? bestAsk : Math.max(bestBid, middle) + 1;
    const bid = bestBid > 0 ? bestBid : Math.min(bestAsk, middle + 1) - 1;
    const tick = side === BUY ? ask - offset : bid + offset;
    const draw = below(1000);
    recorder.place(side, clamp(tick), 1 + Math.floor((draw * draw * draw * draw) / 1e9), GTC);
  };

  const cancel = (): void => {
    const order = book.live[below(book.live.length)];
    if (order === undefined) throw new Error("a flow cancels only while orders are live");
    recorder.cancel(order.id);
    book.cancel(order);
  };

  /** Adds an order that matches the best opposite price, and perhaps some ticks beyond it. */
  const cross = (): void => {
    const { bestBid, bestAsk } = book;
    const side = below(levels + 1) >= (bestBid + bestAsk) >> 1 ? BUY : SELL;
    if (side === BUY ? bestAsk > levels : bestBid === 0) {
      add();
      return;
    }
    const beyond = below(slip);
    const tick = clamp(side === BUY ? bestAsk + beyond : bestBid - beyond);
    const size = 1 + below(1000);
    recorder.place(side, tick, size, typed ? drawTimeInForce() : GTC);
  };

  for (let index = 0; index < operations; index++) {
    const kind = below(100);
    const live = book.live.length;
    if (index < 5000 || kind < (live < 10_000 ? 59 : 51)) {
      if (live > 20_000) cancel();
      else add();
    } else if (live < 1000) add();
    else if (kind < 80) cancel();
    else cross();
  }
  return { levels, tape, opening: 0, expected: tally };
}

export interface SteadyChoice {
  /** Orders resting before, during and after; at least 33. */
  readonly live: number;
  /** Approximate number of measured operations. */
  readonly operations: number;
  /** Cancellations pick among this many of the orders behind the front; among all of them by default. */
  readonly canceledAmong?: number;
}

const LEVELS = 999;
const MIDDLE = 500;
/** Number of price levels next to the middle with two orders each, where all trading happens. */
const FRONT = 8;
/** Number of price levels behind the front, which have all other orders. */
const DEPTH = 50;
/** Maximum number of operations of a crossing order and the orders that replace the filled ones. */
const LONGEST_TURN = FRONT * 2 + 1;

/**
 * Makes a flow with a constant number of live orders: each order that leaves is replaced at the end of its queue. It is
 * about 54 % passive orders, 26 % cancellations of random orders behind the front and 20 % orders that cross the front.
 * Kinds, fills and levels swept are the same for every `live`, so that only the amount of resting orders differs.
 */
export function steadyFlow({ live, operations, canceledAmong = live }: SteadyChoice): Flow {
  const behind = live - FRONT * 4;
  const recorder = new FlowRecorder(LEVELS, live + operations + LONGEST_TURN);
  const { tape, tally } = recorder;
  /** Id and tick of each order behind the front, which is in no book. */
  const restingId = new Int32Array(behind);
  const restingTick = new Int32Array(behind);
  // Two streams, so that the number of resting orders does not change the trading.
  const trading = mulberry32(0x5eed0001);
  const resting = mulberry32(0x5eed0002);

  const restInFront = (side: number, tick: number): void =>
    void recorder.place(side, tick, 1 + trading(1000), GTC);
  const restBehind = (index: number, tick: number): void => {
    restingId[index] = recorder.record(tick < MIDDLE ? BUY : SELL, tick, 1 + resting(1000), GTC);
    restingTick[index] = tick;
  };

  for (let distance = 1; distance <= FRONT; distance++) {
    for (let order = 0; order < 2; order++) {
      restInFront(BUY, MIDDLE - distance);
      restInFront(SELL, MIDDLE + distance);
    }
  }
  for (let index = 0; index < behind; index++) {
    const distance = FRONT + 1 + resting(DEPTH);
    restBehind(index, MIDDLE + (resting(2) === 0 ? -distance : distance));
  }
  while (tape.length < live + operations) {
    if (trading(9) < 5) {
      // Cancels a random one of the first orders behind the front and places another at its price.
      const index = resting(Math.min(canceledAmong, behind));
      recorder.cancel(restingId[index] as number);
      restBehind(index, restingTick[index] as number);
    } else {
      // Matches orders of the front, and places a new order for each completely filled one.
      const side = trading(2);
      const limit = side === BUY ? MIDDLE + FRONT : MIDDLE - FRONT;
      const filled = recorder.place(side, limit, 1 + trading(1400), FAK);
      for (const order of filled) restInFront(order.side, order.tick);
    }
  }
  return { levels: LEVELS, tape, opening: live, expected: tally };
}
