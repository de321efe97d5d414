import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { problemText } from "../../../src/scenario/language/page.ts";
import { readScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Step } from "../../../src/scenario/language/steps.ts";
import { TestFolder } from "../../support/folder.ts";
import { TINY_WORLD } from "../../support/http.ts";
import { type PageText, pageWith } from "../../support/page.ts";
import { contentOf, problemsOf, scenarioOf } from "./scenario-texts.ts";

const root = new TestFolder();
const folder = root.path;
root.write("flows/flow.csv", "at\n");
mkdirSync(root.at("a-folder"));
cpSync(TINY_WORLD, root.at("tiny.json"));
for (const [target, name] of [
  ["flows/flow.csv", "link.csv"],
  ["/etc/hostname", "out.csv"],
  ["/etc", "etc"],
  ["/nowhere/golden.txt", "dangling.txt"],
  ["loop.csv", "loop.csv"],
] as const)
  symlinkSync(target, root.at(name));

/** Describes a step by its place and its number and text, or by its content if it names a file. */
function described(step: Step): string {
  const content = contentOf(step);
  const what = content.includes(folder) ? root.within(content) : `${step.number}. ${step.text}`;
  return `${step.place.file}:${step.place.line}:${step.place.column}: ${what}`;
}

/** Writes the files of a text, and returns the steps or the problems of the scenario. */
function linesOf({ opening, text }: PageText): string[] {
  const [steps, ...files] = text.split(/^# (?=\S+$)/m);
  for (const file of files) root.write(file.slice(0, file.indexOf("\n")), file.slice(file.indexOf("\n") + 1));
  const { scenario, problems } = readScenario("x.yaml", opening + steps, { folder });
  return scenario === null ? problems.map(problemText) : scenario.steps.map(described);
}

it("a scenario with other files is read as its page shows", async () => {
  const page = readFileSync(new URL("included.txt", import.meta.url), "utf8");
  await expect(await pageWith(page, linesOf)).toMatchFileSnapshot("included.txt");
});

const including = (path: string): string => `scenario: x\nsteps:\n  - include: ${path}\n`;

describe("an included file", () => {
  it("is invalid if it is not UTF-8, with the line and column in the file", () => {
    root.write("latin.yaml", Buffer.from("- advance: 1s\r\n# caf\xe9\n", "latin1"));
    expect(problemsOf(including("latin.yaml"), { folder })).toEqual([
      "latin.yaml:2:6: expected UTF-8 text, found an invalid byte, included from x.yaml:3:14",
    ]);
  });

  it("may be nested 16 levels deep and no deeper", () => {
    const files = Array.from({ length: 17 }, (_, index) => `level-${index + 1}.yaml`);
    for (const [index, file] of files.entries())
      root.write(file, index === 16 ? "- advance: 1s\n" : `- include: ${files[index + 1]}\n`);
    expect(scenarioOf(including("level-2.yaml"), { folder }).steps).toHaveLength(1);
    expect(problemsOf(including("level-1.yaml"), { folder })).toEqual([
      `level-16.yaml:1:12: more than 16 levels of include: ${["x.yaml", ...files].join(" → ")}, included from x.yaml:3:14`,
    ]);
  });

  it("is limited if files include each other very often", () => {
    for (let level = 1; level <= 10; level += 1) {
      root.write(`wide-${level}.yaml`, `- include: wide-${level + 1}.yaml\n`.repeat(100));
    }
    root.write("wide-11.yaml", "- advance: 1s\n");
    expect(problemsOf(including("wide-1.yaml"), { folder })).toContain(
      "wide-10.yaml:92:12: more than 1000 includes, included from x.yaml:3:14",
    );
  });
});

it("a world provides the scenario's markets, by slug", () => {
  const text = "scenario: x\nworld: tiny.json\nsteps:\n  - close: snow\n";
  const steps = [{ kind: "close", market: "snow" }];
  const scenario = scenarioOf(text, { folder, worldMarkets: () => ["rain", "snow"] });
  expect(scenario).toMatchObject({ world: root.at("tiny.json"), markets: [], steps });
});
