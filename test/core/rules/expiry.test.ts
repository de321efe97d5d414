import { describe, expect, it } from "vitest";
import { millis } from "../../../src/core/units.ts";
import { openFloor, START, type TestExchange, verdictOf } from "../../support/exchange.ts";

const expiredIn = (floor: TestExchange): number[] =>
  floor.events.flatMap((event) => (event.kind === "orderExpired" ? [event.order] : []));

describe("a GTD order", () => {
  it("is live while now < expiration, and expires at that instant", () => {
    const floor = openFloor();
    floor.send("alice SELL 10 YES @ 0.5 GTD 1s");
    floor.exchange.advanceTo(millis(START + 999));
    expect(floor.order(1)).toBe("LIVE 0/10");
    floor.exchange.advanceTo(millis(START + 1000));
    expect(floor.order(1)).toBe("EXPIRED 0/10");
  });

  it("expires before a request of the same instant is matched", () => {
    const floor = openFloor();
    floor.send("alice SELL 10 YES @ 0.5 GTD 1s");
    floor.advance("1s");
    floor.send("bob BUY 10 YES @ 0.5");
    expect(floor.trades()).toEqual([]);
    expect(floor.book()).toEqual({ bids: ["10 @ 0.5"], asks: [] });
  });

  it("trades a millisecond before", () => {
    const floor = openFloor();
    floor.send("alice SELL 10 YES @ 0.5 GTD 1s");
    floor.advance("999ms");
    floor.send("bob BUY 4 YES @ 0.5");
    floor.advance("1ms");
    expect(floor.trades()).toEqual(["#2 x #1: 4 @ 0.5"]);
    expect(floor.order(1)).toBe("EXPIRED 4/10");
  });

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
  it("expire by time, then by creation", () => {
    const floor = openFloor();
    floor.send(
      "alice BUY 1 YES @ 0.1 GTD 3s",
      "bob BUY 1 YES @ 0.2 GTD 1s",
      "carol BUY 1 YES @ 0.3 GTD 2s",
      "alice BUY 1 NO @ 0.1 GTD 1s",
      "bob BUY 1 YES @ 0.1 GTD 2s",
    );
    floor.advance("1h");
    expect(expiredIn(floor)).toEqual([2, 4, 3, 5, 1]);
  });

  it("expire each at its own moment, also when time jumps", () => {
    const floor = openFloor();
    const moments: number[] = [];
    floor.exchange.watch((_sequence, at) => void moments.push(at - START));
    floor.send("alice BUY 1 YES @ 0.1 GTD 3s", "bob BUY 1 YES @ 0.2 GTD 1s");
    floor.advance("1d");
    expect(moments).toEqual([0, 0, 1000, 3000]);
  });

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
  it("never runs backwards", () => {
    const floor = openFloor();
    floor.advance("1h");
    floor.exchange.advanceTo(START);
    expect(floor.exchange.now).toBe(START + 3_600_000);
  });

  it("that passes changes nothing but what becomes due", () => {
    const floor = openFloor();
    floor.send("alice BUY 1 YES @ 0.1 GTD 1d", "bob BUY 1 YES @ 0.1");
    const { hash, sequence } = floor.exchange;
    floor.advance("23h");
    expect(floor.exchange).toMatchObject({ hash, sequence });
  });
});
