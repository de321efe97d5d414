import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { violations } from "../../../src/core/invariants.ts";
import { feeOf } from "../../../src/core/order.ts";
import { MAX_MILLIS, MAX_SIZE, price, size } from "../../../src/core/units.ts";
import { addressOf } from "../../support/commands.ts";
import { openFundedExchange, START, TestExchange } from "../../support/exchange.ts";
import { forAll } from "../../support/runs.ts";

/** Sends orders many times and checks the invariants once, at the end. */
function sendMany(exchange: TestExchange, sentences: readonly string[], times: number): void {
  const commands = sentences.map((sentence) => exchange.command(sentence));
  for (let time = 0; time < times; time += 1) {
    for (const command of commands) {
      const decision = exchange.exchange.submit(command);
      if (!decision.ok) throw new Error(`time ${time}: ${JSON.stringify(decision.refusal)}`);
    }
  }
  expect(violations(exchange.state)).toEqual([]);
}

it("the taker fee is rate x min(price, 1 - price) x size, rounded down, for every price, size and rate", () => {
  const exact = (p: number, s: number, rate: number): number =>
    Number((BigInt(rate) * BigInt(Math.min(p, 10_000 - p)) * BigInt(s)) / 10_000n);
  const units = (max: number): fc.Arbitrary<number> =>
    fc.oneof(fc.integer({ min: 1, max }), fc.integer({ min: 1, max: Math.min(50, max) }), fc.constant(max));
  forAll({ seed: 42, numRuns: 5000 }, [units(9999), units(MAX_SIZE), units(10_000)], (p, s, rate) => {
    expect(feeOf(price(p), size(s), rate)).toBe(exact(p, s, rate));
  });
});

describe("in large numbers", () => {
  it("one order matches thousands of makers, and closing the market cancels thousands more", () => {
    const exchange = openFundedExchange();
    sendMany(exchange, ["alice SELL 1 YES @ 0.5", "bob SELL 1 YES @ 0.6"], 3000);
    exchange.send("carol BUY 4500 YES @ 0.99");
    expect(exchange.state.trades.size).toBe(4500);
    exchange.act("close");
    expect(exchange.book()).toEqual({ bids: [], asks: [] });
    expect(exchange.open("bob")).toEqual([]);
  });

  it("the liquidity is exact above 2^53 micro-USDC", () => {
    const exchange = openFundedExchange({ tickSize: 0.0001 });
    sendMany(exchange, ["alice BUY 9999999.99 NO @ 0.0001"], 950);
    exchange.exchange.submit({ kind: "cancelAllOrders", address: addressOf("alice") });
    expect(exchange.figures().liquidity).toBe(0n);
    expect(violations(exchange.state)).toEqual([]);
  });

  it("the volume is exact above 2^53 micro-USDC", () => {
    const exchange = new TestExchange();
    exchange.market({ tickSize: 0.0001 });
    exchange.fund("alice", { usdc: 10_000_000, yes: 10_000_000 });
    sendMany(exchange, ["alice SELL 9999999.99 YES @ 0.9997", "alice BUY 9999999.99 YES @ 0.9997"], 1000);
    expect(exchange.figures().volume).toBe(1000n * 9997n * 999_999_999n);
  });
});

it("the latest expiration is the last millisecond of the year 9999", () => {
  const exchange = openFundedExchange();
  exchange.send(`alice BUY 1 YES @ 0.5 GTD ${MAX_MILLIS - START}ms`);
  exchange.exchange.advanceTo(MAX_MILLIS);
  expect(exchange.order(1)).toBe("EXPIRED 0/1");
});
