import { describe, expect, it } from "vitest";
import { detailsOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const ALL = `scenario: rounds of all kinds
accounts: { alice: { USDC: 1000 }, bob: { YES: 1000 } }
steps:
  - repeat: 3
    steps:
      - snapshot: start
      - alice: BUY 10 YES @ 0.50 GTD +60s as bid#
      - bob: SELL 4 YES @ 0.50 as hit
        fills: [SELL 4 YES @ 0.50 from bid#]
      - repeat: 2
        steps:
          - alice: BUY 1 YES @ 0.40 as low#
          - advance: 1s
      - race:
          - alice: cancel bid#
          - alice: cancel all
        after: { orders: { hit: MATCHED 4/4 } }
      - restore: start
      - generate: { orders: 5, accounts: 2 }
  - expect: { orders: { low6: LIVE 0/1 } }
`;

describe("repeated steps", () => {
  it("are the same in this process and over HTTP", async () => {
    const text = ALL.replace(/ {6}- race:[\s\S]*? {6}- restore: start\n/, "");
    const here = await folder.run(text);
    expect(here.failure).toBeNull();
    expect(here.steps).toBe(1 + 3 * (3 + 2 * 2 + 1));
    const there = await folder.run(text, { via: "http" });
    expect(there.transcript).toEqual(here.transcript);
    expect(there.stateHash).toBe(here.stateHash);
  });

  it("may contain races, each of whose orders is followed by all later rounds", async () => {
    const { failure, races } = await folder.run(
      ALL.replace("orders: { low6: LIVE 0/1 }", "balances: { alice: { YES: 0 } }"),
    );
    expect(failure).toBeNull();
    expect(races.map(({ outcomes }) => outcomes.length)).toEqual(Array(1 + 2 + 4).fill(2));
  });

  it("name the round in a failure, and can be run up to it", async () => {
    const text = `scenario: the third bid
accounts: { alice: { USDC: 10 } }
steps:
  - repeat: 5
    steps:
      - alice: BUY 10 YES @ 0.40 as bid
`;
    const failure = await folder.failure(text);
    expect(detailsOf(failure)).toMatchObject({
      at: "6:9",
      message: expect.stringMatching(/^refused: INSUFFICIENT_BALANCE/),
    });
    expect(failure).toMatchObject({ step: 3, text: "alice: BUY 10 YES @ 0.40 as bid (round 3 of 5)" });
    expect(failure.repeat).toMatch(/--step 3$/);
    expect((await folder.run(text, { lastStep: 2 })).status).toBe("passed");
  });
});
