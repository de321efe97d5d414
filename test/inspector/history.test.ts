import { Buffer } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "../../src/config.ts";
import { MARK, timeAt } from "../../src/inspector/history.ts";
import { type OpenedReport, openReport } from "../../src/inspector/report-file.ts";
import { linesIn, type TextLine, withChecksums } from "../cli/journal-lines.ts";
import { runs } from "../support/runs.ts";
import {
  journalOf,
  type Mixture,
  opened,
  PLAIN,
  replayedSights,
  type Sight,
  stateHashes,
} from "./histories.ts";

const MIXED: Mixture = { snapshot: 2, restore: 2, reset: 1, refused: 6 };
const JOURNALS = new URL("../../fixtures/journals/", import.meta.url);

/** Compares the exchange behind rows with what a replay up to that line comes to. */
function expectSights(
  { history }: Pick<OpenedReport, "history">,
  sights: ReadonlyMap<number, Sight>,
  rows: readonly number[],
): void {
  for (const row of rows) expect([row, stateHashes(history.at(row))]).toEqual([row, sights.get(row)]);
}

/** Rows in no order, some close to each other. */
const anyRows = (count: number, seed: number, many: number): number[] =>
  fc.sample(fc.oneof(fc.nat({ max: count }), fc.integer({ min: Math.max(0, count - 40), max: count })), {
    ...{ seed, numRuns: many },
  });

describe("the exchange behind a row", () => {
  it("is what a replay up to that line comes to, with restores, resets and refused lines", async () => {
    for (const seed of [1, 2, 3, 4]) {
      const journal = await journalOf(seed, 180, MIXED);
      const { sights, told } = replayedSights(journal);
      const report = await opened(journal);
      expect(report.damage).toBeNull();
      expect(report.history.count).toBe(told.length);
      expect(report.history.problem).toBeNull();
      expectSights(report, sights, anyRows(told.length, seed, 120));
    }
  });

  it.each(readdirSync(JOURNALS))("is that of the kept journal %s", async (name) => {
    const journal = readFileSync(new URL(name, JOURNALS));
    const report = await opened(journal, name);
    const rows = anyRows(report.history.count, 1, 40);
    const looked = new Set(rows);
    expectSights(report, replayedSights(journal, (row) => looked.has(row)).sights, rows);
  });

  describe("of a long history with checkpoints", () => {
    let journal: Buffer;
    let report: OpenedReport;
    let sights: ReadonlyMap<number, Sight>;
    let rows: readonly number[];
    beforeAll(async () => {
      journal = await journalOf(5, 2_600, { snapshot: 1, restore: 1, reset: 0, refused: 5 });
      report = await opened(journal);
      rows = anyRows(report.history.count, 7, 150);
      const looked = new Set(rows);
      ({ sights } = replayedSights(journal, (row) => looked.has(row)));
      expect(report.history.count).toBeGreaterThan(2_048);
    }, 120_000);

    it("is the same wherever it begins to replay", () => {
      expectSights(report, sights, rows);
    });

    it("is the same between rows that are told meanwhile, and those rows are told as they were", () => {
      const { told } = replayedSights(journal, () => false);
      for (const row of rows.slice(0, 60)) {
        const from = Math.max(0, row - 3);
        report.history.visit(from, row, (at, each) => {
          const replayed = told[at];
          expect([at, each.line.n, each.command, each.result.kind]).toEqual([
            ...[at, replayed?.line.n, replayed?.command],
            each.line.k === "restore" ? "note" : replayed?.result.kind,
          ]);
        });
        expect(stateHashes(report.history.at(row))).toEqual(sights.get(row));
      }
    });

    it("comes with the time and the sequence of each row", () => {
      const { history } = report;
      for (const row of rows) {
        expect(history.times.at(row - 1) || history.opening.start).toBe(timeAt(history, row));
        if (row > 0) expect(history.sequences.at(row - 1)).toBe(sights.get(row)?.sequence);
      }
    });
  });

  it("is that of the opening where nothing follows it", async () => {
    const journal = await journalOf(9, 20, MIXED);
    const { sights } = replayedSights(journal, (row) => row === 0);
    const { history } = await opened(journal.subarray(0, journal.indexOf(10) + 1));
    expect(history.count).toBe(0);
    expectSights({ history }, sights, [0]);
  });
});

describe("a damaged report", () => {
  let journal: Buffer;
  beforeAll(async () => {
    journal = await journalOf(11, 60, MIXED);
  });

  it("is shown as far as it is whole, wherever it is cut", async () => {
    const first = journal.indexOf(10) + 1;
    const drawn = fc.sample(fc.integer({ min: first, max: journal.length - 1 }), runs(60, 1));
    const cuts = [...drawn, ...drawn.slice(0, 5).map((at) => journal.lastIndexOf(10, at) + 1)];
    const { sights } = replayedSights(journal);
    for (const cut of cuts) {
      const { history, damage } = await opened(journal.subarray(0, cut));
      const whole = journal.subarray(0, cut).toString("latin1").split("\n").length - 2;
      expect([cut, history.count]).toEqual([cut, whole]);
      expect([cut, damage?.includes("may be cut")]).toEqual([cut, journal[cut - 1] === 10]);
      expect(stateHashes(history.head)).toEqual(sights.get(whole));
    }
  });

  it("says the byte and the line, also where good lines follow", async () => {
    const lines = journal.toString("latin1").split("\n");
    const wrong = [...lines.slice(0, 20), (lines[20] as string).replace('"t":', '"T":'), ...lines.slice(21)];
    const { history, damage } = await opened(Buffer.from(wrong.join("\n"), "latin1"), "bug.ndjson");
    expect(history.count).toBe(19);
    expect(damage).toMatch(/^bug\.ndjson .*line 21/);
  });

  it.each([
    ["0 bytes", "", "bug.ndjson is empty"],
    ["another text", "hello\n", "bug.ndjson is no report: expected the file that GET /sim/report"],
    ["a page", "<!doctype html>", "bug.ndjson is no report"],
    ["JSON", '{"n":2}\n', "bug.ndjson"],
  ])("of %s opens nothing, and says what was expected", async (_, text, sentence) => {
    await expect(opened(Buffer.from(text), "bug.ndjson")).rejects.toThrow(sentence);
  });

  it("with a damaged first line opens nothing, and says so", async () => {
    const wrong = Buffer.from(journal);
    wrong[wrong.indexOf("config")] = 0x43;
    await expect(opened(wrong, "bug.ndjson")).rejects.toThrow(/bug\.ndjson.* line 1/);
  });

  it("of a newer version says which", async () => {
    const [opening, ...rest] = linesIn(journal.toString("utf8"));
    const data = { ...(opening?.d as object), format: "clobsim-journal/99" };
    const newer = withChecksums([{ ...opening, d: data }, ...rest]);
    await expect(opened(Buffer.from(newer), "bug.ndjson")).rejects.toThrow(/newer|clobsim-journal\/99/);
  });
});

describe("a report of many slices", () => {
  it("is the same as in one, and its progress only grows", async () => {
    const journal = await journalOf(19, 60, { ...PLAIN, refused: 100 });
    const [opening, ...lines] = linesIn(journal.toString("utf8"));
    const refusals = lines.filter(({ k }) => k === "refused");
    const many = Array.from({ length: 9_000 }, (_, index) => refusals[index % refusals.length] as TextLine);
    const close = lines.pop() as TextLine;
    const all = [opening as TextLine, ...lines, ...many.map((line) => ({ ...line, t: close.t })), close];
    const bytes = Buffer.from(withChecksums(all.map((line, index) => ({ ...line, n: index + 1 }))));
    expect(bytes.length).toBeGreaterThan(2 << 20);
    const progress: number[] = [];
    const whole = await openReport(
      "report.ndjson",
      bytes,
      VERSION,
      async ({ done }) => void progress.push(done),
    );
    expect(progress.length).toBeGreaterThan(2);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.at(-1)).toBe(1);
    expect(whole.damage).toBeNull();
    expect(whole.history.count).toBe(all.length - 1);
    for (const row of [0, 100, 5_000, all.length - 2]) expect(whole.history.lines.at(row).n).toBe(row + 2);
    const cut = Buffer.from(bytes);
    const middle = cut.indexOf(10, 1 << 20) + 30;
    cut[middle] = 0x7e;
    const { history, damage } = await opened(cut);
    expect(history.count).toBe(bytes.subarray(0, middle).toString("latin1").split("\n").length - 2);
    expect(damage).toContain(`line ${history.count + 2}`);
  });
});

describe("a line that comes out otherwise", () => {
  it("is marked, shown with both outcomes, and nothing behind it is decided", async () => {
    const journal = await journalOf(13, 80, PLAIN);
    const lines = linesIn(journal.toString("utf8"));
    const at = lines.findIndex(({ n, r }) => Number(n) > 40 && typeof r === "string");
    const changed = lines.map((line, index) => (index === at ? { ...line, r: "00000001" } : line));
    const { history } = await opened(Buffer.from(withChecksums(changed)));
    const row = Number(lines[at]?.n) - 2;
    expect(history.problem?.line.n).toBe(row + 2);
    expect(history.count).toBe(lines.length - 1);
    expect(history.marks.at(row) & MARK.problem).toBe(MARK.problem);
    const kinds: string[] = [];
    history.visit(row - 1, row + 3, (_row, { result }) => void kinds.push(result.kind));
    expect(kinds).toEqual(["accepted", "differs", "unknown", "unknown"]);
    const { sights } = replayedSights(journal);
    for (const rows of [row, row + 1, row + 5, history.count]) {
      expect({ ...stateHashes(history.at(rows)), now: 0 }).toEqual({ ...sights.get(row), now: 0 });
    }
    expect(stateHashes(history.at(row - 10))).toEqual(sights.get(row - 10));
  });
});

describe("marks", () => {
  it("say of each row what happened in it", async () => {
    const journal = await journalOf(17, 300, { ...PLAIN, refused: 10 });
    const { told } = replayedSights(journal, () => false);
    const { history } = await opened(journal);
    for (const [row, { line, result }] of told.entries()) {
      const kinds = result.kind === "accepted" ? result.events.map(({ kind }) => kind as string) : [];
      const has = (...any: string[]): number => Number(kinds.some((kind) => any.includes(kind)));
      const expected =
        has("orderTraded") * MARK.trade +
        Number(line.k === "refused") * MARK.refusal +
        has("blocksMined", "blockSealed") * MARK.block +
        has("settlementFaultSet") * MARK.fault +
        Number(line.k === "start" || line.k === "clock") * MARK.clock;
      expect([row, line.k, history.marks.at(row)]).toEqual([row, line.k, expected]);
    }
    const all = Array.from(told, (_, row) => history.marks.at(row)).reduce((a, b) => a | b, 0);
    expect(all & (MARK.trade | MARK.refusal | MARK.block | MARK.fault)).toBe(15);
  });
});
