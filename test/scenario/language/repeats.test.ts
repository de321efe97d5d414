import { describe, expect, it } from "vitest";
import type { OrderStep, RequestStep, Step } from "../../../src/scenario/language/steps.ts";
import { BID, ofSteps, problemsOf, scenarioOf } from "./scenario-texts.ts";

const repeat = (times: number | string, ...steps: string[]): string =>
  `{ repeat: ${times}, steps: [${steps.map((step) => `{ ${step} }`).join(", ")}] }`;

const namesOf = (steps: readonly Step[]): (string | null)[] =>
  steps.filter((step): step is OrderStep => step.kind === "order").map(({ name }) => name);

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

  it("within a repeat continues counting #", () => {
    const inner = repeat(3, "alice: BUY 1 YES @ 0.5 as bid#").replace(/^\{ (.*) \}$/, "$1");
    const steps = stepsOf(repeat(2, "alice: BUY 1 YES @ 0.4 as low#", inner), "alice: cancel bid6");
    expect(namesOf(steps)).toEqual(["low1", "bid1", "bid2", "bid3", "low2", "bid4", "bid5", "bid6"]);
    expect(steps[6]?.text).toMatch(/ \(round 2 of 2, round 2 of 3\)$/);
  });

  it("declares a name without # again in each round", () => {
    const inner = repeat(2, "alice: BUY 1 YES @ 0.5 as bid", "snapshot: s").replace(/^\{ (.*) \}$/, "$1");
    expect(namesOf(stepsOf(repeat(2, inner, "alice: cancel bid"), "restore: s"))).toEqual(
      Array(4).fill("bid"),
    );
  });

  it("may contain races, which included files may not", () => {
    const race = "race: [{ alice: cancel all }, { bob: cancel all }]";
    expect(stepsOf(repeat(2, race)).map(({ kind }) => kind)).toEqual(["race", "race"]);
    expect(problemsOf(ofSteps(`race: [${repeat(2, "advance: 1s")}, { advance: 1s }]`))).toEqual([
      "x.yaml:4:14: repeat cannot be in a race",
    ]);
    expect(problemsOf(ofSteps(repeat(13, race))).join()).toMatch(
      /expected at most 5040 runs, found races with 8192/,
    );
  });

  it("may be as long as a scenario", () => {
    expect(stepsOf(repeat(100_000, "advance: 1ms")).length).toBe(100_000);
  });
});

describe("an invalid repeat", () => {
  it.each<[title: string, step: string, ...problems: string[]]>([
    ["has no steps", "{ repeat: 2 }", "4:7: expected the key steps beside repeat, found none"],
    ["has an empty list", repeat(50_000), "4:29: expected at least one step, found an empty list"],
    ["has a text for steps", "{ repeat: 2, steps: BUY }", '4:25: expected a list of steps, found "BUY"'],
    [
      "has another key beside",
      "{ repeat: 2, step: [], steps: [{ advance: 1s }] }",
      '4:18: unknown key "step" (did you mean steps?)',
    ],
    [
      "is for no time",
      repeat(0, "advance: 1s"),
      '4:15: expected a number of times from 1 to 100000, found "0"',
    ],
    [
      "is for ever",
      repeat("ever", "advance: 1s"),
      '4:15: expected a number of times from 1 to 100000, found "ever"',
    ],
    [
      "is too long",
      repeat(100_001, "advance: 1s"),
      '4:15: expected a number of times from 1 to 100000, found "100001"',
    ],
    [
      "has too many steps together",
      repeat(60_000, "advance: 1s", "advance: 2s"),
      "4:30: more than 100000 steps",
    ],
    [
      "has too many steps in repeats of repeats",
      repeat(100_000, `repeat: 100000, steps: [${repeat(100_000, "advance: 1s")}]`),
      "4:83: more than 100000 steps",
    ],
    [
      "has nothing in repeats of repeats",
      repeat(100_000, "repeat: 100000, steps: []"),
      "4:56: expected at least one step, found an empty list",
    ],
    [
      "gives one name twice in a round",
      repeat(3, "alice: BUY 1 YES @ 0.5 as bid", "alice: BUY 1 YES @ 0.4 as bid"),
      "4:89: another order is named bid already (use another name)",
    ],
    ["names an order that the round has not", repeat(2, "alice: cancel bid#"), '4:42: unknown order "bid1"'],
    [
      "has one thing wrong in every round",
      repeat(2, "advance: soon"),
      '4:37: expected a duration such as 30s or 1h30m, found "soon"',
    ],
    [
      "has a name that # makes none",
      repeat(2, 'alice: "BUY 1 YES @ 0.5 as #1"'),
      '4:55: expected a name: a letter, then letters, digits, _ and -, at most 64, found "#1"',
    ],
  ])("%s", (_title, step, ...problems) => {
    expect(problemsOf(ofSteps(step))).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });

  it("gives a name that was given before it, or one of it is given behind it", () => {
    const twice = "another order is named bid already (use another name)";
    expect(problemsOf(ofSteps(BID, repeat(2, BID)))).toEqual([`x.yaml:5:55: ${twice}`]);
    expect(problemsOf(ofSteps(repeat(2, BID), BID))).toEqual([`x.yaml:5:32: ${twice}`]);
    expect(problemsOf(ofSteps(`${BID}#`))).toEqual([
      'x.yaml:4:32: # in a name is the number of the round, found "bid#" outside of a repeat',
    ]);
  });
});
