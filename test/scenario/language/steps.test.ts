import { expect, it } from "vitest";
import { BID, lastStep, ofSteps, scenarioOf } from "./scenario-texts.ts";

it("a step has a number, the place of its key, and its line with single spaces as text", () => {
  expect(lastStep(ofSteps("advance: 1s", "bob:   SELL  10 YES @ 0.5   as ask   # here"))).toMatchObject({
    number: 2,
    name: "ask",
    text: "bob: SELL 10 YES @ 0.5 as ask",
    place: { file: "x.yaml", line: 5, column: 5 },
  });
});

it("the text of a step has no comments and at most 200 characters", () => {
  const [short, long] = scenarioOf(
    `scenario: x\naccounts: { alice: {} }\nsteps:
  - expect: # first
      # the book
      book: { YES: { bids: [], asks: ["0.5 x 1"] } } # empty
  - expect: { trades: [${"alice BUY 10 YES @ 0.5 from alice, ".repeat(20)}] }\n`,
  ).steps;
  expect(short?.text).toBe('expect: book: { YES: { bids: [], asks: ["0.5 x 1"] } }');
  expect(long?.text).toHaveLength(200);
  expect(long?.text).toMatch(/^expect: \{ trades: \[alice BUY .*\.\.\.$/);
});

it("the number after a race follows those of its steps", () => {
  const race = "race: [{ bob: cancel bid }, { alice: BUY 1 YES @ 0.6 }]";
  expect(lastStep(ofSteps(BID, race, "advance: 1s")).number).toBe(5);
});

it("several races may have at most 5040 runs together", () => {
  const six = `race: [${"{ advance: 1s }, ".repeat(6)}]`;
  const three = `race: [${"{ advance: 1s }, ".repeat(3)}]`;
  expect(scenarioOf(ofSteps(six, three)).steps).toHaveLength(2);
});
