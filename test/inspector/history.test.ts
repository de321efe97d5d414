import { deepStrictEqual } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeLine } from "../../src/history/describe-line.ts";
import { type History, MARK, timeAt } from "../../src/inspector/history.ts";
import { openReport } from "../../src/inspector/report-file.ts";
import { linesIn, type TextLine, withChecksums } from "../cli/journal-lines.ts";
import { atLevel, runs } from "../support/runs.ts";
import {
  at,
  journalOf,
  type Mixture,
  openBytes,
  PLAIN,
  replayStates,
  type StateHashes,
  stateHashes,
} from "./histories.ts";

const MIXED: Mixture = { snapshot: 2, restore: 2, reset: 1, refused: 6 };
const JOURNALS = new URL("../../fixtures/journals/", import.meta.url);

/** Compares the exchange after rows with a replay of the journal. */
function expectStates(
  { history }: { readonly history: History },
  states: ReadonlyMap<number, StateHashes>,
  rows: readonly number[],
): void {
  for (const row of rows) deepStrictEqual(stateHashes(history.at(row)), states.get(row), `row ${row}`);
}

/** Random rows, more of them near the end. */
const anyRows = (count: number, seed: number, runs: number): number[] =>
  fc.sample(fc.oneof(fc.nat({ max: count }), fc.integer({ min: Math.max(0, count - 40), max: count })), {
    ...{ seed, numRuns: runs },
  });

describe("the exchange after a row", () => {
  it("equals a replay up to that line, with restores, resets and refused requests", async () => {
    for (const seed of [1, 2, 3, 4]) {
      const journal = await journalOf(seed, 180, MIXED);
      const { states, lines } = replayStates(journal);
      const report = await openBytes(journal);
      expect(report.notice).toBeNull();
      expect(report.history.count).toBe(lines.length);
      expect(report.history.problem).toBeNull();
      expectStates(report, states, anyRows(lines.length, seed, atLevel(120)));
    }
  });

  it.each(readdirSync(JOURNALS))("equals a replay of the stored journal %s", async (name) => {
    const journal = readFileSync(new URL(name, JOURNALS));
    const report = await openBytes(journal, name);
    const rows = anyRows(report.history.count, 1, 40);
    const checked = new Set(rows);
    expectStates(report, replayStates(journal, (row) => checked.has(row)).states, rows);
  });

  describe("of a long history with checkpoints", async () => {
    const journal = await journalOf(5, 2_600, { snapshot: 1, restore: 1, reset: 0, refused: 5 });
    const report = await openBytes(journal);
    const rows = anyRows(report.history.count, 7, atLevel(150));
    const checked = new Set(rows);
    const { states } = replayStates(journal, (row) => checked.has(row));
    expect(report.history.count).toBeGreaterThan(2_048);

    it("is the same from any checkpoint", () => {
      expectStates(report, states, rows);
    });

    it("is the same after other rows were visited, and those rows equal the replay", () => {
      const { lines } = replayStates(journal, () => false);
      for (const row of rows.slice(0, atLevel(60))) {
        const from = Math.max(0, row - 3);
        for (let at = from; at < row; at += 1) {
          const each = report.history.visit(at, (replayed) => replayed);
          const replayed = lines[at];
          expect([each.line.n, each.command, each.result.kind]).toEqual([
            ...[replayed?.line.n, replayed?.command],
            each.line.k === "restore" ? "control" : replayed?.result.kind,
          ]);
        }
        expect(stateHashes(report.history.at(row))).toEqual(states.get(row));
      }
    });

    it("has the time and the sequence of each row", () => {
      const { history } = report;
      for (const row of rows) {
        expect(history.times.at(row - 1) || history.opening.start).toBe(timeAt(history, row));
        if (row > 0) expect(history.sequences.at(row - 1)).toBe(states.get(row)?.sequence);
      }
    });
  });
});

const journal = await journalOf(11, 60, MIXED);

describe("a damaged report", () => {
  it("is shown up to its last complete line, which may be the opening, wherever it is cut", async () => {
    const first = journal.indexOf(10) + 1;
    const drawn = fc.sample(fc.integer({ min: first, max: journal.length - 1 }), runs(30, 1));
    const cuts = [first, ...drawn, ...drawn.slice(0, 5).map((at) => journal.lastIndexOf(10, at) + 1)];
    const { states } = replayStates(journal);
    for (const cut of cuts) {
      const { history, notice } = await openBytes(journal.subarray(0, cut));
      const whole = journal.subarray(0, cut).toString("latin1").split("\n").length - 2;
      expect([cut, history.count]).toEqual([cut, whole]);
      expect([cut, notice?.includes("may be cut")]).toEqual([cut, journal[cut - 1] === 10]);
      expect(stateHashes(history.exchange)).toEqual(states.get(whole));
    }
  });

  it("names the line, also if valid lines follow", async () => {
    const lines = journal.toString("latin1").split("\n");
    const wrong = [...lines.slice(0, 20), (lines[20] as string).replace('"t":', '"T":'), ...lines.slice(21)];
    const { history, notice } = await openBytes(Buffer.from(wrong.join("\n"), "latin1"), "bug.ndjson");
    expect(history.count).toBe(19);
    expect(notice).toMatch(/^bug\.ndjson .*line 21/);
  });

  it.each([
    ["0 bytes", "", "bug.ndjson is empty"],
    ["another text", "hello\n", "bug.ndjson is not a report: expected a file written by GET /sim/report"],
    ["a page", "<!doctype html>", "bug.ndjson is not a report"],
    ["JSON", '{"n":2}\n', "bug.ndjson"],
  ])("of %s is refused with the expected format", async (_, text, sentence) => {
    await expect(openBytes(Buffer.from(text), "bug.ndjson")).rejects.toThrow(sentence);
  });

  it("with a damaged first line is refused", async () => {
    const wrong = Buffer.from(journal);
    wrong[wrong.indexOf("config")] = 0x43;
    await expect(openBytes(wrong, "bug.ndjson")).rejects.toThrow(/bug\.ndjson.* line 1/);
  });

  it("of a newer version is refused with that version", async () => {
    const [opening, ...rest] = linesIn(journal.toString("utf8"));
    const data = { ...(opening?.d as object), format: "clobsim-journal/99" };
    const newer = withChecksums([{ ...opening, d: data }, ...rest]);
    await expect(openBytes(Buffer.from(newer), "bug.ndjson")).rejects.toThrow(/newer|clobsim-journal\/99/);
  });
});

it("a report read in many slices equals one read at once, and its progress only grows", async () => {
  const journal = await journalOf(19, 60, { ...PLAIN, refused: 100 });
  const [opening, ...lines] = linesIn(journal.toString("utf8"));
  const refusals = lines.filter(({ k }) => k === "refused");
  const many = Array.from({ length: 9_000 }, (_, index) => refusals[index % refusals.length] as TextLine);
  const close = lines.pop() as TextLine;
  const all = [opening as TextLine, ...lines, ...many.map((line) => ({ ...line, t: close.t })), close];
  const bytes = Buffer.from(withChecksums(all.map((line, index) => ({ ...line, n: index + 1 }))));
  expect(bytes.length).toBeGreaterThan(2 << 20);
  const progress: number[] = [];
  const report = await openReport("report.ndjson", bytes, async ({ done }) => void progress.push(done));
  expect(progress.length).toBeGreaterThan(2);
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
  expect(progress.at(-1)).toBe(1);
  expect(report.notice).toBeNull();
  expect(report.history.count).toBe(all.length - 1);
  for (const row of [0, 100, 5_000, all.length - 2]) expect(report.history.lineAt(row).n).toBe(row + 2);
  const cut = Buffer.from(bytes);
  const middle = cut.indexOf(10, 1 << 20) + 30;
  cut[middle] = 0x7e;
  const { history, notice } = await openBytes(cut);
  expect(history.count).toBe(bytes.subarray(0, middle).toString("latin1").split("\n").length - 2);
  expect(notice).toContain(`line ${history.count + 2}`);
});

describe("a line with another result in the replay", () => {
  it("is marked and has both results, and later rows have no result", async () => {
    const journal = await journalOf(13, 80, PLAIN);
    const lines = linesIn(journal.toString("utf8"));
    const at = lines.findIndex(({ n, r }) => Number(n) > 40 && typeof r === "string");
    const changed = lines.map((line, index) => (index === at ? { ...line, r: "00000001" } : line));
    const { history } = await openBytes(Buffer.from(withChecksums(changed)));
    const row = Number(lines[at]?.n) - 2;
    expect(history.problem?.line.n).toBe(row + 2);
    expect(history.count).toBe(lines.length - 1);
    expect((history.marks[row] ?? 0) & MARK.problem).toBe(MARK.problem);
    const kinds: string[] = [];
    for (let at = row - 1; at < row + 3; at += 1) history.visit(at, ({ result }) => kinds.push(result.kind));
    expect(kinds).toEqual(["accepted", "differs", "unknown", "unknown"]);
    const { states } = replayStates(journal);
    for (const rows of [row, row + 1, row + 5, history.count]) {
      expect({ ...stateHashes(history.at(rows)), now: 0 }).toEqual({ ...states.get(row), now: 0 });
    }
    expect(stateHashes(history.at(row - 10))).toEqual(states.get(row - 10));
  });

  it("is described with what it did now, and the notice compares it with the record", async () => {
    const journal = await journalOf(13, 25, PLAIN);
    const lines = linesIn(journal.toString("utf8"));
    const { history: same, notice } = await openBytes(journal);
    expect(notice).toBeNull();
    for (const [at, { k, r }] of lines.entries()) {
      if (at === 0 || same.visit(at - 1, ({ command }) => command) === null) continue;
      const changed = lines.map((line, index) => (index === at ? { ...line, r: "00000001" } : line));
      const { history, notice } = await openBytes(Buffer.from(withChecksums(changed)));
      const { text, result } = same.visit(at - 1, describeLine);
      const differing = history.visit(at - 1, describeLine);
      expect([differing.text, differing.result]).toEqual([text, `differs: ${result}`]);
      expect(notice?.split("\n")).toEqual([
        `line ${at + 1} of report.ndjson, ${k}, has another result than recorded`,
        expect.stringContaining(text),
        `result: recorded accepted; now accepted: ${result}`,
        `events: recorded 00000001; now ${r}`,
      ]);
    }
  });
});

it("marks have what happened in each row", async () => {
  const journal = await journalOf(17, 300, { ...PLAIN, refused: 10 });
  const { lines } = replayStates(journal, () => false);
  const { history } = await openBytes(journal);
  for (const [row, { line, result }] of lines.entries()) {
    const kinds = result.kind === "accepted" ? result.events.map(({ kind }) => kind as string) : [];
    const has = (...any: string[]): number => Number(kinds.some((kind) => any.includes(kind)));
    const expected =
      has("orderTraded") * MARK.trade +
      Number(line.k === "refused") * MARK.refusal +
      has("blocksMined", "blockSealed") * MARK.block +
      has("settlementFaultSet") * MARK.fault +
      has("settlementFailed", "settlementLost", "callReverted") * MARK.failure +
      Number(line.k === "start" || line.k === "clock") * MARK.clock;
    expect([row, line.k, history.marks.at(row)]).toEqual([row, line.k, expected]);
  }
  const all = Array.from(lines, (_, row) => at(history.marks, row)).reduce((a, b) => a | b, 0);
  const seen = MARK.trade | MARK.refusal | MARK.block | MARK.fault | MARK.failure;
  expect(all & seen).toBe(seen);
});
