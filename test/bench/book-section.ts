import { type IProcessOrder, type LimitOrderOptions, OrderBook, Side } from "nodejs-order-book";
import { Book, type BookDirection, MatchPlan } from "../../src/core/book/book.ts";
import { OrderPool } from "../../src/core/book/order-pool.ts";
import {
  BUY,
  CANCEL,
  commonFlow,
  type Flow,
  FOK,
  GTC,
  type OperationTape,
  steadyFlow,
  TradeTally,
} from "./flow.ts";
import { alternate, median, type Subject } from "./rounds.ts";
import { measurementOf, type Section } from "./section.ts";

/** An order book engine that can replay a flow. */
interface Contender {
  readonly name: string;
  /** Makes a book and applies the flow's opening. The returned function replays the rest once and is measured. */
  prepare(flow: Flow): () => TradeTally;
}

/** The book of this project, with dense integers as order ids. */
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

const NO_ACCOUNT = 0;

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
    book.plan(direction, tick, size, NO_ACCOUNT, "allow", plan);
    if (timeInForce === FOK && plan.filled < size) return;
    for (let index = 0; index < plan.count; index++) {
      const slot = plan.slots[index] as number;
      const quantity = plan.quantities[index] as number;
      this.tally.add(order, book.pool.orderIn(slot), book.tickOf(slot), quantity);
      book.fill(slot, quantity);
    }
    const left = size - plan.filled;
    if (left > 0 && timeInForce === GTC) {
      this.#slotOf[order] = book.rest(direction, tick, left, order, NO_ACCOUNT);
    }
  }
}

/** The package nodejs-order-book. Its string ids are made in advance, and only those of makers are parsed. */
export const nodejsOrderBook: Contender = {
  name: "nodejs-order-book",
  prepare({ tape, opening }) {
    const book = new OrderBook();
    const tally = new TradeTally();
    const ids = Array.from({ length: tape.length }, (_, at) => String(tape.id[at]));
    replay(book, tape, ids, 0, opening, tally);
    return () => {
      replay(book, tape, ids, opening, tape.length, tally);
      return tally;
    };
  },
};

/** By GTC, FAK and FOK of the flow. */
const TIMES_IN_FORCE = ["GTC", "IOC", "FOK"] as NonNullable<LimitOrderOptions["timeInForce"]>[];

function replay(
  book: OrderBook,
  tape: OperationTape,
  ids: readonly string[],
  from: number,
  to: number,
  tally: TradeTally,
): void {
  for (let at = from; at < to; at++) {
    const id = ids[at] as string;
    if (tape.kind[at] === CANCEL) {
      book.cancel(id);
    } else {
      const result = book.limit({
        id,
        side: tape.side[at] === BUY ? Side.BUY : Side.SELL,
        size: tape.size[at] as number,
        price: tape.tick[at] as number,
        timeInForce: TIMES_IN_FORCE[tape.timeInForce[at] as number] as (typeof TIMES_IN_FORCE)[number],
      });
      addTrades(result, id, tape.id[at] as number, tally);
    }
  }
}

/** The result lists completely filled makers with their remaining size, then the partly filled maker or taker. */
function addTrades(result: IProcessOrder, takerId: string, taker: number, tally: TradeTally): void {
  for (const maker of result.done) {
    if (maker.id !== takerId && "price" in maker) {
      tally.add(taker, Number(maker.id), maker.price, maker.size);
    }
  }
  const { partial } = result;
  if (partial !== null && partial.id !== takerId) {
    tally.add(taker, Number(partial.id), partial.price, result.partialQuantityProcessed);
  }
}

/**
 * Makes a subject that replays a flow. Each run checks its trades.
 * @throws Error from a run with other trades than the flow's.
 */
function replaySubject(contender: Contender, flow: Flow): Subject {
  const { expected } = flow;
  // Keeps a book alive between runs, as in an exchange, because V8 discards compiled code with the last object of a shape.
  let replay = contender.prepare(flow);
  return {
    name: contender.name,
    prepare() {
      replay = contender.prepare(flow);
      return () => {
        const made = replay();
        if (
          made.hash !== expected.hash ||
          made.trades !== expected.trades ||
          made.volume !== expected.volume
        ) {
          throw new Error(
            `${contender.name} made ${made.trades} trades of volume ${made.volume} (hash ${made.hash}), ` +
              `the flow has ${expected.trades} of ${expected.volume} (hash ${expected.hash})`,
          );
        }
      };
    },
  };
}

/** The package slows down as its book fills: it takes about two seconds for this length, half a minute for the whole flow. */
const PREFIX = 100_000;

/** The order book alone, compared with the package nodejs-order-book on the same trades. */
export const bookSection: Section = {
  name: "book",
  about: "one order book, orders in and trades out",
  measure(rounds) {
    const races = lineUp();
    const subjects = races.map(({ contender, flow }) => replaySubject(contender, flow));
    const samples = alternate(subjects, { rounds, warmUps: 2, sampleMs: 100 });
    const results = races.map((race, index) => ({
      ...race,
      speeds: speedsOf(race.flow, samples[index] ?? []),
    }));
    return {
      unit: "million operations/s",
      baseline: `${nodejsOrderBook.name} on the same operations in the same run`,
      rounds,
      measurements: results.map(({ contender, flow, speeds }) => {
        const peer = results.find((other) => other.flow === flow && other.contender === nodejsOrderBook);
        const part = flow.tape.length === PREFIX ? "first" : "all";
        const workload = `${flow.levels} levels, ${part} ${flow.tape.length.toLocaleString("en-US")} operations`;
        return measurementOf(
          workload,
          contender.name,
          speeds,
          peer === undefined ? null : median(peer.speeds),
        );
      }),
      notes: [
        `Compared on the first ${PREFIX.toLocaleString("en-US")} operations of the flow, while the book still fills: with all operations`,
        `${nodejsOrderBook.name} is slower still, and a run takes up to half a minute.`,
        "Every run is checked against the trades of the flow (taker, maker, price, quantity, in order).",
      ],
    };
  },
};

interface Race {
  readonly flow: Flow;
  readonly contender: Contender;
}

function lineUp(): Race[] {
  const races: Race[] = [];
  for (const levels of [99, 999] as const) {
    const flow = commonFlow({ levels, operations: PREFIX });
    races.push({ flow, contender: clobsimBook }, { flow, contender: nodejsOrderBook });
  }
  for (const levels of [99, 999, 9999] as const) {
    races.push({ flow: commonFlow({ levels }), contender: clobsimBook });
  }
  return races;
}

/** Converts milliseconds per run to million operations per second. */
function speedsOf(flow: Flow, milliseconds: readonly number[]): number[] {
  return milliseconds.map((each) => flow.tape.length / each / 1000);
}

const FEWEST = 1000;
const LIVE = [FEWEST, 10_000, 100_000, 1_000_000] as const;
const OPERATIONS = 500_000;

/** Cost of an operation with more resting orders, for the same mix of operations. */
export const flatnessSection: Section = {
  name: "flatness",
  about: "the cost of an operation as more orders rest",
  measure(rounds) {
    const loads = loadsToCompare();
    const subjects = loads.map(({ flow }) => replaySubject(clobsimBook, flow));
    const samples = alternate(subjects, { rounds, warmUps: 2, sampleMs: 0 });
    const costs = loads.map(({ flow: { tape, opening } }, index) =>
      (samples[index] as number[]).map((milliseconds) => (milliseconds * 1e6) / (tape.length - opening)),
    );
    const baseline = median(costs[0] ?? []);
    return {
      unit: "ns/operation",
      baseline: `${figure(FEWEST)} live orders`,
      rounds,
      measurements: loads.map(({ workload }, index) =>
        measurementOf(workload, clobsimBook.name, costs[index] ?? [], baseline),
      ),
      notes: [
        "The same kinds of orders, fills and levels swept in every row. Canceling among 1,000 of the orders shows the book's own cost;",
        "canceling among all of them adds what the machine takes to reach orders that are in no cache.",
      ],
    };
  },
};

function loadsToCompare() {
  const among = (live: number, canceledAmong: number, words: string) => ({
    workload: `${figure(live)} live orders${words}`,
    flow: steadyFlow({ live, operations: OPERATIONS, canceledAmong }),
  });
  const more = LIVE.filter((live) => live > FEWEST);
  return [
    among(FEWEST, FEWEST, ""),
    ...more.map((live) => among(live, FEWEST, `, canceled among ${figure(FEWEST)}`)),
    ...more.map((live) => among(live, live, ", canceled among all")),
  ];
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}
