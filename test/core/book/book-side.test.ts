import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BookSide } from "../../../src/core/book/book-side.ts";
import { NO_SLOT, OrderPool } from "../../../src/core/book/order-pool.ts";

/** Numbers of levels around the edges of the 32-bit words of the bitset, and the most that a market has. */
const LEVELS = [1, 2, 9, 31, 32, 33, 63, 64, 65, 96, 99, 9999] as const;

/** The occupied ranks, best first. */
function ranksOf(side: BookSide): number[] {
  const ranks: number[] = [];
  for (let rank = side.best; rank <= side.levels; rank = side.after(rank)) ranks.push(rank);
  return ranks;
}

describe.each(LEVELS)("a side of %d levels", (levels) => {
  it("is empty at first: its best rank lies behind the last", () => {
    const side = new BookSide(new OrderPool(), levels, 0);
    expect(side.best).toBe(levels + 1);
    expect(side.after(levels)).toBe(levels + 1);
  });

  it("has every rank as its best when an order rests there alone, and is empty without it", () => {
    const pool = new OrderPool();
    const side = new BookSide(pool, levels, 1);
    for (let rank = 1; rank <= levels; rank += 1) {
      const slot = pool.take(rank, 1, 5);
      side.append(slot, rank);
      if (side.best !== rank || side.after(rank) !== levels + 1)
        expect.fail(`rank ${rank}: best ${side.best}`);
      side.unlink(slot, rank);
      pool.free(slot);
      if (side.best !== levels + 1) expect.fail(`rank ${rank} is gone, best ${side.best}`);
    }
  });

  it("visits its ranks in order when all are occupied, and when they leave from either end", () => {
    const pool = new OrderPool();
    const side = new BookSide(pool, levels, 0);
    const slots = new Map<number, number>();
    for (let rank = levels; rank >= 1; rank -= 1) {
      const slot = pool.take(rank, 1, 5);
      slots.set(rank, slot);
      side.append(slot, rank);
    }
    const all = Array.from({ length: levels }, (_, index) => index + 1);
    expect(ranksOf(side)).toEqual(all);
    const leaving = [...all].filter((rank) => rank % 3 !== 0);
    for (const rank of leaving) side.unlink(slots.get(rank) as number, rank);
    expect(ranksOf(side)).toEqual(all.filter((rank) => rank % 3 === 0));
  });

  it("knows the next occupied rank as a sorted list does", () => {
    const rank = fc.integer({ min: 1, max: levels });
    fc.assert(
      fc.property(fc.array(fc.tuple(rank, fc.boolean()), { maxLength: 60, size: "max" }), (steps) => {
        const pool = new OrderPool();
        const side = new BookSide(pool, levels, 1);
        const resting = new Map<number, number>();
        for (const [at, rests] of steps) {
          const slot = resting.get(at);
          if (rests && slot === undefined) {
            resting.set(at, pool.take(at, 1, 1));
            side.append(resting.get(at) as number, at);
          } else if (!rests && slot !== undefined) {
            side.unlink(slot, at);
            resting.delete(at);
          }
          const expected = [...resting.keys()].sort((a, b) => a - b);
          expect(side.best).toBe(expected[0] ?? levels + 1);
          expect(ranksOf(side)).toEqual(expected);
        }
      }),
      { seed: 42, numRuns: 40 },
    );
  });
});

describe("a queue of one level", () => {
  it("goes by arrival, and closes up when an order leaves its head, middle or tail", () => {
    const pool = new OrderPool();
    const side = new BookSide(pool, 9, 0);
    const slots = [1, 2, 3, 4, 5].map((order) => pool.take(order, 1, order * 10));
    for (const slot of slots) side.append(slot, 4);
    const backwards = (tail: number): number[] => {
      const orders: number[] = [];
      for (let slot = tail; slot !== NO_SLOT; slot = pool.before(slot)) orders.push(pool.orderIn(slot));
      return orders;
    };
    expect(backwards(slots[4] as number)).toEqual([5, 4, 3, 2, 1]);
    for (const index of [2, 0]) side.unlink(slots[index] as number, 4);
    expect(backwards(slots[4] as number)).toEqual([5, 4, 2]);
    side.unlink(slots[4] as number, 4);
    expect(pool.orderIn(side.first(4))).toBe(2);
    expect(backwards(slots[3] as number)).toEqual([4, 2]);
    expect([side.total(4), side.count(4)]).toEqual([60, 2]);
  });

  it("adds up sizes beyond 2^31", () => {
    const pool = new OrderPool();
    const side = new BookSide(pool, 9, 0);
    const slots = [1, 2, 3, 4, 5].map((order) => pool.take(order, 1, 1_000_000_000));
    for (const slot of slots) side.append(slot, 1);
    expect(side.total(1)).toBe(5_000_000_000);
    side.reduce(slots[0] as number, 1, 999_999_999);
    side.unlink(slots[1] as number, 1);
    expect([side.total(1), pool.openIn(slots[0] as number)]).toEqual([3_000_000_001, 1]);
  });
});
