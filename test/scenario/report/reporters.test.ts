import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseReporterArgument } from "../../../src/scenario/report/reporters.ts";
import { folderOf } from "../../../src/scenario/report/spec.ts";
import { REPORTER_NAMES } from "../../../src/scenario/report/text.ts";
import type { Failure, ScenarioResult } from "../../../src/scenario/run/result.ts";
import { ConfigError } from "../../../src/setting.ts";
import { hostileText } from "./hostile.ts";
import { EXAMPLE, failedOf, reportOf, writesOf, wrongReportOf } from "./suite.ts";

describe("the argument of a reporter", () => {
  it.each([
    ["junit", { name: "junit", file: null }],
    ["junit=out.xml", { name: "junit", file: "out.xml" }],
    ["json=a=b.json", { name: "json", file: "a=b.json" }],
  ])("%s is read", (argument, expected) => {
    expect(parseReporterArgument(argument)).toEqual(expected);
  });

  it.each([
    ["junitt", 'unknown reporter "junitt", did you mean junit?'],
    ["JSON", 'unknown reporter "JSON", did you mean json?'],
    ["teamcity", 'unknown reporter "teamcity", expected one of spec, json, junit, tap, github'],
    ["", 'unknown reporter "", expected one of spec, json, junit, tap, github'],
    ["__proto__", 'unknown reporter "__proto__", expected one of spec, json, junit, tap, github'],
    ["junti=out.xml", 'unknown reporter "junti", did you mean junit?'],
    ["junit=", 'expected junit=FILE or junit, found "junit="'],
    ["=out.xml", 'unknown reporter "", expected one of spec, json, junit, tap, github'],
  ])("%s is refused with the nearest", (argument, message) => {
    expect(() => parseReporterArgument(argument)).toThrow(new ConfigError(`--reporter: ${message}`));
  });
});

describe.each(REPORTER_NAMES)("%s", (name) => {
  it.each([
    ["results", reportOf(name, EXAMPLE, { seed: "a & b" })],
    ["problems", wrongReportOf(name)],
    ["nothing", reportOf(name, [])],
  ])("matches the example of %s", async (what, text) => {
    await expect(text).toMatchFileSnapshot(`examples/${what}.${name}.txt`);
  });
});

describe("json", () => {
  it("contains the transcript on request", () => {
    const { scenarios } = JSON.parse(reportOf("json", [failedOf()], { verbose: true }));
    const { failure, ...rest } = failedOf();
    const { mismatches: _, ...written } = failure as Failure;
    expect(scenarios).toEqual([{ ...rest, failure: written }]);
  });

  it("has a fixed order of keys", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (value === null || typeof value !== "object") return value;
      const entries = Object.entries(value).map(([key, inner]) => [key, reversed(inner)]);
      return Object.fromEntries(entries.reverse());
    };
    const results = EXAMPLE.map((result) => reversed(result) as ScenarioResult);
    expect(reportOf("json", results)).toBe(reportOf("json", EXAMPLE));
  });

  it("is written at once", () => {
    expect(writesOf("json", EXAMPLE)).toHaveLength(1);
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

describe("folders", () => {
  it.each([
    ["scenarios/orders/a.yaml", "scenarios/orders/"],
    ["a.yaml", "./"],
    ["/a.yaml", "/"],
    ["scenarios\\a.yaml", "scenarios\\"],
  ])("%s lies in %s", (file, folder) => {
    expect(folderOf(file)).toBe(folder);
  });
});
