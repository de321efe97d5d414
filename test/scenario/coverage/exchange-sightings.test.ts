import { expect, it } from "vitest";
import type { Coverage } from "../../../src/scenario/coverage/coverage.ts";
import { measureCoverage } from "../../../src/scenario/coverage/measure-coverage.ts";
import type { GroupName } from "../../../src/scenario/coverage/universe.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";
import { generateWorld } from "../../../src/world/generate-world.ts";
import { writeWorld } from "../../../src/world/world-file.ts";
import { Folder, scenarioIn } from "./files.ts";

const folder = new Folder();

/** What one scenario exercises; it passes. */
async function coverageOf(text: string, via: "process" | "http" = "process"): Promise<Coverage> {
  const scenario = scenarioIn(folder.write("scenario.yaml", text));
  const coverage = await measureCoverage([scenario], { via, startServer: startScenarioServer });
  expect(coverage.suite.results.map(({ failure }) => failure)).toEqual([null]);
  return coverage;
}

const exercised = ({ groups }: Coverage, group: GroupName): string[] =>
  (groups.find(({ name }) => name === group)?.items ?? []).flatMap(({ words, scenarios }) =>
    scenarios > 0 ? [words.join(" ")] : [],
  );

const OWN_ORDERS = (policy: string): string => `scenario: own orders meet
market: { selfTrade: ${policy} }
accounts: { alice: { USDC: 100, YES: 100 }, bob: { YES: 100 } }
steps:
  - alice: BUY 10 YES @ 0.5
  - alice: SELL 10 YES @ 0.5
`;

it.each(["allow", "cancel-taker", "cancel-maker", "cancel-both"])(
  "a self-trade policy is exercised by own orders that meet under it: %s",
  async (policy) => {
    expect(exercised(await coverageOf(OWN_ORDERS(policy)), "self-trade policies")).toEqual([policy]);
  },
);

it.each(["allow", "cancel-both"])(
  "a market alone does not exercise its self-trade policy: %s",
  async (policy) => {
    const text = OWN_ORDERS(policy).replace("alice: SELL", "bob: SELL");
    expect(exercised(await coverageOf(text), "self-trade policies")).toEqual([]);
  },
);

it("an order that its own command ends was never live", async () => {
  const coverage = await coverageOf(`scenario: nobody sells
accounts: { alice: { USDC: 100 } }
steps: [{ alice: BUY 10 YES @ 0.5 FOK }, { alice: BUY 10 YES @ 0.5 FAK }]
`);
  expect(exercised(coverage, "order states")).toEqual(["new -> CANCELED"]);
  expect(exercised(coverage, "cancel reasons")).toEqual(["FOK_UNFILLED", "FAK_UNFILLED"]);
});

it("an order that is filled in part and then canceled is one that changes twice", async () => {
  const coverage = await coverageOf(`scenario: what is left is canceled
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps: [{ alice: BUY 10 YES @ 0.5 }, { bob: SELL 4 YES @ 0.5 }, { alice: cancel all }]
`);
  expect(exercised(coverage, "order states")).toEqual([
    "new -> LIVE",
    "new -> MATCHED",
    "LIVE -> LIVE (partial fill)",
    "LIVE -> CANCELED",
  ]);
});

it("a mint, a merge and the ways of matching are told apart", async () => {
  const coverage = await coverageOf(`scenario: two ways of matching
markets: { one: { matching: complementary }, two: { matching: independent } }
accounts: { alice: { USDC: 100 }, bob: { USDC: 100 } }
steps:
  - alice: BUY 10 YES @ 0.6 in one
  - bob: BUY 10 NO @ 0.4 in one
  - alice: SELL 10 YES @ 0.6 in one
  - bob: SELL 10 NO @ 0.4 in one
  - alice: BUY 10 YES @ 0.6 in two
`);
  expect(exercised(coverage, "match types")).toEqual(["MINT", "MERGE"]);
  expect(exercised(coverage, "matching modes")).toEqual(["complementary", "independent"]);
});

it("a market whose closing is taken back is resolved as an open one", async () => {
  const coverage = await coverageOf(`scenario: a closing is taken back
accounts: { alice: { USDC: 100 } }
steps: [{ snapshot: open }, { close: market }, { restore: open }, { resolve: SPLIT }]
`);
  expect(exercised(coverage, "market states")).toEqual(["ACTIVE -> CLOSED", "ACTIVE -> RESOLVED"]);
});

it.each(["process", "http"] as const)(
  "the history of a world is nothing that a scenario exercises: %s",
  async (via) => {
    folder.write("world.json", writeWorld(await generateWorld({ seed: "7", markets: 2 })));
    const coverage = await coverageOf(
      "scenario: a world stands still\nworld: world.json\nsteps: [{ advance: 1s }]\n",
      via,
    );
    expect(exercised(coverage, "order types")).toEqual([]);
    expect(exercised(coverage, "match types")).toEqual([]);
  },
);
