import { describe, expect, it } from "vitest";
import { detailsOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

/** Returns message and diff of expectations that fail after two fills, with alice's bids in the book. */
async function mismatchOf(expectations: string) {
  const { message, diff } = detailsOf(
    await folder.failure(`scenario: something is not as the file says
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
  await expect(mismatchOf(expectations)).rejects.toThrow("the scenario passed");
};

describe("a book that is not as expected", () => {
  it("shows a different level between equal ones", async () => {
    expect(await mismatchOf("{ book: { YES: { bids: [0.55 x 60, 0.54 x 7] } } }")).toEqual({
      message: "the bids of YES are not as expected",
      diff: ["- bid 0.55 x 60", "+ bid 0.55 x 100", "  bid 0.54 x 7"],
    });
  });

  it("shows a missing and an unexpected level", async () => {
    expect(await mismatchOf("{ book: { YES: { bids: [0.55 x 100, 0.53 x 7] } } }")).toEqual({
      message: "the bids of YES are not as expected",
      diff: ["  bid 0.55 x 100", "- bid 0.53 x 7", "+ bid 0.54 x 7"],
    });
  });

  it("names the side that differs, or both", async () => {
    expect((await mismatchOf("{ book: { YES: { bids: [0.55 x 100, 0.54 x 7], asks: [] } } }")).message).toBe(
      "the asks of YES are not as expected",
    );
    expect((await mismatchOf("{ book: { YES: { bids: [], asks: [] } } }")).message).toBe(
      "the bids and asks of YES are not as expected",
    );
  });

  it("shows an empty side as text", async () => {
    expect(await mismatchOf("{ book: { YES: { asks: [] } } }")).toEqual({
      message: "the asks of YES are not as expected",
      diff: ["- no asks", "+ ask 0.56 x 15"],
    });
    const { diff } = detailsOf(
      await folder.failure("scenario: empty\nsteps: [{ expect: { book: { NO: { bids: [0.5 x 1] } } } }]\n"),
    );
    expect(diff).toEqual(["- bid 0.5 x 1", "+ no bids"]);
  });

  it("compares the number of orders only if the file gives it", async () => {
    await passes("{ book: { YES: { asks: [0.56 x 15 (1)], bids: [0.55 x 100, 0.54 x 7 (1)] } } }");
    expect(await mismatchOf("{ book: { YES: { bids: [0.55 x 100 (2), 0.54 x 7] } } }")).toEqual({
      message: "the bids of YES are not as expected",
      diff: ["- bid 0.55 x 100 (2)", "+ bid 0.55 x 100 (1)", "  bid 0.54 x 7"],
    });
  });

  it("is mirrored for NO", async () => {
    await passes("{ book: { NO: { bids: [0.44 x 15], asks: [0.45 x 100, 0.46 x 7] } } }");
    expect((await mismatchOf("{ book: { NO: { bids: [0.56 x 15] } } }")).diff).toEqual([
      "- bid 0.56 x 15",
      "+ bid 0.44 x 15",
    ]);
  });
});

describe("an order that is not as expected", () => {
  it("tells its story, with the names of the orders that it matched", async () => {
    expect(await mismatchOf("{ orders: { bid: CANCELED 15/15 } }")).toEqual({
      message: "bid is MATCHED 15/15, expected CANCELED 15/15",
      diff: [
        "- CANCELED 15/15",
        "+ MATCHED 15/15",
        "# BUY 15 YES @ 0.56 GTC came; the best ask was 0.56, and 15 of 15 could be filled at its limit",
        "# filled 10 @ 0.56 (COMPLEMENTARY): met order 1 of carol",
        "# filled 5 @ 0.56 (COMPLEMENTARY): met order ask of bob",
        "# matched whole",
      ],
    });
  });

  it("shows its place in the queue while it rests", async () => {
    const { message, diff } = detailsOf(
      await folder.failure(`scenario: who comes second
accounts: { alice: { USDC: 100 }, bob: { USDC: 100 } }
steps:
  - bob: BUY 30 YES @ 0.50
  - alice: BUY 10 YES @ 0.50 as bid
  - expect: { orders: { bid: LIVE 10/10 } }
`),
    );
    expect(message).toBe("bid is LIVE 0/10, expected LIVE 10/10");
    expect(diff.at(-1)).toBe("# place 2 in the queue at its price, behind 30 shares");
  });

  it("never shows an id", async () => {
    const { diff } = await mismatchOf("{ orders: { ask: LIVE 0/20, bid: LIVE 0/15, rest: LIVE 1/100 } }");
    expect(diff.join("\n")).not.toMatch(/[\da-f]{8}-[\da-f]{4}-/);
  });

  it("is compared by status, matched size and size, and by reason only if the file gives it", async () => {
    const steps = `scenario: killed
accounts: { alice: { USDC: 100 } }
steps:
  - alice: BUY 10 YES @ 0.50 FOK as bid
  - expect: { orders: { bid: `;
    expect((await folder.run(`${steps}CANCELED 0/10 } }\n`)).status).toBe("passed");
    expect((await folder.run(`${steps}CANCELED 0/10 FOK_UNFILLED } }\n`)).status).toBe("passed");
    const { message } = await folder.failure(`${steps}CANCELED 0/10 USER } }\n`);
    expect(message).toBe("bid is CANCELED 0/10 FOK_UNFILLED, expected CANCELED 0/10 USER");
  });

  it("may have been refused, so that it was never placed", async () => {
    const { message } = await folder.failure(`scenario: never placed
accounts: { alice: { USDC: 1 } }
steps:
  - race:
      - alice: BUY 10 YES @ 0.50 as bid
      - advance: 1s
    after: { orders: { bid: LIVE 0/10 } }
`);
    expect(message).toBe("order bid was never placed: step 2 was refused with INSUFFICIENT_BALANCE");
  });
});

describe("trades that are not as expected", () => {
  it("shows a missing one", async () => {
    expect(await mismatchOf("{ trades: [alice BUY 10 YES @ 0.56 from carol] }")).toEqual({
      message: "the trades are not as expected: 1 expected, 2 found",
      diff: ["  alice BUY 10 YES @ 0.56 from carol", "+ alice BUY 5 YES @ 0.56 from bob"],
    });
  });

  it("shows one that never happened", async () => {
    const line = "alice BUY 10 YES @ 0.56 from carol, alice BUY 5 YES @ 0.56 from bob";
    expect(await mismatchOf(`{ trades: [${line}, alice BUY 1 YES @ 0.56 from bob] }`)).toEqual({
      message: "the trades are not as expected: 3 expected, 2 found",
      diff: [
        "  alice BUY 10 YES @ 0.56 from carol",
        "  alice BUY 5 YES @ 0.56 from bob",
        "- alice BUY 1 YES @ 0.56 from bob",
      ],
    });
  });

  it("may name the maker's order", async () => {
    await passes("{ trades: [alice BUY 10 YES @ 0.56 from carol, alice BUY 5 YES @ 0.56 from ask] }");
    expect(
      await mismatchOf("{ trades: [alice BUY 10 YES @ 0.56 from ask, alice BUY 5 YES @ 0.56 from rest] }"),
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

  it("say why the named maker's order never rested", async () => {
    const failure = await folder.failure(`scenario: a maker that was refused
accounts: { alice: { USDC: 10 }, bob: { YES: 5 } }
steps:
  - alice: BUY 99 YES @ 0.50 as bid
    rejects: INSUFFICIENT_BALANCE
  - alice: BUY 5 YES @ 0.50
  - bob: SELL 5 YES @ 0.50
    fills: [SELL 5 YES @ 0.50 from bid]
`);
    expect(detailsOf(failure).diff).toEqual([
      "- SELL 5 YES @ 0.5 from bid",
      "+ SELL 5 YES @ 0.5 from alice",
      "# order bid was never placed: step 1 was refused with INSUFFICIENT_BALANCE",
    ]);
  });

  it("are compared in order", async () => {
    const swapped = "[alice BUY 5 YES @ 0.56 from bob, alice BUY 10 YES @ 0.56 from carol]";
    expect((await mismatchOf(`{ trades: ${swapped} }`)).message).toBe("the trades are not as expected");
  });

  it("are those since the previous such expectation", async () => {
    const { status } = await folder.run(`scenario: trade by trade
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

  it("show the settlement status and the match type", async () => {
    const { diff } = detailsOf(
      await folder.failure(`scenario: a minted set
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
  it("shows the reserved amount", async () => {
    expect(await mismatchOf("{ balances: { alice: { USDC: 900 } } }")).toEqual({
      message: "the USDC of alice is not as expected",
      diff: ["- USDC 900", "+ USDC 991.6", "# 932.82 of it is available, open orders reserve 58.78"],
    });
  });

  it("given as one number, is the whole or the available balance", async () => {
    await passes("{ balances: { alice: { USDC: 991.6 } } }");
    await passes("{ balances: { alice: { USDC: 932.82 } } }");
  });

  it("given in parts, shows all parts", async () => {
    expect(
      await mismatchOf("{ balances: { bob: { YES: { balance: 495, available: 481, reserved: 15 } } } }"),
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

  it("is 0 for a token never held", async () => {
    await passes("{ balances: { carol: { NO: 0 } } }");
    expect((await mismatchOf("{ balances: { alice: { NO: 1 } } }")).diff).toEqual(["- NO 1", "+ NO 0"]);
  });
});

describe("a quote that is not as expected", () => {
  it("shows only the prices in the file", async () => {
    expect(await mismatchOf("{ quote: { YES: { bid: 0.55, ask: none, mid: 0.555, last: 0.5 } } }")).toEqual({
      message: "the quote of YES is not as expected",
      diff: ["  bid 0.55", "- ask none", "+ ask 0.56", "  mid 0.555", "- last 0.5", "+ last 0.56"],
    });
  });

  it("has no mid and no spread if a side is empty", async () => {
    const { status } = await folder.run(`scenario: one side
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
    expect(
      await mismatchOf("{ history: { YES: [2026-01-01T00:00:00Z 0.55, 2026-01-01T00:00:01Z 0.5] } }"),
    ).toEqual({
      message: "the price history of YES is not as expected",
      diff: [
        "- 2026-01-01T00:00:00.000Z 0.55",
        "- 2026-01-01T00:00:01.000Z 0.5",
        "+ 2026-01-01T00:00:00.000Z 0.56",
      ],
    });
  });
});

describe("with several markets", () => {
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
  ])("a difference names the market: %s", async (expectation, message, diff) => {
    const failure = detailsOf(await folder.failure(`${MARKETS}  - expect: ${expectation}\n`));
    expect(failure).toMatchObject({ message, diff });
  });
});
