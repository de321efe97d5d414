import { expect, it } from "vitest";
import { percentile, slope } from "./verdict.ts";

it.each([
  { values: [3, 1, 2], share: 0.5, found: 2 },
  { values: [1, 2, 3, 4], share: 0.5, found: 2 },
  { values: [10, 9, 100], share: 0.99, found: 100 },
  { values: Array.from({ length: 100 }, (_, index) => 100 - index), share: 0.99, found: 99 },
  { values: [7], share: 0, found: 7 },
])("a percentile of $share is the nearest rank: $found", ({ values, share, found }) => {
  expect(percentile(values, share)).toBe(found);
});

it("a slope is least squares", () => {
  const points = [0, 3, 0, 3].map((y, x) => ({ x, y }));
  expect(slope(points)).toBeCloseTo(0.6);
  expect(() => slope(points.slice(0, 1))).toThrow("two points");
});
