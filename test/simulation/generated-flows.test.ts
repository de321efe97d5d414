import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { price, size } from "../../src/core/units.ts";
import {
  FLOW_PROFILES,
  type FlowProfile,
  type FlowProfileName,
  type FlowRow,
  PROFILES,
} from "../../src/simulation/flow.ts";
import { writeFlow } from "../../src/simulation/flow-text.ts";
import { type GenerateFlowOptions, generateFlow } from "../../src/simulation/generate-flow.ts";
import { atLevel, forAll, runs } from "../support/runs.ts";
import { type PlayedFlow, play } from "./played-flow.ts";

const flowOf = (options: Partial<GenerateFlowOptions> = {}): Generator<FlowRow> =>
  generateFlow({ seed: "1", orders: 1000, accounts: 20, profile: PROFILES.balanced, ...options });

const played = new Map<string, PlayedFlow>();
const ORDERS = atLevel(20_000);
/** Plays the flow of a profile once. */
function playedFlow(name: FlowProfileName): PlayedFlow {
  const flow = played.get(name) ?? play(flowOf({ orders: ORDERS, profile: PROFILES[name] }));
  played.set(name, flow);
  return flow;
}

const csvOf = (rows: Iterable<FlowRow>): string => [...writeFlow(rows, "csv")].join("");

describe.each(FLOW_PROFILES)("a flow that is %s", (name) => {
  it("has no refused rows", () => {
    const { refused, broken } = playedFlow(name);
    expect({ refused, broken }).toEqual({ refused: [], broken: [] });
  });

  it("has the requested number of orders, of all types and both outcomes", () => {
    const { orders } = playedFlow(name);
    expect(orders).toHaveLength(ORDERS);
    expect(new Set(orders.map(({ type }) => type))).toEqual(new Set(["GTC", "GTD", "FOK", "FAK"]));
    const kinds = new Set(orders.map(({ side, outcome }) => `${side} ${outcome}`));
    expect(kinds).toEqual(new Set(["BUY YES", "SELL YES", "BUY NO", "SELL NO"]));
  });

  it("never goes back in time", () => {
    const { rows } = playedFlow(name);
    expect(rows.every(({ at }, index) => at >= (rows[index - 1]?.at ?? 0))).toBe(true);
  });

  it("leaves at most one order more than its profile resting", () => {
    expect(playedFlow(name).mostResting).toBeLessThanOrEqual(PROFILES[name].maxResting + 1);
  });
});

describe("profiles", () => {
  it("balanced: 30 to 50 of 100 orders trade, at almost constant prices", () => {
    const { tradedShare, drift } = playedFlow("balanced");
    expect(tradedShare).toBeGreaterThan(0.3);
    expect(tradedShare).toBeLessThan(0.5);
    expect(Math.abs(drift)).toBeLessThan(0.1);
  });

  it.each<[FlowProfileName, string, (flow: PlayedFlow) => boolean]>([
    ["trending", "the price rises by 40 cents and more", ({ drift }) => drift > 0.4],
    ["one-sided", "70 of 100 orders and more buy YES", ({ buysYesShare }) => buysYesShare > 0.7],
    ["cancel-heavy", "accounts cancel 70 of 100 orders and more", ({ canceledShare }) => canceledShare > 0.7],
    ["bursts", "9 of 10 rows come at the moment of the row before", (flow) => flow.sameMomentShare > 0.9],
  ])("%s: %s, and only there", (name, _rule, holds) => {
    for (const each of FLOW_PROFILES) expect(holds(playedFlow(each)), each).toBe(each === name);
  });

  it("bursts: nowhere else does a row come at the moment of the row before", () => {
    const others = FLOW_PROFILES.filter((name) => name !== "bursts");
    for (const name of others) expect(playedFlow(name).sameMomentShare, name).toBe(0);
  });
});

describe("a generated flow", () => {
  it("funds every account first", () => {
    const [usdc, yes, no, next] = [...flowOf({ accounts: 2, orders: 1 })];
    expect([usdc, yes, no].map((row) => row?.op === "fund" && row.asset)).toEqual(["USDC", "YES", "NO"]);
    expect([usdc, next].map((row) => row?.account)).toEqual(["trader-1", "trader-2"]);
  });

  it("cancels only orders placed before by the same account, each once", () => {
    const owners = new Map<string, string>();
    for (const row of flowOf({ orders: 5000 })) {
      if (row.op === "place") owners.set(row.ref, row.account);
      if (row.op !== "cancel") continue;
      expect(owners.get(row.ref)).toBe(row.account);
      owners.delete(row.ref);
    }
  });

  it("has prices on the ticks, orders of the minimum size or more, and no refused rows, for any profile", () => {
    const share = fc.integer({ min: 0, max: 100 });
    const range = (most: number, least = 1): fc.Arbitrary<readonly [number, number]> =>
      fc
        .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }))
        .map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);
    const profiles: fc.Arbitrary<FlowProfile> = fc.record({
      upPercent: share,
      yesPercent: share,
      takerPercent: share,
      cancelPercent: share,
      maxResting: fc.integer({ min: 0, max: 50 }),
      fair: range(9999),
      maxStep: fc.nat(500),
      maxDistance: fc.integer({ min: 1, max: 9999 }),
      rowsAtOnce: range(20),
      pauseMs: fc.integer({ min: 1, max: 60_000 }),
    });
    const all = {
      profile: fc.oneof(fc.constantFrom(...Object.values(PROFILES)), profiles),
      accounts: fc.integer({ min: 1, max: 5 }),
      seed: fc.string(),
      tickSize: fc.constantFrom(1, 25, 100, 1000, 5000).map(price),
      minOrderSize: fc.constantFrom(1, 100, 250, 500, 100_000).map(size),
    };
    forAll(runs(60), [fc.record(all), fc.integer({ min: 0, max: 200 })], (options, feeRateBps) => {
      const { tickSize, minOrderSize } = options;
      const terms = { tickSize: tickSize / 10_000, minOrderSize: minOrderSize / 100, feeRateBps };
      const { refused, broken, orders } = play(flowOf({ ...options, orders: 300 }), terms);
      expect({ refused, broken }).toEqual({ refused: [], broken: [] });
      expect(orders.every(({ price, size }) => price % tickSize === 0 && size >= minOrderSize)).toBe(true);
    });
  });

  it("is generated lazily", () => {
    const flow = flowOf({ orders: 10_000_000, accounts: 1 });
    for (let row = 0; row < 100; row += 1) expect(flow.next().done).toBe(false);
  });

  it.each<[FlowProfileName, string]>([
    ["balanced", "07276f8ff81fb85560a5330f054832e0fb99149a72e28edefca30b757aa57961"],
    ["trending", "aaefb7e2bb4884845c0fcdfdcf485404a0df0cae29154a357d3369f4282de919"],
    ["one-sided", "dc4ca1c1943f0af15ee707a0aa1ed738e7bf081f1e1053bfe0454e23f0695114"],
    ["cancel-heavy", "98a30fdb55105bd84f01e27439e1c50fd3e0b2e2b7c5a09d0e21ef2adbdd96c0"],
    ["bursts", "bfa7b24711cd5cdbb14146cf4d25d0ee9c2613ca49e4aadb0c9fbaba3e621b5c"],
  ])("that is %s has known bytes", (name, hash) => {
    const text = csvOf(flowOf({ seed: "golden", profile: PROFILES[name] }));
    expect(createHash("sha256").update(text).digest("hex")).toBe(hash);
  });

  it.each([
    [{ orders: 0 }, "orders expects a whole number from 1 to 10000000, found 0"],
    [{ orders: 1.5 }, "orders expects a whole number from 1 to 10000000, found 1.5"],
    [{ accounts: 10_001 }, "accounts expects a whole number from 1 to 10000, found 10001"],
    [{ tickSize: price(300) }, "tickSize expects a divisor of 10000, found 300"],
    [
      { orders: 10_000_000, minOrderSize: size(100_000_000) },
      "an exchange cannot issue what 20 accounts need for 10000000 orders of up to 1000398.99 shares",
    ],
  ])("cannot have %j", (options, message) => {
    expect(() => flowOf(options)).toThrow(new RangeError(message));
  });
});
