import { describe, expect, it } from "vitest";
import type { OrderStep, OrderWords } from "../../../src/scenario/language/scenario.ts";
import { lastStep, ofSteps, ofTwoMarkets } from "./scenario-texts.ts";

const order = (line: string): OrderStep => lastStep(ofSteps(`alice: ${line}`)) as OrderStep;
const HALF = {
  side: "BUY",
  size: 1000,
  outcome: "YES",
  price: 5000,
  orderType: "GTC",
  expiry: null,
  market: null,
};

describe("an order line", () => {
  it.each([
    ["BUY 10 YES @ 0.5", {}],
    ["SELL 10 NO @ 0.5", { side: "SELL", outcome: "NO" }],
    ["BUY 0.01 YES @ 0.0001", { size: 1, price: 1 }],
    ["BUY 10000000 YES @ 0.9999", { size: 1_000_000_000, price: 9999 }],
    ["BUY 1.50 YES @ 0.500000", { size: 150 }],
    ["BUY 10 YES @ 0.5 GTC", {}],
    ["BUY 10 YES @ 0.5 FOK", { orderType: "FOK" }],
    ["BUY 10 YES @ 0.5 FAK", { orderType: "FAK" }],
    ["BUY 10 YES @ 0.5 GTD +1m30s", { orderType: "GTD", expiry: { after: 90_000 } }],
    ["BUY 10 YES @ 0.5 GTD 2026-01-02T00:00:00Z", { orderType: "GTD", expiry: { at: 1_767_312_000_000 } }],
    ["BUY 10 YES @ 0.5 GTD 2000-01-01T00:00:00Z", { orderType: "GTD", expiry: { at: 946_684_800_000 } }],
    ["BUY 10 YES @ 0.5 in market", {}],
    ["  BUY   10 YES @\t0.5  ", {}],
  ])("%s has every word in the core's units", (line, words) => {
    expect(order(JSON.stringify(line)).exact).toEqual({ ...HALF, ...words });
  });

  it("keeps its words as they stand, and the type that is not said", () => {
    expect(order("BUY 10.0 YES @ 0.50").words).toEqual({
      side: "BUY",
      size: "10.0",
      outcome: "YES",
      price: "0.50",
      type: "GTC",
      expiry: null,
      market: null,
    });
  });

  it("is exact off the market's tick and below its minimum: the exchange refuses it", () => {
    expect(order("BUY 0.5 YES @ 0.555").exact).toMatchObject({ size: 50, price: 5550 });
  });

  it("names the market where there are several, and the order where it is spoken of again", () => {
    const step = lastStep(ofTwoMarkets("alice: BUY 10 YES @ 0.5 FOK in snow as bid"));
    expect(step).toMatchObject({ exact: { market: "snow" }, words: { market: "snow" }, name: "bid" });
  });

  it("is numbered, says whose it is, and its text is its line with single spaces", () => {
    const step = lastStep(ofSteps("advance: 1s", "bob:   SELL  10 YES @ 0.5   as ask   # here"));
    expect(step).toMatchObject({
      kind: "order",
      number: 2,
      account: "bob",
      name: "ask",
      text: "bob: SELL 10 YES @ 0.5 as ask",
      place: { file: "x.yaml", line: 5, column: 5 },
    });
  });

  it("may go over lines", () => {
    const text = "scenario: x\naccounts: { alice: {} }\nsteps:\n  - alice: BUY 10\n      YES @ 0.5\n";
    expect(lastStep(text)).toMatchObject({ exact: HALF, text: "alice: BUY 10 YES @ 0.5" });
  });

  it("may be JSON", () => {
    const text = `{"scenario": "x", "accounts": {"alice": {}}, "steps": [\n\t{"alice": "BUY 10 YES @ 0.5"}\n]}`;
    expect(lastStep(text)).toMatchObject({ exact: HALF, text: "alice: BUY 10 YES @ 0.5" });
  });
});

describe("an order that is to be refused", () => {
  const refused = (line: string): OrderStep =>
    lastStep(ofSteps(`{ alice: "${line}", rejects: INVALID_ORDER }`)) as OrderStep;

  it.each<[line: string, words: Partial<OrderWords>]>([
    ["HOLD 10 YES @ 0.5", { side: "HOLD" }],
    ["BUY -3 YES @ 0.5", { size: "-3" }],
    ["BUY 10 YES @ 1.5", { price: "1.5" }],
    ["BUY 10 YES @ 0.55555", { price: "0.55555" }],
    ["BUY 10 MAYBE @ 0.5", { outcome: "MAYBE" }],
    ["BUY 10 YES @ 0.5 IOC", { type: "IOC" }],
    ["BUY 10 YES @ 0.5 GTD", { type: "GTD", expiry: null }],
    ["BUY 10 YES @ 0.5 GTC +60s", { type: "GTC", expiry: { after: 60_000 } }],
    [
      "BUY 10 YES @ 0.5 FOK 2026-01-02T00:00:00Z",
      { type: "FOK", expiry: { at: 1_767_312_000_000 } as never },
    ],
    ["BUY 10 YES @ 0.5 GTD soon", { type: "GTD", expiry: { text: "soon" } }],
    ["BUY 10 YES @ 0.5 in nowhere", { market: "nowhere" }],
    ["BYU 0 YSE @ 2 GTX", { side: "BYU", size: "0", outcome: "YSE", price: "2", type: "GTX" }],
  ])("may be wrong: %s", (line, words) => {
    expect(refused(line)).toMatchObject({
      words,
      exact: null,
      expects: { rejects: { value: "INVALID_ORDER" } },
    });
  });

  it.each(["INVALID_TICK_SIZE", "MARKET_CLOSED", "CONNECTION_LOST", "HTTP 503"])(
    "may be refused with %s",
    (code) => {
      const step = lastStep(ofSteps(`{ alice: BUY 10 YES @ 0.5, rejects: ${code} }`)) as OrderStep;
      expect(step.expects.rejects).toEqual({ value: code, place: { file: "x.yaml", line: 4, column: 41 } });
    },
  );

  it("is exact when every word is right", () => {
    expect(refused("BUY 10 YES @ 0.555").exact).toEqual({ ...HALF, price: 5550 });
  });
});

describe("what an order says of its own outcome", () => {
  it("is its status, its fills and where each stands", () => {
    const step = lastStep(
      ofSteps(
        "{ alice: BUY 10 YES @ 0.5, status: MATCHED 10/10, fills: [BUY 4 YES @ 0.4 from bob, BUY 6 YES @ 0.5 from bob MINT MINED] }",
      ),
    );
    expect((step as OrderStep).expects).toEqual({
      status: {
        value: { status: "MATCHED", matched: 1000, size: 1000, reason: null },
        place: { file: "x.yaml", line: 4, column: 40 },
      },
      fills: {
        value: [
          {
            value: {
              side: "BUY",
              size: 400,
              outcome: "YES",
              price: 4000,
              market: null,
              maker: "bob",
              isMakerOrder: false,
              matchType: "COMPLEMENTARY",
              status: null,
            },
            place: { file: "x.yaml", line: 4, column: 63 },
          },
          {
            value: {
              side: "BUY",
              size: 600,
              outcome: "YES",
              price: 5000,
              market: null,
              maker: "bob",
              isMakerOrder: false,
              matchType: "MINT",
              status: "MINED",
            },
            place: { file: "x.yaml", line: 4, column: 89 },
          },
        ],
        place: { file: "x.yaml", line: 4, column: 62 },
      },
      rejects: null,
    });
  });

  it.each([
    ["LIVE 0/10", { status: "LIVE", matched: 0, size: 1000, reason: null }],
    ["CANCELED 0/10 FOK_UNFILLED", { status: "CANCELED", matched: 0, size: 1000, reason: "FOK_UNFILLED" }],
    ["EXPIRED 2.5/10", { status: "EXPIRED", matched: 250, size: 1000, reason: null }],
  ])("can be %s", (status, value) => {
    const step = lastStep(ofSteps(`{ alice: BUY 10 YES @ 0.5, status: ${status} }`)) as OrderStep;
    expect(step.expects.status?.value).toEqual(value);
  });

  it("can be that it fills nothing", () => {
    const step = lastStep(ofSteps("{ alice: BUY 10 YES @ 0.5, fills: [] }")) as OrderStep;
    expect(step.expects.fills?.value).toEqual([]);
  });
});
