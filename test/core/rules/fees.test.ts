import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { feeOf } from "../../../src/core/order.ts";
import { FEES } from "../../../src/core/state.ts";
import { MAX_SIZE, price, size } from "../../../src/core/units.ts";
import { openFundedExchange, TestExchange } from "../../support/exchange.ts";

describe("the taker fee", () => {
  it("is exchange(rate x min(price, 1 - price) x size / 10,000), as computed with BigInt, for every price, size and rate", () => {
    const exact = (p: number, s: number, rate: number): number =>
      Number((BigInt(rate) * BigInt(Math.min(p, 10_000 - p)) * BigInt(s)) / 10_000n);
    const units = (max: number): fc.Arbitrary<number> =>
      fc.oneof(fc.integer({ min: 1, max }), fc.integer({ min: 1, max: Math.min(50, max) }), fc.constant(max));
    fc.assert(
      fc.property(units(9999), units(MAX_SIZE), units(10_000), (p, s, rate) => {
        expect(feeOf(price(p), size(s), rate)).toBe(exact(p, s, rate));
      }),
      { seed: 42, numRuns: 5000 },
    );
  });
});

describe("payment of the fee", () => {
  it.each<[string, string, string, readonly [taker: number, maker: number]]>([
    ["a buyer of YES", "alice SELL 10 YES @ 0.4", "bob BUY 10 YES @ 0.4", [-4.04, 4]],
    ["a seller of YES", "alice BUY 10 YES @ 0.4", "bob SELL 10 YES @ 0.4", [3.96, -4]],
    ["a buyer of NO", "alice SELL 10 NO @ 0.7", "bob BUY 10 NO @ 0.7", [-7.03, 7]],
    ["a seller of NO", "alice BUY 10 NO @ 0.7", "bob SELL 10 NO @ 0.7", [6.97, -7]],
    ["a buyer of minted shares", "alice BUY 10 NO @ 0.3", "bob BUY 10 YES @ 0.7", [-7.03, -3]],
    ["a seller of merged shares", "alice SELL 10 NO @ 0.3", "bob SELL 10 YES @ 0.7", [6.97, 3]],
  ])("is by the taker and never by the maker: %s", (_name, maker, taker, [takerProfit, makerProfit]) => {
    const exchange = openFundedExchange({ feeRateBps: 100 });
    exchange.send(maker, taker);
    expect([exchange.profit("bob"), exchange.profit("alice")]).toEqual([takerProfit, makerProfit]);
  });

  it("is to the exchange's fee account", () => {
    const exchange = openFundedExchange({ feeRateBps: 100 });
    exchange.send("alice SELL 10 YES @ 0.4", "bob BUY 4 YES @ 0.4", "bob BUY 6 YES @ 0.4");
    expect(exchange.state.accounts.get(FEES).collateral.balance).toBe(40_000);
  });

  it("leaves a seller below 0.5 at 10,000 basis points with 0 USDC, never less", () => {
    const exchange = openFundedExchange({ feeRateBps: 10_000 });
    exchange.fund("dave", { yes: 10 });
    exchange.send("alice BUY 10 YES @ 0.5", "dave SELL 10 YES @ 0.01");
    expect(exchange.usdc("dave")).toEqual({ balance: 0, reserved: 0 });
  });

  it("is exact for 10,000,000 shares at 10,000 basis points", () => {
    const exchange = new TestExchange();
    exchange.market({ feeRateBps: 10_000, tickSize: 0.0001 });
    for (const name of ["alice", "bob"]) exchange.fund(name, { usdc: 10_000_000, yes: 10_000_000 });
    exchange.send("alice SELL 10000000 YES @ 0.4999", "bob BUY 10000000 YES @ 0.5");
    expect(exchange.trades()).toEqual(["#2 x #1: 10000000 @ 0.4999 fee 4999000"]);
    expect(exchange.usdc("bob")).toEqual({ balance: 2000, reserved: 0 });
  });
});
