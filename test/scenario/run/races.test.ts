import { describe, expect, it } from "vitest";
import { permutationsOf } from "../../../src/scenario/run/run-scenario.ts";
import { diffOf, positionOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const WAYS = ["process", "http"] as const;
const HEAD = `scenario: a race
accounts: { alice: { YES: 10 }, bob: { USDC: 10 }, carol: { USDC: 10 } }
steps:
  - alice: SELL 10 YES @ 0.50 as ask
`;
const CANCEL_OR_BUY = `${HEAD}  - race:
      - alice: cancel ask
      - bob: BUY 10 YES @ 0.50 as bid
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

describe.each(WAYS)("a race, %s", (via) => {
  it("runs every order once, each from the same state", async () => {
    const { races, status } = await folder.run(
      `${HEAD}  - race:
      - alice: cancel ask
      - bob: BUY 10 YES @ 0.50
      - carol: BUY 10 YES @ 0.50
`,
      { via },
    );
    expect(status).toBe("passed");
    expect(races.map(({ step, place }) => [step, place.line])).toEqual([[2, 5]]);
    expect(races[0]?.outcomes.map(({ lines }) => numbersIn(lines))).toEqual(
      permutationsOf([3, 4, 5]).map((order) => order.join("")),
    );
  });

  it("reports the results and the final state of each order", async () => {
    const { races } = await folder.run(CANCEL_OR_BUY, { via });
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

  it("runs the rest of the scenario after each order", async () => {
    const { status, transcript } = await folder.run(
      `${CANCEL_OR_BUY}  - carol: BUY 1 YES @ 0.40 as hers
  - advance: 5s
  - expect: { orders: { hers: LIVE 0/1 } }
`,
      { via },
    );
    expect(status).toBe("passed");
    expect(transcript.filter((line) => line.startsWith("5. "))).toHaveLength(2);
    const advanced = transcript.filter((line) => line.startsWith("6. "));
    expect(advanced).toEqual(Array(2).fill("6. advance: 5s → 2026-01-01T00:00:05.000Z"));
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
    expect(races.map(({ step, outcomes }) => [step, outcomes.length])).toEqual([
      [2, 2],
      [5, 6],
      [5, 6],
    ]);
  });

  it("forgets the names of the previous order", async () => {
    const { failure } = await folder.run(
      `${HEAD}  - race:
      - bob: BUY 5 YES @ 0.50 as his
      - bob: cancel his
`,
      { via },
    );
    expect(failure).toBeNull();
    const { races } = await folder.run(
      `${HEAD}  - race:
      - bob: BUY 5 YES @ 0.40 as his
      - bob: cancel his
`,
      { via },
    );
    const [first, second] = races[0]?.outcomes ?? [];
    expect(first?.lines.at(-1)).toBe("4. bob: cancel his → canceled");
    expect(second?.lines[0]).toMatch(/^4\. bob: cancel his → refused: /);
    expect(second?.after).toContain("his LIVE 0/5");
  });
});

describe("what must hold after a race", () => {
  it("is checked after each order, and the failing order is named", async () => {
    const failure = await folder.failure(`${CANCEL_OR_BUY}    after:
      orders: { ask: CANCELED 0/10 }
`);
    expect(positionOf(failure)).toBe("9:17");
    expect({ step: failure.step, message: failure.message }).toEqual({
      step: 2,
      message: "ask is MATCHED 10/10, expected CANCELED 0/10",
    });
    expect(diffOf(failure).at(-1)).toBe(
      "# in the order 4. bob: BUY 10 YES @ 0.50 as bid, then 3. alice: cancel ask",
    );
  });

  it("in later steps also names the order", async () => {
    const failure = await folder.failure(`${CANCEL_OR_BUY}  - expect: { balances: { bob: { USDC: 5 } } }
  - bob: SELL 10 YES @ 0.60
`);
    expect(positionOf(failure)).toBe("9:5");
    expect(failure.message).toMatch(/^refused: INSUFFICIENT_BALANCE/);
    expect(diffOf(failure).at(-1)).toBe(
      "# in the order 3. alice: cancel ask, then 4. bob: BUY 10 YES @ 0.50 as bid",
    );
  });

  it("after two races names the order of both", async () => {
    const failure =
      await folder.failure(`${CANCEL_OR_BUY}  - race: [{ carol: BUY 1 YES @ 0.1 }, { carol: BUY 2 YES @ 0.1 }]
    after: { book: { YES: { bids: [] } } }
`);
    expect(diffOf(failure).slice(-2)).toEqual([
      "# in the order 6. carol: BUY 1 YES @ 0.1, then 7. carol: BUY 2 YES @ 0.1",
      "# in the order 3. alice: cancel ask, then 4. bob: BUY 10 YES @ 0.50 as bid",
    ]);
  });

  it("compares trades since the start of the race", async () => {
    const { status } = await folder.run(`${HEAD}  - race: [{ bob: BUY 4 YES @ 0.50 }, { advance: 1s }]
    after: { trades: [bob BUY 4 YES @ 0.50 from alice] }
`);
    expect(status).toBe("passed");
  });
});

describe("a refused step in a race", () => {
  it("is an outcome, for any kind of step", async () => {
    const { status, races } = await folder.run(`${HEAD}  - race:
      - close: market
      - bob: BUY 10 YES @ 0.50
      - resolve: YES
`);
    expect(status).toBe("passed");
    const refusals = races[0]?.outcomes.flatMap(({ lines }) =>
      lines.filter((line) => / → refused: /.test(line)),
    );
    expect(refusals?.length).toBeGreaterThan(0);
  });

  it("fails if it expects a refusal, and is accepted in some order", async () => {
    const failure = await folder.failure(
      `${CANCEL_OR_BUY.replace("ask\n      - bob", "ask\n        rejects: already matched\n      - bob")}`,
    );
    expect(failure.message).toBe("accepted, expected to be refused with already matched");
    expect(positionOf(failure)).toBe("7:18");
  });

  it("fails if it expects a status, and has another in some order", async () => {
    const failure = await folder.failure(`${CANCEL_OR_BUY}        status: MATCHED 10/10\n`);
    expect(failure.message).toBe("bid is LIVE 0/10, expected MATCHED 10/10");
    expect(diffOf(failure).at(-1)).toMatch(/^# in the order 3\. /);
  });
});
