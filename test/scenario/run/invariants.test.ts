import { expect, it } from "vitest";
import { money } from "../../../src/core/units.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { diffOf, runOn, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

/** An exchange that gives the first account a dollar after each order at 0.13. */
class LeakyVenue extends LocalVenue {
  override async place(...order: Parameters<LocalVenue["place"]>) {
    const attempt = await super.place(...order);
    if (order[1].price === "0.13") {
      const { collateral } = this.state.accounts.get(1);
      collateral.balance = money(collateral.balance + 1_000_000);
    }
    return attempt;
  }
}

const bid = (price: string): string => `alice: BUY 1 YES @ ${price}`;

it.each([
  ["each step", `  - ${bid("0.12")}\n  - ${bid("0.13")}\n  - ${bid("0.14")}\n`, 5, 5],
  ["a step whose own expectation holds", `  - ${bid("0.13")}\n    status: LIVE 0/1\n`, 4, 5],
  [
    "each step of a race",
    `  - race:\n      - ${bid("0.12")}\n      - ${bid("0.13")}\n      - ${bid("0.14")}\n`,
    6,
    9,
  ],
])("every invariant is checked after %s", async (_what, steps, line, column) => {
  const scenario = folder.scenario(
    `scenario: money from nowhere\naccounts: { alice: { USDC: 10 } }\nsteps:\n${steps}`,
  );
  const { failure, transcript } = await runOn(scenario, new LeakyVenue(scenario));
  expect(transcript.at(-1)).toMatch(/^\d\. alice: BUY 1 YES @ 0\.13 → LIVE 0\/1$/);
  expect(failure?.place).toMatchObject({ line, column });
  expect(failure?.message).toBe("an invariant does not hold, which is a defect of clobsim");
  expect(diffOf(failure).slice(0, 2)).toEqual([
    "# USDC issued = balances + locked collateral: micro-USDC: 11000000, expected 10000000",
    "# chain balances + pending = ledger: on the chain of 1/0: 1000000, expected 0",
  ]);
});
