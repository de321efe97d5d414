import { Buffer } from "node:buffer";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { Touched } from "../../src/history/describe-line.ts";
import type { ReplayedLine } from "../../src/history/journal-replay.ts";
import { saveReport } from "../../src/history/report.ts";
import { openFundedExchange } from "../support/exchange.ts";
import { temporaryFolder } from "../support/folder.ts";

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return { ...fs, writeFileSync: vi.fn(fs.writeFileSync) };
});

const folder = temporaryFolder();

it("a report replaces no other, also if another process writes one of its name at the same time", () => {
  const save = (text: string): string => saveReport(folder, "fails", () => Buffer.from(text));
  expect(save("first")).toBe(join(folder, "fails.ndjson"));
  const path = saveReport(folder, "fails", (name) => {
    if (name === "fails-2.ndjson") writeFileSync(join(folder, name), "of another process");
    return Buffer.from(`own ${name}`);
  });
  expect(path).toBe(join(folder, "fails-3.ndjson"));
  expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"))).toEqual([
    "of another process",
    "own fails-3.ndjson",
    "first",
  ]);
});

it("a report that does not fit on the disk leaves no part of it", () => {
  const full = join(folder, "full");
  vi.mocked(writeFileSync).mockImplementationOnce((file) => {
    writeFileSync(file, "a part");
    throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  });
  expect(() => saveReport(full, "fails", () => Buffer.from("all of it"))).toThrow("no space left");
  expect(readdirSync(full)).toEqual([]);
});

it("a report that cannot be made removes no report of another process", () => {
  const other = join(folder, "other");
  const make = (name: string): never => {
    writeFileSync(join(other, name), "of another process");
    throw new Error("not made");
  };
  expect(() => saveReport(other, "fails", make)).toThrow("not made");
  expect(readdirSync(other)).toEqual(["fails.ndjson"]);
});

/** Returns the markets that an event touches. Alice has the only order. */
function touchedBy(event: object): number[] {
  const exchange = openFundedExchange();
  exchange.fund("alice", { usdc: 100 });
  exchange.send("alice BUY 10 YES @ 0.4");
  const touched = new Touched();
  const result = { kind: "accepted", events: [event] } as const;
  touched.take({ command: null, result } as unknown as ReplayedLine, exchange.state);
  return [...touched.markets];
}

it("canceling an order from before the opening touches its market", () => {
  expect(touchedBy({ kind: "orderCanceled", order: 1, reason: "USER" })).toEqual([1]);
});

it("a fault for an order that does not exist yet touches no market", () => {
  expect(touchedBy({ kind: "settlementFaultSet", number: 1, fault: "fail", order: 2 })).toEqual([]);
});
