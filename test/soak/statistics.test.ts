import { describe, expect, it } from "vitest";
import { percentile, slope } from "./statistics.ts";

describe("a percentile", () => {
  it.each([
    { values: [3, 1, 2], share: 0.5, found: 2 },
    { values: [1, 2, 3, 4], share: 0.5, found: 2 },
    { values: [10, 9, 100], share: 0.99, found: 100 },
    { values: Array.from({ length: 100 }, (_, index) => 100 - index), share: 0.99, found: 99 },
    { values: [7], share: 0, found: 7 },
  ])("of $share is the nearest rank: $found", ({ values, share, found }) => {
    expect(percentile(values, share)).toBe(found);
  });

  it("of nothing is an error", () => {
    expect(() => percentile([], 0.5)).toThrow("no values");
  });
});

describe("a slope", () => {
  it("is that of the line on which the points lie", () => {
    const line = [0, 5, 7, 100].map((x) => ({ x, y: 300 * x + 4_000 }));
    expect(slope(line)).toBeCloseTo(300);
  });

  it("is least squares where they do not lie on one", () => {
    const points = [
      { x: 0, y: 0 },
      { x: 1, y: 3 },
      { x: 2, y: 0 },
      { x: 3, y: 3 },
    ];
    expect(slope(points)).toBeCloseTo(0.6);
  });

  it("of one x is an error", () => {
    expect(() => slope([{ x: 1, y: 2 }])).toThrow("two points");
  });
});
