import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/core/random.ts";
import { forAll } from "../../support/runs.ts";

const draws = (seed: string, name: string, count = 20): number[] => {
  const random = seededRandom(seed, name);
  return Array.from({ length: count }, () => random.below(2 ** 32));
};

describe("a random stream", () => {
  it("is a function of seed and name", () => {
    expect(draws("1", "chain")).toEqual(draws("1", "chain"));
    expect(draws("1", "chain")).not.toEqual(draws("2", "chain"));
    expect(draws("1", "chain")).not.toEqual(draws("1", "flow"));
    expect(draws("1", "a1")).not.toEqual(draws("11", "a"));
  });

  it("does not depend on draws in another stream", () => {
    const [chain, flow] = [seededRandom("1", "chain"), seededRandom("1", "flow")];
    const mixed = Array.from({ length: 20 }, (_, index) => {
      for (let extra = 0; extra < index; extra += 1) flow.below(10);
      return chain.below(2 ** 32);
    });
    expect(mixed).toEqual(draws("1", "chain"));
  });

  it("is the same on every machine: draws of seed 1", () => {
    expect(draws("1", "chain", 4)).toEqual([3_516_426_210, 916_153_287, 2_702_256_048, 1_361_884_647]);
  });

  it("draws integers within bounds, both included for `between`", () => {
    forAll(
      { seed: 42, numRuns: 100 },
      [fc.string(), fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 5 })],
      (seed, low, span) => {
        const random = seededRandom(seed, "bounds");
        const seen = new Set<number>();
        for (let draw = 0; draw < 200; draw += 1) seen.add(random.between(low, low + span));
        expect([...seen].sort((a, b) => a - b)).toEqual(
          Array.from({ length: span + 1 }, (_, index) => low + index),
        );
      },
    );
  });

  it("draws numbers with equal frequency", () => {
    const random = seededRandom("1", "fair");
    const counts = [0, 0, 0, 0, 0, 0];
    for (let draw = 0; draw < 60_000; draw += 1) {
      const drawn = random.below(6);
      counts[drawn] = (counts[drawn] as number) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it("is true with probability 1 / n for oneIn(n)", () => {
    const random = seededRandom("1", "one in");
    const hits = Array.from({ length: 30_000 }, () => random.oneIn(3)).filter(Boolean).length;
    expect(Math.abs(hits - 10_000)).toBeLessThan(500);
  });

  it("picks every item, and throws if there is none", () => {
    const random = seededRandom("1", "pick");
    const picked = new Set(Array.from({ length: 100 }, () => random.pick(["a", "b", "c"])));
    expect([...picked].sort()).toEqual(["a", "b", "c"]);
    expect(() => random.pick([])).toThrow(RangeError);
  });
});
