import { describe, expect, it } from "vitest";
import { openFloor, START, type TestExchange, verdictOf } from "../../support/exchange.ts";

describe("a GTD order", () => {
  it("expires at its own moment, and then does not rest or reserve funds", () => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5 GTD 90s");
    floor.advance("1h");
    expect(floor.book()).toEqual({ bids: [], asks: [] });
    expect(floor.usdc("alice").reserved).toBe(0);
    expect(floor.state.orders.get(1)).toMatchObject({ updatedAt: START + 90_000, cancelReason: null });
    expect(floor.state.markets.get(1).books[0].updatedAt).toBe(START + 90_000);
    expect(floor.exchange.now).toBe(START + 3_600_000);
  });

  it.each([
    ["completely filled", (floor: TestExchange) => void floor.send("bob SELL 10 YES @ 0.5")],
    ["canceled", (floor: TestExchange) => void floor.cancel("alice", 1)],
    [
      "canceled with its closed market",
      (floor: TestExchange) => floor.demand({ kind: "closeMarket", market: 1 }),
    ],
  ])("that is %s before never expires", (_how, end) => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5 GTD 1m");
    end(floor);
    expect(floor.exchange.nextDueAt).toBe(null);
    floor.advance("1h");
    expect(floor.eventsOf("orderExpired")).toEqual([]);
  });

  it("that is filled on arrival makes nothing due", () => {
    const floor = openFloor();
    floor.send("bob SELL 10 YES @ 0.5", "alice BUY 10 YES @ 0.5 GTD 1m");
    expect(floor.exchange.nextDueAt).toBe(null);
  });

  it("is refused if it expires at the current millisecond", () => {
    const floor = openFloor();
    expect(verdictOf(floor.try("alice BUY 10 YES @ 0.5 GTD 0s"))).toBe("EXPIRATION_IN_PAST");
    expect(verdictOf(floor.try("alice BUY 10 YES @ 0.5 GTD 1ms"))).toBe("ok");
  });
});

describe("several orders that expire", () => {
  it("are one command each", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.1 GTD 1s", "bob BUY 1 YES @ 0.2 GTD 1s");
    const { sequence } = floor.exchange;
    floor.advance("1s");
    expect(floor.exchange.sequence).toBe(sequence + 2);
  });

  it("make the earliest expiration the next due moment", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.1 GTD 3s", "bob BUY 1 YES @ 0.2 GTD 1s");
    expect(floor.exchange.nextDueAt).toBe(START + 1000);
    floor.cancel("bob", 2);
    expect(floor.exchange.nextDueAt).toBe(START + 3000);
  });
});

describe("time", () => {
  it("that passes changes nothing if nothing is due", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.1 GTD 1d", "bob BUY 1 YES @ 0.1");
    const { hash, sequence } = floor.exchange;
    floor.advance("23h");
    expect(floor.exchange).toMatchObject({ hash, sequence });
  });
});
