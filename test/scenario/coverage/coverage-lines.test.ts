import { describe, expect, it } from "vitest";
import type { Coverage, ItemCoverage } from "../../../src/scenario/coverage/coverage.ts";
import { coverageLines } from "../../../src/scenario/coverage/coverage.ts";
import { plainPaint } from "../../../src/scenario/report/text.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { failedOf, resultOf, skippedOf, suiteOf } from "../report/suite.ts";

const item = (words: string | readonly string[], own: Partial<ItemCoverage> = {}): ItemCoverage => ({
  words: typeof words === "string" ? [words] : words,
  scenarios: 0,
  times: 0,
  first: null,
  ...own,
});

const coverageWith = (results: readonly ScenarioResult[] = [resultOf()]): Coverage => ({
  groups: [
    {
      name: "order types",
      items: [
        item("GTC", { scenarios: 1204, times: 1_250_000, first: "scenarios/a.yaml" }),
        item("GTD"),
        item("FOK", { scenarios: 2, times: 3, first: "scenarios/orders/b.yaml" }),
        item("FAK"),
      ],
    },
    {
      name: "endpoints",
      items: [
        item(["placeOrder", "POST", "/clob/order"], { scenarios: 1, times: 7, first: "scenarios/a.yaml" }),
        item(["cancelAllOrders", "DELETE", "/clob/orders/all"], {
          scenarios: 1,
          times: 1,
          first: "scenarios/a.yaml",
        }),
      ],
    },
  ],
  suite: suiteOf(results),
});

const textOf = (coverage: Coverage): string => `\n${coverageLines(coverage, plainPaint).join("\n")}\n`;

describe("the table", () => {
  it("aligns all groups, unexercised items first, and ends with the total", () => {
    expect(textOf(coverageWith())).toBe(`
                                               scenarios      times  first
order types  2 of 4
  ✗ GTD                                                0          0  never
  ✗ FAK                                                0          0  never
  ✓ GTC                                            1,204  1,250,000  scenarios/a.yaml
  ✓ FOK                                                2          3  scenarios/orders/b.yaml

endpoints  2 of 2
  ✓ placeOrder       POST    /clob/order               1          7  scenarios/a.yaml
  ✓ cancelAllOrders  DELETE  /clob/orders/all          1          1  scenarios/a.yaml

4 of 6 items, 66.6 %
`);
  });

  it("says which scenarios failed, and why others were skipped", () => {
    const reason = "needs HTTP: run it with --via http";
    const results = [resultOf(), failedOf(), skippedOf({ reason }), skippedOf({ reason })];
    const text = textOf(coverageWith(results));
    expect(text.slice(text.indexOf("\nfailed"))).toBe(`
failed
  ✗ a cancel frees the reservation
    scenarios/orders/cancel.yaml:12:7

2 scenarios skipped: needs HTTP: run it with --via http

4 of 6 items, 66.6 %
`);
  });

  it("never rounds up to all", () => {
    const items = Array.from({ length: 2000 }, (_, index) =>
      index === 0 ? item("none") : item(`${index}`, { scenarios: 1, times: 1, first: "a.yaml" }),
    );
    const coverage = { groups: [{ name: "steps" as const, items }], suite: suiteOf([]) };
    expect(coverageLines(coverage, plainPaint).at(-1)).toBe("1,999 of 2,000 items, 99.9 %");
  });
});
