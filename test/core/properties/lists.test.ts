import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addToHistory, pointsBefore, priceAtPoint, secondOf } from "../../../src/core/market.ts";
import { ExpiryQueue } from "../../../src/core/order.ts";
import { Table } from "../../../src/core/table.ts";
import {
  add,
  addSum,
  compareSums,
  emptySum,
  millis,
  money,
  price,
  type Sum,
} from "../../../src/core/units.ts";
import { forAll, runs } from "../../support/runs.ts";

describe("the queue of expirations", () => {
  interface Step {
    readonly kind: "add" | "end" | "expire";
    readonly at: number;
    readonly pick: number;
  }
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom("add", "add", "end", "expire"),
    at: fc.nat({ max: 20 }),
    pick: fc.nat(),
  });

  /** Runs steps on the queue and on a sorted array; `pick` selects the order that ends. */
  function compare(steps: readonly Step[]): void {
    const queue = new ExpiryQueue();
    let waiting: { at: number; order: number }[] = [];
    let order = 0;
    for (const { kind, at, pick } of steps) {
      if (kind === "add") {
        order += 1;
        waiting.push({ at, order });
        queue.add(millis(at), order);
      } else if (waiting.length > 0) {
        const gone = kind === "expire" ? waiting[0]?.order : waiting[pick % waiting.length]?.order;
        waiting = waiting.filter((each) => each.order !== gone);
        const alive = new Set(waiting.map((each) => each.order));
        queue.ended((each) => alive.has(each));
      }
      waiting.sort((a, b) => a.at - b.at || a.order - b.order);
      expect(queue.first()).toBe(waiting[0]?.order ?? 0);
    }
  }

  it("returns the order that expires first, then the oldest", () => {
    forAll({ seed: 42, numRuns: 200 }, [fc.array(step, { maxLength: 120, size: "max" })], compare);
  });

  const steps = (count: number, stepAt: (index: number) => Partial<Step>): Step[] =>
    Array.from({ length: count }, (_, index) => ({ kind: "add", at: 0, pick: 0, ...stepAt(index) }));

  it("does so after it has removed many stale entries", () => {
    const add = steps(600, (index) => ({ at: (index * 7919) % 601 }));
    const end = steps(598, (index) => ({ kind: "end", pick: index * 7919 }));
    compare([...add, ...end, ...add.slice(0, 50), ...end.slice(0, 60)]);
  });
});

describe("the price history", () => {
  const trades = fc
    .array(fc.tuple(fc.nat({ max: 2500 }), fc.integer({ min: 1, max: 9999 })), {
      maxLength: 120,
      size: "max",
    })
    .map((gaps) => {
      let at = 1_767_225_600_000;
      return gaps.map(([gap, units]) => {
        at += gap;
        return { at, units };
      });
    });

  it("has one point per second with trades, with the last price of that second", () => {
    forAll(runs(100), [trades], (list) => {
      const history = new Table<number>();
      const bySecond = new Map<number, number>();
      for (const { at, units } of list) {
        addToHistory(history, millis(at), price(units));
        bySecond.set(Math.floor(at / 1000), units);
      }
      const points = Array.from(history, (point) => [secondOf(point), priceAtPoint(point)]);
      expect(points).toEqual([...bySecond]);
    });
  });

  it("counts the points before a second as a filter does", () => {
    forAll(runs(250), [trades, fc.integer({ min: -2, max: 160 })], (list, offset) => {
      const history = new Table<number>();
      for (const { at, units } of list) addToHistory(history, millis(at), price(units));
      const second = 1_767_225_600 + offset;
      const seconds = new Set(list.map(({ at }) => Math.floor(at / 1000)));
      expect(pointsBefore(history, second)).toBe([...seconds].filter((each) => each < second).length);
    });
  });
});

describe("a running total of money", () => {
  /** Value of one order, positive or negative. */
  const amount = fc.oneof(
    fc.integer({ min: -1e13, max: 1e13 }),
    fc.integer({ min: -1_000_001, max: 1_000_001 }),
  );
  const amounts = fc.array(amount, { maxLength: 60, size: "max" });
  const exactly = ({ usdc, micro }: Sum): bigint => BigInt(usdc) * 1_000_000n + BigInt(micro);
  const totalOf = (list: readonly number[]): Sum => {
    const total = emptySum();
    for (const amount of list) add(total, money(amount));
    return total;
  };
  const bigTotalOf = (list: readonly number[]): bigint =>
    list.reduce((sum, amount) => sum + BigInt(amount), 0n);

  it("is exact, as with BigInt, and its micro-USDC are from 0 to 999,999", () => {
    forAll(runs(250), [amounts], (list) => {
      const total = totalOf(list);
      expect(exactly(total)).toBe(bigTotalOf(list));
      expect(total.micro >= 0 && total.micro < 1_000_000).toBe(true);
    });
  });

  it("adds and compares like BigInt", () => {
    forAll(runs(250), [amounts, amounts], (list, other) => {
      const [one, two] = [totalOf(list), totalOf(other)];
      const [exactOne, exactTwo] = [bigTotalOf(list), bigTotalOf(other)];
      expect(Math.sign(compareSums(one, two))).toBe(exactOne < exactTwo ? -1 : exactOne > exactTwo ? 1 : 0);
      addSum(one, two);
      expect(exactly(one)).toBe(exactOne + exactTwo);
    });
  });
});
