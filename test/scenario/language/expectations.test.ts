import { describe, expect, it } from "vitest";
import type { Expectation } from "../../../src/scenario/language/scenario.ts";
import { BID, lastStep, ofSteps, ofTwoMarkets } from "./scenario-texts.ts";

const YES = { market: null, outcome: "YES" };
const NO = { market: null, outcome: "NO" };

function expectationsOf(text: string): readonly Expectation[] {
  const step = lastStep(text);
  return step.kind === "expect" ? step.expectations : [];
}

const expected = (expectation: string): readonly Expectation[] =>
  expectationsOf(ofSteps(BID, `expect: ${expectation}`));

describe("an expectation", () => {
  it("of a book has levels on each side that it names", () => {
    expect(expected("{ book: { YES: { bids: [0.55 x 60 (2), 0.5 x 1.25], asks: [] }, NO: { asks: [0.4 x 5000000000] } } }")).toMatchObject([
      {
        kind: "book",
        token: YES,
        bids: [
          { price: 5500, size: 6000, orders: 2 },
          { price: 5000, size: 125, orders: null },
        ],
        asks: [],
      },
    ]);
  });
});
