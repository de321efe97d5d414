import { describe, expect, it } from "vitest";
import type { OrderType } from "../../src/core/terms.ts";
import { NaiveBook } from "../../src/scenario/watch/naive-book.ts";
import { clobsimBook, nodejsOrderBook, prepareReplay } from "../bench/book-section.ts";
import {
  BUY,
  CANCEL,
  commonFlow,
  FAK,
  type Flow,
  type FlowChoice,
  type OperationTape,
  steadyFlow,
  TradeTally,
} from "../bench/flow.ts";
import { casesAtLevel } from "../support/runs.ts";

/** Results of the flow from other engines in other languages. */
const KNOWN = [
  { levels: 99, typed: true, trades: 440_668, volume: 69_737_534, hash: 2_663_250_310 },
  { levels: 99, typed: false, trades: 441_070, volume: 74_202_545, hash: 3_176_575_976 },
  { levels: 999, typed: false, trades: 425_437, volume: 72_343_129, hash: 818_916_300 },
  { levels: 9999, typed: false, trades: 407_427, volume: 70_989_015, hash: 3_964_111_159 },
  { levels: 999, typed: true, trades: 422_779, volume: 67_359_413, hash: 3_667_010_847 },
] as const;

const TIMES_IN_FORCE: readonly OrderType[] = ["GTC", "FAK", "FOK"];
const PREFIX = 20_000;

const prefix = ({ levels, typed }: FlowChoice): Flow =>
  commonFlow({ levels, typed: typed ?? false, operations: PREFIX });

function figuresOf({ trades, volume, hash }: TradeTally) {
  return { trades, volume, hash };
}

/** Plays a tape on the naive book. */
function replayNaively(tape: OperationTape): { book: NaiveBook; tally: TradeTally } {
  const book = new NaiveBook();
  const tally = new TradeTally();
  for (let at = 0; at < tape.length; at++) {
    const id = tape.id[at] as number;
    if (tape.kind[at] === CANCEL) {
      if (!book.cancel(id)) throw new Error(`order ${id} is canceled but does not rest`);
      continue;
    }
    const side = tape.side[at] === BUY ? "BUY" : "SELL";
    const timeInForce = TIMES_IN_FORCE[tape.timeInForce[at] as number] as OrderType;
    const size = tape.size[at] as number;
    const order = { id, owner: 0, side, tick: tape.tick[at] as number, size, open: size } as const;
    const { matches } = book.place({ ...order }, timeInForce);
    for (const { maker, quantity } of matches) tally.add(id, maker.id, maker.tick, quantity);
  }
  return { book, tally };
}

describe.each(casesAtLevel(KNOWN))(
  "the common flow of $levels levels, typed: $typed",
  ({ levels, typed, ...known }) => {
    it("makes the known trades, and clobsim's book makes the same", () => {
      const flow = commonFlow({ levels, typed });
      expect(figuresOf(flow.expected)).toEqual(known);
      expect(figuresOf(prepareReplay(clobsimBook, flow)())).toEqual(known);
    });

    it("makes the same trades in the naive book", () => {
      const flow = prefix({ levels, typed });
      expect(figuresOf(replayNaively(flow.tape).tally)).toEqual(figuresOf(flow.expected));
    });

    it("makes the same trades in nodejs-order-book", () => {
      const flow = prefix({ levels, typed });
      expect(figuresOf(prepareReplay(nodejsOrderBook, flow)())).toEqual(figuresOf(flow.expected));
    });

    it("begins alike, however long it is", () => {
      const short = prefix({ levels, typed }).tape;
      const long = commonFlow({ levels, typed, operations: PREFIX + 5000 }).tape;
      expect(short.length).toBe(PREFIX);
      for (const column of ["kind", "id", "side", "tick", "size", "timeInForce"] as const) {
        expect(long[column].subarray(0, PREFIX)).toEqual(short[column]);
      }
    });
  },
);

describe("the steady flow", () => {
  const operations = 10_000;

  it("leaves as many orders as it began with, and trades as the naive book does", () => {
    const { tape, opening, expected } = steadyFlow({ live: 1000, operations });
    const { book, tally } = replayNaively(tape);
    expect(opening).toBe(1000);
    expect(book.queue("BUY").length + book.queue("SELL").length).toBe(1000);
    expect(figuresOf(tally)).toEqual(figuresOf(expected));
  });

  it("does the same kinds of operations and the same trading over any number of live orders", () => {
    const few = steadyFlow({ live: 1000, operations });
    const many = steadyFlow({ live: 50_000, operations });
    for (const column of ["kind", "timeInForce"] as const) {
      const measured = ({ tape, opening }: Flow) => tape[column].subarray(opening, tape.length);
      expect(measured(many)).toEqual(measured(few));
    }
    expect(many.expected.trades).toBe(few.expected.trades);
    expect(many.expected.volume).toBe(few.expected.volume);
    expect(figuresOf(prepareReplay(clobsimBook, many)())).toEqual(figuresOf(many.expected));
  });

  it("cancels among no more orders than asked for", () => {
    const { tape, opening } = steadyFlow({ live: 5000, operations, canceledAmong: 10 });
    const canceled = tape.id.filter((id, at) => tape.kind[at] === CANCEL && id <= opening);
    expect(canceled).toHaveLength(10);
  });

  it("is about half passive orders, a quarter cancellations and a fifth crossing orders", () => {
    const { tape, opening } = steadyFlow({ live: 1000, operations });
    const measured = tape.length - opening;
    const canceled = tape.kind.subarray(opening, tape.length).filter((kind) => kind === CANCEL).length;
    const crossing = tape.timeInForce.filter((each) => each === FAK).length;
    expect(canceled / measured).toBeCloseTo(0.25, 1);
    expect(crossing / measured).toBeCloseTo(0.2, 1);
  });
});
