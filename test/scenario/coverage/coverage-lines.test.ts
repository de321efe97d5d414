import { describe, expect, it } from "vitest";
import type { Coverage, ItemCoverage } from "../../../src/scenario/coverage/coverage.ts";
import { coverageLines } from "../../../src/scenario/coverage/coverage.ts";
import { plainPaint } from "../../../src/scenario/report/text.ts";
import { failedOf, resultOf, skippedOf, suiteOf } from "../report/suite.ts";

const item = (words: string | readonly string[], own: Partial<ItemCoverage> = {}): ItemCoverage => ({
  words: typeof words === "string" ? [words] : words,
  scenarios: 0,
  times: 0,
  first: null,
  ...own,
});

describe("the table", () => {
  it("aligns all groups, unexercised items first, and ends with failures, reasons for skips and the total", () => {
    const [first, reason] = ["scenarios/a.yaml", "needs HTTP: run it with --via http"];
    const groups: Coverage["groups"] = [
      {
        name: "order types",
        items: [
          item("GTC", { scenarios: 1204, times: 1_250_000, first }),
          item("GTD"),
          item("FOK", { scenarios: 2, times: 3, first: "scenarios/orders/b.yaml" }),
        ],
      },
      {
        name: "endpoints",
        items: [item(["cancelAllOrders", "DELETE", "/clob/orders/all"], { scenarios: 1, times: 1, first })],
      },
    ];
    const suite = suiteOf([resultOf(), failedOf(), skippedOf({ reason }), skippedOf({ reason })]);
    expect(`\n${coverageLines({ groups, suite }, plainPaint).join("\n")}\n`).toBe(`
                                               scenarios      times  first
order types  2 of 3
  ✗ GTD                                                0          0  never
  ✓ GTC                                            1,204  1,250,000  scenarios/a.yaml
  ✓ FOK                                                2          3  scenarios/orders/b.yaml

endpoints  1 of 1
  ✓ cancelAllOrders  DELETE  /clob/orders/all          1          1  scenarios/a.yaml

failed
  ✗ a cancel frees the reservation
    scenarios/orders/cancel.yaml:12:7

2 scenarios skipped: needs HTTP: run it with --via http

3 of 4 items, 75 %
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
