import { describe, expect, it } from "vitest";
import type { Command } from "../../../src/core/commands.ts";
import { openFloor, START, type TestExchange, verdictOf } from "../../support/exchange.ts";

const close: Command = { kind: "closeMarket", market: 1 };
const resolve = (winningOutcome: "YES" | "NO" | "SPLIT"): Command => ({
  kind: "resolveMarket",
  market: 1,
  winningOutcome,
});

function restingFloor(): TestExchange {
  const floor = openFloor();
  floor.market();
  floor.send("bob SELL 10 NO @ 0.6", "alice BUY 4 YES @ 0.3 GTD 1h", "carol BUY 5 NO @ 0.6");
  floor.demand(floor.command("alice BUY 1 YES @ 0.5", 2));
  return floor;
}

describe.each<[string, Command]>([
  ["closing", close],
  ["resolving to YES", resolve("YES")],
  ["resolving to NO", resolve("NO")],
  ["resolving to SPLIT", resolve("SPLIT")],
])("%s a market", (_name, end) => {
  it("first cancels its resting orders, oldest first", () => {
    const floor = restingFloor();
    const before = floor.events.length;
    floor.demand(end);
    expect(floor.events.slice(before).map(({ kind }) => kind)).toEqual([
      "orderCanceled",
      "orderCanceled",
      end.kind === "closeMarket" ? "marketClosed" : "marketResolved",
    ]);
    expect([1, 2, 3].map((order) => floor.order(order))).toEqual([
      "CANCELED 5/10 MARKET_CLOSED",
      "CANCELED 0/4 MARKET_CLOSED",
      "MATCHED 5/5",
    ]);
  });

  it("empties its book and does not change other markets", () => {
    const floor = restingFloor();
    floor.demand(end);
    expect(floor.book()).toEqual({ bids: [], asks: [] });
    expect(floor.figures().liquidity).toBe(0n);
    expect(floor.book("YES", 2).bids).toEqual(["1 @ 0.5"]);
  });

  it("makes it refuse orders, and keeps balances and supply", () => {
    const floor = restingFloor();
    const { supply } = floor.state.markets.get(1);
    floor.demand(end);
    expect(verdictOf(floor.try("bob SELL 1 YES @ 0.5"))).toBe("MARKET_CLOSED");
    expect(floor.state.markets.get(1).supply).toBe(supply);
    expect(floor.shares("bob", "NO")).toEqual({ balance: 999_995, reserved: 0 });
  });

  it("is one command of the sequence", () => {
    const floor = restingFloor();
    const { sequence } = floor.exchange;
    floor.demand(end);
    expect(floor.exchange.sequence).toBe(sequence + 1);
  });

  it("has only one event if no order rests", () => {
    const floor = openFloor();
    const before = floor.events.length;
    floor.demand(end);
    expect(floor.events).toHaveLength(before + 1);
  });
});

describe("a market that has ended", () => {
  it.each(["YES", "NO", "SPLIT"] as const)(
    "by resolution has the winner %s and the time",
    (winningOutcome) => {
      const floor = openFloor();
      floor.advance("1h");
      floor.demand(resolve(winningOutcome));
      const expected = { status: "RESOLVED", winningOutcome, resolvedAt: START + 3_600_000 };
      expect(floor.state.markets.get(1)).toMatchObject(expected);
    },
  );

  it("by closing has no winner yet", () => {
    const floor = openFloor();
    floor.demand(close);
    const expected = { status: "CLOSED", winningOutcome: null, resolvedAt: null };
    expect(floor.state.markets.get(1)).toMatchObject(expected);
  });

  it("keeps the last trade and the volume", () => {
    const floor = restingFloor();
    floor.demand(resolve("YES"));
    expect(floor.figures().volume).toBe(3_000_000n);
    expect(floor.state.markets.get(1)).toMatchObject({ books: [{ last: { price: 4000 } }] });
  });
});
