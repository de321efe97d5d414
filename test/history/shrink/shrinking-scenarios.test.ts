import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NotRunInTime, shrinkScenario } from "../../../src/history/shrink/shrink-scenario.ts";
import type { Environment } from "../../../src/history/shrink/trial.ts";
import { readScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import { applyUpdates } from "../../../src/scenario/run/files.ts";
import { runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { VenueOpener } from "../../../src/scenario/run/run-suite.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { TestFolder } from "../../support/folder.ts";
import { type PageText, pageWith } from "../../support/page.ts";
import { atLevel, forAllAsync, runs } from "../../support/runs.ts";
import { environmentIn, fingerprintIn, leaky, shrunk, superfluous } from "./planted.ts";

const folder = new TestFolder();
cpSync(join(import.meta.dirname, "files"), folder.path, { recursive: true });
folder.write("_inner.yaml", "steps:\n  # three\n  - zoe: BUY 3 YES @ 0.03\n");
folder.write(
  "_outer.yaml",
  "# one\n- zoe: BUY 1 YES @ 0.01\n- include: _inner.yaml\n# two\n- zoe:\n    BUY 2 YES\n    @ 0.02 as two\n",
);
const environment = environmentIn(folder.path);
const defective = environmentIn(folder.path, leaky);

/** Writes the golden file of a scenario, with something else in one place. */
async function writeGolden(scenario: string, right: string | RegExp, wrong: string): Promise<void> {
  rmSync(folder.at("golden.txt"), { force: true });
  const read = readScenario(environment.file, scenario, { folder: folder.path });
  if (read.scenario === null) throw new Error("the scenario is wrong");
  const options = { open: environment.open, isUpdating: true } as const;
  await applyUpdates((await runScenario(read.scenario, options)).updates);
  const golden = folder.read("golden.txt");
  expect(golden).toMatch(right);
  folder.write("golden.txt", golden.replace(right, wrong));
}

/** Returns the scenario that a text of the page is about, and where it is tried. */
async function caseOf({ heading, opening, text }: PageText): Promise<[string, Environment]> {
  if (heading.startsWith("a golden file")) {
    const [line = ""] = /^.*\n/.exec(text) ?? [];
    await writeGolden(opening, line, text.slice(line.length));
    return [opening, environment];
  }
  const opener = new VenueOpener();
  if (heading === "over HTTP")
    return [text, environmentIn(folder.path, (scenario) => opener.served(scenario, startScenarioServer))];
  return [opening + text, heading === "a broken invariant" ? defective : environment];
}

it("a failing scenario is reduced to the steps that its page shows, each of which is needed", async () => {
  const page = await pageWith(readFileSync(join(import.meta.dirname, "shrunk.txt"), "utf8"), async (text) => {
    const [scenario, where] = await caseOf(text);
    const small = await shrunk(scenario, where);
    expect((await fingerprintIn(small.text, where))?.key).toBe(small.fingerprint.key);
    const extra = await superfluous(small.text, small.fingerprint, where);
    return [
      `${small.before} → ${small.steps}: ${small.fingerprint.sentence}`,
      ...small.remarks.map((remark) => `! ${remark}`),
      ...extra.map((step) => `! it fails without this step, too: ${step}`),
      ...small.text.trimEnd().split("\n"),
    ];
  });
  await expect(page).toMatchFileSnapshot("shrunk.txt");
});

it("the rows before the first difference of a golden file are enough, however many follow", async () => {
  const made =
    "scenario: made\nseed: 4711\nsteps:\n  - generate: { orders: 500, accounts: 5 }\n  - expect: { golden: golden.txt }\n";
  await writeGolden(made, /(trades\n(?:.*\n){6} {2}\S+ \w+ )[\d.]+/, "$13.21");
  const { text, before, steps } = await shrunk(made, environment);
  expect(text).toMatch(/ 3\.21 \w+ @ [\d.]+ from \S+( \w+)?\n$/);
  expect(before).toBeLessThan(60);
  expect(steps).toBeLessThan(10);
});

it("a scenario that passes, or has no steps, is not reduced", async () => {
  for (const text of ["scenario: x\nsteps: [advance: 1s]\n", "scenario: x"])
    await expect(shrunk(text)).rejects.toThrow("the scenario does not fail");
});

/** Returns a scenario of 300 orders, cancels and pauses, and three orders of which the last fills two others. */
function manySteps(): string {
  const nameAt = (step: number) => ["alice", "bob", "carol"][step % 3];
  const steps = Array.from({ length: 300 }, (_, step) => {
    if (step % 10 === 9) return `${nameAt(step - 5)}: cancel o${step - 5}`;
    if (step % 50 === 1) return "advance: 1s";
    const order = step % 2 === 0 ? "BUY 1 YES @ 0.1" : "SELL 1 YES @ 0.97";
    return `${nameAt(step)}: ${order}${step % 5 === 4 ? ` as o${step}` : ""}`;
  });
  steps.splice(270, 0, "alice: BUY 30 YES @ 0.95");
  steps.splice(180, 0, "carol: SELL 20 YES @ 0.90", "bob: SELL 15 YES @ 0.91 as ask");
  const funds = "{ USDC: 1000, YES: 1000 }";
  const head = `scenario: many steps\naccounts: { alice: ${funds}, bob: ${funds}, carol: ${funds} }\nsteps:\n`;
  return head + steps.map((step) => `  - ${step}\n`).join("");
}

it("an invariant that is broken in many steps with CRLF is broken by three, with CRLF", async () => {
  const seen: number[] = [];
  const progress = (steps: number): void => void seen.push(steps);
  const { text } = await shrunk(manySteps().replaceAll("\n", "\r\n"), defective, { progress });
  expect(text.split("\r\n")).toEqual([
    "scenario: many steps",
    "accounts: { alice: { USDC: 1000 }, bob: { YES: 1000 }, carol: { YES: 1000 } }",
    "steps:",
    "  - carol: SELL 20 YES @ 0.90",
    "  - bob: SELL 15 YES @ 0.91 as ask",
    "  - alice: BUY 30 YES @ 0.95",
    "",
  ]);
  expect([seen[0], seen.at(-1)]).toEqual([303, 3]);
  expect(seen).toEqual([...seen].sort((a, b) => b - a));
});

it("any failing scenario becomes one that fails in the same way, in which every step is needed", async () => {
  const word = (words: string) => fc.constantFrom(...words.split(" "));
  const order = fc
    .tuple(
      word("ann ben cat"),
      word("BUY SELL"),
      fc.integer({ min: 1, max: 9 }),
      word("YES NO"),
      word("0.4 0.5 0.6"),
    )
    .map(([by, side, shares, outcome, price]) => `${by}: ${side} ${shares} ${outcome} @ ${price} as o`);
  const line = fc.oneof(
    { weight: 12, arbitrary: order },
    { weight: 1, arbitrary: fc.constant("advance: 1s") },
  );
  const textOf = (lines: readonly string[]): string => {
    const steps = lines.map((text, index) => `  - ${text.replace(/ o$/, ` o${index}`)}\n`);
    const funds = "{ USDC: 10000, YES: 1000, NO: 1000 }";
    return `scenario: any\naccounts: { ann: ${funds}, ben: ${funds}, cat: ${funds} }\nsteps:\n${steps.join("")}`;
  };
  let failing = 0;
  const lines = fc.array(line, { minLength: 5, maxLength: 60, size: "max" });
  await forAllAsync(runs(15), [lines.map(textOf)], async (text) => {
    const fingerprint = await fingerprintIn(text, defective);
    fc.pre(fingerprint !== null);
    failing += 1;
    const small = await shrunk(text, defective);
    expect(small.fingerprint.key).toBe(fingerprint?.key);
    expect((await fingerprintIn(small.text, defective))?.key).toBe(fingerprint?.key);
    expect(await superfluous(small.text, small.fingerprint, defective)).toEqual([]);
    expect(small.steps).toBeLessThanOrEqual(5);
  });
  expect(failing).toBeGreaterThan(atLevel(5));
});

/** Counts the commands that its exchanges accept, as a clock. */
class Commands {
  count = 0;
  readonly #open = (scenario: Scenario): LocalVenue => {
    const venue = new LocalVenue(scenario);
    venue.exchange.watch(() => {
      this.count += 1;
    });
    return venue;
  };
  readonly environment = environmentIn(folder.path, this.#open);
  /** Returns whether a number of commands have been accepted from now on. */
  after(end: number): () => boolean {
    this.count = 0;
    return () => this.count >= end;
  }
}

/** Maximum number of commands between two checks of the time. */
const MAX_UNCHECKED = 600;

describe("when the time is up", () => {
  const commands = new Commands();
  const long =
    "scenario: long\nsteps:\n  - generate: { orders: 5000, accounts: 5 }\n  - expect: { quote: { YES: { last: none } } }\n";

  it("a trial stops in the middle of a flow; if it was the first, nothing is known", async () => {
    const whole = await fingerprintIn(long, commands.environment);
    const end = commands.count * 1.5;
    const small = await shrunk(long, commands.environment, { isOver: commands.after(end) });
    expect(commands.count).toBeLessThan(end + MAX_UNCHECKED);
    expect(small).toMatchObject({ text: long, isMinimal: false, fingerprint: { key: whole?.key } });
    const first = shrinkScenario(long, commands.environment, { isOver: commands.after(1000) });
    await expect(first).rejects.toThrow(NotRunInTime);
    expect(commands.count).toBeLessThan(1000 + MAX_UNCHECKED);
  });

  const rows = Array.from(
    { length: 60 },
    (_, row) => `${row}s,ann,place,,BUY,YES,0.${20 + row},1,GTD +100s\n`,
  );
  folder.write(
    "bids.csv",
    `at,account,op,ref,side,outcome,price,size,type\n0,ann,fund,,,USDC,,100,\n${rows.join("")}`,
  );
  /** What fails, its steps, and the commands between two of the moments when the time is up. */
  it.each([
    ["a flow", "  - replay: bids.csv\n  - expect: { quote: { YES: { bid: 0.1 } } }\n", 100],
    [
      "repeated steps",
      "  - repeat: 40\n    steps: [{ ann: BUY 1 YES @ 0.50 as bid# }, { ann: BUY 1 YES @ 0.40 }]\n  - expect: { orders: { bid3: CANCELED 0/1 } }\n",
      25,
    ],
  ])("%s: what is left fails in the same way, with no more steps", async (_what, steps, between) => {
    const text = `scenario: any\naccounts: { ann: { USDC: 1000 } }\nsteps:\n${steps}`;
    const whole = await fingerprintIn(text, commands.environment);
    const counts = new Set<number>();
    let isMinimal = false;
    for (let end = 200; end <= 200 + 8 * between; end += between) {
      const small = await shrunk(text, commands.environment, { isOver: commands.after(end) });
      expect(commands.count).toBeLessThan(end + MAX_UNCHECKED);
      expect((await fingerprintIn(small.text, commands.environment))?.key).toBe(whole?.key);
      expect(small.steps).toBeLessThanOrEqual(small.before);
      counts.add(small.steps);
      isMinimal = small.isMinimal;
    }
    expect(counts.size).toBeGreaterThan(2);
    expect(isMinimal).toBe(true);
  });
});
