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

describe("a book that is not as expected", () => {
  it("shows a level that differs, between those that do not", async () => {
    expect(await told("{ book: { YES: { bids: [0.55 x 60, 0.54 x 7] } } }")).toEqual({
      message: "the bids of YES are not as expected",
      diff: ["- bid 0.55 x 60", "+ bid 0.55 x 100", "  bid 0.54 x 7"],
    });
  });

  it("shows a level that is missing, and one that should not be", async () => {
    expect(await told("{ book: { YES: { bids: [0.55 x 100, 0.53 x 7] } } }")).toEqual({
      message: "the bids of YES are not as expected",
      diff: ["  bid 0.55 x 100", "- bid 0.53 x 7", "+ bid 0.54 x 7"],
    });
  });

  it("names the side that differs, or both", async () => {
    expect((await told("{ book: { YES: { bids: [0.55 x 100, 0.54 x 7], asks: [] } } }")).message).toBe(
      "the asks of YES are not as expected",
    );
    expect((await told("{ book: { YES: { bids: [], asks: [] } } }")).message).toBe(
      "the bids and asks of YES are not as expected",
    );
  });

  it("shows an empty side in a word, whichever of both is empty", async () => {
    expect(await told("{ book: { YES: { asks: [] } } }")).toEqual({
      message: "the asks of YES are not as expected",
      diff: ["- no asks", "+ ask 0.56 x 15"],
    });
    const { diff } = toldBy(
      await desk.failure("scenario: empty\nsteps: [{ expect: { book: { NO: { bids: [0.5 x 1] } } } }]\n"),
    );
    expect(diff).toEqual(["- bid 0.5 x 1", "+ no bids"]);
  });

  it("counts the orders of a level only where the file does", async () => {
    await passes("{ book: { YES: { asks: [0.56 x 15 (1)], bids: [0.55 x 100, 0.54 x 7 (1)] } } }");
    expect(await told("{ book: { YES: { bids: [0.55 x 100 (2), 0.54 x 7] } } }")).toEqual({
      message: "the bids of YES are not as expected",
      diff: ["- bid 0.55 x 100 (2)", "+ bid 0.55 x 100 (1)", "  bid 0.54 x 7"],
    });
  });

  it("is the mirrored one for NO", async () => {
    await passes("{ book: { NO: { bids: [0.44 x 15], asks: [0.45 x 100, 0.46 x 7] } } }");
    expect((await told("{ book: { NO: { bids: [0.56 x 15] } } }")).diff).toEqual([
      "- bid 0.56 x 15",
      "+ bid 0.44 x 15",
    ]);
  });
});

describe("an order that is not as expected", () => {
  it("tells what happened to it, with the orders that it met by their names", async () => {
    expect(await told("{ orders: { bid: CANCELED 15/15 } }")).toEqual({
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

  it("tells its place in the queue while it rests", async () => {
    const { message, diff } = toldBy(
      await desk.failure(`scenario: who comes second
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
    const { diff } = await told("{ orders: { ask: LIVE 0/20, bid: LIVE 0/15, rest: LIVE 1/100 } }");
    expect(diff.join("\n")).not.toMatch(/[\da-f]{8}-[\da-f]{4}-/);
  });

  it("is compared in status, what matched, and size; in its reason only where the file says one", async () => {
    const steps = `scenario: killed
accounts: { alice: { USDC: 100 } }
steps:
  - alice: BUY 10 YES @ 0.50 FOK as bid
  - expect: { orders: { bid: `;
    expect((await desk.run(`${steps}CANCELED 0/10 } }\n`)).status).toBe("passed");
    expect((await desk.run(`${steps}CANCELED 0/10 FOK_UNFILLED } }\n`)).status).toBe("passed");
    const { message } = await desk.failure(`${steps}CANCELED 0/10 USER } }\n`);
    expect(message).toBe("bid is CANCELED 0/10 FOK_UNFILLED, expected CANCELED 0/10 USER");
  });

  it("may have been refused, and so never placed", async () => {
    const { message } = await desk.failure(`scenario: never placed
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
