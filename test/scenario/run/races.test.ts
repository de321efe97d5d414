import { describe, expect, it } from "vitest";
import { permutationsOf } from "../../../src/scenario/run/run-scenario.ts";
import { Desk, diffOf, spotOf } from "./desk.ts";

const desk = new Desk();

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

/** The numbers of steps in the order in which lines tell of them. */
const numbersIn = (lines: readonly string[]): string =>
  lines.flatMap((line) => /^(\d+)\. /.exec(line)?.[1] ?? []).join("");

describe("the orders of a race", () => {
  it.each([
    [0, [""]],
    [1, ["1"]],
    [2, ["12", "21"]],
    [3, ["123", "132", "213", "231", "312", "321"]],
  ])("of %i steps are all there are, as a dictionary sorts them", (count, orders) => {
    const steps = Array.from({ length: count }, (_, index) => index + 1);
    expect(permutationsOf(steps).map((order) => order.join(""))).toEqual(orders);
  });

  it("of six steps are 720, none twice", () => {
    const orders = permutationsOf([1, 2, 3, 4, 5, 6]).map((order) => order.join(""));
    expect(new Set(orders).size).toBe(720);
  });
});

describe.each(WAYS)("a race, in the way %s", (via) => {
  it("takes every order once, each from the same start", async () => {
    const { races, status } = await desk.run(
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

  it("tells of each order what its steps came to and what stands then", async () => {
    const { races } = await desk.run(CANCEL_OR_BUY, { via });
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
    const { status, transcript } = await desk.run(
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

  it("within the rest of another takes every order within every order", async () => {
    const { status, races } = await desk.run(
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

  it("forgets in each order the names that were given in the one before", async () => {
    const { failure } = await desk.run(
      `${HEAD}  - race:
      - bob: BUY 5 YES @ 0.50 as his
      - bob: cancel his
`,
      { via },
    );
    expect(failure).toBeNull();
    const { races } = await desk.run(
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
  it("is judged for each order, and the failing order is named", async () => {
    const failure = await desk.failure(`${CANCEL_OR_BUY}    after:
      orders: { ask: CANCELED 0/10 }
`);
    expect(spotOf(failure)).toBe("9:17");
    expect({ step: failure.step, message: failure.message }).toEqual({
      step: 2,
      message: "ask is MATCHED 10/10, expected CANCELED 0/10",
    });
    expect(diffOf(failure).at(-1)).toBe(
      "# in the order 4. bob: BUY 10 YES @ 0.50 as bid, then 3. alice: cancel ask",
    );
  });

  it("in the steps behind it, names the order, too", async () => {
    const failure = await desk.failure(`${CANCEL_OR_BUY}  - expect: { balances: { bob: { USDC: 5 } } }
  - bob: SELL 10 YES @ 0.60
`);
    expect(spotOf(failure)).toBe("9:5");
    expect(failure.message).toMatch(/^refused: INSUFFICIENT_BALANCE/);
    expect(diffOf(failure).at(-1)).toBe(
      "# in the order 3. alice: cancel ask, then 4. bob: BUY 10 YES @ 0.50 as bid",
    );
  });

  it("behind two races, names the order of both", async () => {
    const failure =
      await desk.failure(`${CANCEL_OR_BUY}  - race: [{ carol: BUY 1 YES @ 0.1 }, { carol: BUY 2 YES @ 0.1 }]
    after: { book: { YES: { bids: [] } } }
`);
    expect(diffOf(failure).slice(-2)).toEqual([
      "# in the order 6. carol: BUY 1 YES @ 0.1, then 7. carol: BUY 2 YES @ 0.1",
      "# in the order 3. alice: cancel ask, then 4. bob: BUY 10 YES @ 0.50 as bid",
    ]);
  });

  it("compares trades since before the race, not since the order before", async () => {
    const { status } = await desk.run(`${HEAD}  - race: [{ bob: BUY 4 YES @ 0.50 }, { advance: 1s }]
    after: { trades: [bob BUY 4 YES @ 0.50 from alice] }
`);
    expect(status).toBe("passed");
  });
});

describe("a refused step in a race", () => {
  it("is an outcome, whatever kind of step it is", async () => {
    const { status, races } = await desk.run(`${HEAD}  - race:
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

  it("fails when it says that it is refused, and in some order it is not", async () => {
    const failure = await desk.failure(
      `${CANCEL_OR_BUY.replace("ask\n      - bob", "ask\n        rejects: already matched\n      - bob")}`,
    );
    expect(failure.message).toBe("accepted, expected to be refused with already matched");
    expect(spotOf(failure)).toBe("7:18");
  });

  it("fails when it says what becomes of it, and in some order it is otherwise", async () => {
    const failure = await desk.failure(`${CANCEL_OR_BUY}        status: MATCHED 10/10\n`);
    expect(failure.message).toBe("bid is LIVE 0/10, expected MATCHED 10/10");
    expect(diffOf(failure).at(-1)).toMatch(/^# in the order 3\. /);
  });
});
