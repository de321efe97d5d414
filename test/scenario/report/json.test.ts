import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostileText } from "./hostile.ts";
import { failedOf, reportOf, resultOf, skippedOf, WRONG_FILES, writesOf, wrongReportOf } from "./suite.ts";

const race = {
  place: { file: "a.yaml", line: 3, column: 5 },
  step: 2,
  outcomes: [{ lines: ["alice: BUY"], after: ["market YES bids none; asks none"] }],
};

describe("json", () => {
  it("is one document of version 1 with the counts of the suite", () => {
    const { scenarios, ...rest } = JSON.parse(reportOf("json", [resultOf(), failedOf(), skippedOf()]));
    expect(rest).toEqual({
      version: 1,
      seed: null,
      passed: 1,
      failed: 1,
      skipped: 1,
      durationMs: 13.3,
      problems: [],
    });
    expect(scenarios).toHaveLength(3);
  });

  it("contains all of a result except the transcript", () => {
    const results = [resultOf({ races: [race], written: ["golden.txt"] }), failedOf(), skippedOf()];
    const { scenarios } = JSON.parse(reportOf("json", results));
    expect(scenarios).toEqual(results.map(({ transcript: _, ...rest }) => rest));
  });

  it("contains the transcript on request", () => {
    const { scenarios } = JSON.parse(reportOf("json", [failedOf()], { transcript: true }));
    expect(scenarios).toEqual([failedOf()]);
  });

  it("contains the seed of the suite", () => {
    expect(JSON.parse(reportOf("json", [], { seed: "7" })).seed).toBe("7");
  });

  it("has a fixed order of keys", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(
        Object.entries(value)
          .map(([key, inner]) => [key, reversed(inner)])
          .reverse(),
      );
    };
    const result = failedOf({ races: [race] });
    expect(reportOf("json", [reversed(result) as typeof result])).toBe(reportOf("json", [result]));
  });

  it("lists the problems of files, each of which counts as failed", () => {
    const { problems, ...rest } = JSON.parse(wrongReportOf("json"));
    expect(problems).toEqual(WRONG_FILES.flatMap((file) => file.problems));
    const counts = { passed: 0, failed: 2, skipped: 0, durationMs: 0 };
    expect(rest).toEqual({ version: 1, seed: null, ...counts, scenarios: [] });
  });

  it("is written at once, also for an empty suite", () => {
    expect(writesOf("json", [resultOf(), failedOf()])).toHaveLength(1);
    expect(JSON.parse(reportOf("json", [])).scenarios).toEqual([]);
  });

  it("keeps any text unchanged", () => {
    fc.assert(
      fc.property(hostileText, hostileText, (name, message) => {
        const { scenarios } = JSON.parse(reportOf("json", [failedOf({ name }, { message })]));
        expect([scenarios[0].name, scenarios[0].failure.message]).toEqual([name, message]);
      }),
    );
  });
});
