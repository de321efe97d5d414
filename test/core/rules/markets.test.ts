import { describe, expect, it } from "vitest";
import { price } from "../../../src/core/units.ts";
import { openFundedExchange, TestExchange, verdictOf } from "../../support/exchange.ts";

describe("the two books of an independent market", () => {
  it("have their own sequence, last price and history; the liquidity is that of YES, the volume that of both", () => {
    const exchange = openFundedExchange({ matching: "independent" });
    const { supply, books } = exchange.state.markets.get(1);
    exchange.send("alice SELL 10 NO @ 0.3", "bob BUY 4 NO @ 0.3", "alice BUY 10 YES @ 0.3");
    expect(books[0]).toMatchObject({ sequence: 1, last: null, history: { size: 0 } });
    expect(books[1]).toMatchObject({ sequence: 2, last: { price: 3000, side: "BUY" }, history: { size: 1 } });
    expect(exchange.figures()).toEqual({ liquidity: 3_000_000n, volume: 1_200_000n });
    expect(exchange.state.markets.get(1).supply).toBe(supply);
  });

  it("are both emptied when the market closes, oldest order first", () => {
    const exchange = openFundedExchange({ matching: "independent" });
    exchange.act(
      "alice BUY 1 NO @ 0.3; bob BUY 1 YES @ 0.8; carol SELL 1 NO @ 0.9; alice BUY 1 YES @ 0.8; close",
    );
    expect(exchange.eventsOf("orderCanceled").map(({ order }) => order)).toEqual([1, 2, 3, 4]);
  });
});

it.each([0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001])(
  "the valid prices of YES and NO are all multiples of a tick of %d",
  (tickSize) => {
    const exchange = new TestExchange();
    exchange.market({ tickSize });
    exchange.fund("alice", { usdc: 100_000, yes: 100_000 });
    exchange.fund("bob", { usdc: 100_000, no: 100_000 });
    const orders = ["alice BUY 1 YES @ 0.5", "bob SELL 1 NO @ 0.5"].map((order) => exchange.command(order));
    for (let units = 1; units < 10_000; units += 1) {
      const valid = units % Math.round(tickSize * 10_000) === 0 ? "ok" : "INVALID_TICK_SIZE";
      for (const order of orders) {
        const verdict = verdictOf(exchange.exchange.submit({ ...order, price: price(units) }));
        if (verdict !== valid) expect.fail(`${units}: ${verdict}`);
      }
    }
    expect(exchange.state.trades.size).toBe(0);
    for (const { status } of exchange.state.orders) if (status !== "LIVE") expect.fail(status);
  },
);
