import { describe, expect, it } from "vitest";
import { canonicalLines } from "../../../src/core/state-document.ts";
import { openFloor, type TestExchange } from "../../support/exchange.ts";
import { rowsOf } from "../../support/table.ts";

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

/** The rule, the order that comes, what it becomes, its trades, and the bids and asks then. */
const RULES = rowsOf(`
GTC that crosses nothing rests whole | carol BUY 10 YES @ 0.49 | LIVE 0/10 | none | 10 @ 0.49, 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
GTC takes what crosses and rests the remainder at its limit | carol BUY 10 YES @ 0.5 | LIVE 4/10 | #4 x #1: 4 @ 0.5 | 6 @ 0.5, 9 @ 0.4 | 6 @ 0.6
GTC that is filled whole never rests | carol BUY 10 YES @ 0.7 | MATCHED 10/10 | #4 x #1: 4 @ 0.5, #4 x #2: 6 @ 0.6 | 9 @ 0.4 | none
GTD takes and rests as GTC does | carol BUY 10 YES @ 0.5 GTD 1h | LIVE 4/10 | #4 x #1: 4 @ 0.5 | 6 @ 0.5, 9 @ 0.4 | 6 @ 0.6
FAK takes what crosses at its limit and the remainder is canceled | carol BUY 10 YES @ 0.5 FAK | MATCHED 4/10 FAK_REMAINDER | #4 x #1: 4 @ 0.5 | 9 @ 0.4 | 6 @ 0.6
FAK that is filled whole has nothing to cancel | carol BUY 4 YES @ 0.5 FAK | MATCHED 4/4 | #4 x #1: 4 @ 0.5 | 9 @ 0.4 | 6 @ 0.6
FAK that crosses nothing is canceled whole | carol BUY 10 YES @ 0.49 FAK | CANCELED 0/10 FAK_UNFILLED | none | 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
FOK that can be filled whole is, over several levels | carol BUY 10 YES @ 0.6 FOK | MATCHED 10/10 | #4 x #1: 4 @ 0.5, #4 x #2: 6 @ 0.6 | 9 @ 0.4 | none
FOK that ends inside a level leaves its rest | carol BUY 5 YES @ 0.6 FOK | MATCHED 5/5 | #4 x #1: 4 @ 0.5, #4 x #2: 1 @ 0.6 | 9 @ 0.4 | 5 @ 0.6
FOK that lacks the smallest size is killed | carol BUY 10.01 YES @ 0.99 FOK | CANCELED 0/10.01 FOK_UNFILLED | none | 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
FOK does not count what stands beyond its limit | carol BUY 5 YES @ 0.59 FOK | CANCELED 0/5 FOK_UNFILLED | none | 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
FOK on an empty side is killed | carol SELL 10 YES @ 0.41 FOK | CANCELED 0/10 FOK_UNFILLED | none | 9 @ 0.4 | 4 @ 0.5, 6 @ 0.6
`);
const listed = (items: readonly string[]): string => items.join(", ") || "none";

describe("an order that comes", () => {
  it.each(RULES)("%s", (_rule, order = "", ...expected) => {
    const floor = quotedFloor();
    floor.send(order);
    const { bids, asks } = floor.book();
    expect([floor.order(4), listed(floor.trades()), listed(bids), listed(asks)]).toEqual(expected);
  });
});

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
