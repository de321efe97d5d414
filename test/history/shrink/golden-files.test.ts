import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readScenario } from "../../../src/scenario/language/read-scenario.ts";
import { applyUpdates } from "../../../src/scenario/run/files.ts";
import { runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { environmentIn, shrunk, superfluous } from "./planted.ts";

const folder = temporaryFolder();
const environment = environmentIn(folder);
const path = join(folder, "golden.txt");

/** Writes the golden file of a scenario, with a change. */
async function golden(text: string, change: (golden: string) => string): Promise<void> {
  rmSync(path, { force: true });
  const { scenario } = readScenario(environment.file, text, { folder });
  if (scenario === null) throw new Error("the scenario is wrong");
  const options = { way: "process", open: environment.open, isUpdating: true } as const;
  await applyUpdates((await runScenario(scenario, options)).updates);
  const kept = readFileSync(path, "utf8");
  const changed = change(kept);
  expect(changed).not.toBe(kept);
  writeFileSync(path, changed);
}

const HEAD =
  "scenario: golden\naccounts: { ann: { USDC: 1000 }, ben: { YES: 1000 }, cat: { YES: 1000 } }\nsteps:\n";
const STEPS = `${HEAD}  - ann: BUY 10 YES @ 0.50
  - ben: SELL 10 YES @ 0.50
  - ben: SELL 5 YES @ 0.90
  - cat: SELL 20 YES @ 0.60
  - ben: SELL 30 YES @ 0.65
  - ann: BUY 40 YES @ 0.70
  - advance: 1m
  - ann: BUY 7 YES @ 0.30
  - ben: SELL 7 YES @ 0.30
`;
const WITH_GOLDEN = `${STEPS}  - expect:
      golden: golden.txt
  - advance: 1m
`;

describe("a golden file that differs", () => {
  it("in a trade is reduced to the trades up to it, and the steps that they need", async () => {
    await golden(WITH_GOLDEN, (text) => text.replace("20 YES @ 0.6 from cat", "21 YES @ 0.6 from cat"));
    const { text, fingerprint, before, steps, remarks, files } = await shrunk(WITH_GOLDEN, environment);
    expect(text).toBe(`scenario: golden
accounts: { ann: { USDC: 1000 }, ben: { YES: 1000 }, cat: { YES: 1000 } }
steps:
  - cat: SELL 20 YES @ 0.60
  - ben: SELL 30 YES @ 0.65
  - ann: BUY 40 YES @ 0.70
  - expect: { trades: [ann BUY 21 YES @ 0.6 from cat] }
`);
    expect({ before, steps, files }).toEqual({ before: 11, steps: 4, files: [] });
    expect(remarks).toEqual([
      "the golden file differs first in trade 2: the trades up to there are expected instead",
    ]);
    expect(await superfluous(text, fingerprint, environment)).toEqual([]);
  });

  it("in a missing trade is reduced to that trade and the order that should have caused it", async () => {
    await golden(WITH_GOLDEN, (text) =>
      text.replace(/( {2}ben SELL 10 .*\n)/, "$1  ben SELL 5 YES @ 0.9 from cat\n"),
    );
    const { text } = await shrunk(WITH_GOLDEN, environment);
    expect(text).toBe(`scenario: golden
accounts: { ben: { YES: 1000 }, cat: { } }
steps:
  - ben: SELL 5 YES @ 0.90
  - expect: { trades: [ben SELL 5 YES @ 0.9 from cat] }
`);
  });

  it("in an unexpected trade is reduced to its orders", async () => {
    await golden(WITH_GOLDEN, (text) => text.replace(/ {2}ben SELL 10 .*\n/, ""));
    const { text } = await shrunk(WITH_GOLDEN, environment);
    expect(text).toBe(`scenario: golden
accounts: { ann: { USDC: 1000 }, ben: { YES: 1000 } }
steps:
  - ann: BUY 10 YES @ 0.50
  - ben: SELL 10 YES @ 0.50
  - expect: { trades: [] }
`);
  });

  it("in a book is reduced to that book", async () => {
    await golden(WITH_GOLDEN, (text) => text.replace("| 5 (1)", "| 6 (1)"));
    const { text, remarks } = await shrunk(WITH_GOLDEN, environment);
    expect(text).toBe(`scenario: golden
accounts: { ben: { YES: 1000 } }
steps:
  - ben: SELL 5 YES @ 0.90
  - expect:
      book:
        YES: { asks: [0.9 x 6 (1)] }
`);
    expect(remarks).toEqual([
      "the golden file differs first in the book of market YES, which is expected instead",
    ]);
  });

  it("in a flow is reduced to rows before it, however many follow", async () => {
    const made = `scenario: made\nseed: 4711\nsteps:\n  - generate: { orders: 6000, accounts: 5 }\n  - expect:\n      golden: golden.txt\n`;
    await golden(made, (text) => text.replace(/(trades\n(?:.*\n){20} {2}\S+ \w+ )[\d.]+/, "$13.21"));
    const { text, before, steps, remarks } = await shrunk(made, environment);
    expect(text).toMatch(/ 3\.21 \w+ @ [\d.]+ from \S+( \w+)?\n$/);
    expect(text).not.toContain("generate");
    expect(before).toBeLessThan(500);
    expect(steps).toBeLessThan(30);
    expect(remarks).toEqual([
      "the golden file differs first in trade 21: the trades up to there are expected instead",
    ]);
  });

  it("after a race is not replaced, and keeps the steps that it needs", async () => {
    const race = WITH_GOLDEN.replace(
      "  - ann: BUY 7 YES @ 0.30\n  - ben: SELL 7 YES @ 0.30\n",
      "  - race: [{ ann: BUY 7 YES @ 0.30 }, { ben: SELL 7 YES @ 0.99 }]\n",
    );
    await golden(race, (text) => text.replace("20 YES @ 0.6 from cat", "21 YES @ 0.6 from cat"));
    const { text, fingerprint } = await shrunk(race, environment);
    expect(fingerprint.sentence).toBe("books and trades differ from the golden file");
    expect(text).toContain("golden: golden.txt");
    expect(text).toContain("- ben: SELL 10 YES @ 0.50");
  });
});
