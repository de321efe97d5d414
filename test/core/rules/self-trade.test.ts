import { describe, expect, it } from "vitest";
import type { OrderType, SelfTradePolicy } from "../../../src/core/terms.ts";
import { openFundedExchange, type TestExchange } from "../../support/exchange.ts";
import { listed, rowsOf } from "../../support/table.ts";

/** Alice's order #2 rests between two of bob's. */
function floorWith(selfTrade: SelfTradePolicy): TestExchange {
  const exchange = openFundedExchange({ selfTrade });
  exchange.send("bob SELL 3 YES @ 0.5", "alice SELL 4 YES @ 0.5", "bob SELL 5 YES @ 0.51");
  return exchange;
}

const CANCELED = "CANCELED 0/4 SELF_TRADE";

/** Policy and type of the taker; its trades by maker, its status, the status of its own resting order; then bids and asks. */
const RULES = rowsOf(`
allow | GTC | #1: 3 @ 0.5, #2: 4 @ 0.5, #3: 5 @ 0.51 | LIVE 12/20 | MATCHED 4/4 | 8 @ 0.51 | none
allow | GTD | #1: 3 @ 0.5, #2: 4 @ 0.5, #3: 5 @ 0.51 | LIVE 12/20 | MATCHED 4/4 | 8 @ 0.51 | none
allow | FAK | #1: 3 @ 0.5, #2: 4 @ 0.5, #3: 5 @ 0.51 | MATCHED 12/20 FAK_REMAINDER | MATCHED 4/4 | none | none
allow | FOK | none | CANCELED 0/20 FOK_UNFILLED | LIVE 0/4 | none | 7 @ 0.5, 5 @ 0.51
cancel-taker | GTC | #1: 3 @ 0.5 | MATCHED 3/20 SELF_TRADE | LIVE 0/4 | none | 4 @ 0.5, 5 @ 0.51
cancel-taker | GTD | #1: 3 @ 0.5 | MATCHED 3/20 SELF_TRADE | LIVE 0/4 | none | 4 @ 0.5, 5 @ 0.51
cancel-taker | FAK | #1: 3 @ 0.5 | MATCHED 3/20 SELF_TRADE | LIVE 0/4 | none | 4 @ 0.5, 5 @ 0.51
cancel-taker | FOK | none | CANCELED 0/20 FOK_UNFILLED | LIVE 0/4 | none | 7 @ 0.5, 5 @ 0.51
cancel-maker | GTC | #1: 3 @ 0.5, #3: 5 @ 0.51 | LIVE 8/20 | CANCELED 0/4 SELF_TRADE | 12 @ 0.51 | none
cancel-maker | GTD | #1: 3 @ 0.5, #3: 5 @ 0.51 | LIVE 8/20 | CANCELED 0/4 SELF_TRADE | 12 @ 0.51 | none
cancel-maker | FAK | #1: 3 @ 0.5, #3: 5 @ 0.51 | MATCHED 8/20 FAK_REMAINDER | CANCELED 0/4 SELF_TRADE | none | none
cancel-maker | FOK | none | CANCELED 0/20 FOK_UNFILLED | LIVE 0/4 | none | 7 @ 0.5, 5 @ 0.51
cancel-both | GTC | #1: 3 @ 0.5 | MATCHED 3/20 SELF_TRADE | CANCELED 0/4 SELF_TRADE | none | 5 @ 0.51
cancel-both | GTD | #1: 3 @ 0.5 | MATCHED 3/20 SELF_TRADE | CANCELED 0/4 SELF_TRADE | none | 5 @ 0.51
cancel-both | FAK | #1: 3 @ 0.5 | MATCHED 3/20 SELF_TRADE | CANCELED 0/4 SELF_TRADE | none | 5 @ 0.51
cancel-both | FOK | none | CANCELED 0/20 FOK_UNFILLED | LIVE 0/4 | none | 7 @ 0.5, 5 @ 0.51
`) as [SelfTradePolicy, OrderType, ...string[]][];
const sentence = (shares: number, type: OrderType): string =>
  `alice BUY ${shares} YES @ 0.51 ${type}${type === "GTD" ? " 1h" : ""}`;

describe("a taker that reaches an order of its own account", () => {
  it.each(RULES)("with %s as %s: trades %s, taker %s, own order %s", (policy, type, ...rule) => {
    const exchange = floorWith(policy);
    exchange.send(sentence(20, type));
    const trades = exchange.trades().map((trade) => trade.replace("#4 x ", ""));
    const { bids, asks } = exchange.book();
    expect([listed(trades), exchange.order(4), exchange.order(2), listed(bids), listed(asks)]).toEqual(rule);
  });

  it.each<[SelfTradePolicy, number]>([
    ["allow", 12],
    ["cancel-taker", 3],
    ["cancel-maker", 8],
    ["cancel-both", 3],
  ])("with %s can be filled as FOK up to exactly %d shares", (policy, max) => {
    const filled = floorWith(policy);
    filled.send(sentence(max, "FOK"));
    expect(filled.order(4)).toBe(`MATCHED ${max}/${max}`);
    const killed = floorWith(policy);
    killed.send(sentence(max + 0.01, "FOK"));
    expect(killed.order(4)).toBe(`CANCELED 0/${max + 0.01} FOK_UNFILLED`);
  });

  it("as FOK with cancel-maker cancels the own order only if it is filled", () => {
    const exchange = floorWith("cancel-maker");
    exchange.send(sentence(8, "FOK"));
    expect([exchange.order(2), exchange.book().asks]).toEqual([CANCELED, []]);
  });

  it.each<[SelfTradePolicy, string, string]>([
    ["allow", "MATCHED 4/4", "MATCHED 4/4"],
    ["cancel-taker", "CANCELED 0/4 SELF_TRADE", "LIVE 0/4"],
    ["cancel-maker", "LIVE 0/4", "CANCELED 0/4 SELF_TRADE"],
    ["cancel-both", "CANCELED 0/4 SELF_TRADE", "CANCELED 0/4 SELF_TRADE"],
  ])("with %s becomes %s if it reaches only its own order", (policy, taker, own) => {
    const exchange = openFundedExchange({ selfTrade: policy });
    exchange.send("alice SELL 4 YES @ 0.5", "alice BUY 4 YES @ 0.5");
    expect([exchange.order(2), exchange.order(1)]).toEqual([taker, own]);
  });

  it("with cancel-maker cancels every own order it reaches and releases their reservations", () => {
    const exchange = openFundedExchange({ selfTrade: "cancel-maker" });
    exchange.send(
      "alice SELL 1 YES @ 0.5",
      "alice SELL 2 YES @ 0.51",
      "bob SELL 1 YES @ 0.52",
      "alice BUY 5 YES @ 0.6",
    );
    expect([1, 2, 4].map((order) => exchange.order(order))).toEqual([
      "CANCELED 0/1 SELF_TRADE",
      "CANCELED 0/2 SELF_TRADE",
      "LIVE 1/5",
    ]);
    expect(exchange.shares("alice", "YES").reserved).toBe(0);
  });
});

describe("an allowed self-trade", () => {
  it("changes balances only by the fee", () => {
    const exchange = openFundedExchange({ feeRateBps: 200 });
    exchange.send("alice SELL 10 YES @ 0.5", "alice BUY 10 YES @ 0.5");
    expect(exchange.usdc("alice")).toEqual({ balance: 999_999.9, reserved: 0 });
    expect(exchange.shares("alice", "YES")).toEqual({ balance: 1_000_000, reserved: 0 });
  });

  it("can use the whole balance of USDC and shares", () => {
    const exchange = openFundedExchange({ feeRateBps: 10_000 });
    exchange.fund("dave", { usdc: 100, yes: 100 });
    exchange.send("dave SELL 100 YES @ 0.5", "dave BUY 100 YES @ 0.5");
    expect(exchange.usdc("dave")).toEqual({ balance: 50, reserved: 0 });
  });

  it("is listed twice in the account's fills", () => {
    const exchange = openFundedExchange();
    exchange.send("alice SELL 10 YES @ 0.5", "alice BUY 10 YES @ 0.5");
    const account = exchange.state.accounts.get(exchange.state.orders.get(1).account);
    expect(account.fills.size).toBe(2);
    expect(account.holdings.get(1)?.yesFills?.size).toBe(2);
  });
});
