import { describe, expect, it } from "vitest";
import { alternate, median, type Subject } from "./rounds.ts";

/** A subject whose runs move a clock, and which writes down when it prepares. */
function subjectOf(name: string, costs: readonly number[], time: { now: number }, log: string[]): Subject {
  let run = 0;
  return {
    name,
    prepare() {
      log.push(name);
      time.now += 1000;
      return () => {
        time.now += costs[run++ % costs.length] as number;
      };
    },
  };
}

describe("alternate", () => {
  it("lets subjects take turns and changes who begins", () => {
    const time = { now: 0 };
    const log: string[] = [];
    const subjects = ["a", "b"].map((name) => subjectOf(name, [1], time, log));
    alternate(subjects, { rounds: 3, warmUps: 0, sampleMs: 0, clock: () => time.now });
    expect(log).toEqual(["a", "b", "b", "a", "a", "b"]);
  });

  it("counts what a run takes, without its preparation", () => {
    const time = { now: 0 };
    const samples = alternate([subjectOf("a", [3, 5], time, [])], {
      rounds: 2,
      warmUps: 0,
      sampleMs: 0,
      clock: () => time.now,
    });
    expect(samples).toEqual([[3, 5]]);
  });

  it("throws the warm-up rounds away", () => {
    const time = { now: 0 };
    const samples = alternate([subjectOf("a", [90, 80, 3, 5], time, [])], {
      rounds: 2,
      warmUps: 2,
      sampleMs: 0,
      clock: () => time.now,
    });
    expect(samples).toEqual([[3, 5]]);
  });

  it("repeats short runs until the sample is long enough, and answers their mean", () => {
    const time = { now: 0 };
    const log: string[] = [];
    const samples = alternate([subjectOf("a", [2, 4, 6, 90], time, log)], {
      rounds: 1,
      warmUps: 0,
      sampleMs: 10,
      clock: () => time.now,
    });
    expect(samples).toEqual([[4]]);
    expect(log).toHaveLength(3);
  });
});

describe("a subject's check", () => {
  it("follows every run and is not measured", () => {
    const time = { now: 0 };
    let checks = 0;
    const subject: Subject = {
      ...subjectOf("a", [3, 5], time, []),
      check() {
        checks += 1;
        time.now += 1000;
      },
    };
    const plan = { rounds: 2, warmUps: 0, sampleMs: 0, clock: () => time.now };
    expect(alternate([subject], plan)).toEqual([[3, 5]]);
    expect(checks).toBe(2);
  });
});

describe("median", () => {
  it.each([
    { values: [3], expected: 3 },
    { values: [10, 9, 100], expected: 10 },
    { values: [4, 1, 3, 2], expected: 2.5 },
  ])("of $values is $expected", ({ values, expected }) => {
    expect(median(values)).toBe(expected);
  });

  it("of nothing is an error", () => {
    expect(() => median([])).toThrow(RangeError);
  });
});
