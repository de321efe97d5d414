import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import { openFundedExchange, START, type TestExchange, verdictOf } from "../../support/exchange.ts";

const close: Command = { kind: "closeMarket", market: 1 };
const resolve = (winningOutcome: "YES" | "NO" | "SPLIT"): Command => ({
  kind: "resolveMarket",
  market: 1,
  winningOutcome,
});

function restingExchange(): TestExchange {
  const exchange = openFundedExchange();
  exchange.market();
  exchange.send("bob SELL 10 NO @ 0.6", "alice BUY 4 YES @ 0.3 GTD 1h", "carol BUY 5 NO @ 0.6");
  exchange.mustSubmit(exchange.command("alice BUY 1 YES @ 0.5", 2));
  return exchange;
}

describe.each<[string, Command]>([
  ["closing", close],
  ["resolving to YES", resolve("YES")],
  ["resolving to NO", resolve("NO")],
  ["resolving to SPLIT", resolve("SPLIT")],
])("%s a market", (_name, end) => {
  it("first cancels its resting orders, oldest first", () => {
    const exchange = restingExchange();
    const before = exchange.events.length;
    exchange.mustSubmit(end);
    expect(exchange.events.slice(before).map(({ kind }) => kind)).toEqual([
      "orderCanceled",
      "orderCanceled",
      end.kind === "closeMarket" ? "marketClosed" : "marketResolved",
    ]);
    expect([1, 2, 3].map((order) => exchange.order(order))).toEqual([
      "CANCELED 5/10 MARKET_CLOSED",
      "CANCELED 0/4 MARKET_CLOSED",
      "MATCHED 5/5",
    ]);
  });

  it("empties its book and does not change other markets", () => {
    const exchange = restingExchange();
    exchange.mustSubmit(end);
    expect(exchange.book()).toEqual({ bids: [], asks: [] });
    expect(exchange.figures().liquidity).toBe(0n);
    expect(exchange.book("YES", 2).bids).toEqual(["1 @ 0.5"]);
  });

  it("makes it refuse orders, and keeps balances and supply", () => {
    const exchange = restingExchange();
    const { supply } = exchange.state.markets.get(1);
    exchange.mustSubmit(end);
    expect(verdictOf(exchange.try("bob SELL 1 YES @ 0.5"))).toBe("MARKET_CLOSED");
    expect(exchange.state.markets.get(1).supply).toBe(supply);
    expect(exchange.shares("bob", "NO")).toEqual({ balance: 999_995, reserved: 0 });
  });

  it("is one command of the sequence", () => {
    const exchange = restingExchange();
    const { sequence } = exchange.exchange;
    exchange.mustSubmit(end);
    expect(exchange.exchange.sequence).toBe(sequence + 1);
  });

  it("has only one event if no order rests", () => {
    const exchange = openFundedExchange();
    const before = exchange.events.length;
    exchange.mustSubmit(end);
    expect(exchange.events).toHaveLength(before + 1);
  });
});

describe("a market that has ended", () => {
  it.each(["YES", "NO", "SPLIT"] as const)(
    "by resolution has the winner %s and the time",
    (winningOutcome) => {
      const exchange = openFundedExchange();
      exchange.advance("1h");
      exchange.mustSubmit(resolve(winningOutcome));
      const expected = { status: "RESOLVED", winningOutcome, resolvedAt: START + 3_600_000 };
      expect(exchange.state.markets.get(1)).toMatchObject(expected);
    },
  );

  it("by closing has no winner yet", () => {
    const exchange = openFundedExchange();
    exchange.mustSubmit(close);
    const expected = { status: "CLOSED", winningOutcome: null, resolvedAt: null };
    expect(exchange.state.markets.get(1)).toMatchObject(expected);
  });

  it("keeps the last trade and the volume", () => {
    const exchange = restingExchange();
    exchange.mustSubmit(resolve("YES"));
    expect(exchange.figures().volume).toBe(3_000_000n);
    expect(exchange.state.markets.get(1)).toMatchObject({ books: [{ last: { price: 4000 } }] });
  });
});
