import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { TestFolder } from "../../support/folder.ts";
import { lastStep, problemsOf, scenarioOf } from "./scenario-texts.ts";

const root = new TestFolder();
const folder = root.path;

const including = (...paths: string[]): string =>
  `scenario: x\naccounts: { alice: {} }\nsteps:\n${paths.map((path) => `  - include: ${path}\n`).join("")}`;
const read = (text: string): string[] => problemsOf(text, { folder });
/** Returns the problems of a file that a scenario includes, without the step that includes it, which all of them name. */
const readIncluded = (path: string): string[] =>
  read(including(path)).map((problem) => {
    expect(problem).toMatch(/, included from x\.yaml:4:14$/);
    return problem.replace(/, included from .*/, "");
  });

describe("an included file", () => {
  it("has its steps in place, numbered continuously", () => {
    root.write("list.yaml", "- advance: 1s\n- alice: BUY 1 YES @ 0.5 as bid\n");
    root.write("mapping.yaml", "steps:\n  - alice: cancel bid\n");
    const { steps } = scenarioOf(`${including("list.yaml", "mapping.yaml")}  - advance: 2s\n`, { folder });
    expect(steps.map(({ number, text }) => [number, text])).toEqual([
      [1, "advance: 1s"],
      [2, "alice: BUY 1 YES @ 0.5 as bid"],
      [3, "alice: cancel bid"],
      [4, "advance: 2s"],
    ]);
  });

  it("may include others by paths relative to its folder", () => {
    root.write("parts/outer.yaml", "- include: inner/inner.yaml\n- include: ../top.yaml\n");
    root.write("parts/inner/inner.yaml", "- advance: 1s\n");
    root.write("top.yaml", "- advance: 2s\n");
    const { steps } = scenarioOf(including("parts/outer.yaml"), { folder });
    expect(steps.map(({ place }) => place.file)).toEqual(["parts/inner/inner.yaml", "top.yaml"]);
  });

  it("is named by a path relative to the name of the scenario's file", () => {
    root.write("named.yaml", "- advance: 1s\n");
    const { steps } = scenarioOf(including("named.yaml"), { folder });
    expect(steps[0]?.place).toEqual({ file: "named.yaml", line: 1, column: 3 });
  });

  it("may be included twice", () => {
    root.write("twice.yaml", "- advance: 1s\n");
    expect(scenarioOf(including("twice.yaml", "twice.yaml"), { folder }).steps).toHaveLength(2);
  });

  it("has its problems at its own places, after those of the scenario, with the first step that includes it", () => {
    root.write("wrong.yaml", "- advance: 1s\n- alice: BYU 1 YES @ 0.5\n");
    root.write("outer.yaml", "- include: wrong.yaml\n- advance: later\n");
    expect(read(`${including("outer.yaml", "wrong.yaml")}  - advance: soon\n`)).toEqual([
      'x.yaml:6:14: expected a duration such as 30s or 1h30m, found "soon"',
      'wrong.yaml:2:10: expected BUY or SELL, found "BYU" (did you mean BUY?), included from x.yaml:4:14',
      'outer.yaml:2:12: expected a duration such as 30s or 1h30m, found "later", included from x.yaml:4:14',
    ]);
  });

  it.each([
    ["nothing", "", "empty.yaml:1:1: expected a list of steps, or steps, a mapping, found nothing"],
    [
      "a scenario",
      "scenario: y\nsteps: [{ advance: 1s }]\n",
      'empty.yaml:1:1: unknown key "scenario" (expected steps)',
    ],
    ["no steps", "{}\n", "empty.yaml:1:1: expected the key steps, found none"],
    ["no YAML", "- [\n", "empty.yaml:1:3: this [ is never closed"],
  ])("is invalid with %s", (_title, text, problem) => {
    root.write("empty.yaml", text);
    expect(readIncluded("empty.yaml")).toEqual([problem]);
  });

  it("is invalid if it is not UTF-8, with the line and column in the file", () => {
    root.write("latin.yaml", Buffer.from("- advance: 1s\r\n# caf\xe9\n", "latin1"));
    expect(readIncluded("latin.yaml")).toEqual([
      "latin.yaml:2:6: expected UTF-8 text, found an invalid byte",
    ]);
  });

  it.each([
    ["itself", "a.yaml", "a.yaml:1:12: the file includes itself: x.yaml → a.yaml → a.yaml"],
    [
      "one that includes it",
      "b.yaml",
      "b.yaml:1:12: the file includes itself: x.yaml → a.yaml → b.yaml → a.yaml",
    ],
    ["the scenario", "x.yaml", "a.yaml:1:12: the file includes itself: x.yaml → a.yaml → x.yaml"],
  ])("cannot include %s", (_title, other, problem) => {
    root.write(other, "- include: a.yaml\n");
    root.write("a.yaml", `- include: ${other}\n`);
    expect(readIncluded("a.yaml")).toEqual([problem]);
  });

  it("may be nested 16 levels deep and no deeper", () => {
    for (let level = 1; level <= 16; level += 1)
      root.write(`level-${level}.yaml`, `- include: level-${level + 1}.yaml\n`);
    root.write("level-17.yaml", "- advance: 1s\n");
    expect(scenarioOf(including("level-2.yaml"), { folder }).steps).toHaveLength(1);
    const chain = ["x.yaml", ...Array.from({ length: 17 }, (_, index) => `level-${index + 1}.yaml`)].join(
      " → ",
    );
    expect(readIncluded("level-1.yaml")).toEqual([
      `level-16.yaml:1:12: more than 16 levels of include: ${chain}`,
    ]);
  });

  it("is limited if files include each other very often", () => {
    for (let level = 1; level <= 10; level += 1) {
      root.write(`wide-${level}.yaml`, `- include: wide-${level + 1}.yaml\n`.repeat(100));
    }
    root.write("wide-11.yaml", "- advance: 1s\n");
    expect(readIncluded("wide-1.yaml")).toContain("wide-10.yaml:92:12: more than 1000 includes");
  });
});

describe("a path", () => {
  beforeAll(() => {
    root.write("flows/flow.csv", "at\n");
    mkdirSync(root.at("a-folder"));
    symlinkSync("flows/flow.csv", root.at("link.csv"));
    symlinkSync("/etc/hostname", root.at("out.csv"));
    symlinkSync("/etc", root.at("etc"));
    symlinkSync("/nowhere/golden.txt", root.at("dangling.txt"));
    symlinkSync("loop.csv", root.at("loop.csv"));
  });

  const withStep = (step: string): string => `scenario: x\nsteps:\n  - ${step}\n`;

  it.each(["flows/flow.csv", "./flows/flow.csv", "a-folder/../flows/flow.csv", "flows//flow.csv"])(
    "leads to a file in the scenario's folder: %s",
    (path) => {
      const step = { kind: "replay", file: root.at("flows/flow.csv"), market: null, rejected: 0 };
      expect(lastStep(withStep(`replay: ${path}`), { folder })).toMatchObject(step);
    },
  );

  it("may be anywhere in the file, and may follow a link within the folder", () => {
    const step = "replay: { file: link.csv, in: market, rejected: 2 }";
    expect(lastStep(withStep(step), { folder })).toMatchObject({ file: root.at("link.csv"), rejected: 2 });
  });

  it("may lead to a golden file in a folder that do not exist yet", () => {
    expect(lastStep(withStep("expect: { golden: goldens/new/x.txt }"), { folder })).toMatchObject({
      expectations: [{ kind: "golden", file: root.at("goldens/new/x.txt"), place: { line: 3, column: 15 } }],
    });
  });

  const RULE = "(paths are relative to the file that names them and stay in the scenario's folder)";

  it.each([
    ["out.csv", `expected a path in the scenario's folder, found a link that leads out of it ${RULE}`],
    ["etc/hostname", `expected a path in the scenario's folder, found a link that leads out of it ${RULE}`],
    ["dangling.txt", `the path leads through a broken link ${RULE}`],
    ["loop.csv", `the path cannot be followed: ELOOP ${RULE}`],
    ["a-folder", `expected a file, found a folder or a device ${RULE}`],
    ["flows/flow.csv/x", `the path cannot be followed: ENOTDIR ${RULE}`],
    ["a-folder/../../x", `expected a path in the scenario's folder, found one outside of it ${RULE}`],
    ["'flows\\flow.csv'", `expected a path with forward slashes, found a backslash ${RULE}`],
    ["'C:/flow.csv'", `expected a relative path, found a URL or a drive ${RULE}`],
    ["file:///etc/hostname", `expected a relative path, found a URL or a drive ${RULE}`],
    ["''", "expected a path, found nothing"],
  ])("is invalid if it is %s", (path, problem) => {
    expect(read(withStep(`replay: ${path}`))).toEqual([`x.yaml:3:13: ${problem}`]);
    expect(read(withStep(`expect: { golden: ${path} }`))).toEqual([`x.yaml:3:23: ${problem}`]);
  });

  it.each(["x.yaml", "new.YML", "new.scenario.json"])("must not be a scenario for `golden`: %s", (path) => {
    const problem = `expected a text file such as auction.txt, found "${path}"`;
    expect(read(withStep(`expect: { golden: ${path} }`))).toEqual([`x.yaml:3:23: ${problem}`]);
  });

  it("must end as a flow does for `replay`", () => {
    root.write("flow.json", "");
    const problem = 'expected a file ending in .csv, .ndjson or .jsonl, found "flow.json"';
    expect(read(withStep("replay: flow.json"))).toEqual([`x.yaml:3:13: ${problem}`]);
    expect(read(withStep("replay: { file: flow.json }"))).toEqual([`x.yaml:3:21: ${problem}`]);
  });
});

describe("a world", () => {
  const world = join(import.meta.dirname, "../../../fixtures/worlds");
  const withWorld = (path: string, step: string): string =>
    `scenario: x\nworld: ${path}\nsteps:\n  - ${step}\n`;

  it("provides the scenario's markets, by slug", () => {
    const text = withWorld("w.json", "close: snow");
    const steps = [{ kind: "close", market: "snow" }];
    const scenario = scenarioOf(text, { folder, worldMarkets: () => ["rain", "snow"] });
    expect(scenario).toMatchObject({ world: root.at("w.json"), markets: [], steps });
  });

  beforeAll(() => {
    root.write("w.json", "{}");
    root.write("list.json", "[]");
  });

  it("is read if its markets are not given", () => {
    expect(problemsOf(withWorld("tiny.json", "close: no-such-market"), { folder: world })).toEqual([
      'x.yaml:4:12: unknown market "no-such-market" (expected will-casether-reach-320, will-casether-reach-340, will-the-series-the-gold-horde-be-renewed)',
    ]);
  });

  it.each([
    ["none.json", "x.yaml:2:8: there is no file none.json"],
    ["list.json", "x.yaml:2:8: no world can be read from list.json: world: expected an object, found []"],
  ])("is invalid if it is %s", (path, problem) => {
    expect(read(withWorld(path, "close: rain"))).toEqual([problem]);
  });
});
