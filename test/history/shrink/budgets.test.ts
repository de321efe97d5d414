import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NotRunInTime, shrinkScenario } from "../../../src/history/shrink/shrink-scenario.ts";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { casesAtLevel } from "../../support/runs.ts";
import { environmentIn, fingerprintIn, shrunk } from "./planted.ts";

const folder = temporaryFolder();

/** Counts the commands that its exchanges accept, as a clock. */
class Commands {
  count = 0;
  readonly open = (scenario: Scenario): LocalVenue => {
    const venue = new LocalVenue(scenario);
    venue.exchange.watch(() => {
      this.count += 1;
    });
    return venue;
  };
  readonly environment = environmentIn(folder, this.open);
  /** Returns whether a number of commands have been accepted. */
  readonly after = (end: number) => (): boolean => this.count >= end;
}

const LONG = `scenario: long
steps:
  - generate: { orders: 5000, accounts: 5 }
  - expect: { quote: { YES: { last: none } } }
  - advance: 1s
`;
/** The head of a flow, and the funds of ann. */
const FUNDED = "at,account,op,ref,side,outcome,price,size,type\n0,ann,fund,,,USDC,,100,\n";

/** Returns numbers of commands after which the time is up. */
const endsFrom = (first: number, to: number, step: number): number[] =>
  Array.from({ length: Math.ceil((to - first) / step) }, (_, index) => first + index * step);

/** Maximum number of commands between two checks of the time. */
const MAX_UNCHECKED = 600;

describe("the time limit of shrinking", () => {
  it("stops a trial in the middle of a flow", async () => {
    const commands = new Commands();
    const whole = await fingerprintIn(LONG, commands.environment);
    const once = commands.count;
    commands.count = 0;
    const isOver = commands.after(Math.floor(once * 1.5));
    const small = await shrunk(LONG, commands.environment, { isOver });
    expect(commands.count).toBeLessThan(once * 1.5 + MAX_UNCHECKED);
    expect({ text: small.text, isMinimal: small.isMinimal }).toEqual({ text: LONG, isMinimal: false });
    expect(small.fingerprint.key).toBe(whole?.key);
  });

  it("stops the first run, which is an error", async () => {
    const commands = new Commands();
    const shrinking = shrinkScenario(LONG, commands.environment, { isOver: commands.after(1000) });
    await expect(shrinking).rejects.toThrow(NotRunInTime);
    expect(commands.count).toBeLessThan(1000 + MAX_UNCHECKED);
  });

  it("leaves a text that fails in the same way, whenever it is reached", async () => {
    const commands = new Commands();
    const rows = Array.from(
      { length: 60 },
      (_, row) => `${row}s,ann,place,,BUY,YES,0.${20 + row},1,GTD +100s\n`,
    );
    writeFileSync(join(folder, "flow.csv"), FUNDED + rows.join(""));
    const text =
      "scenario: any\nsteps:\n  - replay: flow.csv\n  - expect: { quote: { YES: { bid: 0.1 } } }\n";
    const { key } = (await fingerprintIn(text, commands.environment)) ?? { key: "" };
    const results = new Set<number>();
    for (const end of casesAtLevel(endsFrom(100, 4000, 200), 2)) {
      commands.count = 0;
      const isOver = commands.after(end);
      const { text: small, steps, before } = await shrunk(text, commands.environment, { isOver });
      expect((await fingerprintIn(small, commands.environment))?.key).toBe(key);
      expect(steps).toBeLessThanOrEqual(before);
      results.add(steps);
    }
    expect(results.size).toBeGreaterThan(2);
  });
});

describe("repeated steps", () => {
  it("never increase, whenever the time is up", async () => {
    const commands = new Commands();
    const text = `scenario: repeated
accounts: { ann: { USDC: 1000 } }
steps:
  - repeat: 40
    steps:
      - ann: BUY 1 YES @ 0.50 as bid#
      - ann: BUY 1 YES @ 0.40
  - expect: { orders: { bid3: CANCELED 0/1 } }
`;
    const results = new Set<number>();
    for (const end of casesAtLevel(endsFrom(200, 1000, 25))) {
      commands.count = 0;
      const isOver = commands.after(end);
      const { text: small, steps, before, isMinimal } = await shrunk(text, commands.environment, { isOver });
      expect(before).toBe(81);
      expect(steps).toBeLessThanOrEqual(before);
      // The current trial is stopped, and the result is run again.
      expect(commands.count).toBeLessThan(end + 2 * before);
      expect(isMinimal).toBe(steps === 4);
      expect(await fingerprintIn(small, commands.environment)).not.toBe(null);
      results.add(steps);
    }
    expect([...results].at(-1)).toBe(4);
    expect(results.size).toBeGreaterThan(2);
  });
});

describe("a flow that would need more steps than it has rows", () => {
  it("stays a flow", async () => {
    const rows = Array.from({ length: 8 }, (_, row) => `${row}s,ann,place,,BUY,YES,0.5,1,\n`);
    writeFileSync(join(folder, "timed.csv"), FUNDED + rows.join(""));
    const text = `scenario: timed
steps:
  - replay: timed.csv
  - expect: { stateHash: "v2:${"0".repeat(64)}" }
`;
    const small = await shrunk(text, environmentIn(folder));
    expect(small.text).toBe(text);
    expect({ before: small.before, steps: small.steps }).toEqual({ before: 2, steps: 2 });
    expect(small.remarks).toEqual(["its flows stay flows: as steps there would be more of them than rows"]);
  });
});
