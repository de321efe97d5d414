import { describe, expect, it } from "vitest";

import type { OrderType, SelfTradePolicy } from "../../../src/core/terms.ts";
import { openFloor, type TestExchange } from "../../support/exchange.ts";

/** Alice's own order #2 stands between two of bob's. */
function floorWith(selfTrade: SelfTradePolicy): TestExchange {
  const floor = openFloor({ selfTrade });
  floor.send("bob SELL 3 YES @ 0.5", "alice SELL 4 YES @ 0.5", "bob SELL 5 YES @ 0.51");
  return floor;
}

const all = ["#4 x #1: 3 @ 0.5", "#4 x #2: 4 @ 0.5", "#4 x #3: 5 @ 0.51"];
const others = ["#4 x #1: 3 @ 0.5", "#4 x #3: 5 @ 0.51"];
const first = ["#4 x #1: 3 @ 0.5"];
const LIVE = "LIVE 0/4";
const OUT = "CANCELED 0/4 SELF_TRADE";
const STOPPED = "MATCHED 3/20 SELF_TRADE";
const KILLED = "CANCELED 0/20 FOK_UNFILLED";
const behind = ["4 @ 0.5", "5 @ 0.51"];
const everything = ["7 @ 0.5", "5 @ 0.51"];

interface Rule {
  readonly policy: SelfTradePolicy;
  readonly type: OrderType;
  /** The taker's trades, what becomes of it, and of its owner's resting order. */
  readonly trades: readonly string[];
  readonly taker: string;
  readonly own: string;
  readonly bids?: readonly string[];
  readonly asks: readonly string[];
}

const rests = { bids: ["8 @ 0.51"], asks: [] };
const restsMore = { bids: ["12 @ 0.51"], asks: [] };
const RULES: readonly Rule[] = [
  { policy: "allow", type: "GTC", trades: all, taker: "LIVE 12/20", own: "MATCHED 4/4", ...rests },
  { policy: "allow", type: "GTD", trades: all, taker: "LIVE 12/20", own: "MATCHED 4/4", ...rests },
  {
    policy: "allow",
    type: "FAK",
    trades: all,
    taker: "MATCHED 12/20 FAK_REMAINDER",
    own: "MATCHED 4/4",
    asks: [],
  },
  { policy: "allow", type: "FOK", trades: [], taker: KILLED, own: LIVE, asks: everything },
  { policy: "cancel-taker", type: "GTC", trades: first, taker: STOPPED, own: LIVE, asks: behind },
  { policy: "cancel-taker", type: "GTD", trades: first, taker: STOPPED, own: LIVE, asks: behind },
  { policy: "cancel-taker", type: "FAK", trades: first, taker: STOPPED, own: LIVE, asks: behind },
  { policy: "cancel-taker", type: "FOK", trades: [], taker: KILLED, own: LIVE, asks: everything },
  { policy: "cancel-maker", type: "GTC", trades: others, taker: "LIVE 8/20", own: OUT, ...restsMore },
  { policy: "cancel-maker", type: "GTD", trades: others, taker: "LIVE 8/20", own: OUT, ...restsMore },
  {
    policy: "cancel-maker",
    type: "FAK",
    trades: others,
    taker: "MATCHED 8/20 FAK_REMAINDER",
    own: OUT,
    asks: [],
  },
  { policy: "cancel-maker", type: "FOK", trades: [], taker: KILLED, own: LIVE, asks: everything },
  { policy: "cancel-both", type: "GTC", trades: first, taker: STOPPED, own: OUT, asks: ["5 @ 0.51"] },
  { policy: "cancel-both", type: "GTD", trades: first, taker: STOPPED, own: OUT, asks: ["5 @ 0.51"] },
  { policy: "cancel-both", type: "FAK", trades: first, taker: STOPPED, own: OUT, asks: ["5 @ 0.51"] },
  { policy: "cancel-both", type: "FOK", trades: [], taker: KILLED, own: LIVE, asks: everything },
];

const sentence = (shares: number, type: OrderType): string =>
  `alice BUY ${shares} YES @ 0.51 ${type}${type === "GTD" ? " 1h" : ""}`;

describe("a taker that meets its owner's order", () => {
  it.each(RULES)("under $policy as $type becomes $taker, the own order $own", (rule) => {
    const floor = floorWith(rule.policy);
    floor.send(sentence(20, rule.type));
    expect(floor.trades()).toEqual(rule.trades);
    expect([floor.order(4), floor.order(2)]).toEqual([rule.taker, rule.own]);
    expect(floor.book()).toEqual({ bids: rule.bids ?? [], asks: rule.asks });
  });

  it.each<[SelfTradePolicy, number]>([
    ["allow", 12],
    ["cancel-taker", 3],
    ["cancel-maker", 8],
    ["cancel-both", 3],
  ])("under %s can be filled as FOK up to %d shares and no further", (policy, most) => {
    const filled = floorWith(policy);
    filled.send(sentence(most, "FOK"));
    expect(filled.order(4)).toBe(`MATCHED ${most}/${most}`);
    const killed = floorWith(policy);
    killed.send(sentence(most + 0.01, "FOK"));
    expect(killed.order(4)).toBe(`CANCELED 0/${most + 0.01} FOK_UNFILLED`);
  });

  it("as FOK under cancel-maker takes the own order out only when it is filled", () => {
    const floor = floorWith("cancel-maker");
    floor.send(sentence(8, "FOK"));
    expect([floor.order(2), floor.book().asks]).toEqual([OUT, []]);
  });

  it.each<SelfTradePolicy>(["cancel-taker", "cancel-maker", "cancel-both"])(
    "under %s leaves an own order that it does not reach",
    (policy) => {
      const floor = floorWith(policy);
      floor.send(sentence(3, "GTC"));
      expect([floor.order(4), floor.order(2)]).toEqual(["MATCHED 3/3", LIVE]);
    },
  );

  it.each<[SelfTradePolicy, string, string]>([
    ["allow", "MATCHED 4/4", "MATCHED 4/4"],
    ["cancel-taker", "CANCELED 0/4 SELF_TRADE", "LIVE 0/4"],
    ["cancel-maker", "LIVE 0/4", "CANCELED 0/4 SELF_TRADE"],
    ["cancel-both", "CANCELED 0/4 SELF_TRADE", "CANCELED 0/4 SELF_TRADE"],
  ])("under %s becomes %s where nobody else stands", (policy, taker, own) => {
    const floor = openFloor({ selfTrade: policy });
    floor.send("alice SELL 4 YES @ 0.5", "alice BUY 4 YES @ 0.5");
    expect([floor.order(2), floor.order(1)]).toEqual([taker, own]);
  });

  it("meets it across the two outcomes as well", () => {
    const floor = openFloor({ selfTrade: "cancel-both" });
    floor.send("alice BUY 4 NO @ 0.5", "alice BUY 4 YES @ 0.5");
    expect(floor.order(1)).toBe("CANCELED 0/4 SELF_TRADE");
    expect(floor.order(2)).toBe("CANCELED 0/4 SELF_TRADE");
  });

  it("takes out every own order on its way under cancel-maker, and releases what they held", () => {
    const floor = openFloor({ selfTrade: "cancel-maker" });
    floor.send(
      "alice SELL 1 YES @ 0.5",
      "alice SELL 2 YES @ 0.51",
      "bob SELL 1 YES @ 0.52",
      "alice BUY 5 YES @ 0.6",
    );
    expect([1, 2, 4].map((order) => floor.order(order))).toEqual([
      "CANCELED 0/1 SELF_TRADE",
      "CANCELED 0/2 SELF_TRADE",
      "LIVE 1/5",
    ]);
    expect(floor.shares("alice", "YES").reserved).toBe(0);
  });

  it("goes by the policy of its own market", () => {
    const floor = openFloor({ selfTrade: "cancel-both" });
    floor.market({ selfTrade: "allow" });
    floor.fund("alice", { everyMarket: 10 });
    floor.demand(floor.command("alice SELL 4 YES @ 0.5", 2));
    floor.demand(floor.command("alice BUY 4 YES @ 0.5", 2));
    expect(floor.trades()).toEqual(["#2 x #1: 4 @ 0.5"]);
  });
});

describe("an own trade that is allowed", () => {
  it("changes nothing in the balances but the fee", () => {
    const floor = openFloor({ feeRateBps: 200 });
    floor.send("alice SELL 10 YES @ 0.5", "alice BUY 10 YES @ 0.5");
    expect(floor.usdc("alice")).toEqual({ balance: 999_999.9, reserved: 0 });
    expect(floor.shares("alice", "YES")).toEqual({ balance: 1_000_000, reserved: 0 });
  });

  it("may use the last micro-USDC and the last share", () => {
    const floor = openFloor({ feeRateBps: 10_000 });
    floor.fund("dave", { usdc: 100, yes: 100 });
    floor.send("dave SELL 100 YES @ 0.5", "dave BUY 100 YES @ 0.5");
    expect(floor.usdc("dave")).toEqual({ balance: 50, reserved: 0 });
  });

  it("stands twice among the account's fills", () => {
    const floor = openFloor();
    floor.send("alice SELL 10 YES @ 0.5", "alice BUY 10 YES @ 0.5");
    const account = floor.state.accounts.get(floor.state.orders.get(1).account);
    expect(account.fills.size).toBe(2);
    expect(account.holdings.get(1)?.yesFills?.size).toBe(2);
  });
});
