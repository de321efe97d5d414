import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/core/hash.ts";
import { scenarioOf, withLine } from "./scenario-texts.ts";

const MARKET = {
  name: "market",
  tickSize: 100,
  minOrderSize: 100,
  feeRateBps: 0,
  matching: "complementary",
  selfTrade: "allow",
};

describe("a scenario", () => {
  it("has defaults for all but its name and steps", () => {
    expect(scenarioOf("scenario: a name\nsteps: [{ advance: 1s }]\n")).toEqual({
      name: "a name",
      place: { file: "x.yaml", line: 1, column: 1 },
      seed: sha256Hex("a name").slice(0, 16),
      clock: 1_767_225_600_000,
      settlement: "instant",
      balances: "optimistic",
      world: null,
      markets: [MARKET],
      accounts: [],
      steps: [
        {
          kind: "advance",
          by: 1000,
          number: 1,
          text: "advance: 1s",
          place: { file: "x.yaml", line: 2, column: 11 },
        },
      ],
    });
  });

  it.each([
    ["seed: 7", { seed: "7" }],
    ["seed: 007", { seed: "007" }],
    ["seed: some text", { seed: "some text" }],
    ['seed: "12345678901234567890"', { seed: "12345678901234567890" }],
    ["clock: 2026-01-01T01:00:00.250+01:00", { clock: 1_767_225_600_250 }],
    ["about: anything, which is ignored", { name: "x" }],
    ["market: {}", { markets: [MARKET] }],
    ["market: { tickSize: 0.10 }", { markets: [{ ...MARKET, tickSize: 1000 }] }],
    [
      "market: { tickSize: 0.0025, minOrderSize: 0.01 }",
      { markets: [{ ...MARKET, tickSize: 25, minOrderSize: 1 }] },
    ],
    [
      "market: { feeRateBps: 200, matching: independent, selfTrade: cancel-both }",
      { markets: [{ ...MARKET, feeRateBps: 200, matching: "independent", selfTrade: "cancel-both" }] },
    ],
    [
      "markets: { snow: { tickSize: 0.1 }, rain-2: {} }",
      {
        markets: [
          { ...MARKET, name: "snow", tickSize: 1000 },
          { ...MARKET, name: "rain-2" },
        ],
      },
    ],
  ])("says %s", (line, expected) => {
    expect(scenarioOf(withLine(line))).toMatchObject(expected);
  });

  it.each(["0.1", "0.01", "0.005", "0.0025", "0.001", "0.0001"])("may have the tick size %s", (tickSize) => {
    const [market] = scenarioOf(withLine(`market: { tickSize: ${tickSize} }`)).markets;
    expect(market?.tickSize).toBe(Number(tickSize) * 10_000);
  });

  it("gives its accounts what they start with, or nothing", () => {
    const text = `scenario: x
markets: { rain: {}, snow: {} }
accounts:
  alice: { USDC: 0.000001, rain YES: 500, snow NO: 0.01, snow YES: 0 }
  Bob_2-b: {}
  carol:
steps: [{ alice: cancel all }]
`;
    expect(scenarioOf(text).accounts).toEqual([
      {
        name: "alice",
        place: { file: "x.yaml", line: 4, column: 3 },
        funding: [
          { asset: "USDC", amount: 1 },
          { asset: { market: "rain", outcome: "YES" }, amount: 50_000 },
          { asset: { market: "snow", outcome: "NO" }, amount: 1 },
        ],
      },
      { name: "Bob_2-b", place: { file: "x.yaml", line: 5, column: 3 }, funding: [] },
      { name: "carol", place: { file: "x.yaml", line: 6, column: 3 }, funding: [] },
    ]);
  });

  it("may call an account by a name that objects have, which is a name like any other", () => {
    const text =
      "scenario: x\naccounts: { constructor: {}, toString: {} }\nsteps: [{ toString: cancel all }]\n";
    expect(scenarioOf(text).steps).toMatchObject([{ account: "toString" }]);
  });
});
