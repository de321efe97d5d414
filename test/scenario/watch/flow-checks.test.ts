import { describe, expect, it } from "vitest";
import { money } from "../../../src/core/units.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { PROFILES } from "../../../src/simulation/flow.ts";
import { writeFlow } from "../../../src/simulation/flow-text.ts";
import { generateFlow } from "../../../src/simulation/generate-flow.ts";
import { diffOf, runOn, ScenarioFolder } from "../run/scenario-folder.ts";

const folder = new ScenarioFolder();
const flow = [...generateFlow({ seed: "4711", orders: 600, accounts: 3, profile: PROFILES.balanced })];
folder.write("flow.csv", [...writeFlow(flow, "csv")].join("").replaceAll("\n", "\n\n# a remark\n"));
folder.write("flow.ndjson", [...writeFlow(flow, "ndjson")].join("").replaceAll("\n", "\n\n"));
/** Returns the row that places the n-th order. */
const rowOf = (order: number): number =>
  1 +
  flow.findIndex(
    (row, index) =>
      row.op === "place" && flow.slice(0, index).filter(({ op }) => op === "place").length === order - 1,
  );

/** An exchange with a dollar too much from one order up to another. */
class LentDollar extends LocalVenue {
  constructor(...args: ConstructorParameters<typeof LocalVenue>) {
    super(...args);
    this.exchange.watch((_sequence, _at, events) => {
      for (const event of events) {
        if (event.kind !== "orderPlaced") continue;
        if (event.order === 300) this.#give(1_000_000);
        if (event.order === 500) this.#give(-1_000_000);
      }
    });
  }

  #give(amount: number): void {
    const { collateral } = this.state.accounts.get(1);
    collateral.balance = money(collateral.balance + amount);
  }
}

async function failureOn(Venue: typeof LocalVenue, file: string, options = {}) {
  const scenario = folder.scenario(`scenario: a flow\nsteps:\n  - replay: ${file}\n`);
  return (await runOn(scenario, new Venue(scenario), options)).failure;
}

const DOLLAR = "# USDC issued = balances + locked collateral: micro-USDC: ";

describe("a broken invariant in the middle of a flow", () => {
  it.each([
    ["flow.csv", (row: number) => 1 + 3 * row],
    ["flow.ndjson", (row: number) => 2 * row - 1],
  ])(
    "is found within 100 rows, and reported with the row, its line in the file and its text: %s",
    async (file, lineOf) => {
      const failure = await failureOn(LentDollar, file);
      expect(failure?.message).toBe("an invariant does not hold, which is a defect of clobsim");
      const lines = diffOf(failure);
      const last = lines.at(-1) ?? "";
      expect(lines[0]?.startsWith(DOLLAR)).toBe(true);
      const row = Number(/row (\d+)/.exec(last)?.[1]);
      expect(row).toBeGreaterThanOrEqual(rowOf(300));
      expect(row).toBeLessThan(rowOf(300) + 100);
      expect(
        last.startsWith(
          `# after row ${row} (${folder.at(file)}:${lineOf(row)}), ${flow[row - 1]?.account}: `,
        ),
      ).toBe(true);
    },
  );

  it("is not reported if there is none, or without checks", async () => {
    expect(await failureOn(LocalVenue, "flow.csv")).toBeNull();
    expect(await failureOn(LentDollar, "flow.csv", { checks: null })).toBeNull();
  });
});

describe("an error that an exchange throws at a row", () => {
  /** Throws at the 400th order. */
  class Throwing extends LocalVenue {
    constructor(...args: ConstructorParameters<typeof LocalVenue>) {
      super(...args);
      this.exchange.watch(() => {
        if (this.state.orders.size === 400) throw new Error("no more");
      });
    }
  }

  it("is reported as a defect with that row", async () => {
    const failure = await failureOn(Throwing, "flow.ndjson");
    expect(failure?.message).toBe("a defect of clobsim: no more");
    const [place, top] = diffOf(failure);
    const line = 2 * rowOf(400) - 1;
    expect(place).toMatch(`# at row ${rowOf(400)} (${folder.at("flow.ndjson")}:${line}), `);
    expect(top).toMatch(/^# at /);
  });
});
