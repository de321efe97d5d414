import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { measureCoverage } from "../../../src/scenario/coverage/coverage.ts";
import { generateWorld } from "../../../src/simulation/generate-world.ts";
import { writeWorld } from "../../../src/simulation/world.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { type PageText, pageWith } from "../../support/page.ts";
import { ScenarioFolder } from "../run/scenario-folder.ts";

const folder = new ScenarioFolder();

/** Returns what a scenario that passes exercises of some groups. */
async function exercised({ heading, opening, text }: PageText): Promise<string[]> {
  const scenario = folder.scenario(opening + text, "scenario.yaml");
  const { suite, groups } = await measureCoverage([scenario], {
    via: "auto",
    startServer: startScenarioServer,
  });
  expect(suite.results.map(({ failure }) => failure)).toEqual([null]);
  const told = groups.filter(({ name }) => heading.split(", ").includes(name));
  return told.map(({ name, items }) => {
    const own = items.filter(({ scenarios }) => scenarios > 0).map(({ words }) => words.join(" "));
    return `${name}: ${own.join(", ")}`.trimEnd();
  });
}

it("a scenario exercises what its page says", async () => {
  folder.write("world.json", writeWorld(await generateWorld({ seed: "7", markets: 2 })));
  const page = readFileSync(new URL("exercised.txt", import.meta.url), "utf8");
  await expect(await pageWith(page, exercised)).toMatchFileSnapshot("exercised.txt");
});
