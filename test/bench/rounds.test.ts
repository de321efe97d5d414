import { describe, expect, it } from "vitest";
import { alternate, median, type Subject, takeTurns, turns } from "./rounds.ts";
import { alignedTable, readable, sectionText } from "./table.ts";

/** Runs subjects that advance a test clock; returns their samples and the order of preparations. */
function measured(costs: Readonly<Record<string, readonly number[]>>, plan: object, check?: () => void) {
  const log: string[] = [];
  let now = 0;
  const subjects = Object.entries(costs).map(([name, all]): Subject => {
    let run = 0;
    return {
      name,
      prepare() {
        log.push(name);
        now += 1000;
        return () => {
          now += all[run++ % all.length] as number;
        };
      },
      check() {
        check?.();
        now += 1000;
      },
    };
  });
  const usual = { rounds: 2, warmUps: 0, sampleMs: 0, clock: () => now };
  return { samples: alternate(subjects, { ...usual, ...plan }), log };
}

describe("alternate", () => {
  it("alternates subjects and changes the first one", () => {
    expect(measured({ a: [1], b: [1] }, { rounds: 3 }).log).toEqual(["a", "b", "b", "a", "a", "b"]);
  });

  it("measures a run without its preparation and check, and without warm-ups", () => {
    let checks = 0;
    const { samples } = measured({ a: [90, 80, 3, 5] }, { warmUps: 2 }, () => {
      checks += 1;
    });
    expect(samples).toEqual([[3, 5]]);
    expect(checks).toBe(4);
  });

  it("repeats short runs until the sample is long enough, and returns their mean", () => {
    const { samples, log } = measured({ a: [2, 4, 6, 90] }, { rounds: 1, sampleMs: 10 });
    expect(samples).toEqual([[4]]);
    expect(log).toHaveLength(3);
  });
});

describe("turns", () => {
  it("rotate, so that each round begins with another subject", () => {
    const order = [...turns(3, { rounds: 3, warmUps: 0 })].map(({ index }) => index);
    expect(order).toEqual([0, 1, 2, 1, 2, 0, 2, 0, 1]);
  });

  it("begin after the previous one ends, and return the figures without the warm-up", async () => {
    const log: string[] = [];
    const subject = (name: string, from: number) => {
      let next = from;
      return async () => {
        log.push(`${name} begins`);
        await Promise.resolve();
        log.push(`${name} ends`);
        return next++;
      };
    };
    const samples = await takeTurns([subject("a", 0), subject("b", 10)], { rounds: 2, warmUps: 1 });
    expect(log.slice(0, 4)).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    expect(samples).toEqual([
      [1, 2],
      [11, 12],
    ]);
  });
});

it("a median is the middle value, or the mean of the middle two", () => {
  expect([[3], [10, 9, 100], [4, 1, 3, 2]].map(median)).toEqual([3, 10, 2.5]);
  expect(() => median([])).toThrow(RangeError);
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
    const section = { name: "x", about: "y", measure: () => report };
    expect(sectionText(section, report).split("\n")).toEqual([
      "x: y",
      "workload  subject  ops/s  lowest  highest  ratio",
      "w         s            2       1        3",
      "Medians of 5 rounds; ratio: to nothing.",
      "a note",
    ]);
    const alone = { ...report, baseline: null, rounds: 1, measurements: [], notes: [] };
    expect(sectionText(section, alone).split("\n").at(-1)).toBe("One round.");
  });
});
