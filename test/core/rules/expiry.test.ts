import { describe, expect, it } from "vitest";
import { openFloor, START, type TestExchange, verdictOf } from "../../support/exchange.ts";

const expiredIn = (floor: TestExchange): number[] =>
  floor.events.flatMap((event) => (event.kind === "orderExpired" ? [event.order] : []));

describe("a GTD order", () => {
  it("leaves book and reservation when it expires, at its own moment", () => {
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
    ["filled whole", (floor: TestExchange) => void floor.send("bob SELL 10 YES @ 0.5")],
    ["canceled", (floor: TestExchange) => void floor.cancel("alice", 1)],
    ["closed with its market", (floor: TestExchange) => floor.demand({ kind: "closeMarket", market: 1 })],
  ])("that is %s first never expires", (_how, end) => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.5 GTD 1m");
    end(floor);
    expect(floor.exchange.nextDueAt).toBe(null);
    floor.advance("1h");
    expect(expiredIn(floor)).toEqual([]);
  });

  it("that is filled as it comes is never waited for", () => {
    const floor = openFloor();
    floor.send("bob SELL 10 YES @ 0.5", "alice BUY 10 YES @ 0.5 GTD 1m");
    expect(floor.exchange.nextDueAt).toBe(null);
  });

  it("is refused when it expires at this very instant", () => {
    const floor = openFloor();
    expect(verdictOf(floor.try("alice BUY 10 YES @ 0.5 GTD 0s"))).toBe("EXPIRATION_IN_PAST");
    expect(verdictOf(floor.try("alice BUY 10 YES @ 0.5 GTD 1ms"))).toBe("ok");
  });
});

describe("several orders due", () => {
  it("are each one step of the sequence", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.1 GTD 1s", "bob BUY 1 YES @ 0.2 GTD 1s");
    const { sequence } = floor.exchange;
    floor.advance("1s");
    expect(floor.exchange.sequence).toBe(sequence + 2);
  });

  it("the next moment due is the earliest", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.1 GTD 3s", "bob BUY 1 YES @ 0.2 GTD 1s");
    expect(floor.exchange.nextDueAt).toBe(START + 1000);
    floor.cancel("bob", 2);
    expect(floor.exchange.nextDueAt).toBe(START + 3000);
  });
});

describe("time", () => {
  it("that passes changes nothing but what becomes due", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.1 GTD 1d", "bob BUY 1 YES @ 0.1");
    const { hash, sequence } = floor.exchange;
    floor.advance("23h");
    expect(floor.exchange).toMatchObject({ hash, sequence });
  });
});
