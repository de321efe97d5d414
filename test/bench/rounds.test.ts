import { describe, expect, it } from "vitest";
import { against, alone, compared, measured, median, takeTurns, timed } from "./rounds.ts";
import { alignedTable, readable, sectionText } from "./table.ts";

/** Samples work whose runs take these times of a test clock. Returns the samples, and the number of runs and checks. */
function sampled(costs: readonly number[], samples: number, sampleMs = 0) {
  const counts = { runs: 0, checks: 0 };
  let now = 0;
  const prepare = () => {
    now += 1000;
    return () => {
      now += costs[counts.runs++] as number;
      return counts.runs;
    };
  };
  const check = (result: number): void => {
    expect(result).toBe(counts.runs);
    counts.checks += 1;
    now += 1000;
  };
  const sample = timed({ prepare, check }, { sampleMs, clock: () => now });
  return { samples: Array.from({ length: samples }, sample), ...counts };
}

describe("timed work", () => {
  it("is measured without its preparation and the check of its result", () => {
    expect(sampled([3, 5], 2)).toEqual({ samples: [3, 5], runs: 2, checks: 2 });
  });

  it("is repeated until the sample is long enough, and the mean of its runs is returned", () => {
    expect(sampled([2, 4, 6, 90], 1, 10)).toEqual({ samples: [4], runs: 3, checks: 3 });
  });
});

describe("turns", () => {
  it("rotate, so that each round begins with another subject, and each begins after the previous one ends", async () => {
    const log: string[] = [];
    const subjects = ["a", "b", "c"].map((name) => async () => {
      log.push(name);
      await Promise.resolve();
      return log.push(".");
    });
    await takeTurns(subjects, { rounds: 3, warmUps: 0 });
    expect(log.join("")).toBe("a.b.c.b.c.a.c.a.b.");
  });

  it("give the figures of each subject, without the warm-ups", async () => {
    const counters = [0, 10].map((first) => {
      let next = first;
      return () => next++;
    });
    const samples = await takeTurns(counters, { rounds: 2, warmUps: 1 });
    expect(samples.map((figures) => figures.join())).toEqual(["1,2", "11,12"]);
  });
});

it("a median is the middle value, or the mean of the middle two", () => {
  expect([[3], [10, 9, 100], [4, 1, 3, 2]].map(median)).toEqual([3, 10, 2.5]);
  expect(() => median([])).toThrow(RangeError);
});

describe("lines", () => {
  const lines = [
    { workload: "read", subject: "ours", figures: [4, 8, 5] },
    { workload: "read", subject: "bare", figures: [2] },
    { workload: "write", subject: "ours", figures: [10] },
  ];

  it("are summarized as median, lowest and highest", () => {
    expect(compared(lines)[0]).toEqual({
      workload: "read",
      subject: "ours",
      median: 5,
      lowest: 4,
      highest: 8,
      ratio: 1,
    });
  });

  it.each([
    ["the first", undefined, [1, 0.4, 2]],
    ["a subject with the same workload", against("bare"), [2.5, 1, null]],
    ["nothing", alone, [null, null, null]],
  ])("are compared with %s", (_with, baselineOf, ratios) => {
    expect(compared(lines, baselineOf).map(({ ratio }) => ratio)).toEqual(ratios);
  });

  it("are measured in turns", async () => {
    const line = (subject: string, figure: number) => ({ workload: "w", subject, sample: () => figure });
    const found = await measured([line("a", 2), line("b", 6)], { rounds: 2, warmUps: 0 });
    expect(found.map(({ subject, median, ratio }) => [subject, median, ratio])).toEqual([
      ["a", 2, 1],
      ["b", 6, 3],
    ]);
  });
});

describe("the benchmark's table", () => {
  it("aligns words to the left, and figures of three digits to the right", () => {
    const rows = [
      ["workload", "subject", "speed"],
      ["a", "clobsim", "21"],
    ];
    expect(alignedTable(rows)).toBe("workload  subject  speed\na         clobsim     21");
    expect([0.071234, 21, 24.56, 45_678].map(readable)).toEqual(["0.0712", "21", "24.6", "45,700"]);
  });

  it("omits the ratio without a baseline", () => {
    const measurement = { workload: "w", subject: "s", median: 2, lowest: 1, highest: 3, ratio: null };
    const report = {
      unit: "ops/s",
      baseline: "nothing",
      rounds: 5,
      measurements: [measurement],
      notes: ["a note"],
    };
    const section = { name: "x", about: "y" };
    expect(sectionText(section, report).split("\n")).toEqual([
      "x: y",
      "workload  subject  ops/s  lowest  highest  ratio",
      "w         s            2       1        3",
      "Medians of 5 rounds; ratio: to nothing.",
      "a note",
    ]);
    const once = { ...report, baseline: null, rounds: 1, measurements: [], notes: [] };
    expect(sectionText(section, once).split("\n").at(-1)).toBe("One round.");
  });
});
