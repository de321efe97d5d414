import { describe, expect, it } from "vitest";
import type { Expectation } from "../../../src/scenario/language/scenario.ts";
import { BID, lastStep, ofSteps, ofTwoMarkets, scenarioOf } from "./scenario-texts.ts";

const YES = { market: null, outcome: "YES" };
const NO = { market: null, outcome: "NO" };

function expectationsOf(text: string): readonly Expectation[] {
  const step = lastStep(text);
  return step.kind === "expect" ? step.expectations : [];
}

/** What the value of an `expect` step in line 5 says, its place left out. */
const expected = (value: string): unknown[] =>
  expectationsOf(ofSteps(BID, `expect: ${value}`)).map(({ place: _, ...rest }) => rest);

describe("an expectation", () => {
  it("of a book has the levels of each side that it names", () => {
    const book = "{ YES: { bids: [0.55 x 60 (2), 0.5 x 1.25], asks: [] }, NO: { asks: [0.4 x 20000000] } }";
    expect(expected(`{ book: ${book} }`)).toEqual([
      {
        kind: "book",
        token: YES,
        bids: [
          { price: 5500, size: 6000, orders: 2 },
          { price: 5000, size: 125, orders: null },
        ],
        asks: [],
      },
      { kind: "book", token: NO, bids: null, asks: [{ price: 4000, size: 2_000_000_000, orders: null }] },
    ]);
  });

  it("of trades may name the order that rested, as fills may", () => {
    const trade = { taker: "bob", maker: "bid", isMakerOrder: true };
    expect(expectationsOf(ofSteps(BID, "expect: { trades: [bob SELL 4 YES @ 0.5 from bid] }"))).toMatchObject(
      [{ trades: [{ value: trade }] }],
    );
    const step = lastStep(ofSteps(BID, "{ bob: SELL 4 YES @ 0.5, fills: [SELL 4 YES @ 0.5 from bid] }"));
    expect(step).toMatchObject({
      expects: { fills: { value: [{ value: { maker: "bid", isMakerOrder: true } }] } },
    });
  });

  it("of trades has each trade with both parties, accounts of flows among them", () => {
    const [trades] = expectationsOf(
      ofSteps(
        "generate: { orders: 1 }",
        "expect: { trades: [bob SELL 40 YES @ 0.55 from alice, trader-1 BUY 1 NO @ 0.1 from trader-2 MERGE FAILED] }",
      ),
    );
    expect(trades).toEqual({
      kind: "trades",
      place: { file: "x.yaml", line: 5, column: 15 },
      trades: [
        {
          value: {
            taker: "bob",
            side: "SELL",
            size: 4000,
            outcome: "YES",
            price: 5500,
            market: null,
            maker: "alice",
            isMakerOrder: false,
            matchType: "COMPLEMENTARY",
            status: null,
          },
          place: { file: "x.yaml", line: 5, column: 24 },
        },
        {
          value: {
            taker: "trader-1",
            side: "BUY",
            size: 100,
            outcome: "NO",
            price: 1000,
            market: null,
            maker: "trader-2",
            isMakerOrder: false,
            matchType: "MERGE",
            status: "FAILED",
          },
          place: { file: "x.yaml", line: 5, column: 59 },
        },
      ],
    });
  });

  it.each(["MATCHED", "MINED", "CONFIRMED", "RETRYING", "FAILED"])(
    "of a trade may say that it is %s",
    (status) => {
      expect(expected(`{ trades: [bob SELL 40 YES @ 0.55 from alice ${status}] }`)).toMatchObject([
        { trades: [{ value: { status, matchType: "COMPLEMENTARY" } }] },
      ]);
    },
  );

  it("of trades may be that there are none", () => {
    expect(expected("{ trades: [] }")).toEqual([{ kind: "trades", trades: [] }]);
  });

  it("of orders has the state of each", () => {
    expect(expected("{ orders: { bid: LIVE 4/10 } }")).toEqual([
      { kind: "order", name: "bid", state: { status: "LIVE", matched: 400, size: 1000, reason: null } },
    ]);
  });

  it("of balances has the whole, or the parts that it names", () => {
    const balances =
      "{ alice: { USDC: 945.5, YES: { available: 40, reserved: 0, onChain: 41 } }, bob: { NO: { balance: 1 } } }";
    const state = { amount: null, balance: null, available: null, reserved: null, onChain: null };
    expect(expected(`{ balances: ${balances} }`)).toEqual([
      { kind: "balance", account: "alice", state: { ...state, asset: "USDC", amount: 945_500_000 } },
      {
        kind: "balance",
        account: "alice",
        state: { ...state, asset: YES, available: 4000, reserved: 0, onChain: 4100 },
      },
      { kind: "balance", account: "bob", state: { ...state, asset: NO, balance: 100 } },
    ]);
  });

  it("of balances may be about an account of a flow that came before", () => {
    const steps = scenarioOf(
      ofSteps("generate: { orders: 10 }", "expect: { balances: { trader-1: { USDC: 5 } } }"),
    ).steps;
    expect(steps[1]).toMatchObject({ expectations: [{ account: "trader-1" }] });
  });

  it("of a quote has the prices that it names, none among them", () => {
    expect(
      expected("{ quote: { YES: { bid: 0.5, ask: none, mid: 0.52505, spread: null, last: } } }"),
    ).toEqual([
      { kind: "quote", token: YES, state: { bid: 5000, ask: null, mid: 52_505, spread: null, last: null } },
    ]);
    expect(expected("{ quote: { NO: { last: 0.1 } } }")).toEqual([
      { kind: "quote", token: NO, state: { last: 1000 } },
    ]);
  });

  it("of a history has its points in Unix seconds", () => {
    expect(expected("{ history: { YES: ['2026-01-01T00:00:30Z 0.55'], NO: [] } }")).toEqual([
      { kind: "history", token: YES, points: [{ t: 1_767_225_630, price: 5500 }] },
      { kind: "history", token: NO, points: [] },
    ]);
  });

  it("names the market where there are several, and none where there is one", () => {
    expect(expectationsOf(ofTwoMarkets("expect: { quote: { rain YES: { bid: none } } }"))).toMatchObject([
      { token: { market: "rain", outcome: "YES" } },
    ]);
    expect(expected("{ quote: { market YES: { bid: none } } }")).toMatchObject([{ token: YES }]);
  });

  it("stands at the key that names what it is about", () => {
    const value = "{ book: { YES: { bids: [] } }, balances: { alice: { USDC: 1, NO: 2 } } }";
    const places = expectationsOf(ofSteps(`expect: ${value}`)).map(({ place }) => place.column);
    expect(places).toEqual([23, 65, 74]);
  });
});

describe("the hash of everything", () => {
  const HASH = "0123456789abcdef".repeat(4);

  /** The file with another hash in its place, as `--update` writes it. */
  function updated(text: string): string {
    const [hash] = expectationsOf(text);
    if (hash?.kind !== "stateHash") throw new Error("no hash");
    const [start, end] = hash.range;
    return text.slice(0, start) + hash.around.join("f".repeat(64)) + text.slice(end);
  }

  it.each([HASH, `"${HASH}"`, `'${HASH}'`])("is kept: %s", (value) => {
    expect(expected(`{ stateHash: ${value} }`)).toMatchObject([{ kind: "stateHash", hash: HASH }]);
  });

  it.each(["", "~", "null", '""', "''"])("is to be written where there is nothing: %s", (value) => {
    expect(expected(`{ stateHash: ${value} }`)).toMatchObject([{ kind: "stateHash", hash: "" }]);
  });

  it.each(["", "~", "null", '""', "''", HASH, `"${HASH}"`])("is written in the place of %s", (value) => {
    const text = ofSteps(`expect: { stateHash: ${value} }`);
    expect(expectationsOf(updated(text))).toMatchObject([{ hash: "f".repeat(64) }]);
  });

  it("is written behind the colon that nothing follows", () => {
    const text = "scenario: x\nsteps:\n  - expect:\n      stateHash:\n";
    expect(updated(text)).toBe(text.replace("stateHash:", `stateHash: "${"f".repeat(64)}"`));
  });

  it("is written into JSON so that it stays JSON", () => {
    const text = '{ "scenario": "x", "steps": [{ "expect": { "stateHash": null } }] }';
    expect(JSON.parse(updated(text))).toMatchObject({ steps: [{ expect: { stateHash: "f".repeat(64) } }] });
  });

  it("is written in its place after carriage returns and a byte order mark", () => {
    const text = `\ufeff${ofSteps(`expect: { stateHash: "${HASH}" }`).replaceAll("\n", "\r\n")}`;
    expect(updated(text)).toBe(text.replace(HASH, "f".repeat(64)));
  });
});
