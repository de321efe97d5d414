import { describe, expect, it } from "vitest";
import { money } from "../../../src/core/units.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { PROFILES } from "../../../src/simulation/flow.ts";
import { writeFlow } from "../../../src/simulation/flow-text.ts";
import { generateFlow } from "../../../src/simulation/generate-flow.ts";
import { diffOf, runOn, ScenarioFolder } from "../run/scenario-folder.ts";

const folder = new ScenarioFolder();
const SEED = "4711";
const flow = [...generateFlow({ seed: SEED, orders: 600, accounts: 3, profile: PROFILES.balanced })];
folder.write("flow.csv", [...writeFlow(flow, "csv")].join("").replaceAll("\n", "\n\n# a remark\n"));
folder.write("flow.ndjson", [...writeFlow(flow, "ndjson")].join("").replaceAll("\n", "\n\n"));
/** Numbers of the rows that place orders. */
const placing = flow.flatMap(({ op }, index) => (op === "place" ? [index + 1] : []));
/** Returns the row that places the n-th order. */
const rowOf = (order: number): number => placing[order - 1] as number;

/** An exchange that gives the account of an order a dollar, of which another part of its record knows nothing, up to a later order. */
const lending = (part: "balance" | "reserved") =>
  class extends LocalVenue {
    constructor(...args: ConstructorParameters<typeof LocalVenue>) {
      super(...args);
      let debtor = 0;
      this.exchange.watch((_sequence, _at, events) => {
        for (const event of events) {
          if (event.kind !== "orderPlaced") continue;
          if (event.order === 300) debtor = event.account;
          const { collateral } = this.state.accounts.get(Math.max(1, debtor));
          if (event.order === 300) collateral[part] = money(collateral[part] + 1_000_000);
          if (event.order === 500) collateral[part] = money(collateral[part] - 1_000_000);
        }
      });
    }
  };

async function failureOn(Venue: typeof LocalVenue, step: string, options = {}) {
  const scenario = folder.scenario(`scenario: a flow\nseed: ${SEED}\nsteps:\n  - ${step}\n`);
  return (await runOn(scenario, new Venue(scenario), options)).failure;
}

const DOLLAR = "# USDC issued = balances + locked collateral: micro-USDC: ";
const RESERVED =
  /^# reserved = what live orders may cost: trader-\d has [\d.]+ USDC reserved, expected [\d.]+ USDC$/;

/** Steps that play the flow, and where each says that a row is. */
const PLAYED: readonly [step: string, placeOf: (row: number) => string][] = [
  ["replay: flow.csv", (row) => ` (${folder.at("flow.csv")}:${1 + 3 * row})`],
  ["replay: flow.ndjson", (row) => ` (${folder.at("flow.ndjson")}:${2 * row - 1})`],
  ["generate: { orders: 600, accounts: 3 }", () => ""],
];

describe.each(PLAYED)("a rule that is broken in the middle of a flow: %s", (step, placeOf) => {
  /** Requires a failure with the row, its line in the file and its text. Returns the number of the row, and what is broken. */
  async function brokenOn(Venue: typeof LocalVenue): Promise<[row: number, broken: string[]]> {
    const failure = await failureOn(Venue, step);
    expect(failure?.message).toBe("an invariant does not hold, which is a defect of clobsim");
    const lines = diffOf(failure);
    const last = lines.pop() ?? "";
    const row = Number(/row (\d+)/.exec(last)?.[1]);
    expect(last).toMatch(`# after row ${row}${placeOf(row)}, ${flow[row - 1]?.account}: `);
    return [row, lines];
  }

  it("is found within 100 rows if it is an invariant", async () => {
    const [row, [broken]] = await brokenOn(lending("balance"));
    expect(broken).toMatch(DOLLAR);
    expect(row).toBeGreaterThanOrEqual(rowOf(300));
    expect(row).toBeLessThan(rowOf(300) + 100);
  });

  it("is found at once if it concerns the order of the row", async () => {
    const [row, broken] = await brokenOn(lending("reserved"));
    expect(broken.at(-1)).toMatch(RESERVED);
    expect(row).toBe(rowOf(300));
  });
});

it("nothing is reported of a flow that breaks no rule, or without checks", async () => {
  expect(await failureOn(LocalVenue, "replay: flow.csv")).toBeNull();
  expect(await failureOn(lending("balance"), "replay: flow.csv", { checks: null })).toBeNull();
});

/** Throws at the 400th order. */
class Throwing extends LocalVenue {
  constructor(...args: ConstructorParameters<typeof LocalVenue>) {
    super(...args);
    this.exchange.watch(() => {
      if (this.state.orders.size === 400) throw new Error("no more");
    });
  }
}

it("an error that an exchange throws at a row of a flow is reported as a defect with that row", async () => {
  const failure = await failureOn(Throwing, "replay: flow.ndjson");
  expect(failure?.message).toBe("a defect of clobsim: no more");
  const [place, top] = diffOf(failure);
  const line = 2 * rowOf(400) - 1;
  expect(place).toMatch(`# at row ${rowOf(400)} (${folder.at("flow.ndjson")}:${line}), `);
  expect(top).toMatch(/^# at /);
});
