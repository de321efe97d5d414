import { describe, expect, it } from "vitest";
import { detailsOf, positionOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const HEAD = `scenario: something is not as the file says
accounts: { alice: { USDC: 1000 }, bob: { YES: 500 }, carol: { YES: 100 } }
steps:
`;

/** Returns the failure of a scenario with these steps, the first on line 4. */
const failing = (steps: string) => folder.failure(`${HEAD}${steps}`);

const TRADED = `  - bob: SELL 20 YES @ 0.56 as ask
  - alice: BUY 15 YES @ 0.56 as bid
`;

describe("a failure has the place of the expectation that does not hold", () => {
  it.each<[what: string, steps: string, at: string]>([
    ["a line of fills", `${TRADED}    fills:\n      - BUY 15 YES @ 0.55 from bob\n`, "7:9"],
    ["the key of fills, when fills are missing from it", `${TRADED}    fills: []\n`, "6:12"],
    ["a status", `${TRADED}    status: LIVE 15/15\n`, "6:13"],
    ["a token of a book", "  - expect:\n      book:\n        YES: { bids: [0.5 x 1] }\n", "6:9"],
    ["an order", `${TRADED}  - expect:\n      orders: { ask: LIVE 15/20, bid: LIVE 15/15 }\n`, "7:34"],
    ["an asset of an account", "  - expect: { balances: { bob: { USDC: 0, YES: 499 } } }\n", "4:43"],
    ["a token of quotes", "  - expect: { quote: { YES: { bid: 0.5 } } }\n", "4:24"],
    ["a token of histories", `${TRADED}  - expect: { history: { NO: [] } }\n`, "6:26"],
    [
      "a line of trades",
      `${TRADED}  - expect:\n      trades:\n        - bob BUY 15 YES @ 0.56 from bob\n`,
      "8:11",
    ],
    ["a state hash", '  - expect: { stateHash: "" }\n', "4:15"],
    ["a golden file", "  - expect: { golden: none.txt }\n", "4:15"],
    ["a step that is refused", "  - advance: 1s\n  - alice: SELL 1 YES @ 0.5\n", "5:5"],
    ["a refusal that does not come", "  - alice: BUY 1 YES @ 0.5\n    rejects: MARKET_CLOSED\n", "5:14"],
    ["a wrong code", "  - alice: BUY 1 NO @ 0.555\n    rejects: MARKET_CLOSED\n", "5:14"],
  ])("%s", async (_case, steps, at) => {
    const failure = await failing(steps);
    expect(positionOf(failure)).toBe(at);
    expect(failure.place.file).toMatch(/\.yaml$/);
  });

  it("in the included file, if the expectation is there", async () => {
    folder.write("_part.yaml", "- advance: 1s\n- alice: SELL 1 YES @ 0.5\n");
    const { place, step, text } = await failing("  - include: _part.yaml\n");
    expect(place).toEqual({ file: expect.stringMatching(/_part\.yaml$/), line: 2, column: 3 });
    expect({ step, text }).toEqual({ step: 2, text: "alice: SELL 1 YES @ 0.5" });
  });
});

describe("a refused step", () => {
  it("fails if it does not expect it, with the API's message and hint", async () => {
    const { message, diff } = await failing("  - alice: BUY 10 YES @ 0.555\n    rejects: MARKET_CLOSED\n");
    expect(message).toBe("refused with INVALID_TICK_SIZE, expected MARKET_CLOSED");
    expect(diff.map(({ text }) => text)).toEqual([
      "MARKET_CLOSED",
      "INVALID_TICK_SIZE: price 0.555 is not a multiple of the tick size 0.01 (nearest valid prices: 0.55, 0.56)",
    ]);
  });

  it.each<[what: string, steps: string, message: RegExp]>([
    ["an order", "  - carol: SELL 101 YES @ 0.5\n", /^refused: INSUFFICIENT_BALANCE: .*101.*100/],
    ["a close", "  - close: market\n  - close: market\n", /^refused: MARKET_CLOSED: /],
    ["a resolution", "  - resolve: YES\n  - resolve: NO\n", /^refused: MARKET_\w+: /],
    ["a fund", "  - alice: fund 4000000000 USDC\n", /^refused: \w+: /],
    ["a cancel", `${TRADED}  - alice: cancel bid\n`, /^refused: already matched: bid could not be canceled$/],
    ["another's cancel", `${TRADED}  - alice: cancel ask\n`, /^refused: ORDER_NOT_FOUND: /],
  ])("%s ends the scenario", async (_case, steps, message) => {
    expect((await failing(steps)).message).toMatch(message);
  });

  it("fails if it is accepted", async () => {
    const order = await failing("  - alice: BUY 10 YES @ 0.5\n    rejects: MARKET_CLOSED\n");
    expect(detailsOf(order)).toEqual({
      at: "5:14",
      message: "accepted, expected to be refused with MARKET_CLOSED",
      diff: ["- MARKET_CLOSED", "+ LIVE 0/10"],
    });
    const cancel = await failing(`${TRADED}  - bob: cancel ask\n    rejects: already matched\n`);
    expect(detailsOf(cancel)).toEqual({
      at: "7:14",
      message: "accepted, expected to be refused with already matched",
      diff: ["- already matched", "+ canceled"],
    });
  });

  it("passes if the step expects the code, and the scenario continues", async () => {
    const { status, steps } = await folder.run(`${HEAD}  - alice: BUY 10 YES @ 0.555
    rejects: INVALID_TICK_SIZE
  - alice: BUY 10 YES @ 0.55
`);
    expect({ status, steps }).toEqual({ status: "passed", steps: 2 });
  });
});

describe("a failure ends its scenario", () => {
  it("later steps are not run", async () => {
    const { steps, transcript } = await folder.run(`${HEAD}  - advance: 1s
  - carol: SELL 101 YES @ 0.5
  - advance: 1s
`);
    expect(steps).toBe(2);
    expect(transcript.length).toBe(2);
  });

  it("if an account cannot be funded, before any step", async () => {
    const { place, step, text, message } = await folder.failure(`scenario: more than there is
accounts: { alice: { USDC: 3000000000 }, bob: { USDC: 3000000000 } }
steps:
  - advance: 1s
`);
    expect({ line: place.line, step, text }).toEqual({ line: 2, step: 0, text: "opening" });
    expect(message).toMatch(/^bob cannot be funded: \w+: /);
  });

  it("if time would go back", async () => {
    const { message } = await failing("  - advance: 10s\n  - at: 2026-01-01T00:00:05Z\n");
    expect(message).toBe(
      "time never goes back: it is 2026-01-01T00:00:10.000Z now, requested 2026-01-01T00:00:05.000Z",
    );
  });
});

describe("several mismatches in one expect", () => {
  it("are reported together, each under its line, at the place of the first", async () => {
    const failure = await failing(`${TRADED}  - expect:
      orders:
        ask: LIVE 0/20
        bid: MATCHED 15/15
      balances:
        bob: { USDC: 8 }
      quote: { YES: { last: 0.56 } }
`);
    expect(positionOf(failure)).toBe("8:9");
    expect(failure.message).toBe("ask is LIVE 15/20, expected LIVE 0/20, and 1 more");
    const notes = failure.diff.filter(({ text }) => /^line \d+: /.test(text)).map(({ text }) => text);
    expect(notes).toEqual([
      "line 8: ask is LIVE 15/20, expected LIVE 0/20",
      "line 11: the USDC of bob is not as expected",
    ]);
  });

  it("a wrong fill and a wrong status of one order are reported together", async () => {
    const { message } = await failing(`${TRADED}    fills: []\n    status: LIVE 15/15\n`);
    expect(message).toBe("the fills are not as expected: 0 expected, 1 found, and 1 more");
  });
});
