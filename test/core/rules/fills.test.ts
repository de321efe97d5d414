import { describe, expect, it } from "vitest";
import { roleOfFill, tradeOfFill } from "../../../src/core/account.ts";
import { findAccount } from "../../../src/core/state.ts";
import { addressOf } from "../../support/commands.ts";
import { openFundedExchange, START, type TestExchange } from "../../support/exchange.ts";

/** Order 2 matches order 1 and rests; orders 3 and 4 match it (trades 1, 2 and 3); order 5 takes NO (trade 4). */
function filledExchange(): TestExchange {
  const exchange = openFundedExchange({ feeRateBps: 100 });
  exchange.send("alice SELL 3 YES @ 0.4", "bob BUY 10 YES @ 0.5");
  exchange.advance("1s");
  exchange.send("carol SELL 2 YES @ 0.5", "alice BUY 1 NO @ 0.5", "bob BUY 4 NO @ 0.6");
  return exchange;
}

/** Returns the trades of an order, latest first, by following their links. */
function chainOf({ state }: TestExchange, order: number): number[] {
  const chain: number[] = [];
  for (let number = state.orders.get(order).lastTrade; number !== 0; ) {
    chain.push(number);
    const { taker, takerPrevious, makerPrevious } = state.trades.get(number);
    number = taker === order ? takerPrevious : makerPrevious;
  }
  return chain;
}

const fillsOf = (fills: Iterable<number>): string[] =>
  [...fills].map((fill) => `${tradeOfFill(fill)} ${roleOfFill(fill)}`);

describe("a fill", () => {
  it("has the next trade number in the event, the trade and both orders", () => {
    const exchange = filledExchange();
    expect(exchange.eventsOf("orderTraded").map(({ trade }) => trade)).toEqual([1, 2, 3, 4]);
    expect([...exchange.state.trades].map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect([1, 2, 3, 4, 5].map((order) => exchange.state.orders.get(order).lastTrade)).toEqual([
      1, 4, 2, 3, 4,
    ]);
  });

  it("has its own number for each maker of one taker", () => {
    const exchange = openFundedExchange();
    exchange.send(
      "alice SELL 1 YES @ 0.4",
      "bob SELL 1 YES @ 0.4",
      "alice SELL 1 YES @ 0.5",
      "carol BUY 3 YES @ 0.5",
    );
    expect([...exchange.state.trades].map(({ number, maker }) => [number, maker])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(chainOf(exchange, 4)).toEqual([3, 2, 1]);
  });

  it("links to the previous fill of both orders, as taker or maker", () => {
    const exchange = filledExchange();
    expect([1, 2, 3, 4, 5].map((order) => chainOf(exchange, order))).toEqual([
      [1],
      [4, 3, 2, 1],
      [2],
      [3],
      [4],
    ]);
  });

  it("has its time, which is also the update time of both orders", () => {
    const exchange = filledExchange();
    expect([...exchange.state.trades].map(({ at }) => at - START)).toEqual([0, 1000, 1000, 1000]);
    expect(exchange.state.orders.get(1).updatedAt).toBe(START);
    expect(exchange.state.orders.get(2)).toMatchObject({ createdAt: START, updatedAt: START + 1000 });
  });

  it("adds to both orders its size and its value in their own terms, and to the taker its fee", () => {
    const exchange = filledExchange();
    const sums = [1, 2, 3, 4, 5].map((order) => {
      const { matched, notional, fee } = exchange.state.orders.get(order);
      return [matched, notional, fee];
    });
    expect(sums).toEqual([
      [300, 1_200_000, 0],
      [1000, 4_700_000, 12_000],
      [200, 1_000_000, 10_000],
      [100, 500_000, 5_000],
      [400, 2_000_000, 20_000],
    ]);
  });

  it("is listed in the fills of both accounts, in total and by outcome, with their roles", () => {
    const exchange = filledExchange();
    const account = (name: string) => findAccount(exchange.state, addressOf(name));
    const [alice, bob] = [account("alice"), account("bob")];
    expect(fillsOf(alice?.fills ?? [])).toEqual(["1 MAKER", "3 TAKER"]);
    expect(fillsOf(bob?.fills ?? [])).toEqual(["1 TAKER", "2 MAKER", "3 MAKER", "4 MAKER", "4 TAKER"]);
    expect(fillsOf(bob?.holdings.get(1)?.yesFills ?? [])).toEqual([
      "1 TAKER",
      "2 MAKER",
      "3 MAKER",
      "4 MAKER",
    ]);
    expect(fillsOf(bob?.holdings.get(1)?.noFills ?? [])).toEqual(["4 TAKER"]);
  });
});
