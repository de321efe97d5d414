import { describe, expect, it } from "vitest";
import {
  type CoverageOptions,
  coverageLines,
  measureCoverage,
} from "../../../src/scenario/coverage/coverage.ts";
import { plainPaint } from "../../../src/scenario/report/text.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";
import { ScenarioFolder, scenarioAt } from "../run/scenario-folder.ts";
import { ENDING, FAILING, PARTS, UNSIGNED } from "./files.ts";

const folder = new ScenarioFolder();
const files = {
  parts: folder.write("orders/parts.yaml", PARTS),
  ending: folder.write("markets/ending.yaml", ENDING),
  unsigned: folder.write("requests/unsigned.yaml", UNSIGNED),
  failing: folder.write("failing.yaml", FAILING),
};
const SUITE = [files.parts, files.ending, files.unsigned];

/** Returns the table of a suite, with paths relative to the folder. */
async function tableOf(paths: readonly string[], via: CoverageOptions["via"] = "auto"): Promise<string> {
  const coverage = await measureCoverage(paths.map(scenarioAt), { via, startServer: startScenarioServer });
  return folder.within(coverageLines(coverage, plainPaint).join("\n"));
}

/** Returns the exercised items of a group: name, scenarios, times, first. */
function exercised(table: string, group: string): string[] {
  const [, ...lines] = (table.split("\n\n").find((part) => part.startsWith(`${group}  `)) ?? "").split("\n");
  const marked = lines.filter((line) => line.startsWith("  ✓ "));
  return marked.map((line) => line.slice(4).replace(/ {2,}/g, "  "));
}

describe("a small suite", () => {
  const measured = tableOf(SUITE);

  it("shows what it exercises and what it does not", async () => {
    await expect(`${await measured}\n`).toMatchFileSnapshot("small-suite.txt");
  });

  it("exercises the error codes of orders, in this process and over HTTP", async () => {
    expect(exercised(await measured, "error codes of trading")).toEqual([
      "INVALID_TICK_SIZE  1  1  markets/ending.yaml",
      "MISSING_AUTH_HEADER  1  1  requests/unsigned.yaml",
    ]);
  });
});

describe("the same suite over HTTP", () => {
  const measured = tableOf(SUITE, "http");

  it("exercises the same orders, markets, codes and words", async () => {
    const upTo = (table: string): string[] => table.split("\n\n").slice(0, 18);
    const narrow = (part: string): string => part.trim().replace(/ {2,}/g, "  ");
    expect(upTo(await measured).map(narrow)).toEqual(upTo(await tableOf(SUITE)).map(narrow));
  });

  it("counts how often each endpoint answers 200", async () => {
    const endpoints = exercised(await measured, "endpoints");
    expect(endpoints).toContain("placeOrder  POST  /clob/order  2  5  orders/parts.yaml");
    expect(endpoints).toContain("getTime  GET  /clob/time  1  1  requests/unsigned.yaml");
    expect(endpoints).toContain(
      "resolveMarket  POST  /sim/markets/{idOrSlug}/resolve  1  2  markets/ending.yaml",
    );
    expect(endpoints.some((line) => line.startsWith("cancelAllOrders"))).toBe(false);
  });

  it("counts each error of each endpoint", async () => {
    expect(exercised(await measured, "errors by endpoint")).toEqual([
      "placeOrder  INVALID_TICK_SIZE  1  1  markets/ending.yaml",
      "placeOrder  MISSING_AUTH_HEADER  1  1  requests/unsigned.yaml",
    ]);
  });
});

describe("a scenario", () => {
  it("that fails exercises nothing, and is named", async () => {
    const table = await tableOf([files.failing]);
    expect(table).not.toContain("✓");
    expect(table).toContain("\n\nfailed\n  ✗ a book is never what it is not\n    failing.yaml:5:23\n\n0 of ");
  });

  it("that needs HTTP is skipped in this process, with the reason", async () => {
    const table = await tableOf([files.unsigned], "process");
    expect(table).not.toContain("✓");
    expect(table).toContain("\n\n1 scenario skipped: needs HTTP: run it with --via http\n\n0 of ");
  });
});
