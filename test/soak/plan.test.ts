import { describe, expect, it } from "vitest";
import { timedPlan } from "./plan.ts";

const lengths = (minutes: number): number[] =>
  timedPlan(minutes).map(({ extent }) => (extent.kind === "time" ? extent.ms : Number.NaN));

describe("the plan of a soak", () => {
  it.each([
    { minutes: 0.5, cycles: 4 },
    { minutes: 10, cycles: 10 },
    { minutes: 60, cycles: 60 },
  ])("of $minutes minutes has $cycles cycles and lasts as long", ({ minutes, cycles }) => {
    expect(timedPlan(minutes).at(-1)?.cycle).toBe(cycles - 1);
    expect(lengths(minutes).reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(minutes * 60_000);
  });

  it("kills the server once, in the middle, and disturbs it in every other cycle", () => {
    const kinds = timedPlan(10).map(({ kind }) => kind);
    expect(kinds.slice(0, 4)).toEqual(["steady", "disturbed", "settling", "reads"]);
    expect(kinds.filter((kind) => kind === "crash")).toHaveLength(1);
    expect(kinds.indexOf("crash")).toBe(5 * 4 + 1);
    expect(kinds.filter((kind) => kind === "disturbed")).toHaveLength(9);
  });
});
