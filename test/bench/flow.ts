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

/** Operations on one book, in order, as columns of integers, which are fast to read. */
export class OperationTape {
  /** Number of recorded operations. */
  length = 0;
  /** PLACE or CANCEL. */
  readonly kind: Uint8Array;
  /** Order that is placed or canceled; the columns below are 0 for a CANCEL. */
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
    let hash = this.hash;
    hash = Math.imul(hash ^ taker, 16_777_619);
    hash = Math.imul(hash ^ maker, 16_777_619);
    hash = Math.imul(hash ^ tick, 16_777_619);
    hash = Math.imul(hash ^ quantity, 16_777_619);
    this.hash = hash >>> 0;
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

/**
 * The common order flow: about half passive orders, a quarter cancellations of random live orders and a fifth crossing
 * orders, around 10,000 live orders. The same choice makes the same flow, whichever engine or language reads it.
 */
export function commonFlow(choice: FlowChoice): Flow {
  const maker = new FlowMaker(choice, choice.operations ?? 1_000_000);
  return { levels: choice.levels, tape: maker.tape, opening: 0, expected: maker.tally };
}

class FlowMaker {
  readonly tape: OperationTape;
  readonly tally = new TradeTally();
  readonly #levels: number;
  readonly #window: number;
  readonly #slip: number;
  readonly #typed: boolean;
  readonly #below: (bound: number) => number;
  readonly #book: FlowBook;
  #lastId = 0;

  constructor({ levels, typed = false }: FlowChoice, operations: number) {
    this.tape = new OperationTape(operations);
    this.#levels = levels;
    this.#window = SHAPES[levels].window;
    this.#slip = SHAPES[levels].slip;
    this.#typed = typed;
    this.#below = mulberry32(0x5eed0000 + levels);
    this.#book = new FlowBook(levels, this.tally);
    for (let index = 0; index < operations; index++) this.#next(index);
  }

  #next(index: number): void {
    const kind = this.#below(100);
    const live = this.#book.live.length;
    const adds = live < 10_000 ? 59 : 51;
    if (index < 5000 || kind < adds) {
      if (live > 20_000) this.#cancel();
      else this.#add();
    } else if (live < 1000) this.#add();
    else if (kind < 80) this.#cancel();
    else this.#cross();
  }

  /** Adds a passive order in the window behind the best opposite price; small sizes are the most frequent. */
  #add(): void {
    const { bestBid, bestAsk } = this.#book;
    const middle = this.#levels >> 1;
    let side = this.#below(2);
    const offset = 1 + this.#below(this.#window);
    if (side === BUY && bestAsk <= 1) side = SELL;
    else if (side === SELL && bestBid >= this.#levels) side = BUY;
    const ask = bestAsk <= this.#levels ? bestAsk : Math.max(bestBid, middle) + 1;
    const bid = bestBid > 0 ? bestBid : Math.min(bestAsk, middle + 1) - 1;
    const tick = side === BUY ? ask - offset : bid + offset;
    const draw = this.#below(1000);
    this.#place(side, this.#clamp(tick), 1 + Math.floor((draw * draw * draw * draw) / 1e9), GTC);
  }

  #cancel(): void {
    const { live } = this.#book;
    const order = live[this.#below(live.length)];
    if (order === undefined) throw new Error("a flow cancels only while orders are live");
    this.tape.cancel(order.id);
    this.#book.cancel(order);
  }

  /** Adds an order that matches the best opposite price, and perhaps some ticks beyond it. */
  #cross(): void {
    const { bestBid, bestAsk } = this.#book;
    const side = this.#below(this.#levels + 1) >= (bestBid + bestAsk) >> 1 ? BUY : SELL;
    if (side === BUY ? bestAsk > this.#levels : bestBid === 0) {
      this.#add();
      return;
    }
    const slip = this.#below(this.#slip);
    const tick = this.#clamp(side === BUY ? bestAsk + slip : bestBid - slip);
    const size = 1 + this.#below(1000);
    this.#place(side, tick, size, this.#typed ? this.#timeInForce() : GTC);
  }

  #timeInForce(): number {
    const draw = this.#below(100);
    if (draw < 50) return GTC;
    return draw < 85 ? FAK : FOK;
  }

  #place(side: number, tick: number, size: number, timeInForce: number): void {
    const id = ++this.#lastId;
    this.tape.place(id, side, tick, size, timeInForce);
    this.#book.place(id, side, tick, size, timeInForce);
  }

  #clamp(tick: number): number {
    return Math.min(Math.max(tick, 1), this.#levels);
  }
}

interface SteadyChoice {
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

/**
 * Makes a flow with a constant number of live orders: each order that leaves is replaced at the end of its queue. It is
 * about 54 % passive orders, 26 % cancellations of random orders behind the front and 20 % orders that cross the front.
 * Kinds, fills and levels swept are the same for every `live`, so that only the amount of resting orders differs.
 */
export function steadyFlow(choice: SteadyChoice): Flow {
  const maker = new SteadyFlowMaker(choice);
  return { levels: LEVELS, tape: maker.tape, opening: choice.live, expected: maker.tally };
}

class SteadyFlowMaker {
  readonly tape: OperationTape;
  readonly tally = new TradeTally();
  readonly #front = new FlowBook(LEVELS, this.tally);
  /** Id and tick of each order behind the front. */
  readonly #restingId: Int32Array;
  readonly #restingTick: Int32Array;
  /** Two streams, so that the number of resting orders does not change the trading. */
  readonly #trading = mulberry32(0x5eed0001);
  readonly #resting = mulberry32(0x5eed0002);
  #lastId = 0;

  constructor({ live, operations, canceledAmong = live }: SteadyChoice) {
    const behind = live - FRONT * 4;
    const longestTurn = FRONT * 2 + 1;
    this.tape = new OperationTape(live + operations + longestTurn);
    this.#restingId = new Int32Array(behind);
    this.#restingTick = new Int32Array(behind);
    for (let distance = 1; distance <= FRONT; distance++) {
      for (let order = 0; order < 2; order++) {
        this.#restInFront(BUY, MIDDLE - distance);
        this.#restInFront(SELL, MIDDLE + distance);
      }
    }
    for (let index = 0; index < behind; index++) {
      const distance = FRONT + 1 + this.#resting(DEPTH);
      this.#restBehind(index, MIDDLE + (this.#resting(2) === 0 ? -distance : distance));
    }
    while (this.tape.length < live + operations) {
      if (this.#trading(9) < 5) this.#renew(Math.min(canceledAmong, behind));
      else this.#cross();
    }
  }

  /** Cancels a random one of the first orders behind the front and places another at its price. */
  #renew(among: number): void {
    const index = this.#resting(among);
    this.tape.cancel(this.#restingId[index] as number);
    this.#restBehind(index, this.#restingTick[index] as number);
  }

  /** Matches orders of the front, and places a new order for each completely filled one. */
  #cross(): void {
    const side = this.#trading(2);
    const limit = side === BUY ? MIDDLE + FRONT : MIDDLE - FRONT;
    const filled = this.#placeInFront(side, limit, 1 + this.#trading(1400), FAK);
    for (const order of filled) this.#restInFront(order.side, order.tick);
  }

  #restInFront(side: number, tick: number): void {
    this.#placeInFront(side, tick, 1 + this.#trading(1000), GTC);
  }

  #placeInFront(side: number, tick: number, size: number, timeInForce: number) {
    const id = ++this.#lastId;
    this.tape.place(id, side, tick, size, timeInForce);
    return this.#front.place(id, side, tick, size, timeInForce);
  }

  #restBehind(index: number, tick: number): void {
    const id = ++this.#lastId;
    this.#restingId[index] = id;
    this.#restingTick[index] = tick;
    this.tape.place(id, tick < MIDDLE ? BUY : SELL, tick, 1 + this.#resting(1000), GTC);
  }
}
