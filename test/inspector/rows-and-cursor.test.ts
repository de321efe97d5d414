import { Buffer } from "node:buffer";
import { describe, expect, it, vi } from "vitest";
import { SHOWN_DIGITS } from "../../src/core/format.ts";
import { idOf } from "../../src/core/ids.ts";
import { describeLine, mentionsIn } from "../../src/history/describe-line.ts";
import { MARK } from "../../src/inspector/history.ts";
import { at, journalOf, openBytes, PLAIN } from "./histories.ts";

// The model asks for the width of the page, which does not exist here.
vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const model = await import("../../src/inspector/model.ts");
const { filterRows } = await import("../../src/inspector/rows.ts");

type Filtering = Parameters<typeof filterRows>;

const journal = await journalOf(21, 400, { snapshot: 1, restore: 1, reset: 0, refused: 8 });
const { history } = await openBytes(Buffer.from(journal));

const EVERY: Filtering[1] = { account: 0, market: 0, marks: 0, text: "" };
const REQUEST = { requestId: "req-77", method: "POST", path: "/clob/order", status: 503, ms: 1 } as const;

/** All rows that match a filter. */
function rowsBy(choice: Partial<Filtering[1]>, requests: Filtering[2] = new Map()) {
  const filter = filterRows(history, { ...EVERY, ...choice }, requests, () => "");
  while (!filter.search());
  expect(filter.done()).toBe(1);
  return filter.rows;
}

/** The words of each row. */
const WORDS = Array.from({ length: history.count }, (_, row) => {
  const { actor, text, result } = history.visit(row, describeLine);
  return `${actor ?? ""} ${text} ${result}`.toLowerCase();
});

/** The rows for which a condition holds, tested one by one. */
const rowsWhere = (isIncluded: (row: number, words: string) => boolean): number[] =>
  WORDS.flatMap((words, row) => (isIncluded(row, words) ? [row] : []));

describe("a filter of rows", () => {
  it("without conditions matches every row", () => {
    expect(rowsBy({})).toEqual(rowsWhere(() => true));
    expect(rowsBy({ text: "  " })).toEqual(rowsWhere(() => true));
  });

  it.each(["buy", "FILLS", "invalid_tick_size", "order 7", "0x", "no such text", "<script>"])(
    "finds a text in the words of a row, in any case: %s",
    (text) => {
      const found = rowsBy({ text });
      expect(found).toEqual(rowsWhere((_, words) => words.includes(text.toLowerCase())));
    },
  );

  it("finds accounts, markets and kinds, each alone and together", () => {
    const account = Math.max(...rowsWhere(() => true).map((row) => at(history.actors, row)));
    expect(account).toBeGreaterThan(0);
    expect(rowsBy({ account })).toEqual(rowsWhere((row) => at(history.actors, row) === account));
    expect(rowsBy({ market: 2 })).toEqual(rowsWhere((row) => history.markets.at(row) === 2));
    const marks = MARK.trade | MARK.refusal;
    expect(rowsBy({ marks })).toEqual(rowsWhere((row) => (at(history.marks, row) & marks) !== 0));
    const all = rowsBy({ account, market: 2, marks: MARK.trade, text: "buy" });
    expect(all).toEqual(
      rowsWhere(
        (row, words) =>
          at(history.actors, row) === account &&
          history.markets.at(row) === 2 &&
          (at(history.marks, row) & MARK.trade) !== 0 &&
          words.includes("buy"),
      ),
    );
  });

  it("finds the rows that mention an id, as clobsim journal --grep", () => {
    const traded = rowsBy({ marks: MARK.trade });
    const order = history.visit(traded[0] ?? 0, (row, state) => {
      const [number = 0] = mentionsIn(row, state).orders;
      return { number, id: idOf(state.idPrefixes.order, number) };
    });
    const found = rowsBy({ text: order.id.toUpperCase() });
    expect(found.length).toBeGreaterThan(0);
    const mentions = (row: number): boolean =>
      history.visit(row, (line, state) => mentionsIn(line, state).orders.has(order.number));
    expect(found).toEqual(rowsWhere(mentions));
    expect(rowsBy({ text: order.id.slice(1) })).toEqual([]);
  });

  it("finds the rows that mention an account by its address as a journal shows it", () => {
    const [row = 0] = rowsWhere((_, words) => words.startsWith("0x"));
    const short = WORDS[row]?.slice(0, SHOWN_DIGITS) ?? "";
    const mentions = (each: number): boolean =>
      history.visit(each, (line, state) => mentionsIn(line, state).matches(new RegExp(`${short}.*`)));
    const found = rowsBy({ text: short });
    expect(found).toEqual(rowsWhere((each, words) => words.includes(short) || mentions(each)));
    expect(found.length).toBeGreaterThan(rowsWhere((_, words) => words.includes(short)).length);
  });

  it("finds the code, the fault and the id of a request", () => {
    const requests = new Map([[3, { ...REQUEST, first: 1, last: 1, code: "UNAVAILABLE", fault: "fault-9" }]]);
    for (const text of ["unavailable", "FAULT-9", "req-77"]) expect(rowsBy({ text }, requests)).toEqual([3]);
  });
});

describe("the cursor", () => {
  const rows = (): number => model.moment.value?.rows ?? -1;

  it("follows the end, and has the row of its position", () => {
    model.show(history);
    expect(model.phase.value).toEqual({ kind: "open" });
    expect([model.cursor.value, rows(), model.moment.value?.isHead]).toEqual([null, history.count, true]);
    model.moveTo(5);
    expect([model.cursor.value, rows(), model.moment.value?.isHead]).toEqual([5, 5, false]);
    expect(model.moment.value?.exchange).toBe(history.at(5));
    model.moveTo(history.count);
    expect(model.cursor.value).toBeNull();
  });

  it("stays within the history", () => {
    for (const [to, expected] of [
      [-3, 0],
      [2.4, 2],
      [1e9, history.count],
    ] as const) {
      model.moveTo(to);
      expect(rows()).toBe(expected);
    }
    model.moveTo(0);
    model.step(-1);
    expect(rows()).toBe(0);
    model.step(1);
    expect(rows()).toBe(1);
  });

  it("moves from trade to trade, then to the end or the beginning", () => {
    const trades = rowsWhere((row) => (at(history.marks, row) & MARK.trade) !== 0).map((row) => row + 1);
    expect(trades.length).toBeGreaterThan(5);
    model.moveTo(0);
    for (const trade of [...trades, history.count]) {
      model.stepToMatch(1);
      expect(rows()).toBe(trade);
    }
    for (const trade of [...trades.reverse(), 0]) {
      model.stepToMatch(-1);
      expect(rows()).toBe(trade);
    }
  });

  it("moves from one row that the filter has found to the next, or to the end or the beginning", () => {
    model.foundRows.value = [3, 4, 40];
    model.moveTo(4);
    const visited = [1, 1, 1, -1, -1, -1, -1].map((direction) => {
      model.stepToMatch(direction as 1 | -1);
      return rows();
    });
    expect(visited).toEqual([5, 41, history.count, 41, 5, 4, 0]);
    model.foundRows.value = null;
  });

  it("moves after the last row of a sequence, also if a restore repeated the sequence", () => {
    const sequences = rowsWhere(() => true).map((row) => at(history.sequences, row));
    expect(history.goesBack).toBe(true);
    for (const sequence of [...sequences, history.opening.sequence]) {
      expect(model.moveToSequence(String(sequence))).toBe("");
      expect([sequence, rows()]).toEqual([sequence, sequences.lastIndexOf(sequence) + 1]);
    }
  });

  it("does not move to an unknown sequence, and returns the error", () => {
    const first = history.opening.sequence;
    const last = Math.max(...rowsWhere(() => true).map((row) => at(history.sequences, row)));
    model.moveTo(5);
    for (const text of [String(last + 1), "-1", "1.5", "12abc", "1e1", ""]) {
      const found = text === "" ? "nothing" : text;
      expect(model.moveToSequence(text)).toBe(`expected a sequence from ${first} to ${last}, found ${found}`);
      expect(rows()).toBe(5);
    }
  });

  it("counts rows up to a time if time never goes back", async () => {
    const { history: plain } = await openBytes(await journalOf(22, 200, PLAIN));
    expect(plain.goesBack).toBe(false);
    const [from, to] = model.spanOf(plain);
    const times = Array.from({ length: plain.count }, (_, row) => at(plain.times, row));
    for (const time of [from - 1, from, Math.floor((from + to) / 2), to, to + 1]) {
      expect(model.rowsUntil(plain, time)).toBe(times.filter((each) => each <= time).length);
    }
  });

  it("has the market with the most trades at the end, wherever it is", () => {
    model.show(history);
    model.chosenMarket.value = 0;
    const most = model.market.value?.number;
    const { markets } = history.exchange.state;
    expect(most).toBe([...markets].sort((a, b) => b.trades.size - a.trades.size)[0]?.number);
    for (let row = 0; row < history.count; row += 7) {
      model.moveTo(row);
      expect(model.market.value).toBe(model.openMoment().state.markets.find(most ?? 0) ?? null);
    }
  });

  it("has the details of its row: they follow it until they are closed", () => {
    model.moveTo(5);
    model.toggleDetails();
    expect(model.openedRow.value).toBe(4);
    model.step(1);
    expect(model.openedRow.value).toBe(5);
    model.followEnd();
    expect(model.openedRow.value).toBe(history.count - 1);
    model.toggleDetails();
    model.step(-1);
    expect(model.openedRow.value).toBeNull();
    model.toggleDetails();
    model.show(history);
    expect(model.openedRow.value).toBeNull();
  });

  it("does not allow commands in a report", () => {
    expect(model.canAct.value).toBe(false);
  });
});
