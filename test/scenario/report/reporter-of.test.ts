import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  parseReporterArgument,
  ReporterError,
  reporterOf,
} from "../../../src/scenario/report/reporter-of.ts";
import { REPORTER_NAMES } from "../../../src/scenario/report/text.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { hostileText } from "./hostile.ts";
import { failedOf, reportOf, resultOf, skippedOf } from "./suite.ts";

describe("the name of a reporter", () => {
  it.each([
    ["junitt", 'unknown reporter "junitt", did you mean junit?'],
    ["JSON", 'unknown reporter "JSON", did you mean json?'],
    ["teamcity", 'unknown reporter "teamcity", expected one of spec, json, junit, tap, github'],
    ["", 'unknown reporter "", expected one of spec, json, junit, tap, github'],
    ["__proto__", 'unknown reporter "__proto__", expected one of spec, json, junit, tap, github'],
  ])("unknown %j is refused with the nearest", (name, message) => {
    expect(() => reporterOf(name)).toThrow(new ReporterError(message));
  });
});

describe("the argument of a reporter", () => {
  it.each([
    ["junit", { name: "junit", file: null }],
    ["junit=out.xml", { name: "junit", file: "out.xml" }],
    ["json=a=b.json", { name: "json", file: "a=b.json" }],
  ])("%s is read", (argument, expected) => {
    expect(parseReporterArgument(argument)).toEqual(expected);
  });

  it.each([
    ["junti=out.xml", 'unknown reporter "junti", did you mean junit?'],
    ["junit=", 'expected junit=FILE or junit, found "junit="'],
    ["=out.xml", 'unknown reporter "", expected one of spec, json, junit, tap, github'],
  ])("%s is refused", (argument, message) => {
    expect(() => parseReporterArgument(argument)).toThrow(new ReporterError(message));
  });
});

const anyResult: fc.Arbitrary<ScenarioResult> = fc
  .record({
    kind: fc.constantFrom(resultOf, failedOf, skippedOf),
    name: hostileText,
    file: hostileText,
    reason: hostileText,
    durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  })
  .map(({ kind, ...own }) => kind(own));

describe.each(REPORTER_NAMES)("%s", (name) => {
  it("writes the same bytes for the same results", () => {
    fc.assert(
      fc.property(fc.array(anyResult, { maxLength: 6 }), (results) => {
        expect(reportOf(name, structuredClone(results))).toBe(reportOf(name, results));
      }),
    );
  });

  it("writes complete lines", () => {
    expect(reportOf(name, [failedOf(), skippedOf()])).toMatch(/[^\n]\n$/);
  });
});
