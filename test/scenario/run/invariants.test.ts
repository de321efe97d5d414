import { describe, expect, it } from "vitest";
import { money } from "../../../src/core/units.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { runOn, ScenarioFolder } from "./scenario-folder.ts";

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

async function runLeaky(text: string) {
  const scenario = folder.scenario(text);
  return runOn(scenario, new LeakyVenue(scenario));
}

describe("every invariant is checked after every step", () => {
  it("right after the step that broke it, with the sentence of the invariant", async () => {
    const { failure, steps } = await runLeaky(`scenario: money from nowhere
accounts: { alice: { USDC: 10 } }
steps:
  - alice: BUY 1 YES @ 0.12
  - alice: BUY 1 YES @ 0.13
  - alice: BUY 1 YES @ 0.14
`);
    expect(steps).toBe(2);
    expect(failure?.place).toMatchObject({ line: 5, column: 5 });
    expect(failure?.message).toBe("an invariant does not hold, which is a defect of clobsim");
    expect(failure?.diff.length).toBeGreaterThan(0);
    for (const { kind, text } of failure?.diff ?? []) {
      expect(kind).toBe("note");
      expect(text).toMatch(/^.+: .+/);
    }
  });

  it("also after each step of a race", async () => {
    const { failure, transcript } = await runLeaky(`scenario: a race for money from nowhere
accounts: { alice: { USDC: 10 } }
steps:
  - race:
      - alice: BUY 1 YES @ 0.12
      - alice: BUY 1 YES @ 0.13
      - alice: BUY 1 YES @ 0.14
`);
    expect(transcript.at(-1)).toBe("3. alice: BUY 1 YES @ 0.13 → LIVE 0/1");
    expect(failure?.place).toMatchObject({ line: 6, column: 9 });
  });

  it("also if the step's own expectation holds", async () => {
    const { status } = await runLeaky(`scenario: money from nowhere in a sound order
accounts: { alice: { USDC: 10 } }
steps:
  - alice: BUY 1 YES @ 0.13
    status: LIVE 0/1
`);
    expect(status).toBe("failed");
  });
});
