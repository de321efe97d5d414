import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_SLOT, OrderPool } from "../../../src/core/book/order-pool.ts";

describe("the pool of resting orders", () => {
  it.each([1, 2, 3, 8, 1024])("grows from a capacity of %d and keeps what it holds", (capacity) => {
    const pool = new OrderPool(capacity);
    const slots = Array.from({ length: 5000 }, (_, index) => pool.take(index + 1, index % 7, index * 3));
    expect(new Set(slots).size).toBe(5000);
    expect(slots).not.toContain(NO_SLOT);
    for (const [index, slot] of slots.entries()) {
      if (pool.orderIn(slot) !== index + 1 || pool.openIn(slot) !== index * 3) expect.fail(`slot ${slot}`);
    }
  });

  it("gives a freed slot again, the latest first, before it takes a new one", () => {
    const pool = new OrderPool(4);
    const [first, second, third] = [1, 2, 3].map((order) => pool.take(order, 1, 1)) as [
      number,
      number,
      number,
    ];
    pool.free(first);
    pool.free(third);
    expect([pool.take(4, 1, 1), pool.take(5, 1, 1)]).toEqual([third, first]);
    expect(pool.orderIn(second)).toBe(2);
    expect([first, second, third]).not.toContain(pool.take(6, 1, 1));
  });

  it("never needs more slots than orders rested at once", () => {
    const pool = new OrderPool();
    const seen = new Set<number>();
    for (let round = 0; round < 100; round += 1) {
      const slots = Array.from({ length: 10 }, (_, index) => pool.take(index, 1, 1));
      for (const slot of slots) seen.add(slot);
      for (const slot of slots) pool.free(slot);
    }
    expect(seen.size).toBe(10);
  });

  it("never gives one slot to two orders", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat({ max: 30 })), { maxLength: 300, size: "max" }), (steps) => {
        const pool = new OrderPool(2);
        const held: { slot: number; order: number }[] = [];
        for (const [order, leaves] of steps.entries()) {
          const [gone] = leaves === null ? [] : held.splice(leaves, 1);
          if (gone === undefined) held.push({ slot: pool.take(order, 9, order), order });
          else pool.free(gone.slot);
          expect(held.map(({ slot }) => pool.orderIn(slot))).toEqual(held.map(({ order }) => order));
        }
      }),
      { seed: 42, numRuns: 60 },
    );
  });
});
