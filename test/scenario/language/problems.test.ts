import { describe, expect, it } from "vitest";
import { readScenario } from "../../../src/scenario/language/read-scenario.ts";
import { ofSteps, problemsOf } from "./scenario-texts.ts";

describe("the problems of a file", () => {
  it("are sorted by line", () => {
    const text = "steps:\n  - advance: soon\naccounts: { alice: { USD: 1 } }\nscenario:\n";
    expect(problemsOf(text).map((problem) => problem.split(": ")[0])).toEqual([
      "x.yaml:2:14",
      "x.yaml:3:22",
      "x.yaml:4:10",
    ]);
  });

  it("are at most 20, one for each place", () => {
    expect(problemsOf(`scenario: x\nsteps:\n${"  - advance: soon\n".repeat(30)}`)).toHaveLength(20);
    const text = "scenario: x\naccounts: { alice: {} }\nsteps:\n  - &wrong { advance: soon }\n  - *wrong\n";
    expect(problemsOf(text)).toHaveLength(1);
  });

  it("do not include references to an invalid order", () => {
    const text = ofSteps(
      "alice: BUY 10 YES 0.5 as bid",
      "alice: cancel bid",
      "expect: { orders: { bid: LIVE 0/10 } }",
    );
    expect(problemsOf(text)).toEqual([
      'x.yaml:4:23: expected @, found "0.5" (did you mean BUY 10 YES @ 0.5 as bid?)',
    ]);
  });

  it("exclude a scenario", () => {
    expect(readScenario("x.yaml", "scenario: x\nsteps: [{ advance: soon }]\n").scenario).toBeNull();
  });
});
