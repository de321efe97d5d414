import { describe, expect, it } from "vitest";
import { openFundedExchange } from "../../support/exchange.ts";

describe("an order records on arrival", () => {
  it("the orders and the size ahead of it in its queue", () => {
    const exchange = openFundedExchange();
    exchange.send(
      "alice BUY 10 YES @ 0.5",
      "bob BUY 7.5 YES @ 0.5",
      "bob BUY 1 YES @ 0.51",
      "carol BUY 3 YES @ 0.5",
    );
    expect(exchange.state.orders.get(4)).toMatchObject({ rested: true, ordersAhead: 2, sizeAhead: 1750 });
  });

  it("the best opposite price, and the size that could fill at its limit", () => {
    const exchange = openFundedExchange();
    exchange.send("alice SELL 10 YES @ 0.5", "alice SELL 10 YES @ 0.6", "bob BUY 30 YES @ 0.55 FOK");
    expect(exchange.state.orders.get(3)).toMatchObject({ touch: 5000, fillableSize: 1000, rested: false });
  });

  it("the best opposite price in terms of its own token", () => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 10 YES @ 0.3", "bob BUY 5 NO @ 0.6");
    expect(exchange.state.orders.get(2)).toMatchObject({ touch: 7000, fillableSize: 0 });
  });

  it("the size that could fill before an own order stopped it", () => {
    const exchange = openFundedExchange({ selfTrade: "cancel-taker" });
    exchange.send(
      "alice SELL 4 YES @ 0.5",
      "bob SELL 1 YES @ 0.5",
      "alice SELL 4 YES @ 0.6",
      "bob BUY 9 YES @ 0.6",
    );
    expect(exchange.state.orders.get(4)).toMatchObject({ touch: 5000, fillableSize: 400 });
  });

  it("no best opposite price if the other side is empty", () => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 10 YES @ 0.3", "bob BUY 5 YES @ 0.2");
    expect(exchange.state.orders.get(2)).toMatchObject({ touch: null, fillableSize: 0 });
  });
});
