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

interface Rule {
  readonly rule: string;
  readonly order: string;
  readonly becomes: string;
  readonly trades?: readonly string[];
  readonly bids?: readonly string[];
  readonly asks?: readonly string[];
}

const RULES: readonly Rule[] = [
  {
    rule: "GTC that crosses nothing rests whole",
    order: "carol BUY 10 YES @ 0.49",
    becomes: "LIVE 0/10",
    bids: ["10 @ 0.49", "9 @ 0.4"],
  },
  {
    rule: "GTC takes what crosses and rests the remainder at its limit",
    order: "carol BUY 10 YES @ 0.5",
    becomes: "LIVE 4/10",
    trades: ["#4 x #1: 4 @ 0.5"],
    bids: ["6 @ 0.5", "9 @ 0.4"],
    asks: ["6 @ 0.6"],
  },
  {
    rule: "GTC that is filled whole never rests",
    order: "carol BUY 10 YES @ 0.7",
    becomes: "MATCHED 10/10",
    trades: ["#4 x #1: 4 @ 0.5", "#4 x #2: 6 @ 0.6"],
    asks: [],
  },
  {
    rule: "GTD takes and rests as GTC does",
    order: "carol BUY 10 YES @ 0.5 GTD 1h",
    becomes: "LIVE 4/10",
    trades: ["#4 x #1: 4 @ 0.5"],
    bids: ["6 @ 0.5", "9 @ 0.4"],
    asks: ["6 @ 0.6"],
  },
  {
    rule: "FAK takes what crosses at its limit and the remainder is canceled",
    order: "carol BUY 10 YES @ 0.5 FAK",
    becomes: "MATCHED 4/10 FAK_REMAINDER",
    trades: ["#4 x #1: 4 @ 0.5"],
    asks: ["6 @ 0.6"],
  },
  {
    rule: "FAK that is filled whole has nothing to cancel",
    order: "carol BUY 4 YES @ 0.5 FAK",
    becomes: "MATCHED 4/4",
    trades: ["#4 x #1: 4 @ 0.5"],
    asks: ["6 @ 0.6"],
  },
  {
    rule: "FAK that crosses nothing is canceled whole",
    order: "carol BUY 10 YES @ 0.49 FAK",
    becomes: "CANCELED 0/10 FAK_UNFILLED",
  },
  {
    rule: "FOK that can be filled whole is, over several levels",
    order: "carol BUY 10 YES @ 0.6 FOK",
    becomes: "MATCHED 10/10",
    trades: ["#4 x #1: 4 @ 0.5", "#4 x #2: 6 @ 0.6"],
    asks: [],
  },
  {
    rule: "FOK that ends inside a level leaves its rest",
    order: "carol BUY 5 YES @ 0.6 FOK",
    becomes: "MATCHED 5/5",
    trades: ["#4 x #1: 4 @ 0.5", "#4 x #2: 1 @ 0.6"],
    asks: ["5 @ 0.6"],
  },
  {
    rule: "FOK that lacks the smallest size is killed",
    order: "carol BUY 10.01 YES @ 0.99 FOK",
    becomes: "CANCELED 0/10.01 FOK_UNFILLED",
  },
  {
    rule: "FOK does not count what stands beyond its limit",
    order: "carol BUY 5 YES @ 0.59 FOK",
    becomes: "CANCELED 0/5 FOK_UNFILLED",
  },
  {
    rule: "FOK on an empty side is killed",
    order: "carol SELL 10 YES @ 0.41 FOK",
    becomes: "CANCELED 0/10 FOK_UNFILLED",
  },
];

describe("an order that comes", () => {
  it.each(RULES)("$rule", ({ order, becomes, trades = [], bids, asks }) => {
    const floor = quotedFloor();
    floor.send(order);
    expect(floor.order(4)).toBe(becomes);
    expect(floor.trades()).toEqual(trades);
    expect(floor.book()).toEqual({ bids: bids ?? UNTOUCHED.bids, asks: asks ?? UNTOUCHED.asks });
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
