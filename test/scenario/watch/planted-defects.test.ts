import { describe, expect, it } from "vitest";
import type { Book } from "../../../src/core/book/book.ts";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import { runScenario } from "../../../src/scenario/run/run-scenario.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { PROFILES } from "../../../src/simulation/flow.ts";
import { writeFlow } from "../../../src/simulation/flow-text.ts";
import { generateFlow } from "../../../src/simulation/generate-flow.ts";
import { diffOf, ScenarioFolder } from "../run/scenario-folder.ts";
import {
  type Defect,
  ignoredSelfTrade,
  lostRemainder,
  reversedQueue,
  skippedBest,
  withDefect,
} from "./planted-walks.ts";

const folder = new ScenarioFolder();
const SEED = "4711";
const flow = [...generateFlow({ seed: SEED, orders: 3000, accounts: 4, profile: PROFILES.balanced })];
folder.write("flow.csv", ["# made by a test\n\n", ...writeFlow(flow, "csv")].join(""));
/** Line of a row: there are two lines before the header. */
const lineOf = (row: number): number => row + 3;

const PLAYED = {
  "generate:": (market: string) =>
    `scenario: a flow\nseed: ${SEED}\nmarket: { ${market} }\nsteps:\n  - generate: { orders: 3000, accounts: 4 }\n`,
  "replay:": (market: string) =>
    `scenario: a flow\nseed: ${SEED}\nmarket: { ${market} }\nsteps:\n  - replay: flow.csv\n`,
};

/** An exchange whose invariants are checked at the end of the flow, and whose fills are not watched. */
class CheckedAtTheEnd extends LocalVenue {
  override play(...[rows, market]: Parameters<LocalVenue["play"]>) {
    return super.play(rows, market, null);
  }
  override watchFills(): void {}
}

const runOn = async (scenario: Scenario, open: () => LocalVenue) =>
  (await runScenario(scenario, { way: "process", open })).result;

/** Runs a scenario with a defect in some plans of its exchange's books. */
const runWith = (defect: Defect, scenario: Scenario, Venue: typeof LocalVenue) => {
  const venue = new Venue(scenario);
  const isOf = ({ pool }: Book): boolean => pool === venue.state.pool;
  return withDefect(defect, MIDDLE, isOf, () => runOn(scenario, () => venue));
};

/** Calls in the middle of the flow. */
const MIDDLE = [800, 1500] as const;

const DEFECTS: readonly (readonly [title: string, market: string, defect: () => Defect, broken: RegExp])[] = [
  [
    "a reversed queue",
    "selfTrade: allow",
    () => reversedQueue,
    /^# orders trade by price, then by arrival: order \d+ of .*: takes .* from order (?<met>\d+), expected .* from order (?!\k<met> )\d+ of trader-\d \(\w+ [\d.]+ \w+ @ [\d.]+\), which has [\d.]+ open$/,
  ],
  [
    "the best price passed over",
    "selfTrade: allow",
    () => skippedBest,
    /^# orders trade by price, then by arrival: .*: takes .* from order (?<met>\d+), expected .* from order (?!\k<met> )\d+ of /,
  ],
  [
    "a self-trade policy that is ignored",
    "selfTrade: cancel-taker",
    () => ignoredSelfTrade,
    /^# (?:the self-trade policy holds: order \d+ of trader-\d .*: takes .*, expected SELF_TRADE|an order rests or ends as its type says: .* FOK .*: takes .*, expected FOK_UNFILLED)$/,
  ],
  [
    "the remainder of a partial fill lost and put back",
    "selfTrade: allow",
    lostRemainder,
    /^# book levels = sum of live orders: order \d+ /,
  ],
];

describe.each(Object.entries(PLAYED))("in a flow of %s", (kind, scenarioOf) => {
  it.each(DEFECTS)("%s is found although its effect disappears", async (_title, market, defect, broken) => {
    const scenario = folder.scenario(scenarioOf(market));
    const { failure } = await runWith(defect(), scenario, LocalVenue);
    expect(failure?.message).toBe("an invariant does not hold, which is a defect of clobsim");
    const lines = failure === null ? [] : diffOf(failure);
    expect(lines.some((line) => broken.test(line))).toBe(true);
    const row = Number(/^# after row (\d+)/.exec(lines.at(-1) ?? "")?.[1]);
    expect(row).toBeGreaterThan(MIDDLE[0]);
    const place = kind === "replay:" ? ` (${folder.at("flow.csv")}:${lineOf(row)})` : "";
    expect(lines.at(-1)).toMatch(`# after row ${row}${place}, ${flow[row - 1]?.account}: `);
  });

  it.each(DEFECTS)("%s cannot be found at the end", async (_title, market, defect) => {
    const scenario = folder.scenario(scenarioOf(market));
    expect((await runWith(defect(), scenario, CheckedAtTheEnd)).failure).toBeNull();
    const sound = await runOn(scenario, () => new LocalVenue(scenario));
    expect(sound.failure).toBeNull();
  });
});

describe("in steps", () => {
  const TWO_OFFERS = `scenario: two offers
market: { selfTrade: allow }
accounts: { alice: { USDC: 10 }, bob: { YES: 10 }, carol: { YES: 10 } }
steps:
  - bob: SELL 10 YES @ 0.50
  - carol: SELL 10 YES @ 0.50
`;
  const reversed = (scenario: Scenario) => {
    const venue = new LocalVenue(scenario);
    const isOf = ({ pool }: Book): boolean => pool === venue.state.pool;
    return withDefect(reversedQueue, [1, 99], isOf, () => runOn(scenario, () => venue));
  };
  const EARLIER =
    /^# orders trade by price, then by arrival: order 3 of alice .*: takes 10 @ 0.5 .* from order 2, expected 10 @ 0.5 .* from order 1 of bob/;

  it("a fill that breaks a rule fails the step", async () => {
    const { failure } = await reversed(folder.scenario(`${TWO_OFFERS}  - alice: BUY 12 YES @ 0.50\n`));
    expect(failure?.step).toBe(3);
    expect(failure === null ? "" : diffOf(failure)[0]).toMatch(EARLIER);
  });

  it("also after a restored snapshot", async () => {
    const { failure } = await reversed(
      folder.scenario(
        `${TWO_OFFERS}  - snapshot: s\n  - alice: BUY 1 YES @ 0.50\n  - restore: s\n  - alice: BUY 12 YES @ 0.50\n`,
      ),
    );
    expect(failure?.step).toBe(6);
    expect(failure === null ? "" : diffOf(failure)[0]).toMatch(EARLIER);
  });
});
