import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import type { Millis } from "../../src/core/units.ts";
import type { FlowRow } from "../../src/simulation/flow.ts";
import { parseFlow, readFlow } from "../../src/simulation/read-flow.ts";
import { garbageCollector } from "../bench/rounds.ts";
import { START } from "../support/exchange.ts";
import { TestFolder } from "../support/folder.ts";
import { HEADER } from "./flow-text.ts";

const folder = new TestFolder();

async function batchesOf(path: string, start?: Millis): Promise<(readonly FlowRow[])[]> {
  const batches: (readonly FlowRow[])[] = [];
  for await (const batch of readFlow(path, start)) batches.push(batch);
  return batches;
}

const CANCEL = '{"at":0,"account":"a","op":"cancel-all"}\n';
const TABLE = `${HEADER}\n0,a,cancel-all,,,,,,\n`;

describe("a file", () => {
  it.each([
    ["flow.csv", TABLE],
    ["flow.CSV", TABLE],
    ["flow.ndjson", CANCEL],
    ["flow.jsonl", CANCEL],
  ])("is read by its extension: %s", async (name, contents) => {
    expect((await batchesOf(folder.write(name, contents))).flat()).toHaveLength(1);
  });

  it("may have absolute times if its start is known", async () => {
    const path = folder.write("moments.csv", `${HEADER}\n2026-01-01T00:00:05Z,a,cancel-all,,,,,,`);
    expect((await batchesOf(path, START)).flat()).toMatchObject([{ at: 5000 }]);
  });

  it("is read in batches of some hundred rows", async () => {
    const row = "123456,trader-1,place,o123456,BUY,YES,0.55,100,GTC\n";
    const batches = await batchesOf(folder.write("long.csv", `${HEADER}\n${row.repeat(30_000)}`));
    expect(batches.flat()).toHaveLength(30_000);
    expect(batches.length).toBeGreaterThan(40);
    for (const batch of batches.slice(0, -1)) expect(batch.length).toBeGreaterThan(500);
  });

  it.each([
    ["flow.txt", "expected a file ending in .csv, .ndjson or .jsonl, found"],
    ["missing.csv", "(ENOENT)"],
    [".", "expected a file ending in"],
  ])("that cannot be read is refused by name: %s", async (name, words) => {
    const path = folder.at(name);
    const flaw = await batchesOf(path).catch((error: unknown) => error);
    expect(flaw).toMatchObject({ name: "FlowError", file: path, line: 0, column: 0 });
    expect(String(flaw)).toContain(words);
    expect(String(flaw)).toContain(JSON.stringify(path));
  });

  it("that is a folder is refused", async () => {
    const path = dirname(folder.write("folder.csv/a", ""));
    await expect(batchesOf(path)).rejects.toThrow("expected a file, found a directory");
  });

  it("that goes wrong gives the rows before, then the place", async () => {
    const good = "0,a,cancel-all,,,,,,\n";
    const path = folder.write("late.csv", `${HEADER}\n${good.repeat(50_000)}0,a,nothing,,,,,,\n`);
    let rows = 0;
    const reading = async (): Promise<void> => {
      for await (const batch of readFlow(path)) rows += batch.length;
    };
    await expect(reading()).rejects.toMatchObject({ file: path, line: 50_002, column: 5 });
    expect(rows).toBeGreaterThan(40_000);
  });
});

describe("a flow of any length", () => {
  const lines = (from: number): Buffer =>
    Buffer.from(
      Array.from({ length: 1000 }, (_none, index) => {
        const ref = `an-order-with-a-long-name-${from + index}`;
        return `${from + index},a-trader-with-a-long-name-${from},cancel,${ref},,,,,\n`;
      }).join(""),
    );

  it("is read no further than its reader asks", async () => {
    let pieces = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${HEADER}\n`);
      for (;;) {
        pieces += 1;
        yield lines(pieces * 1000);
      }
    }
    const flow = parseFlow(source(), "flow", "csv");
    await flow.next();
    expect(pieces).toBe(1);
    await flow.next();
    expect(pieces).toBe(2);
    await flow.return(undefined);
  });

  it("is forgotten but for the names that its reader keeps", async () => {
    const collect = garbageCollector();
    const heapUsed = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${HEADER}\n`);
      for (let piece = 0; piece < 300; piece += 1) yield lines(piece * 1000);
    }
    const before = heapUsed();
    const kept: FlowRow[] = [];
    for await (const [first] of parseFlow(source(), "flow", "csv")) if (first !== undefined) kept.push(first);
    expect(kept).toHaveLength(300);
    expect(heapUsed() - before).toBeLessThan(4_000_000);
  });
});
