import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  rangeText,
  readRange,
  type SeedSeries,
  seedAt,
  seriesOf,
  sharedSeed,
} from "../../../src/fuzz/seeds.ts";
import { forAll } from "../../support/runs.ts";

const seedsIn = (series: SeedSeries): number[] =>
  Array.from({ length: series.length }, (_, place) => seedAt(series, place));

describe("a range of seeds", () => {
  it.each([
    ["0..10000", 0, 10_000],
    ["4711..4712", 4711, 4712],
    ["0..1e6", 0, 1_000_000],
    ["1_000..10_000", 1000, 10_000],
    ["0..9007199254740991", 0, Number.MAX_SAFE_INTEGER],
  ])("is read from %s", (text, from, to) => {
    expect(readRange(text)).toEqual({ from, to });
    expect(readRange(rangeText({ from, to }))).toEqual({ from, to });
  });

  const ODD =
    "|5|5..|..5|5..5|6..5|0..1..2|-1..5|0..1.5|0..1e99|0..9007199254740992|0.._1|0..1__0|a..b| 0..1";
  it.each(ODD.split("|"))("is not read from %j", (text) => {
    expect(readRange(text)).toBeNull();
  });

  it("is divided among its shards: each seed is in one shard", () => {
    const someRange = fc.record({ from: fc.nat(1000), length: fc.integer({ min: 1, max: 200 }) });
    forAll({}, [someRange, fc.integer({ min: 1, max: 12 })], ({ from, length }, count) => {
      const range = { from, to: from + length };
      const shards = Array.from({ length: count }, (_, i) => seriesOf(range, { index: i + 1, count }));
      const seeds = shards.flatMap(seedsIn).sort((a, b) => a - b);
      expect(seeds).toEqual(seedsIn({ first: from, step: 1, length }));
    });
  });
});

describe("two series of seeds", () => {
  const step = fc.integer({ min: 1, max: 12 });
  const someSeries = fc.record({ first: fc.nat(60), step, length: fc.nat(20) });

  it("share the smallest seed that is in both", () => {
    forAll({ numRuns: 2000 }, [someSeries, someSeries], (a, b) => {
      const others = new Set(seedsIn(b));
      expect(sharedSeed(a, b)).toBe(seedsIn(a).find((seed) => others.has(seed)) ?? null);
    });
  });

  it("share it if products of their numbers exceed 53 bits", () => {
    const max = Number.MAX_SAFE_INTEGER;
    const a = { first: max - 10_000_000_000, step: 99_991, length: 100_000 };
    const b = { first: max - 9_999_900_009, step: 99_989, length: 100_000 };
    const shared = sharedSeed(a, b);
    expect(shared).toBe(b.first);
    expect(sharedSeed(a, { ...b, length: 0 })).toBeNull();
  });
});
