import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forAll } from "../../support/runs.ts";
import { problemsOf, scenarioOf } from "./scenario-texts.ts";

const HEADER = `scenario: >-
  a name
  over lines
accounts:
  alice: { USDC: 10 } # with a remark
  bob: {}

steps:
`;

const STEPS = [
  "  - alice: BUY 10 YES @ 0.5\n",
  "  - alice: SELL 1 NO\n      @ 0.25 FOK\n",
  "  - alice: |\n      BUY 10 YES @ 0.5\n\n  # a remark\n",
  '  - alice: "BUY 10\n      YES @ 0.5"\n    status: LIVE 0/10\n',
  "  - expect:\n      # a remark\n      book:\n        YES:\n          bids: [0.5 x 10, # one\n                 0.4 x 10]\n",
  "  - request: POST /order\n    body: |\n      line one\n      line two\n",
  "  - advance: 1s\n\n\n",
];

const text = fc
  .array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 10 })
  .map((steps) => HEADER + steps.join(""));

describe("line ends and a byte order mark", () => {
  it.each<[title: string, change: (text: string) => string]>([
    ["carriage returns", (of) => of.replaceAll("\n", "\r\n")],
    ["carriage returns alone", (of) => of.replaceAll("\n", "\r")],
    ["a byte order mark", (of) => `\ufeff${of}`],
    ["both", (of) => `\ufeff${of.replaceAll("\n", "\r\n")}`],
    ["no last line end", (of) => of.replace(/\n+$/, "")],
  ])("do not change the content of a file: %s", (_title, change) => {
    forAll({}, [text], (original) => {
      const changed = change(original);
      // The end of a block scalar is part of its text.
      fc.pre(!(changed.endsWith("two") || changed.endsWith("0.5")));
      expect(scenarioOf(changed)).toEqual(scenarioOf(original));
    });
  });

  it("do not change the problems of a file and their places", () => {
    const wrong = `${HEADER}  - alice: BYU 10 YES @ 0.5\n  - expect:\n      book: { YSE: {} }\n`;
    expect(problemsOf(wrong)).toHaveLength(3);
    expect(problemsOf(`\ufeff${wrong.replaceAll("\n", "\r\n")}`)).toEqual(problemsOf(wrong));
  });
});
