import { describe, expect, it } from "vitest";
import { roleOfFill, tradeOfFill } from "../../../src/core/account.ts";
import { findAccount } from "../../../src/core/state.ts";
import { canonicalLines } from "../../../src/core/state-document.ts";
import type { SelfTradePolicy } from "../../../src/core/terms.ts";
import { addressOf, parametersIn } from "../../support/commands.ts";
import { openFundedExchange, START, type TestExchange, verdictOf } from "../../support/exchange.ts";
import { rowsOf } from "../../support/table.ts";

/** Asks of 4 at 0.5 and 6 at 0.6, and a bid of 9 at 0.4. */
function quotedExchange(): TestExchange {
  const exchange = openFundedExchange();
  exchange.send("alice SELL 4 YES @ 0.5", "bob SELL 6 YES @ 0.6", "alice BUY 9 YES @ 0.4");
  return exchange;
}

/** What an order records, the market's self-trade policy, the orders before it and itself, and its fields. */
const RECORDED = rowsOf(`
the orders and the size ahead of it in its queue | allow | alice BUY 10 YES @ 0.5; bob BUY 7.5 YES @ 0.5; bob BUY 1 YES @ 0.51; carol BUY 3 YES @ 0.5 | rested=true ordersAhead=2 sizeAhead=1750
the best opposite price, and the size that could fill at its limit | allow | alice SELL 10 YES @ 0.5; alice SELL 10 YES @ 0.6; bob BUY 30 YES @ 0.55 FOK | touch=5000 fillableSize=1000 rested=false
the best opposite price in terms of its own token | allow | alice BUY 10 YES @ 0.3; bob BUY 5 NO @ 0.6 | touch=7000 fillableSize=0
the size that could fill before an own order stopped it | cancel-taker | alice SELL 4 YES @ 0.5; bob SELL 1 YES @ 0.5; alice SELL 4 YES @ 0.6; bob BUY 9 YES @ 0.6 | touch=5000 fillableSize=400
no best opposite price if the other side is empty | allow | alice BUY 10 YES @ 0.3; bob BUY 5 YES @ 0.2 | touch=null fillableSize=0
`);

describe("an incoming order", () => {
  it.each(["0.99 FOK", "0.49 FAK"])("that is canceled on arrival, %s, changes only the orders", (terms) => {
    const exchange = quotedExchange();
    exchange.advance("1s");
    const stateWithoutOrders = (): string[] => {
      const lines = [...canonicalLines(exchange.state)];
      const from = lines.indexOf('"orders":[');
      return lines.toSpliced(from, lines.indexOf("],", from) - from);
    };
    const before = stateWithoutOrders();
    exchange.send(`carol BUY 11 YES @ ${terms}`);
    expect(stateWithoutOrders()).toEqual(before);
  });

  it.each(RECORDED)("records %s", (_what, selfTrade, orders = "", fields = "") => {
    const exchange = openFundedExchange({ selfTrade: selfTrade as SelfTradePolicy });
    expect(exchange.state.orders.get(exchange.act(orders))).toMatchObject(parametersIn(fields));
  });
});

it.each(["allow", "cancel-taker", "cancel-maker", "cancel-both"] as const)(
  "FOK that an own order leaves 0.01 share short is killed as unfilled, and leaves that order: %s",
  (selfTrade) => {
    const exchange = openFundedExchange({ selfTrade });
    exchange.send("bob SELL 3 YES @ 0.5", "alice SELL 4 YES @ 0.5", "bob SELL 5 YES @ 0.51");
    const fillable = { allow: 12, "cancel-taker": 3, "cancel-maker": 8, "cancel-both": 3 }[selfTrade];
    exchange.send(`alice BUY ${fillable}.01 YES @ 0.51 FOK`);
    const ended = [exchange.order(4), exchange.order(2), exchange.trades()];
    expect(ended).toEqual([`CANCELED 0/${fillable}.01 FOK_UNFILLED`, "LIVE 0/4", []]);
  },
);

it("a fill is listed in the fills of both accounts, in total and by outcome, with their roles", () => {
  const exchange = openFundedExchange();
  // Order 2 matches order 1 and rests; orders 3 and 4 match it; order 5 takes NO.
  exchange.send("alice SELL 3 YES @ 0.4", "bob BUY 10 YES @ 0.5");
  exchange.send("carol SELL 2 YES @ 0.5", "alice BUY 1 NO @ 0.5", "bob BUY 4 NO @ 0.6");
  const account = (name: string) => findAccount(exchange.state, addressOf(name));
  const holding = account("bob")?.holdings.get(1);
  const lists = [account("alice")?.fills, account("bob")?.fills, holding?.yesFills, holding?.noFills];
  const words = lists.map((fills) =>
    [...(fills ?? [])].map((fill) => `${tradeOfFill(fill)} ${roleOfFill(fill)}`).join(", "),
  );
  const yes = "1 TAKER, 2 MAKER, 3 MAKER, 4 MAKER";
  expect(words).toEqual(["1 MAKER, 3 TAKER", `${yes}, 4 TAKER`, yes, "4 TAKER"]);
});

it.each<[string, (exchange: TestExchange, id: string) => string]>([
  ["the empty text", () => ""],
  ["a number", () => "1"],
  ["the id of a market", ({ state }, id) => id.replace(/^.{24}/, state.idPrefixes.market)],
  ["an id with a space", (_, id) => `${id} `],
  ["an id cut short", (_, id) => id.slice(0, -1)],
  ["the id of number 0", (exchange) => exchange.orderId(0)],
  ["an id with a sign in its counter", (_, id) => id.replace(/000001$/, "-00001")],
  ["the id of a number 2^32 higher", (exchange) => exchange.orderId(2 ** 32 + 1)],
  ["the id of a number 2^44 higher", (exchange) => exchange.orderId(2 ** 44 + 1)],
  ["the highest id", (exchange) => exchange.orderId(2 ** 48 - 1)],
])("canceling one order is refused as ORDER_NOT_FOUND for %s", (_case, wrong) => {
  const exchange = openFundedExchange();
  exchange.send("alice BUY 10 YES @ 0.5");
  const orderId = wrong(exchange, exchange.orderId(1));
  const decision = exchange.submit({ kind: "cancelOrder", address: addressOf("alice"), orderId });
  expect(verdictOf(decision)).toBe("ORDER_NOT_FOUND");
  expect(exchange.order(1)).toBe("LIVE 0/10");
});

it("an order with an expiration is due until it ends, the earliest first, and expires at its moment", () => {
  const exchange = openFundedExchange();
  const due = (): number | null => exchange.exchange.nextDueAt && exchange.exchange.nextDueAt - START;
  exchange.send("bob SELL 10 YES @ 0.5", "alice BUY 10 YES @ 0.5 GTD 5s");
  expect(due()).toBe(null);
  exchange.send("alice BUY 1 YES @ 0.5 GTD 4s", "bob BUY 1 YES @ 0.2 GTD 2s", "bob BUY 1 YES @ 0.1 GTD 3s");
  expect(due()).toBe(2000);
  exchange.cancel("bob", 4);
  expect(due()).toBe(3000);
  exchange.advance("3500ms");
  const { books } = exchange.state.markets.get(1);
  expect(exchange.state.orders.get(5)).toMatchObject({ status: "EXPIRED", updatedAt: START + 3000 });
  expect([books[0].updatedAt - START, due()]).toEqual([3000, 4000]);
  exchange.send("carol SELL 1 YES @ 0.5", "alice BUY 1 YES @ 0.5 GTD 6s");
  expect(due()).toBe(9500);
  exchange.act("close");
  expect(due()).toBe(null);
});
