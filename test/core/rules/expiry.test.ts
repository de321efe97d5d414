import { describe, expect, it } from "vitest";
import { openFundedExchange, START, type TestExchange, verdictOf } from "../../support/exchange.ts";

describe("a GTD order", () => {
  it("expires at its own moment, and then does not rest or reserve funds", () => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 10 YES @ 0.5 GTD 90s");
    exchange.advance("1h");
    expect(exchange.book()).toEqual({ bids: [], asks: [] });
    expect(exchange.usdc("alice").reserved).toBe(0);
    expect(exchange.state.orders.get(1)).toMatchObject({ updatedAt: START + 90_000, cancelReason: null });
    expect(exchange.state.markets.get(1).books[0].updatedAt).toBe(START + 90_000);
    expect(exchange.exchange.now).toBe(START + 3_600_000);
  });

  it.each([
    ["completely filled", (exchange: TestExchange) => void exchange.send("bob SELL 10 YES @ 0.5")],
    ["canceled", (exchange: TestExchange) => void exchange.cancel("alice", 1)],
    [
      "canceled with its closed market",
      (exchange: TestExchange) => exchange.mustSubmit({ kind: "closeMarket", market: 1 }),
    ],
  ])("that is %s before never expires", (_how, end) => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 10 YES @ 0.5 GTD 1m");
    end(exchange);
    expect(exchange.exchange.nextDueAt).toBe(null);
    exchange.advance("1h");
    expect(exchange.eventsOf("orderExpired")).toEqual([]);
  });

  it("that is filled on arrival makes nothing due", () => {
    const exchange = openFundedExchange();
    exchange.send("bob SELL 10 YES @ 0.5", "alice BUY 10 YES @ 0.5 GTD 1m");
    expect(exchange.exchange.nextDueAt).toBe(null);
  });

  it("is refused if it expires at the current millisecond", () => {
    const exchange = openFundedExchange();
    expect(verdictOf(exchange.try("alice BUY 10 YES @ 0.5 GTD 0s"))).toBe("EXPIRATION_IN_PAST");
    expect(verdictOf(exchange.try("alice BUY 10 YES @ 0.5 GTD 1ms"))).toBe("ok");
  });
});

describe("several orders that expire", () => {
  it("are one command each", () => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 1 YES @ 0.1 GTD 1s", "bob BUY 1 YES @ 0.2 GTD 1s");
    const { sequence } = exchange.exchange;
    exchange.advance("1s");
    expect(exchange.exchange.sequence).toBe(sequence + 2);
  });

  it("make the earliest expiration the next due moment", () => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 1 YES @ 0.1 GTD 3s", "bob BUY 1 YES @ 0.2 GTD 1s");
    expect(exchange.exchange.nextDueAt).toBe(START + 1000);
    exchange.cancel("bob", 2);
    expect(exchange.exchange.nextDueAt).toBe(START + 3000);
  });
});

describe("time", () => {
  it("that passes changes nothing if nothing is due", () => {
    const exchange = openFundedExchange();
    exchange.send("alice BUY 1 YES @ 0.1 GTD 1d", "bob BUY 1 YES @ 0.1");
    const { hash, sequence } = exchange.exchange;
    exchange.advance("23h");
    expect(exchange.exchange).toMatchObject({ hash, sequence });
  });
});
