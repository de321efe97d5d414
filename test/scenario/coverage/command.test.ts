import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  coverageLines,
  type ItemCoverage,
  measureCoverage,
} from "../../../src/scenario/coverage/coverage.ts";
import { plainPaint } from "../../../src/scenario/report/text.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { Shell } from "../../cli/shell.ts";
import { TestFolder } from "../../support/folder.ts";
import { suiteOf } from "../report/suite.ts";
import { scenarioAt } from "../run/scenario-folder.ts";

const folder = new TestFolder();
cpSync(join(import.meta.dirname, "files"), folder.path, { recursive: true });

it("clobsim coverage prints what its page shows", async () => {
  await new Shell(folder).expectPage(join(import.meta.dirname, "command.txt"));
});

it("scenarios exercise the same over HTTP, besides endpoints and their errors", async () => {
  const suite = ["parts", "ending", "unsigned"].map((name) => scenarioAt(folder.at(`${name}.yaml`)));
  const [here, there] = await Promise.all(
    (["auto", "http"] as const).map((via) =>
      measureCoverage(suite, { via, startServer: startScenarioServer }),
    ),
  );
  expect(there?.groups.slice(0, -2)).toEqual(here?.groups);
});

it("the table groups the digits of large numbers, and never rounds up to all", () => {
  const items = Array.from({ length: 2000 }, (_, index): ItemCoverage => {
    const counts = { scenarios: 1204, times: 1_250_000, first: "a.yaml" };
    return { words: [`item ${index}`], ...(index === 0 ? { scenarios: 0, times: 0, first: null } : counts) };
  });
  const lines = coverageLines({ groups: [{ name: "steps", items }], suite: suiteOf([]) }, plainPaint);
  expect(lines.at(-1)).toBe("1,999 of 2,000 items, 99.9 %");
  expect(lines[3]).toMatch(/^ {2}✓ item 1 +1,204 {2}1,250,000 {2}a\.yaml$/);
});
