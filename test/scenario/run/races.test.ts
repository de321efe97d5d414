import { describe, expect, it } from "vitest";
import { permutationsOf } from "../../../src/scenario/run/run-scenario.ts";
import { ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const HEAD = `scenario: a race
accounts: { alice: { YES: 10 }, bob: { USDC: 10 }, carol: { USDC: 10 } }
steps:
  - alice: SELL 10 YES @ 0.50 as ask
`;

/** Returns the numbers of steps in the order of their lines. */
const numbersIn = (lines: readonly string[]): string =>
  lines.flatMap((line) => /^(\d+)\. /.exec(line)?.[1] ?? []).join("");

describe("the orders of a race", () => {
  it.each([
    [0, [""]],
    [1, ["1"]],
    [2, ["12", "21"]],
    [3, ["123", "132", "213", "231", "312", "321"]],
  ])("of %i steps are all permutations in lexicographic order", (count, orders) => {
    const steps = Array.from({ length: count }, (_, index) => index + 1);
    expect(permutationsOf(steps).map((order) => order.join(""))).toEqual(orders);
  });

  it("of six steps are 720 different ones", () => {
    const orders = permutationsOf([1, 2, 3, 4, 5, 6]).map((order) => order.join(""));
    expect(new Set(orders).size).toBe(720);
  });
});

describe.each(["process", "http"] as const)("a race, %s", (via) => {
  it("runs every order once, each from the same state", async () => {
    const { races, status } = await folder.run(
      `${HEAD}  - race: [{ alice: cancel ask }, { bob: BUY 10 YES @ 0.50 }, { carol: BUY 10 YES @ 0.50 }]\n`,
      { via },
    );
    expect(status).toBe("passed");
    expect(races.map(({ step, place }) => [step, place.line])).toEqual([[2, 5]]);
    expect(races[0]?.outcomes.map(({ lines }) => numbersIn(lines))).toEqual(
      permutationsOf([3, 4, 5]).map((order) => order.join("")),
    );
  });

  it("reports the results and the final state of each order", async () => {
    const { races } = await folder.run(
      `${HEAD}  - race: [{ alice: cancel ask }, { bob: BUY 10 YES @ 0.50 as bid }]\n`,
      { via },
    );
    expect(races[0]?.outcomes).toEqual([
      {
        lines: ["3. alice: cancel ask → canceled", "4. bob: BUY 10 YES @ 0.50 as bid → LIVE 0/10"],
        after: [
          "at 2026-01-01T00:00:00.000Z",
          "market YES bids 0.5 x 10 (1); asks none",
          "ask CANCELED 0/10 USER",
          "bid LIVE 0/10",
          "alice USDC 0, market YES 10",
          "bob USDC 10 (5 reserved)",
          "carol USDC 10",
        ],
      },
      {
        lines: [
          "4. bob: BUY 10 YES @ 0.50 as bid → MATCHED 10/10",
          "   BUY 10 YES @ 0.5 from alice",
          "3. alice: cancel ask → refused: already matched",
        ],
        after: [
          "at 2026-01-01T00:00:00.000Z",
          "market YES bids none; asks none",
          "ask MATCHED 10/10",
          "bid MATCHED 10/10",
          "alice USDC 5",
          "bob USDC 5, market YES 10",
          "carol USDC 10",
        ],
      },
    ]);
  });

  it("after another race runs every order after each of its orders", async () => {
    const { status, races } = await folder.run(
      `${HEAD}  - race: [{ bob: BUY 4 YES @ 0.50 }, { carol: BUY 4 YES @ 0.50 }]
  - race: [{ alice: cancel ask }, { bob: BUY 4 YES @ 0.50 }, { carol: BUY 4 YES @ 0.50 }]
    after: { book: { YES: { asks: [] } } }
  - alice: cancel all
`,
      { via },
    );
    expect(status).toBe("passed");
    const counts = races.map(({ step, outcomes }) => `step ${step}: ${outcomes.length}`);
    expect(counts).toEqual(["step 2: 2", "step 5: 6", "step 5: 6"]);
  });
});

it("a failure in a later order of a race is told from that order on", async () => {
  const failing = async (ask: string): Promise<readonly string[] | undefined> => {
    const { failure } = await folder.run(`${HEAD}  - race: [{ alice: cancel ask }, { bob: BUY 10 YES @ 0.50 }]
    after: { orders: { ask: ${ask} } }
`);
    return failure?.recent;
  };
  expect(await failing("CANCELED 0/10 USER")).toEqual([
    "2. race, order 2 of 2",
    "4. bob: BUY 10 YES @ 0.50 → MATCHED 10/10",
    "   BUY 10 YES @ 0.5 from alice",
    "3. alice: cancel ask → refused: already matched",
  ]);
  expect(await failing("MATCHED 10/10")).toEqual([
    "1. alice: SELL 10 YES @ 0.50 as ask → LIVE 0/10",
    "2. race, order 1 of 2",
    "3. alice: cancel ask → canceled",
    "4. bob: BUY 10 YES @ 0.50 → LIVE 0/10",
  ]);
});

it("races in a repeat are each followed by all later rounds", async () => {
  const { failure, races } = await folder.run(`${HEAD}  - repeat: 3
    steps:
      - bob: BUY 1 YES @ 0.40 as bid#
      - race: [{ bob: cancel bid# }, { bob: cancel all }]
        after: { orders: { ask: LIVE 0/10 } }
`);
  expect(failure).toBeNull();
  expect(races.map(({ outcomes }) => outcomes.length)).toEqual(Array(1 + 2 + 4).fill(2));
});
