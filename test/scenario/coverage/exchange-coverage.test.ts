import { expect, it } from "vitest";
import { type Coverage, measureCoverage } from "../../../src/scenario/coverage/coverage.ts";
import type { GroupName } from "../../../src/scenario/coverage/items.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";
import { generateWorld } from "../../../src/simulation/generate-world.ts";
import { writeWorld } from "../../../src/simulation/world.ts";
import { ScenarioFolder } from "../run/scenario-folder.ts";

const folder = new ScenarioFolder();

/** Returns the coverage of a scenario that passes. */
async function coverageOf(text: string, via: "process" | "http" = "process"): Promise<Coverage> {
  const scenario = folder.scenario(text, "scenario.yaml");
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
  "a self-trade policy is exercised by own orders that match: %s",
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

it("an order ended by its own command was never live", async () => {
  const coverage = await coverageOf(`scenario: nobody sells
accounts: { alice: { USDC: 100 } }
steps: [{ alice: BUY 10 YES @ 0.5 FOK }, { alice: BUY 10 YES @ 0.5 FAK }]
`);
  expect(exercised(coverage, "order states")).toEqual(["new -> CANCELED"]);
  expect(exercised(coverage, "cancel reasons")).toEqual(["FOK_UNFILLED", "FAK_UNFILLED"]);
});

it("an order that is partly filled and then canceled changes twice", async () => {
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

it("MINT, MERGE and the matching modes are distinguished", async () => {
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

it("a market whose closing is undone is resolved from ACTIVE", async () => {
  const coverage = await coverageOf(`scenario: a closing is taken back
accounts: { alice: { USDC: 100 } }
steps: [{ snapshot: open }, { close: market }, { restore: open }, { resolve: SPLIT }]
`);
  expect(exercised(coverage, "market states")).toEqual(["ACTIVE -> CLOSED", "ACTIVE -> RESOLVED"]);
});

/** Two pending trades of one maker. */
const WAITING = (settlement: string): string => `scenario: two trades
settlement: ${settlement}
balances: settled
accounts: { alice: { USDC: 10 }, bob: { YES: 20 } }
steps:
  - alice: BUY 20 YES @ 0.5
  - bob: SELL 10 YES @ 0.5
  - bob: SELL 10 YES @ 0.5
`;

it.each<[steps: string, settlement: string[], faults: string[]]>([
  ["  - mine: 1\n", ["MATCHED -> MINED"], []],
  ["  - mine: 2\n", ["MATCHED -> MINED"], []],
  ["  - mine: 3\n", ["MATCHED -> MINED", "MINED -> CONFIRMED"], []],
  ["  - mine: 1\n  - mine: 1\n  - mine: 1\n", ["MATCHED -> MINED", "MINED -> CONFIRMED"], []],
  ["  - mine: 1\n  - reorg: 1\n", ["MATCHED -> MINED", "MINED -> MATCHED (reorganized)"], []],
  ["  - fail settlement: next\n  - mine: 1\n", ["MATCHED -> MINED", "MATCHED -> FAILED"], ["fail"]],
  ["  - fail settlement: all\n", [], []],
  ["  - chain fault: { kind: retry }\n  - mine: 1\n", ["MATCHED -> MINED", "MATCHED -> RETRYING"], ["retry"]],
  [
    "  - chain fault: { kind: retry }\n  - mine: 2\n",
    ["MATCHED -> MINED", "RETRYING -> MINED", "MATCHED -> RETRYING"],
    ["retry"],
  ],
  [
    "  - chain fault: { kind: retry, probability: 1 }\n  - mine: 6\n",
    ["RETRYING -> FAILED", "MATCHED -> RETRYING"],
    ["retry"],
  ],
  ["  - chain fault: { kind: delay }\n  - mine: 1\n", ["MATCHED -> MINED", "MATCHED (delayed)"], ["delay"]],
  [
    "  - chain fault: { kind: ghost }\n  - mine: 1\n",
    ["MATCHED -> MINED", "MATCHED for ever (never mined)"],
    ["ghost"],
  ],
  ["  - chain fault: { kind: gas-spike }\n  - mine: 1\n", ["MATCHED (underpriced)"], ["gas-spike"]],
])("settlement transitions are counted when they happen: %s", async (steps, items, faults) => {
  const coverage = await coverageOf(`${WAITING("manual")}${steps}`);
  expect(exercised(coverage, "settlement")).toEqual(items);
  expect(exercised(coverage, "settlement faults")).toEqual(faults);
});

it("with instant settlement a trade is final at once, also after a retry", async () => {
  expect(exercised(await coverageOf(WAITING("instant")), "settlement")).toEqual(["MATCHED -> CONFIRMED"]);
  const steps = "steps:\n  - chain fault: { kind: retry }";
  const retried = await coverageOf(WAITING("instant").replace("steps:", steps));
  expect(exercised(retried, "settlement")).toEqual([
    "MATCHED -> CONFIRMED",
    "RETRYING -> CONFIRMED",
    "MATCHED -> RETRYING",
  ]);
});

it("a settlement that waits for another is distinguished from a retried one", async () => {
  const coverage = await coverageOf(`scenario: sold on
settlement: manual
accounts: { alice: { USDC: 5 }, bob: { YES: 10 }, carol: { USDC: 5 } }
steps:
  - bob: SELL 10 YES @ 0.5
  - alice: BUY 10 YES @ 0.5
  - carol: BUY 10 YES @ 0.5
  - alice: SELL 10 YES @ 0.5
  - chain fault: { kind: delay }
  - mine: 1
`);
  expect(exercised(coverage, "settlement")).toEqual([
    "MATCHED -> RETRYING (waits for funds)",
    "MATCHED (delayed)",
  ]);
});

it.each(["instant", "auto", "manual"])(
  "a mode of settlement and a policy of balances are exercised by who trades under them: %s",
  async (mode) => {
    const coverage = await coverageOf(WAITING(mode));
    expect(exercised(coverage, "settlement modes")).toEqual([mode]);
    expect(exercised(coverage, "balance policies")).toEqual(["settled"]);
    const idle = await coverageOf(WAITING(mode).replace(/ {2}- bob.*\n/g, ""));
    expect(exercised(idle, "settlement modes")).toEqual([]);
  },
);

it("transactions of wallets are counted when they are mined, reverted ones as reverted", async () => {
  const wallet = (steps: string): Promise<Coverage> =>
    coverageOf(`scenario: a wallet's own
settlement: manual
accounts: { alice: { USDC: 10 } }
steps: [${steps}]
`);
  expect(exercised(await wallet("{ alice: split 5 }"), "chain calls")).toEqual([]);
  expect(exercised(await wallet("{ alice: split 5 }, { mine: 1 }"), "chain calls")).toEqual(["split"]);
  const twice = await wallet(
    "{ alice: split 6 }, { alice: split 6 }, { mine: 1 }, { alice: merge 6 }, { mine: 1 }",
  );
  expect(exercised(twice, "chain calls")).toEqual(["split", "merge", "reverted when mined"]);
  const ended = await wallet(
    "{ resolve: YES }, { mine: 1 }, { alice: redeem }, { mine: 1 }, { reorg: 1 }, { mine: 1 }",
  );
  expect(exercised(ended, "chain calls")).toEqual(["redeem"]);
});

it("a fault restored with a snapshot keeps its kind", async () => {
  const coverage = await coverageOf(`${WAITING("manual")}  - chain fault: { kind: ghost }
  - snapshot: before
  - chain fault: none
  - restore: before
  - mine: 1
`);
  expect(exercised(coverage, "settlement faults")).toEqual(["ghost"]);
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
