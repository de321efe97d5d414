import { describe, expect, it } from "vitest";
import type { Book } from "../../../src/core/book/book.ts";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { PROFILES } from "../../../src/simulation/flow.ts";
import { writeFlow } from "../../../src/simulation/flow-text.ts";
import { generateFlow } from "../../../src/simulation/generate-flow.ts";
import { diffOf, runOn, ScenarioFolder } from "../run/scenario-folder.ts";
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

const scenarioOf = (market: string, step: string) =>
  folder.scenario(`scenario: a flow\nseed: ${SEED}\nmarket: { ${market} }\nsteps:\n  - ${step}\n`);

/** An exchange whose invariants are checked at the end of the flow, and whose fills are not watched. */
class CheckedAtTheEnd extends LocalVenue {
  override play(...[rows, market]: Parameters<LocalVenue["play"]>) {
    return super.play(rows, market, null);
  }
  override watchFills(): void {}
}

/** Calls in the middle of the flow. */
const MIDDLE: readonly [from: number, to: number] = [800, 1500];

/** Runs a scenario with a defect in some plans of its exchange's books. */
const runWith = (defect: Defect, scenario: Scenario, Venue = LocalVenue, calls = MIDDLE) => {
  const venue = new Venue(scenario);
  const isOf = ({ pool }: Book): boolean => pool === venue.state.pool;
  return withDefect(defect, calls, isOf, () => runOn(scenario, venue));
};

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

describe.each(["generate: { orders: 3000, accounts: 4 }", "replay: flow.csv"])("in a flow of %s", (step) => {
  it.each(DEFECTS)("%s is found although its effect disappears", async (_title, market, defect, broken) => {
    const { failure } = await runWith(defect(), scenarioOf(market, step));
    expect(failure?.message).toBe("an invariant does not hold, which is a defect of clobsim");
    const lines = diffOf(failure);
    expect(lines.some((line) => broken.test(line))).toBe(true);
    const row = Number(/^# after row (\d+)/.exec(lines.at(-1) ?? "")?.[1]);
    expect(row).toBeGreaterThan(MIDDLE[0]);
    const place = step === "replay: flow.csv" ? ` (${folder.at("flow.csv")}:${lineOf(row)})` : "";
    expect(lines.at(-1)).toMatch(`# after row ${row}${place}, ${flow[row - 1]?.account}: `);
  });

  it.each(DEFECTS)("%s cannot be found at the end", async (_title, market, defect) => {
    const scenario = scenarioOf(market, step);
    expect((await runWith(defect(), scenario, CheckedAtTheEnd)).failure).toBeNull();
    expect((await runOn(scenario)).failure).toBeNull();
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
  const EARLIER =
    /^# orders trade by price, then by arrival: order 3 of alice .*: takes 10 @ 0.5 .* from order 2, expected 10 @ 0.5 .* from order 1 of bob/;

  it.each([
    ["", "", 3],
    [" after a restored snapshot", "  - snapshot: s\n  - alice: BUY 1 YES @ 0.50\n  - restore: s\n", 6],
  ])("a fill that breaks a rule fails the step%s", async (_when, before, step) => {
    const scenario = folder.scenario(`${TWO_OFFERS}${before}  - alice: BUY 12 YES @ 0.50\n`);
    const { failure } = await runWith(reversedQueue, scenario, LocalVenue, [1, 99]);
    expect(failure?.step).toBe(step);
    expect(diffOf(failure)[0]).toMatch(EARLIER);
  });
});
