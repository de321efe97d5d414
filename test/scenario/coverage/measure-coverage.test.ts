import { describe, expect, it } from "vitest";
import {
  type CoverageOptions,
  coverageLines,
  measureCoverage,
} from "../../../src/scenario/coverage/coverage.ts";
import { plainPaint } from "../../../src/scenario/report/text.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { ScenarioFolder, scenarioAt } from "../run/scenario-folder.ts";
import { ENDING, PARTS, UNSIGNED } from "./files.ts";

const folder = new ScenarioFolder();
const SUITE = [
  folder.write("orders/parts.yaml", PARTS),
  folder.write("markets/ending.yaml", ENDING),
  folder.write("requests/unsigned.yaml", UNSIGNED),
].map(scenarioAt);

/** Returns the table of the suite, with paths relative to the folder. */
async function tableOf(via: CoverageOptions["via"] = "auto"): Promise<string> {
  const coverage = await measureCoverage(SUITE, { via, startServer: startScenarioServer });
  return folder.within(coverageLines(coverage, plainPaint).join("\n"));
}

/** Returns the exercised items of a group: name, scenarios, times, first. */
function exercised(table: string, group: string): string[] {
  const [, ...lines] = (table.split("\n\n").find((part) => part.startsWith(`${group}  `)) ?? "").split("\n");
  const marked = lines.filter((line) => line.startsWith("  ✓ "));
  return marked.map((line) => line.slice(4).replace(/ {2,}/g, "  "));
}

it("a small suite shows what it exercises and what it does not", async () => {
  await expect(`${await tableOf()}\n`).toMatchFileSnapshot("small-suite.txt");
});

describe("the same suite over HTTP", () => {
  const measured = tableOf("http");

  it("exercises the same orders, markets, codes and words", async () => {
    const upTo = (table: string): string[] => table.split("\n\n").slice(0, 18);
    const narrow = (part: string): string => part.trim().replace(/ {2,}/g, "  ");
    expect(upTo(await measured).map(narrow)).toEqual(upTo(await tableOf()).map(narrow));
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
