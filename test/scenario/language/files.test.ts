import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario, Step } from "../../../src/scenario/language/steps.ts";
import { type PageText, pageWith } from "../../support/page.ts";
import {
  BID,
  contentOf,
  fileOf,
  jsonOf,
  lastStep,
  ofSteps,
  problemsOf,
  scenarioOf,
  withLine,
} from "./scenario-texts.ts";

const pageAt = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");

const problems = (text: string): string[] =>
  problemsOf(text).map((problem) => problem.replace("x.yaml:", ""));

describe("an invalid file", () => {
  it("has its problems reported with their places", async () => {
    const valid: string[] = [];
    let files = 0;
    const page = await pageWith(pageAt("wrong-files.txt"), (text) => {
      files += 1;
      const found = problems(fileOf(text));
      if (found.length === 0) valid.push(text.text);
      return found;
    });
    expect(valid).toEqual([]);
    expect(files).toBeGreaterThan(300);
    await expect(page).toMatchFileSnapshot("wrong-files.txt");
  });

  it.each([
    ["nothing", "", "1:1: expected a scenario, a mapping, found nothing"],
    ["a tab", "a:\n\t- b: 1\n", "2:1: not YAML: tabs are not allowed as indentation (indent with spaces)"],
    ["a control character", "seed: a\0b\n", "1:8: expected text, found the control character U+0000"],
  ])("that is %s is refused", (_title, text, problem) => {
    expect(problems(text)).toEqual([problem]);
  });

  it("is no scenario, and has at most 20 problems", () => {
    const { scenario, problems } = readScenario(
      "x.yaml",
      `scenario: x\nsteps:\n${"  - advance: soon\n".repeat(30)}`,
    );
    expect(scenario).toBeNull();
    expect(problems).toHaveLength(20);
  });
});

describe("a valid file", () => {
  const nothingSaid = scenarioOf(withLine("about: nothing"));

  const said = (of: PageText): string => {
    const scenario = scenarioOf(fileOf(of));
    if (of.heading === "files") return jsonOf(scenario);
    if (of.heading !== "headers") return contentOf(scenario.steps.at(-1) as Step);
    const isSaid = ([key, value]: [string, unknown]): boolean =>
      jsonOf(value) !== jsonOf(nothingSaid[key as keyof Scenario]);
    return jsonOf(Object.fromEntries(Object.entries(scenario).filter(isSaid)));
  };

  it("is read with the core's units and with places", async () => {
    const page = await pageWith(pageAt("right-files.txt"), (text) => [said(text)]);
    await expect(page).toMatchFileSnapshot("right-files.txt");
  });

  it("has steps with a number, the place of the key, and the line with single spaces as text", () => {
    expect(lastStep(ofSteps("advance: 1s", "bob:   SELL  10 YES @ 0.5   as ask   # here"))).toMatchObject({
      number: 2,
      name: "ask",
      text: "bob: SELL 10 YES @ 0.5 as ask",
      place: { file: "x.yaml", line: 5, column: 5 },
    });
  });

  it("has texts of steps without comments and of at most 200 characters", () => {
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

  it("numbers the step after a race behind those of the race", () => {
    const race = "race: [{ bob: cancel bid }, { alice: BUY 1 YES @ 0.6 }]";
    expect(lastStep(ofSteps(BID, race, "advance: 1s")).number).toBe(5);
  });

  it("may have races with 5040 runs together", () => {
    const race = (steps: number): string => `race: [${"{ advance: 1s }, ".repeat(steps)}]`;
    expect(scenarioOf(ofSteps(race(6), race(3))).steps).toHaveLength(2);
  });
});
