import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readOptions } from "./options.ts";
import { timedPlan } from "./plan.ts";

describe("the options of a soak", () => {
  it("are ten minutes with 32 clients by default", () => {
    expect(readOptions([])).toEqual({ minutes: 10, clients: 32, rate: 300, seed: 1, out: null });
  });

  it("are read with = or a blank", () => {
    const out = join(tmpdir(), "soak.json");
    const words = ["--minutes=0.5", "--clients", "8", "--rate", "50", "--seed=7", "--out", out];
    expect(readOptions(words)).toEqual({ minutes: 0.5, clients: 8, rate: 50, seed: 7, out });
  });

  it.each([
    ["--minutes 0", '--minutes expects a number from 0.1 to 1440, found "0"'],
    ["--minutes 1e2", '--minutes expects a number from 0.1 to 1440, found "1e2"'],
    ["--minutes", "argument missing"],
    ["--clients 5.5", '--clients expects a whole number from 5 to 256, found "5.5"'],
    ["--rate 0", '--rate expects a whole number from 1 to 100000, found "0"'],
    ["--seed 4294967296", '--seed expects a whole number from 0 to 4294967295, found "4294967296"'],
    ["--hours 1", "--hours"],
    ["10", "10"],
    ["--out /no/such/folder/x", '--out expects a file in a folder that exists, found "/no/such/folder/x"'],
    [`--out ${tmpdir()}`, "--out expects a file"],
    ["--out=", '--out expects a file in a folder that exists, found ""'],
  ])("are refused in one line: %s", (line, message) => {
    expect(() => readOptions(line.split(" "))).toThrow(message);
  });
});

describe("the plan of a soak", () => {
  it.each([
    { minutes: 0.5, cycles: 4 },
    { minutes: 60, cycles: 60 },
  ])("of $minutes minutes has $cycles cycles and lasts as long", ({ minutes, cycles }) => {
    const plan = timedPlan(minutes);
    const ms = plan.reduce((sum, { extent }) => sum + (extent.kind === "time" ? extent.ms : Number.NaN), 0);
    expect([plan.at(-1)?.cycle, Math.round(ms)]).toEqual([cycles - 1, minutes * 60_000]);
  });

  it("kills the server once, in the middle cycle, and disturbs it in all others", () => {
    const kinds = timedPlan(10).map(({ kind }) => kind);
    expect(kinds.slice(0, 4)).toEqual(["steady", "disturbed", "settling", "reads"]);
    expect(kinds.filter((kind) => kind === "crash")).toHaveLength(1);
    expect(kinds.indexOf("crash")).toBe(5 * 4 + 1);
    expect(kinds.filter((kind) => kind === "disturbed")).toHaveLength(9);
  });
});
