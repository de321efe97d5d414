import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { ASK, BID, Book, type BookDirection, MatchPlan } from "../../../src/core/book/book.ts";
import { OrderPool } from "../../../src/core/book/order-pool.ts";
import { type Random, seededRandom } from "../../../src/core/random.ts";
import type { OrderType, SelfTradePolicy } from "../../../src/core/terms.ts";
import { type BookOrder, NaiveBook } from "../../../src/scenario/watch/naive-book.ts";

const POLICIES: readonly SelfTradePolicy[] = ["allow", "cancel-taker", "cancel-maker", "cancel-both"];

/** Returns the planned matches of an order, with order and quantity. */
function planned(book: Book, direction: BookDirection, limit: number, size: number) {
  const plan = new MatchPlan();
  book.plan(direction, limit, size, 1, "allow", plan);
  const matches = Array.from({ length: plan.count }, (_, index) => [
    book.pool.orderIn(plan.slots[index] as number),
    plan.quantities[index],
  ]);
  return { matches, filled: plan.filled };
}

describe("a book", () => {
  it.each([1, 31, 32, 33, 63, 64, 9999])("with %d levels accepts the first and the last price", (levels) => {
    const book = new Book(new OrderPool(), levels);
    expect([book.bestBid, book.bestAsk]).toEqual([0, levels + 1]);
    for (const tick of new Set([1, levels])) {
      const bid = book.rest(BID, tick, 5, 1, 1);
      expect([book.bestBid, book.tickOf(bid), book.totalAt(BID, tick)]).toEqual([tick, tick, 5]);
      expect(planned(book, ASK, tick, 9)).toMatchObject({ matches: [[1, 5]], filled: 5 });
      book.remove(bid);
      const ask = book.rest(ASK, tick, 5, 2, 1);
      expect([book.bestAsk, book.tickOf(ask), book.countAt(ASK, tick)]).toEqual([tick, tick, 1]);
      expect(planned(book, BID, tick, 3)).toMatchObject({ matches: [[2, 3]], filled: 3 });
      book.fill(ask, 5);
      expect([book.bestBid, book.bestAsk]).toEqual([0, levels + 1]);
    }
  });

  it("is independent of another book in the same pool", () => {
    const pool = new OrderPool(2);
    const [one, two] = [new Book(pool, 9), new Book(pool, 99)];
    const mine = one.rest(BID, 5, 10, 1, 1);
    two.rest(BID, 5, 20, 2, 1);
    one.remove(mine);
    two.rest(ASK, 9, 30, 3, 1);
    expect([one.bestBid, one.bestAsk, two.bestBid, two.bestAsk]).toEqual([0, 10, 5, 9]);
    expect([two.totalAt(BID, 5), two.totalAt(ASK, 9)]).toEqual([20, 30]);
  });

  it("has as much room in a copy of its pool, so that an order there does not copy the pool again", () => {
    const pool = new OrderPool(64);
    pool.take(1, 1, 10);
    const copy = pool.copy();
    const { cells } = copy;
    copy.take(2, 1, 10);
    expect([copy.cells === cells, cells.length]).toEqual([true, pool.cells.length]);
  });
});

/** Runs a random history on a book, in a pool so small that it grows and reuses slots, and on the naive book. */
function compareWithNaive(random: Random, levels: number): void {
  const policy = random.pick(POLICIES);
  const book = new Book(new OrderPool(1), levels);
  const naive = new NaiveBook();
  const plan = new MatchPlan();
  const slots = new Map<number, number>();
  for (let id = 1; id <= 120; id += 1) {
    if (random.below(4) === 0) {
      const victim = random.between(1, id);
      const slot = slots.get(victim);
      if (slot !== undefined) book.remove(slot);
      deepStrictEqual(naive.cancel(victim), slots.delete(victim));
      continue;
    }
    const [direction, owner] = [random.pick<BookDirection>([BID, ASK]), random.between(1, 3)];
    const [tick, size] = [random.between(1, levels), random.between(1, 1_000_000_000)];
    const side = direction === BID ? "BUY" : "SELL";
    const expected = naive.place({ id, owner, side, tick, size, open: size }, "GTC", policy);
    book.plan(direction, tick, size, owner, policy, plan);
    const matches: unknown[] = [];
    for (let index = 0; index < plan.count; index += 1) {
      const [slot, quantity] = [plan.slots[index], plan.quantities[index]] as [number, number];
      const maker = book.pool.orderIn(slot);
      const open = book.pool.openIn(slot);
      matches.push([maker, book.tickOf(slot), open, quantity]);
      if (quantity === 0 || quantity === open) slots.delete(maker);
      if (quantity === 0) book.remove(slot);
      else book.fill(slot, quantity);
    }
    const rests = plan.stopped ? 0 : size - plan.filled;
    if (rests > 0) slots.set(id, book.rest(direction, tick, rests, id, owner));
    deepStrictEqual(
      matches,
      expected.matches.map(({ maker, open, quantity }) => [maker.id, maker.tick, open, quantity]),
    );
    deepStrictEqual(rests > 0, expected.last === "rests");
    for (const [direction, side] of [
      [BID, "BUY"],
      [ASK, "SELL"],
    ] as const) {
      const found: unknown[] = [];
      book.queue(direction, (slot) => {
        found.push([book.pool.orderIn(slot), book.tickOf(slot), book.pool.openIn(slot)]);
      });
      deepStrictEqual(
        found,
        naive.queue(side).map(({ id, tick, open }) => [id, tick, open]),
      );
      const levels: unknown[] = [];
      book.depth(direction, (tick, open, orders) => void levels.push({ tick, open, orders }));
      deepStrictEqual(levels, naive.depth(side));
    }
  }
}

it("the pool of resting orders reuses freed slots", () => {
  const pool = new OrderPool();
  const seen = new Set<number>();
  for (let round = 0; round < 100; round += 1) {
    const slots = Array.from({ length: 10 }, (_, index) => pool.take(index, 1, 1));
    for (const slot of slots) seen.add(slot);
    for (const slot of slots) pool.free(slot);
  }
  expect(seen.size).toBe(10);
});

it.each([1, 2, 31, 32, 33, 63, 64, 99, 9999])(
  "a book compared with the naive book has the same trades and queues: %d levels",
  (levels) => {
    for (let seed = 1; seed <= 25; seed += 1)
      compareWithNaive(seededRandom(`${seed}`, `book ${levels}`), levels);
  },
);

it("the naive book leaves open what it does not match, whatever becomes of it", () => {
  const book = new NaiveBook();
  for (const tick of [50, 51]) book.place({ id: tick, owner: 2, side: "SELL", tick, size: 3, open: 3 });
  const order = { id: 1, owner: 1, side: "BUY", tick: 51, size: 7 } as const;
  const placed = (own: BookOrder, type?: OrderType) => [book.place(own, type).last, own.open];
  expect(placed({ ...order, open: 7 }, "FOK")).toEqual(["FOK_UNFILLED", 7]);
  expect(placed({ ...order, open: 7 })).toEqual(["rests", 1]);
  expect(placed({ ...order, side: "SELL", size: 3, open: 3 }, "FAK")).toEqual(["FAK_REMAINDER", 2]);
});
