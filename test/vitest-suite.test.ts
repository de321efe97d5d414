import { basename } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { TestFolder } from "./support/folder.ts";
import { inProject, runTests, VITEST } from "./support/test-runner.ts";

/** The built package, because sources would be compiled for each run. */
const SUITE = inProject("dist/vitest.js");
const folder = new TestFolder();

const FAILING = `scenario: fails in its second step
accounts: { alice: { USDC: 10 } }
steps:
  - alice: BUY 1 YES @ 0.5
  - expect: { book: { YES: { bids: [0.5 x 2] } } }
`;

const testFile = (path: string, options = ""): string =>
  `import { scenarioSuite } from ${JSON.stringify(SUITE)};\nscenarioSuite(${JSON.stringify(path)}${options});\n`;

interface Outcome {
  /** The file of the test. */
  readonly file: string;
  readonly fullName: string;
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

let runs = 0;

/** Runs vitest in the folder and returns its JSON report. */
async function vitest(...args: string[]): Promise<{ code: number; tests: readonly Outcome[] }> {
  runs += 1;
  const report = `report-${runs}.json`;
  const command = [VITEST, "run", "--reporter=json", `--outputFile=${report}`, ...args];
  const { code, output } = await runTests(command, folder.path);
  try {
    const { testResults } = JSON.parse(folder.read(report)) as {
      testResults: { name: string; assertionResults: Outcome[] }[];
    };
    const tests = testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map((outcome) => ({ ...outcome, file: basename(name) })),
    );
    return { code, tests };
  } catch {
    throw new Error(`vitest ended with ${code} and no report: ${output}`);
  }
}

beforeAll(() => {
  folder.write("package.json", '{ "type": "module" }');
  folder.write("vitest.config.mjs", 'export default { test: { include: ["*.test.mjs"], isolate: false } };');
  folder.write("scenarios/a-passing.yaml", "scenario: passes\nsteps: [{ advance: 1s }]\n");
  folder.write("scenarios/b-failing.yaml", FAILING);
  folder.write("scenarios/c-served.yaml", "scenario: needs HTTP\nsteps: [{ request: GET /clob/time }]\n");
  folder.write("scenarios/d-wrong.yaml", "scenario: is wrong\nsteps:\n  - advanse: 1s\n");
  folder.write("scenarios/deep/e.yaml", "scenario: is in a folder\nsteps: [{ advance: 1s }]\n");
  folder.write("scenarios/_part.yaml", "- advance: 1s\n");
  folder.write("all.test.mjs", testFile("scenarios", ', { via: "process" }'));
  folder.write("deep.test.mjs", testFile("scenarios/deep/*.yaml", ", { repeat: 2, seed: 7 }"));
  folder.write("served.test.mjs", testFile("scenarios/c-served.yaml"));
});

describe("scenarioSuite", () => {
  let whole: readonly Outcome[];
  let tests: readonly Outcome[];
  let code: number;
  const named = (name: string): Outcome | undefined => tests.find(({ fullName }) => fullName === name);

  beforeAll(async () => {
    ({ tests: whole, code } = await vitest());
    tests = whole.filter(({ file }) => file === "all.test.mjs");
  });

  it("declares each scenario as a test with its name, under its folder", () => {
    const names = tests.map(({ ancestorTitles, title }) => [...ancestorTitles, title]);
    expect(names.sort()).toEqual([
      ["scenarios", "fails in its second step"],
      ["scenarios", "needs HTTP"],
      ["scenarios", "passes"],
      ["scenarios", "scenarios/d-wrong.yaml"],
      ["scenarios/deep", "is in a folder"],
    ]);
  });

  it("passes, fails and skips like the scenarios", () => {
    const statusOf = (name: string): string | undefined => named(name)?.status;
    expect(statusOf("scenarios passes")).toBe("passed");
    expect(statusOf("scenarios/deep is in a folder")).toBe("passed");
    expect(statusOf("scenarios fails in its second step")).toBe("failed");
    expect(["pending", "skipped"]).toContain(statusOf("scenarios needs HTTP"));
    expect(code).toBe(1);
  });

  it("shows a failure in terms of the domain, with its position at the top of the stack", () => {
    const [message = ""] = named("scenarios fails in its second step")?.failureMessages ?? [];
    expect(message).toContain("the bids of YES are not as expected");
    expect(message).toContain("- bid 0.5 x 2\n");
    expect(message).toContain("+ bid 0.5 x 1\n");
    expect(message).toContain("repeat  clobsim run scenarios/b-failing.yaml --seed ");
    const [frame] = message.split("\n").filter((line) => /^ {4}at /.test(line));
    expect(frame).toBe(`    at "fails in its second step" (${folder.at("scenarios/b-failing.yaml")}:5:23)`);
  });

  it("declares an invalid file as a test that fails with its problems", () => {
    const wrong = named("scenarios scenarios/d-wrong.yaml");
    expect(wrong?.status).toBe("failed");
    expect(wrong?.failureMessages[0]).toMatch(/scenarios\/d-wrong\.yaml:3:5: .*\(did you mean advance\?\)/);
  });

  it("runs scenarios that need it over HTTP by default", () => {
    const served = whole.filter(({ file }) => file === "served.test.mjs");
    expect(served.map(({ title, status }) => [title, status])).toEqual([["needs HTTP", "passed"]]);
  });

  it("supports vitest's shards: together they run every test once", async () => {
    const shards = [await vitest("--shard=1/2"), await vitest("--shard=2/2")];
    for (const shard of shards) expect(shard.tests.length).toBeGreaterThan(0);
    const names = (run: readonly Outcome[]): string[] => run.map(({ fullName }) => fullName).sort();
    expect(names(shards.flatMap((shard) => shard.tests))).toEqual(names(whole));
    expect(whole.length).toBe(7);
  });
});
