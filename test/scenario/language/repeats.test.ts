import { describe, expect, it } from "vitest";
import type { RequestStep, Step, StepOf } from "../../../src/scenario/language/steps.ts";
import { BID, ofSteps, problemsOf, scenarioOf } from "./scenario-texts.ts";

const repeat = (times: number | string, ...steps: string[]): string =>
  `{ repeat: ${times}, steps: [${steps.map((step) => `{ ${step} }`).join(", ")}] }`;

/** The maximum number of steps. */
const MOST = 100_000;

const namesOf = (steps: readonly Step[]): (string | null)[] =>
  steps.filter((step): step is StepOf<"order"> => step.kind === "order").map(({ name }) => name);

const stepsOf = (...steps: string[]): readonly Step[] => scenarioOf(ofSteps(...steps)).steps;

describe("a repeat", () => {
  it("repeats its steps in order, each with its number and round", () => {
    const steps = stepsOf(BID, repeat(2, "alice: cancel all", "advance: 1s"), "advance: 2s");
    expect(steps.map(({ number, text }) => `${number}. ${text}`)).toEqual([
      "1. alice: BUY 10 YES @ 0.5 as bid",
      "2. alice: cancel all (round 1 of 2)",
      "3. advance: 1s (round 1 of 2)",
      "4. alice: cancel all (round 2 of 2)",
      "5. advance: 1s (round 2 of 2)",
      "6. advance: 2s",
    ]);
    expect(steps[3]?.place).toEqual({ file: "x.yaml", line: 5, column: 28 });
  });

  it("numbers names by #, wherever an order is named", () => {
    const steps = stepsOf(
      repeat(
        2,
        "alice: BUY 1 YES @ 0.5 GTD +60s as bid#",
        "bob: SELL 1 YES @ 0.5, fills: [SELL 1 YES @ 0.5 from bid#]",
        "expect: { orders: { bid#: MATCHED 1/1 }, chain: { settled: { bid#: MATCHED } } }",
        "at: expiry of bid# - 1ms",
        "alice: cancel bid#, rejects: already matched",
        'request: "GET /sim/orders/{order bid#}", answers: { order: { id: "{order bid#}" } }',
        "snapshot: s#",
        "restore: s#",
      ),
      "alice: cancel bid1",
    );
    expect(namesOf(steps)).toEqual(["bid1", null, "bid2", null]);
    const second = steps.slice(8, 16);
    expect(second[1]).toMatchObject({ fills: { value: [{ value: { maker: "bid2" } }] } });
    expect(second[2]).toMatchObject({ expectations: [{ name: "bid2" }, { name: "bid2" }] });
    expect(second[3]).toMatchObject({ moment: { expiryOf: "bid2" } });
    expect(second[4]).toMatchObject({ order: "bid2" });
    expect((second[5] as RequestStep).path).toBe("/sim/orders/{order bid2}");
    expect((second[5] as RequestStep).answers?.value).toEqual({ order: { id: "{order bid2}" } });
    expect(second.slice(6)).toMatchObject([{ name: "s2" }, { name: "s2" }]);
  });

  it("declares a name without # again in each round", () => {
    const inner = repeat(2, "alice: BUY 1 YES @ 0.5 as bid", "snapshot: s").replace(/^\{ (.*) \}$/, "$1");
    expect(namesOf(stepsOf(repeat(2, inner, "alice: cancel bid"), "restore: s"))).toEqual(
      Array(4).fill("bid"),
    );
  });

  it("may contain races", () => {
    const race = "race: [{ alice: cancel all }, { bob: cancel all }]";
    expect(stepsOf(repeat(2, race)).map(({ kind }) => kind)).toEqual(["race", "race"]);
  });

  it("may be as long as a scenario", () => {
    expect(stepsOf(repeat(MOST, "advance: 1ms")).length).toBe(MOST);
  });
});

it.each([
  ["together", repeat(60_000, "advance: 1s", "advance: 2s"), "4:30"],
  ["in repeats of repeats", repeat(MOST, `repeat: ${MOST}, steps: [${repeat(MOST, "advance: 1s")}]`), "4:83"],
])("repeats may not have too many steps %s", (_where, step, place) => {
  expect(problemsOf(ofSteps(step))).toEqual([`x.yaml:${place}: more than 100000 steps`]);
});
