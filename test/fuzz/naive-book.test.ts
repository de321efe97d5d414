import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  NaiveBook,
  type NaiveOrder,
  type SelfTradePolicy,
  type Side,
  type TimeInForce,
} from "../../src/fuzz/reference/naive-book.ts";

const ME = 1;
const OTHER = 2;

const sell = (id: number, owner: number, tick: number, size: number): NaiveOrder => ({
  id,
  owner,
  side: "SELL",
  tick,
  size,
});
const buy = (id: number, owner: number, tick: number, size: number): NaiveOrder => ({
  ...sell(id, owner, tick, size),
  side: "BUY",
});

function bookWith(...orders: readonly NaiveOrder[]): NaiveBook {
  const book = new NaiveBook();
  for (const order of orders) book.place(order);
  return book;
}

interface Step {
  readonly op: "limit" | "cancel";
  readonly id: string;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  readonly type: TimeInForce;
}
interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly expect: {
    readonly trades: readonly { price: number; size: number; maker: string; taker: string }[];
    readonly bids: readonly { price: number; size: number }[];
    readonly asks: readonly { price: number; size: number }[];
  };
}
const { cases } = JSON.parse(
  readFileSync(new URL("../../fixtures/vectors/matching-cases.json", import.meta.url), "utf8"),
) as { cases: readonly Case[] };

describe("the naive book, with test cases of public engines", () => {
  it.each(cases)("$name", ({ steps, expect: expected }) => {
    const ids = [...new Set(steps.map((step) => step.id))];
    const numberOf = (id: string): number => ids.indexOf(id);
    const ticks = (price: number): number => Math.round(price * 100);
    const units = (size: number): number => Math.round(size * 100);
    const book = new NaiveBook();
    const trades = steps.flatMap(({ op, id, side, price, size, type }) => {
      if (op === "cancel") {
        book.cancel(numberOf(id));
        return [];
      }
      return book.place({ id: numberOf(id), owner: 0, side, tick: ticks(price), size: units(size) }, type)
        .trades;
    });
    const levels = (rows: readonly { price: number; size: number }[]) =>
      rows.map(({ price, size }) => ({ tick: ticks(price), open: units(size) }));
    const depth = (side: Side) => book.depth(side).map(({ tick, open }) => ({ tick, open }));
    expect(trades).toEqual(
      expected.trades.map(({ price, size, maker, taker }) => ({
        taker: numberOf(taker),
        maker: numberOf(maker),
        tick: ticks(price),
        quantity: units(size),
      })),
    );
    expect(depth("BUY")).toEqual(levels(expected.bids));
    expect(depth("SELL")).toEqual(levels(expected.asks));
  });

  it("accounts for the whole size of every order", () => {
    const book = bookWith(sell(1, OTHER, 50, 3), sell(2, OTHER, 51, 4));
    expect(book.place(buy(3, ME, 51, 10))).toMatchObject({ rested: 3, canceled: 0 });
    expect(book.place(sell(4, OTHER, 51, 5), "FAK")).toMatchObject({ rested: 0, canceled: 2 });
    expect(book.place(buy(5, ME, 51, 1), "FOK")).toMatchObject({ rested: 0, canceled: 1 });
  });

  it("returns whether a canceled order was there", () => {
    const book = bookWith(sell(1, OTHER, 50, 3));
    expect([book.cancel(1), book.cancel(1), book.cancel(9)]).toEqual([true, false, false]);
  });

  it("counts the orders of a level", () => {
    const book = bookWith(sell(1, OTHER, 50, 3), sell(2, OTHER, 51, 4), sell(3, OTHER, 50, 5));
    expect(book.depth("SELL")).toEqual([
      { tick: 50, open: 8, orders: 2 },
      { tick: 51, open: 4, orders: 1 },
    ]);
  });
});

describe("a taker that reaches an own resting order", () => {
  const resting = [sell(1, OTHER, 50, 3), sell(2, ME, 50, 4), sell(3, OTHER, 51, 5)] as const;

  it.each<{
    policy: SelfTradePolicy;
    makers: number[];
    removed: number[];
    rested: number;
    canceled: number;
    asks: number[];
  }>([
    { policy: "allow", makers: [1, 2, 3], removed: [], rested: 8, canceled: 0, asks: [] },
    { policy: "cancel-taker", makers: [1], removed: [], rested: 0, canceled: 17, asks: [2, 3] },
    { policy: "cancel-maker", makers: [1, 3], removed: [2], rested: 12, canceled: 0, asks: [] },
    { policy: "cancel-both", makers: [1], removed: [2], rested: 0, canceled: 17, asks: [3] },
  ])("under $policy trades with $makers", ({ policy, makers, removed, rested, canceled, asks }) => {
    const book = bookWith(...resting);
    const placement = book.place(buy(4, ME, 51, 20), "GTC", policy);
    expect(placement.trades.map(({ maker }) => maker)).toEqual(makers);
    expect(placement).toMatchObject({ removed, rested, canceled });
    expect(book.asks.map(({ id }) => id)).toEqual(asks);
  });

  it.each<SelfTradePolicy>(["cancel-taker", "cancel-maker", "cancel-both"])(
    "does not reach it under %s if it is filled before",
    (policy) => {
      const book = bookWith(...resting);
      expect(book.place(buy(4, ME, 51, 3), "FOK", policy)).toMatchObject({ removed: [], canceled: 0 });
      expect(book.asks.map(({ id }) => id)).toEqual([2, 3]);
    },
  );

  it.each<{ policy: SelfTradePolicy; fills: number }>([
    { policy: "allow", fills: 12 },
    { policy: "cancel-taker", fills: 3 },
    { policy: "cancel-maker", fills: 8 },
    { policy: "cancel-both", fills: 3 },
  ])("fills as FOK up to $fills under $policy, and changes nothing if killed", ({ policy, fills }) => {
    const killed = bookWith(...resting);
    const before = [...killed.asks];
    expect(killed.place(buy(4, ME, 51, fills + 1), "FOK", policy)).toEqual({
      trades: [],
      removed: [],
      rested: 0,
      canceled: fills + 1,
    });
    expect(killed.asks).toEqual(before);
    const { trades, canceled } = bookWith(...resting).place(buy(4, ME, 51, fills), "FOK", policy);
    expect(trades.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(fills);
    expect(canceled).toBe(0);
  });

  it("removes it as FOK under cancel-maker and continues", () => {
    const book = bookWith(...resting);
    expect(book.place(buy(4, ME, 51, 8), "FOK", "cancel-maker").removed).toEqual([2]);
    expect(book.asks).toEqual([]);
  });
});
