import { describe, expect, it } from "vitest";
import { roleOfFill, tradeOfFill } from "../../../src/core/account.ts";
import { findAccount } from "../../../src/core/state.ts";
import { addressOf } from "../../support/commands.ts";
import { openFloor, START, type TestExchange } from "../../support/exchange.ts";

/** Order 2 takes from 1 and rests, 3 and 4 take from it: trades 1, 2 and 3; order 5 takes NO, trade 4. */
function filledFloor(): TestExchange {
  const floor = openFloor({ feeRateBps: 100 });
  floor.send("alice SELL 3 YES @ 0.4", "bob BUY 10 YES @ 0.5");
  floor.advance("1s");
  floor.send("carol SELL 2 YES @ 0.5", "alice BUY 1 NO @ 0.5", "bob BUY 4 NO @ 0.6");
  return floor;
}

/** The trades of an order, latest first, as they follow from one another. */
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
  it("has the next number, in the event, the trade and the order's latest", () => {
    const floor = filledFloor();
    const told = floor.events.flatMap((event) => (event.kind === "orderTraded" ? [event.trade] : []));
    expect(told).toEqual([1, 2, 3, 4]);
    expect([...floor.state.trades].map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect([1, 2, 3, 4, 5].map((order) => floor.state.orders.get(order).lastTrade)).toEqual([1, 4, 2, 3, 4]);
  });

  it("of one taker with several makers has a number of its own each", () => {
    const floor = openFloor();
    floor.send(
      "alice SELL 1 YES @ 0.4",
      "bob SELL 1 YES @ 0.4",
      "alice SELL 1 YES @ 0.5",
      "carol BUY 3 YES @ 0.5",
    );
    expect([...floor.state.trades].map(({ number, maker }) => [number, maker])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(chainOf(floor, 4)).toEqual([3, 2, 1]);
  });

  it("leads to the fill before of either order, whichever side it was on", () => {
    const floor = filledFloor();
    expect([1, 2, 3, 4, 5].map((order) => chainOf(floor, order))).toEqual([[1], [4, 3, 2, 1], [2], [3], [4]]);
  });

  it("has the moment at which it happened, and both orders have it as their latest change", () => {
    const floor = filledFloor();
    expect([...floor.state.trades].map(({ at }) => at - START)).toEqual([0, 1000, 1000, 1000]);
    expect(floor.state.orders.get(1).updatedAt).toBe(START);
    expect(floor.state.orders.get(2)).toMatchObject({ createdAt: START, updatedAt: START + 1000 });
  });

  it("adds up in both orders: matched size, what it was worth in the order's own terms, and the taker's fee", () => {
    const floor = filledFloor();
    const sums = [1, 2, 3, 4, 5].map((order) => {
      const { matched, notional, fee } = floor.state.orders.get(order);
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

  it("stands among the fills of both accounts, by outcome and altogether, with the role each had", () => {
    const floor = filledFloor();
    const account = (name: string) => findAccount(floor.state, addressOf(name));
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
