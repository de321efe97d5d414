import assert from "node:assert";
import { type IProcessOrder, type LimitOrderOptions, OrderBook, Side } from "nodejs-order-book";
import { Book, type BookDirection, MatchPlan } from "../../src/core/book/book.ts";
import { OrderPool } from "../../src/core/book/order-pool.ts";
import { BUY, CANCEL, commonFlow, type Flow, FOK, GTC, steadyFlow, TradeTally } from "./flow.ts";
import { against, lineOf, measured, type Section, timed } from "./rounds.ts";
import { whole } from "./table.ts";

/** An order book engine that can replay a flow. */
interface Contender {
  readonly name: string;
  /** Makes a book. The returned function replays operations of the flow, and returns all trades so far. */
  open(flow: Flow): (from: number, to: number) => TradeTally;
}

/** Makes a book and applies the flow's opening. The returned function replays the rest once and is measured. */
export function prepareReplay({ open }: Contender, flow: Flow): () => TradeTally {
  const replay = open(flow);
  replay(0, flow.opening);
  return () => replay(flow.opening, flow.tape.length);
}

const NO_ACCOUNT = 0;

/** The book of this project, with dense integers as order ids. */
export const clobsimBook: Contender = {
  name: "clobsim",
  open({ levels, tape }) {
    const book = new Book(new OrderPool(), levels);
    const plan = new MatchPlan();
    const tally = new TradeTally();
    const slotOf = new Int32Array(tape.length + 1);
    const place = (order: number, direction: BookDirection, tick: number, size: number, type: number) => {
      book.plan(direction, tick, size, NO_ACCOUNT, "allow", plan);
      if (type === FOK && plan.filled < size) return;
      for (let index = 0; index < plan.count; index++) {
        const slot = plan.slots[index] as number;
        const quantity = plan.quantities[index] as number;
        tally.add(order, book.pool.orderIn(slot), book.tickOf(slot), quantity);
        book.fill(slot, quantity);
      }
      const left = size - plan.filled;
      if (left > 0 && type === GTC) slotOf[order] = book.rest(direction, tick, left, order, NO_ACCOUNT);
    };
    const { kind, id, side, tick, size, timeInForce } = tape;
    return (from, to) => {
      for (let at = from; at < to; at++) {
        const order = id[at] as number;
        const direction = side[at] as BookDirection;
        if (kind[at] === CANCEL) book.remove(slotOf[order] as number);
        else place(order, direction, tick[at] as number, size[at] as number, timeInForce[at] as number);
      }
      return tally;
    };
  },
};

/** By GTC, FAK and FOK of the flow. */
const TIMES_IN_FORCE = ["GTC", "IOC", "FOK"] as NonNullable<LimitOrderOptions["timeInForce"]>[];

/** The package nodejs-order-book. Its string ids are made in advance, and only those of makers are parsed. */
export const nodejsOrderBook: Contender = {
  name: "nodejs-order-book",
  open({ tape }) {
    const book = new OrderBook();
    const tally = new TradeTally();
    const ids = Array.from(tape.id.subarray(0, tape.length), String);
    return (from, to) => {
      for (let at = from; at < to; at++) {
        const id = ids[at] as string;
        if (tape.kind[at] === CANCEL) {
          book.cancel(id);
          continue;
        }
        const result = book.limit({
          id,
          side: tape.side[at] === BUY ? Side.BUY : Side.SELL,
          size: tape.size[at] as number,
          price: tape.tick[at] as number,
          timeInForce: TIMES_IN_FORCE[tape.timeInForce[at] as number] as (typeof TIMES_IN_FORCE)[number],
        });
        addTrades(result, id, tape.id[at] as number, tally);
      }
      return tally;
    };
  },
};

/** The result lists completely filled makers with their remaining size, then the partly filled maker or taker. */
function addTrades(result: IProcessOrder, takerId: string, taker: number, tally: TradeTally): void {
  for (const maker of result.done)
    if (maker.id !== takerId && "price" in maker) tally.add(taker, Number(maker.id), maker.price, maker.size);
  const { partial } = result;
  if (partial !== null && partial.id !== takerId)
    tally.add(taker, Number(partial.id), partial.price, result.partialQuantityProcessed);
}

/** Returns a sample: the milliseconds to replay a flow. @throws Error if it makes other trades than the flow's */
function replaying(contender: Contender, flow: Flow, sampleMs: number): () => number {
  const check = (made: TradeTally): void =>
    assert.deepEqual(made, flow.expected, `the trades of ${contender.name}`);
  return timed({ prepare: () => prepareReplay(contender, flow), check }, sampleMs);
}

/** The package slows down as its book fills: it takes about two seconds for this length, half a minute for the whole flow. */
const PREFIX = 100_000;

/** The order book alone, compared with the package nodejs-order-book on the same trades. */
export const bookSection: Section = {
  name: "book",
  about: "one order book, orders in and trades out",
  unit: "million operations/s",
  baseline: `${nodejsOrderBook.name} on the same operations in the same run`,
  async measure(rounds) {
    const line = (contender: Contender, flow: Flow, part: "first" | "all") => {
      const { length } = flow.tape;
      const sample = replaying(contender, flow, 100);
      const workload = `${flow.levels} levels, ${part} ${whole(length)} operations`;
      return lineOf(workload, contender.name, () => length / sample() / 1000);
    };
    const lines = [
      ...([99, 999] as const).flatMap((levels) => {
        const flow = commonFlow({ levels, operations: PREFIX });
        return [clobsimBook, nodejsOrderBook].map((contender) => line(contender, flow, "first"));
      }),
      ...([99, 999, 9999] as const).map((levels) => line(clobsimBook, commonFlow({ levels }), "all")),
    ];
    return {
      measurements: await measured(lines, { rounds, warmUps: 2 }, against(nodejsOrderBook.name)),
      notes: [
        `Compared on the first ${whole(PREFIX)} operations of the flow, while the book still fills: with all operations`,
        `${nodejsOrderBook.name} is slower still, and a run takes up to half a minute.`,
        "Every run is checked against the trades of the flow (taker, maker, price, quantity, in order).",
      ],
    };
  },
};

const FEWEST = 1000;
const LIVE = [FEWEST, 10_000, 100_000, 1_000_000] as const;
const OPERATIONS = 500_000;

/** Cost of an operation with more resting orders, for the same mix of operations. */
export const flatnessSection: Section = {
  name: "flatness",
  about: "the cost of an operation as more orders rest",
  unit: "ns/operation",
  baseline: `${whole(FEWEST)} live orders`,
  async measure(rounds) {
    const line = (live: number, canceledAmong: number, words: string) => {
      const flow = steadyFlow({ live, operations: OPERATIONS, canceledAmong });
      const sample = replaying(clobsimBook, flow, 0);
      const perOperation = () => (sample() * 1e6) / (flow.tape.length - flow.opening);
      return lineOf(`${whole(live)} live orders${words}`, clobsimBook.name, perOperation);
    };
    const more = LIVE.filter((live) => live > FEWEST);
    const lines = [
      line(FEWEST, FEWEST, ""),
      ...more.map((live) => line(live, FEWEST, `, canceled among ${whole(FEWEST)}`)),
      ...more.map((live) => line(live, live, ", canceled among all")),
    ];
    return {
      measurements: await measured(lines, { rounds, warmUps: 2 }),
      notes: [
        "The same kinds of orders, fills and levels swept in every row. Canceling among 1,000 of the orders shows the book's own cost;",
        "canceling among all of them adds what the machine takes to reach orders that are in no cache.",
      ],
    };
  },
};
