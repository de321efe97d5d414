import { describe, expect, it } from "vitest";
import { Desk, toldBy } from "./desk.ts";

const desk = new Desk();

/** What is told of steps with these expectations, when alice's bids and a trade stand on the book. */
async function told(expectations: string) {
  const { message, diff } = toldBy(
    await desk.failure(`scenario: something is not as the file says
accounts: { alice: { USDC: 1000 }, bob: { YES: 500 }, carol: { YES: 100 } }
steps:
  - carol: SELL 10 YES @ 0.56
  - bob: SELL 20 YES @ 0.56 as ask
  - alice: BUY 15 YES @ 0.56 as bid
  - alice: BUY 100 YES @ 0.55 as rest
  - alice: BUY 7 YES @ 0.54
  - expect: ${expectations}
`),
  );
  return { message, diff };
}

const passes = async (expectations: string): Promise<void> => {
  await expect(told(expectations)).rejects.toThrow("the scenario passed");
};

describe("trades that are not as expected", () => {
  it("shows which is missing", async () => {
    expect(await told("{ trades: [alice BUY 10 YES @ 0.56 from carol] }")).toEqual({
      message: "the trades are not as expected: 1 expected, 2 found",
      diff: ["  alice BUY 10 YES @ 0.56 from carol", "+ alice BUY 5 YES @ 0.56 from bob"],
    });
  });

  it("shows which never happened", async () => {
    const line = "alice BUY 10 YES @ 0.56 from carol, alice BUY 5 YES @ 0.56 from bob";
    expect(await told(`{ trades: [${line}, alice BUY 1 YES @ 0.56 from bob] }`)).toEqual({
      message: "the trades are not as expected: 3 expected, 2 found",
      diff: [
        "  alice BUY 10 YES @ 0.56 from carol",
        "  alice BUY 5 YES @ 0.56 from bob",
        "- alice BUY 1 YES @ 0.56 from bob",
      ],
    });
  });

  it("may name the order that rested", async () => {
    await passes("{ trades: [alice BUY 10 YES @ 0.56 from carol, alice BUY 5 YES @ 0.56 from ask] }");
    expect(
      await told("{ trades: [alice BUY 10 YES @ 0.56 from ask, alice BUY 5 YES @ 0.56 from rest] }"),
    ).toEqual({
      message: "the trades are not as expected",
      diff: [
        "- alice BUY 10 YES @ 0.56 from ask",
        "- alice BUY 5 YES @ 0.56 from rest",
        "+ alice BUY 10 YES @ 0.56 from carol",
        "+ alice BUY 5 YES @ 0.56 from ask",
      ],
    });
  });

  it("say why an order that is to have rested never did", async () => {
    const failure = await desk.failure(`scenario: a maker that was refused
accounts: { alice: { USDC: 10 }, bob: { YES: 5 } }
steps:
  - alice: BUY 99 YES @ 0.50 as bid
    rejects: INSUFFICIENT_BALANCE
  - alice: BUY 5 YES @ 0.50
  - bob: SELL 5 YES @ 0.50
    fills: [SELL 5 YES @ 0.50 from bid]
`);
    expect(toldBy(failure).diff).toEqual([
      "- SELL 5 YES @ 0.5 from bid",
      "+ SELL 5 YES @ 0.5 from alice",
      "# order bid was never placed: step 1 was refused with INSUFFICIENT_BALANCE",
    ]);
  });

  it("are compared in their order", async () => {
    const swapped = "[alice BUY 5 YES @ 0.56 from bob, alice BUY 10 YES @ 0.56 from carol]";
    expect((await told(`{ trades: ${swapped} }`)).message).toBe("the trades are not as expected");
  });

  it("are those since the last such expectation, whether in one step or another", async () => {
    const { status } = await desk.run(`scenario: trade by trade
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
  - bob: SELL 20 YES @ 0.50
  - alice: BUY 5 YES @ 0.50
  - expect: { trades: [alice BUY 5 YES @ 0.50 from bob] }
  - expect: { trades: [] }
  - alice: BUY 6 YES @ 0.50
  - expect: { book: { YES: { asks: [0.50 x 9] } } }
  - expect: { trades: [alice BUY 6 YES @ 0.50 from bob] }
`);
    expect(status).toBe("passed");
  });

  it("say how they were settled, and by whom their shares were made", async () => {
    const { diff } = toldBy(
      await desk.failure(`scenario: a minted set
accounts: { alice: { USDC: 100 }, bob: { USDC: 100 } }
steps:
  - alice: BUY 10 YES @ 0.60
  - bob: BUY 10 NO @ 0.40
    fills: [BUY 10 NO @ 0.40 from alice FAILED]
`),
    );
    expect(diff).toEqual([
      "- BUY 10 NO @ 0.4 from alice FAILED",
      "+ BUY 10 NO @ 0.4 from alice MINT CONFIRMED",
      "# BUY 10 NO @ 0.4 GTC came; the best ask was 0.4, and 10 of 10 could be filled at its limit",
      "# filled 10 @ 0.4 (MINT): met order 1 of alice",
      "# matched whole",
    ]);
  });
});

describe("a balance that is not as expected", () => {
  it("shows what is reserved of it", async () => {
    expect(await told("{ balances: { alice: { USDC: 900 } } }")).toEqual({
      message: "the USDC of alice is not as expected",
      diff: ["- USDC 900", "+ USDC 991.6", "# 932.82 of it is available, open orders reserve 58.78"],
    });
  });

  it("given as one figure, is the whole or what is available of it", async () => {
    await passes("{ balances: { alice: { USDC: 991.6 } } }");
    await passes("{ balances: { alice: { USDC: 932.82 } } }");
  });

  it("given in parts, shows those that hold beside those that do not", async () => {
    expect(
      await told("{ balances: { bob: { YES: { balance: 495, available: 481, reserved: 15 } } } }"),
    ).toEqual({
      message: "the YES of bob is not as expected",
      diff: [
        "  YES 495",
        "- YES 481 available",
        "+ YES 480 available",
        "  YES 15 reserved",
        "# 480 of it is available, open orders reserve 15",
      ],
    });
  });

  it("is nothing where nothing was ever had", async () => {
    await passes("{ balances: { carol: { NO: 0 } } }");
    expect((await told("{ balances: { alice: { NO: 1 } } }")).diff).toEqual(["- NO 1", "+ NO 0"]);
  });
});

describe("a quote that is not as expected", () => {
  it("shows every price that the file names, and no other", async () => {
    expect(await told("{ quote: { YES: { bid: 0.55, ask: none, mid: 0.555, last: 0.5 } } }")).toEqual({
      message: "the quote of YES is not as expected",
      diff: ["  bid 0.55", "- ask none", "+ ask 0.56", "  mid 0.555", "- last 0.5", "+ last 0.56"],
    });
  });

  it("has no mid and no spread where a side is empty", async () => {
    const { status } = await desk.run(`scenario: one side
accounts: { alice: { USDC: 100 } }
steps:
  - alice: BUY 10 YES @ 0.5
  - expect: { quote: { YES: { bid: 0.5, ask: none, mid: none, spread: none, last: none } } }
`);
    expect(status).toBe("passed");
  });
});

describe("a history that is not as expected", () => {
  it("shows the points that differ", async () => {
    expect(await told("{ history: { YES: [2026-01-01T00:00:00Z 0.55, 2026-01-01T00:00:01Z 0.5] } }")).toEqual(
      {
        message: "the price history of YES is not as expected",
        diff: [
          "- 2026-01-01T00:00:00.000Z 0.55",
          "- 2026-01-01T00:00:01.000Z 0.5",
          "+ 2026-01-01T00:00:00.000Z 0.56",
        ],
      },
    );
  });
});

describe("where there are several markets", () => {
  const MARKETS = `scenario: two markets
markets: { rain: {}, snow: {} }
accounts: { alice: { USDC: 100 }, bob: { rain YES: 10 } }
steps:
  - bob: SELL 10 YES @ 0.5 in rain
  - alice: BUY 10 YES @ 0.5 in rain
`;

  it.each<[expectation: string, message: string, diff: string[]]>([
    [
      "{ book: { snow YES: { bids: [0.5 x 10] } } }",
      "the bids of snow YES are not as expected",
      ["- bid 0.5 x 10", "+ no bids"],
    ],
    [
      "{ balances: { alice: { snow YES: 10 } } }",
      "the snow YES of alice is not as expected",
      ["- snow YES 10", "+ snow YES 0"],
    ],
    [
      "{ trades: [alice BUY 10 YES @ 0.5 in snow from bob] }",
      "the trades are not as expected",
      ["- alice BUY 10 YES @ 0.5 in snow from bob", "+ alice BUY 10 YES @ 0.5 in rain from bob"],
    ],
  ])("a difference names them: %s", async (expectation, message, diff) => {
    const failure = toldBy(await desk.failure(`${MARKETS}  - expect: ${expectation}\n`));
    expect(failure).toMatchObject({ message, diff });
  });
});
