import { Book, type BookDirection } from "../../src/core/book/book.ts";
import { OrderPool } from "../../src/core/book/order-pool.ts";
import { MatchPlan } from "../../src/core/book/plan.ts";
import type { Contender } from "./contender.ts";
import { CANCEL, FOK, GTC, type OperationTape } from "./operation-tape.ts";
import { TradeTally } from "./trade-tally.ts";

/** The book of this project through its own door, orders known by dense integers. */
export const clobsimBook: Contender = {
  name: "clobsim",
  prepare({ levels, tape, opening }) {
    const replay = new Replay(levels, tape.length);
    replay.run(tape, 0, opening);
    return () => {
      replay.run(tape, opening, tape.length);
      return replay.tally;
    };
  },
};

const NOBODY = 0;

class Replay {
  readonly tally = new TradeTally();
  readonly #book: Book;
  readonly #plan = new MatchPlan();
  readonly #slotOf: Int32Array;

  constructor(levels: number, orders: number) {
    this.#book = new Book(new OrderPool(), levels);
    this.#slotOf = new Int32Array(orders + 1);
  }

  run({ kind, id, side, tick, size, timeInForce }: OperationTape, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const order = id[at] as number;
      if (kind[at] === CANCEL) {
        this.#book.remove(this.#slotOf[order] as number);
      } else {
        const direction = side[at] as BookDirection;
        this.#place(order, direction, tick[at] as number, size[at] as number, timeInForce[at] as number);
      }
    }
  }

  #place(order: number, direction: BookDirection, tick: number, size: number, timeInForce: number): void {
    const book = this.#book;
    const plan = this.#plan;
    book.plan(direction, tick, size, NOBODY, "allow", plan);
    if (timeInForce === FOK && plan.filled < size) return;
    for (let index = 0; index < plan.count; index++) {
      const slot = plan.slots[index] as number;
      const quantity = plan.quantities[index] as number;
      this.tally.add(order, book.pool.orderIn(slot), book.tickOf(slot), quantity);
      book.fill(slot, quantity);
    }
    const left = size - plan.filled;
    if (left > 0 && timeInForce === GTC) {
      this.#slotOf[order] = book.rest(direction, tick, left, order, NOBODY);
    }
  }
}
