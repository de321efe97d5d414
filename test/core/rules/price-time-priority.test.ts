import { describe, expect, it } from "vitest";
import { openFloor } from "../../support/exchange.ts";

interface Rule {
  readonly rule: string;
  readonly orders: readonly string[];
  readonly trades: readonly string[];
  readonly bids?: readonly string[];
  readonly asks?: readonly string[];
}

const RULES: readonly Rule[] = [
  {
    rule: "a buy takes the lowest ask first, whenever it came",
    orders: [
      "alice SELL 10 YES @ 0.6",
      "bob SELL 10 YES @ 0.5",
      "alice SELL 10 YES @ 0.55",
      "carol BUY 15 YES @ 0.99",
    ],
    trades: ["#4 x #2: 10 @ 0.5", "#4 x #3: 5 @ 0.55"],
    asks: ["5 @ 0.55", "10 @ 0.6"],
  },
  {
    rule: "a sell takes the highest bid first, whenever it came",
    orders: [
      "alice BUY 10 YES @ 0.4",
      "bob BUY 10 YES @ 0.5",
      "alice BUY 10 YES @ 0.45",
      "carol SELL 15 YES @ 0.01",
    ],
    trades: ["#4 x #2: 10 @ 0.5", "#4 x #3: 5 @ 0.45"],
    bids: ["5 @ 0.45", "10 @ 0.4"],
  },
  {
    rule: "at one price the order that came first trades first, whatever the sizes",
    orders: [
      "alice SELL 1 YES @ 0.5",
      "bob SELL 100 YES @ 0.5",
      "alice SELL 2 YES @ 0.5",
      "carol BUY 102 YES @ 0.5",
    ],
    trades: ["#4 x #1: 1 @ 0.5", "#4 x #2: 100 @ 0.5", "#4 x #3: 1 @ 0.5"],
    asks: ["1 @ 0.5"],
  },
  {
    rule: "a buy pays the maker's price, not its own limit",
    orders: ["alice SELL 10 YES @ 0.3", "carol BUY 10 YES @ 0.9"],
    trades: ["#2 x #1: 10 @ 0.3"],
  },
  {
    rule: "a sell receives the maker's price, not its own limit",
    orders: ["alice BUY 10 YES @ 0.9", "carol SELL 10 YES @ 0.3"],
    trades: ["#2 x #1: 10 @ 0.9"],
  },
  {
    rule: "a partial fill keeps its place in the queue",
    orders: [
      "alice SELL 10 YES @ 0.5",
      "bob SELL 10 YES @ 0.5",
      "carol BUY 4 YES @ 0.5",
      "carol BUY 8 YES @ 0.5",
    ],
    trades: ["#3 x #1: 4 @ 0.5", "#4 x #1: 6 @ 0.5", "#4 x #2: 2 @ 0.5"],
    asks: ["8 @ 0.5"],
  },
  {
    rule: "the rest of a taker queues behind those who wait at its price",
    orders: [
      "alice BUY 5 YES @ 0.6",
      "bob SELL 3 YES @ 0.7",
      "carol BUY 5 YES @ 0.7",
      "bob SELL 1 YES @ 0.8",
      "alice BUY 5 YES @ 0.7",
      "bob SELL 4 YES @ 0.6",
    ],
    trades: ["#3 x #2: 3 @ 0.7", "#6 x #3: 2 @ 0.7", "#6 x #5: 2 @ 0.7"],
    bids: ["3 @ 0.7", "5 @ 0.6"],
    asks: ["1 @ 0.8"],
  },
  {
    rule: "orders at the same price on one side never trade with each other",
    orders: ["alice BUY 10 YES @ 0.5", "bob BUY 10 YES @ 0.5", "carol SELL 10 YES @ 0.51"],
    trades: [],
    bids: ["20 @ 0.5"],
    asks: ["10 @ 0.51"],
  },
  {
    rule: "prices that touch exactly trade",
    orders: ["alice SELL 10 YES @ 0.01", "bob BUY 10 YES @ 0.01"],
    trades: ["#2 x #1: 10 @ 0.01"],
  },
];

describe.each(["complementary", "independent"] as const)("price-time priority in a %s market", (matching) => {
  it.each(RULES)("$rule", ({ orders, trades, bids = [], asks = [] }) => {
    const floor = openFloor({ matching });
    floor.send(...orders);
    expect(floor.trades()).toEqual(trades);
    expect(floor.book()).toEqual({ bids, asks });
  });

  it("an order that is canceled and sent again queues last", () => {
    const floor = openFloor({ matching });
    floor.send("alice SELL 10 YES @ 0.5", "bob SELL 10 YES @ 0.5");
    floor.cancel("alice", 1);
    floor.send("alice SELL 10 YES @ 0.5", "carol BUY 15 YES @ 0.5");
    expect(floor.trades()).toEqual(["#4 x #2: 10 @ 0.5", "#4 x #3: 5 @ 0.5"]);
  });

  it("a canceled order in the middle of a queue leaves the order of the others", () => {
    const floor = openFloor({ matching });
    floor.send("alice SELL 1 YES @ 0.5", "bob SELL 2 YES @ 0.5", "alice SELL 3 YES @ 0.5");
    floor.cancel("bob", 2);
    floor.send("bob SELL 4 YES @ 0.5", "carol BUY 8 YES @ 0.5");
    expect(floor.trades()).toEqual(["#5 x #1: 1 @ 0.5", "#5 x #3: 3 @ 0.5", "#5 x #4: 4 @ 0.5"]);
  });
});

describe("what an order notes when it rests", () => {
  it("is who stood before it in its queue, and how much", () => {
    const floor = openFloor();
    floor.send(
      "alice BUY 10 YES @ 0.5",
      "bob BUY 7.5 YES @ 0.5",
      "bob BUY 1 YES @ 0.51",
      "carol BUY 3 YES @ 0.5",
    );
    expect(floor.state.orders.get(4)).toMatchObject({ rested: true, ordersAhead: 2, sizeAhead: 1750 });
  });

  it("is the touch it met, and how much it could have filled at its limit", () => {
    const floor = openFloor();
    floor.send("alice SELL 10 YES @ 0.5", "alice SELL 10 YES @ 0.6", "bob BUY 30 YES @ 0.55 FOK");
    expect(floor.state.orders.get(3)).toMatchObject({ touch: 5000, crossable: 1000, rested: false });
  });

  it("is the touch in the terms of its own token", () => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.3", "bob BUY 5 NO @ 0.6");
    expect(floor.state.orders.get(2)).toMatchObject({ touch: 7000, crossable: 0 });
  });

  it("is how much it could have filled before its own order stopped it", () => {
    const floor = openFloor({ selfTrade: "cancel-taker" });
    floor.send(
      "alice SELL 4 YES @ 0.5",
      "bob SELL 1 YES @ 0.5",
      "alice SELL 4 YES @ 0.6",
      "bob BUY 9 YES @ 0.6",
    );
    expect(floor.state.orders.get(4)).toMatchObject({ touch: 5000, crossable: 400 });
  });

  it("is no touch when nobody stands there", () => {
    const floor = openFloor();
    floor.send("alice BUY 10 YES @ 0.3", "bob BUY 5 YES @ 0.2");
    expect(floor.state.orders.get(2)).toMatchObject({ touch: null, crossable: 0 });
  });
});
