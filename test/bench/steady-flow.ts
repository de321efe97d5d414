import type { Flow } from "./flow.ts";
import { FlowBook } from "./flow-book.ts";
import { mulberry32 } from "./mulberry32.ts";
import { BUY, FAK, GTC, OperationTape, SELL } from "./operation-tape.ts";
import { TradeTally } from "./trade-tally.ts";

export interface SteadyChoice {
  /** Orders resting before, during and after; at least 33. */
  readonly live: number;
  /** How many operations are measured, to within a dozen. */
  readonly operations: number;
  /** Cancellations pick among this many of the orders behind the front; among all of them by default. */
  readonly canceledAmong?: number;
}

const LEVELS = 999;
const MIDDLE = 500;
/** The price levels next to the middle, each with two orders, where all trading happens. */
const FRONT = 8;
/** The price levels behind the front that share all other orders. */
const DEPTH = 50;

/**
 * A flow that keeps the number of live orders: whatever leaves comes back at the end of its price's queue. It is about
 * 54 % passive orders, 26 % cancellations of random orders behind the front and 20 % orders that cross into the front.
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
  /** Of each order behind the front: its id and its tick. */
  readonly #restingId: Int32Array;
  readonly #restingTick: Int32Array;
  /** Two streams, so that the choice among more or fewer resting orders shifts nothing of the trading. */
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

  /** Cancels a random one of the first orders behind the front and rests another at its price. */
  #renew(among: number): void {
    const index = this.#resting(among);
    this.tape.cancel(this.#restingId[index] as number);
    this.#restBehind(index, this.#restingTick[index] as number);
  }

  /** Takes from the front, and rests a new order for each that was filled whole. */
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
