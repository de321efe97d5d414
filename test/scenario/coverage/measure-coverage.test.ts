import { describe, expect, it } from "vitest";
import { coverageLines } from "../../../src/scenario/coverage/coverage.ts";
import { type CoverageOptions, measureCoverage } from "../../../src/scenario/coverage/measure-coverage.ts";
import { plainPaint } from "../../../src/scenario/report/text.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";
import { ENDING, FAILING, Folder, PARTS, scenarioIn, UNSIGNED } from "./files.ts";

const folder = new Folder();
const files = {
  parts: folder.write("orders/parts.yaml", PARTS),
  ending: folder.write("markets/ending.yaml", ENDING),
  unsigned: folder.write("requests/unsigned.yaml", UNSIGNED),
  failing: folder.write("failing.yaml", FAILING),
};
const SUITE = [files.parts, files.ending, files.unsigned];

/** The table of a suite, with paths as the folder has them. */
async function tableOf(paths: readonly string[], via: CoverageOptions["via"] = "auto"): Promise<string> {
  const coverage = await measureCoverage(paths.map(scenarioIn), { via, startServer: startScenarioServer });
  return folder.within(coverageLines(coverage, plainPaint).join("\n"));
}

/** The part of a table from one group on, up to another. */
const partOf = (table: string, from: string, to: string): string =>
  `\n${table.slice(table.indexOf(`${from}  `), table.indexOf(`\n${to}  `))}`;

/** What a group says is exercised: name, scenarios, times, first. */
function exercised(table: string, group: string): string[] {
  const [, ...lines] = (table.split("\n\n").find((part) => part.startsWith(`${group}  `)) ?? "").split("\n");
  const marked = lines.filter((line) => line.startsWith("  ✓ "));
  return marked.map((line) => line.slice(4).replace(/ {2,}/g, "  "));
}

describe("a small suite", () => {
  const measured = tableOf(SUITE);

  it("shows the orders, markets and matches that it exercises, and those that it does not", async () => {
    expect(partOf(await measured, "order types", "error codes of trading")).toBe(`
order types  3 of 4
  ✗ FOK                                            0      0  never
  ✓ GTC                                            2      3  orders/parts.yaml
  ✓ GTD                                            1      1  markets/ending.yaml
  ✓ FAK                                            1      1  orders/parts.yaml

order states  6 of 7
  ✗ new -> CANCELED                                0      0  never
  ✓ new -> LIVE                                    2      3  orders/parts.yaml
  ✓ new -> MATCHED                                 1      2  orders/parts.yaml
  ✓ LIVE -> LIVE (partial fill)                    1      1  orders/parts.yaml
  ✓ LIVE -> MATCHED                                1      1  orders/parts.yaml
  ✓ LIVE -> CANCELED                               1      2  markets/ending.yaml
  ✓ LIVE -> EXPIRED                                1      1  markets/ending.yaml

market states  3 of 3
  ✓ ACTIVE -> CLOSED                               1      1  markets/ending.yaml
  ✓ ACTIVE -> RESOLVED                             1      1  markets/ending.yaml
  ✓ CLOSED -> RESOLVED                             1      1  markets/ending.yaml

winning outcomes  1 of 3
  ✗ YES                                            0      0  never
  ✗ SPLIT                                          0      0  never
  ✓ NO                                             1      2  markets/ending.yaml

match types  1 of 3
  ✗ MINT                                           0      0  never
  ✗ MERGE                                          0      0  never
  ✓ COMPLEMENTARY                                  1      2  orders/parts.yaml

cancel reasons  1 of 7
  ✗ USER                                           0      0  never
  ✗ FOK_UNFILLED                                   0      0  never
  ✗ FAK_UNFILLED                                   0      0  never
  ✗ FAK_REMAINDER                                  0      0  never
  ✗ SELF_TRADE                                     0      0  never
  ✗ SETTLEMENT_FAILED                              0      0  never
  ✓ MARKET_CLOSED                                  1      2  markets/ending.yaml

matching modes  1 of 2
  ✗ independent                                    0      0  never
  ✓ complementary                                  2      5  orders/parts.yaml

self-trade policies  0 of 4
  ✗ allow                                          0      0  never
  ✗ cancel-taker                                   0      0  never
  ✗ cancel-maker                                   0      0  never
  ✗ cancel-both                                    0      0  never

tick sizes  2 of 6
  ✗ 0.1                                            0      0  never
  ✗ 0.005                                          0      0  never
  ✗ 0.0025                                         0      0  never
  ✗ 0.0001                                         0      0  never
  ✓ 0.01                                           1      3  orders/parts.yaml
  ✓ 0.001                                          1      2  markets/ending.yaml

settlement modes  1 of 3
  ✗ auto                                           0      0  never
  ✗ manual                                         0      0  never
  ✓ instant                                        1      2  orders/parts.yaml

balance policies  1 of 2
  ✗ settled                                        0      0  never
  ✓ optimistic                                     1      2  orders/parts.yaml

settlement  1 of 13
  ✗ MATCHED -> MINED                               0      0  never
  ✗ MATCHED -> FAILED                              0      0  never
  ✗ RETRYING -> MINED                              0      0  never
  ✗ RETRYING -> CONFIRMED                          0      0  never
  ✗ RETRYING -> FAILED                             0      0  never
  ✗ MINED -> CONFIRMED                             0      0  never
  ✗ MINED -> MATCHED (reorganized)                 0      0  never
  ✗ MATCHED for ever (never mined)                 0      0  never
  ✗ MATCHED -> RETRYING                            0      0  never
  ✗ MATCHED -> RETRYING (waits for funds)          0      0  never
  ✗ MATCHED (delayed)                              0      0  never
  ✗ MATCHED (underpriced)                          0      0  never
  ✓ MATCHED -> CONFIRMED                           1      2  orders/parts.yaml

settlement faults  0 of 5
  ✗ fail                                           0      0  never
  ✗ retry                                          0      0  never
  ✗ delay                                          0      0  never
  ✗ ghost                                          0      0  never
  ✗ gas-spike                                      0      0  never

chain calls  0 of 4
  ✗ split                                          0      0  never
  ✗ merge                                          0      0  never
  ✗ redeem                                         0      0  never
  ✗ reverted when mined                            0      0  never
`);
  });

  it("shows the words of the language that it exercises, and those that it does not", async () => {
    expect(partOf(await measured, "steps", "refused steps")).toBe(`
steps  7 of 24
  ✗ cancel all                                     0      0  never
  ✗ fund                                           0      0  never
  ✗ at                                             0      0  never
  ✗ fault                                          0      0  never
  ✗ snapshot                                       0      0  never
  ✗ restore                                        0      0  never
  ✗ replay                                         0      0  never
  ✗ generate                                       0      0  never
  ✗ expect                                         0      0  never
  ✗ split                                          0      0  never
  ✗ merge                                          0      0  never
  ✗ redeem                                         0      0  never
  ✗ mine                                           0      0  never
  ✗ fail settlement                                0      0  never
  ✗ chain fault                                    0      0  never
  ✗ bump                                           0      0  never
  ✗ reorg                                          0      0  never
  ✓ BUY, SELL                                      2      6  orders/parts.yaml
  ✓ cancel                                         1      1  orders/parts.yaml
  ✓ advance                                        1      1  markets/ending.yaml
  ✓ close                                          1      1  markets/ending.yaml
  ✓ resolve                                        1      1  markets/ending.yaml
  ✓ race                                           1      1  markets/ending.yaml
  ✓ request                                        1      2  requests/unsigned.yaml

expectations  5 of 15
  ✗ book                                           0      0  never
  ✗ trades                                         0      0  never
  ✗ orders                                         0      0  never
  ✗ quote                                          0      0  never
  ✗ history                                        0      0  never
  ✗ chain: head, confirmed, pending                0      0  never
  ✗ chain: supply                                  0      0  never
  ✗ chain: settled                                 0      0  never
  ✗ stateHash                                      0      0  never
  ✗ golden                                         0      0  never
  ✓ balances                                       1      1  markets/ending.yaml
  ✓ status                                         1      1  orders/parts.yaml
  ✓ fills                                          1      1  orders/parts.yaml
  ✓ rejects                                        3      3  orders/parts.yaml
  ✓ answers                                        1      1  requests/unsigned.yaml
`);
  });

  it("shows how its steps are refused, and what it comes to", async () => {
    expect(await measured).toContain("\n\nrefused steps  4 of 16\n");
    expect(await measured).toMatch(/\n\n39 of \d+ items, \d+\.\d %$/);
    expect(exercised(await measured, "refused steps")).toEqual([
      "BUY, SELL: rejects  1  1  markets/ending.yaml",
      "cancel: already matched  1  1  orders/parts.yaml",
      "request: rejects  1  1  requests/unsigned.yaml",
      "race: without rejects  1  1  markets/ending.yaml",
    ]);
  });

  it("exercises the codes that orders are refused with, in this process and over HTTP", async () => {
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

  it("that needs HTTP is skipped in this process alone, with the reason", async () => {
    const table = await tableOf([files.unsigned], "process");
    expect(table).not.toContain("✓");
    expect(table).toContain("\n\n1 scenario skipped: needs HTTP: run it with --via http\n\n0 of ");
  });
});
