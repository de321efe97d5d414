import { describe, expect, it } from "vitest";
import { canonicalLines } from "../../../src/core/state-document.ts";
import { openFloor, type TestExchange } from "../../support/exchange.ts";

/** The canonical state without its list of orders. */
function stateBesideOrders({ state }: TestExchange): string[] {
  const lines = [...canonicalLines(state)];
  const from = lines.indexOf('"orders":[');
  return lines.toSpliced(from, lines.indexOf("],", from) - from);
}

/** 4 at 0.5 and 6 at 0.6 for sale, and a bid at 0.4. */
function quotedFloor(): TestExchange {
  const floor = openFloor();
  floor.send("alice SELL 4 YES @ 0.5", "bob SELL 6 YES @ 0.6", "alice BUY 9 YES @ 0.4");
  return floor;
}

const UNTOUCHED = { bids: ["9 @ 0.4"], asks: ["4 @ 0.5", "6 @ 0.6"] };

describe("an order that is killed whole", () => {
  it.each(["FOK", "FAK"])("as %s changes nothing but the list of orders", (type) => {
    const floor = quotedFloor();
    const before = stateBesideOrders(floor);
    const limit = type === "FOK" ? "0.99" : "0.49";
    expect(floor.try(`carol BUY 11 YES @ ${limit} ${type}`).ok).toBe(true);
    expect(stateBesideOrders(floor)).toEqual(before);
    expect(floor.book()).toEqual(UNTOUCHED);
  });

  it("leaves the sequence and the time of the book", () => {
    const floor = quotedFloor();
    const [{ sequence, updatedAt }] = floor.state.markets.get(1).books;
    floor.advance("1s");
    floor.send("carol BUY 11 YES @ 0.99 FOK");
    expect(floor.state.markets.get(1).books[0]).toMatchObject({ sequence, updatedAt });
  });

  it("is listed among the orders, and has its number", () => {
    const floor = quotedFloor();
    expect(floor.send("carol BUY 11 YES @ 0.99 FOK")).toBe(4);
    expect(floor.send("carol BUY 1 YES @ 0.01")).toBe(5);
  });
});

describe("the sequence of a book", () => {
  it("grows by one with each resting order, each fill and each order taken out", () => {
    const floor = openFloor();
    const [lane] = floor.state.markets.get(1).books;
    const sequences = [
      "alice SELL 4 YES @ 0.5",
      "bob SELL 6 YES @ 0.6",
      "carol BUY 5 YES @ 0.6 FAK",
      "carol BUY 7 YES @ 0.6",
      "carol BUY 7 YES @ 0.2 FOK",
    ].map((order) => {
      floor.send(order);
      return lane.sequence;
    });
    floor.cancel("carol", 4);
    expect([...sequences, lane.sequence]).toEqual([1, 2, 4, 6, 6, 7]);
  });
});
