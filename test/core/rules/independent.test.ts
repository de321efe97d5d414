import { describe, expect, it } from "vitest";
import { openFundedExchange } from "../../support/exchange.ts";

describe("the two books of an independent market", () => {
  it("have their own sequence, last price and history", () => {
    const exchange = openFundedExchange({ matching: "independent" });
    exchange.send("alice SELL 10 NO @ 0.3", "bob BUY 4 NO @ 0.3");
    const [yes, no] = exchange.state.markets.get(1).books;
    expect(yes).toMatchObject({ sequence: 0, last: null });
    expect(no).toMatchObject({ sequence: 2, last: { price: 3000, side: "BUY" } });
    expect([yes.history.size, no?.history.size]).toEqual([0, 1]);
  });

  it("trade only existing shares, so that the supply does not change", () => {
    const exchange = openFundedExchange({ matching: "independent" });
    const before = exchange.state.markets.get(1).supply;
    exchange.send(
      "alice SELL 10 NO @ 0.3",
      "bob BUY 4 NO @ 0.3",
      "bob SELL 3 YES @ 0.2",
      "carol BUY 3 YES @ 0.2",
    );
    expect(exchange.trades()).toEqual(["#2 x #1: 4 @ 0.3", "#4 x #3: 3 @ 0.2"]);
    expect(exchange.state.markets.get(1).supply).toBe(before);
  });

  it("both count for the volume, only YES counts for the liquidity", () => {
    const exchange = openFundedExchange({ matching: "independent" });
    exchange.send(
      "alice BUY 10 YES @ 0.3",
      "bob BUY 5 NO @ 0.8",
      "carol SELL 1 YES @ 0.3",
      "carol SELL 1 NO @ 0.8",
    );
    expect(exchange.figures()).toEqual({ liquidity: 2_700_000n, volume: 1_100_000n });
  });

  it("are both emptied when the market closes, oldest order first", () => {
    const exchange = openFundedExchange({ matching: "independent" });
    exchange.send(
      "alice BUY 1 NO @ 0.3",
      "bob BUY 1 YES @ 0.8",
      "carol SELL 1 NO @ 0.9",
      "alice BUY 1 YES @ 0.8",
    );
    exchange.mustSubmit({ kind: "closeMarket", market: 1 });
    expect(exchange.eventsOf("orderCanceled").map(({ order }) => order)).toEqual([1, 2, 3, 4]);
  });
});
