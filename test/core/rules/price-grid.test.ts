import { describe, expect, it } from "vitest";
import { decimalText, PRICE_PLACES } from "../../../src/core/format.ts";
import { MAX_SIZE, price } from "../../../src/core/units.ts";
import { openFundedExchange, TestExchange, verdictOf } from "../../support/exchange.ts";

const GRIDS = [
  [0.1, 9],
  [0.01, 99],
  [0.005, 199],
  [0.0025, 399],
  [0.001, 999],
  [0.0001, 9999],
] as const;

describe.each(GRIDS)("with a tick of %d", (tickSize, levels) => {
  it(`all ${levels} multiples of the tick are valid prices of YES and NO`, () => {
    const exchange = new TestExchange();
    exchange.market({ tickSize });
    exchange.fund("alice", { usdc: 100_000, yes: 100_000 });
    exchange.fund("bob", { usdc: 100_000, no: 100_000 });
    const buy = exchange.command("alice BUY 1 YES @ 0.5");
    const sell = exchange.command("bob SELL 1 NO @ 0.5");
    const { tickSize: tick } = exchange.state.markets.get(1);
    for (let units = tick as number; units < 10_000; units += tick) {
      exchange.exchange.submit({ ...buy, price: price(units) });
      exchange.exchange.submit({ ...sell, price: price(units) });
    }
    const { trades, orders } = exchange.state;
    expect(orders.size).toBe(levels * 2);
    for (const order of orders) {
      if (order.cancelReason !== null) expect.fail(`${decimalText(order.price, PRICE_PLACES)} was canceled`);
    }
    expect(trades.size).toBe(0);
  });

  it("every other price is refused", () => {
    const exchange = openFundedExchange({ tickSize });
    const { tickSize: tick } = exchange.state.markets.get(1);
    const order = exchange.command("alice BUY 1 YES @ 0.5");
    for (let units = 1; units < 10_000; units += 1) {
      const verdict = verdictOf(
        exchange.exchange.submit({ ...order, price: price(units), orderType: "FAK" }),
      );
      if (verdict !== (units % tick === 0 ? "ok" : "INVALID_TICK_SIZE")) expect.fail(`${units}: ${verdict}`);
    }
  });
});

describe("orders of the maximum size", () => {
  it("trade at the lowest and the highest price", () => {
    const exchange = new TestExchange();
    exchange.market({ tickSize: 0.0001 });
    for (const name of ["alice", "bob"]) exchange.fund(name, { usdc: 100_000_000, yes: 10_000_000 });
    exchange.send("alice SELL 10000000 YES @ 0.9999", "bob BUY 10000000 YES @ 0.9999");
    exchange.send("alice BUY 10000000 NO @ 0.9999", "bob BUY 10000000 YES @ 0.0001");
    expect(exchange.trades()).toEqual(["#2 x #1: 10000000 @ 0.9999", "#4 x #3: 10000000 @ 0.0001 MINT"]);
    expect(exchange.state.orders.get(1).size).toBe(MAX_SIZE);
  });
});
