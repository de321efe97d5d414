import { XMLParser, XMLValidator } from "fast-xml-parser";
import { Parser } from "tap-parser";
import { describe, expect, it } from "vitest";
import { xmlAttributes, xmlText } from "../../../src/scenario/report/reporters.ts";
import { folderOf } from "../../../src/scenario/report/spec.ts";
import {
  oneLine,
  printable,
  REPORTER,
  REPORTER_NAMES,
  title,
  wellFormed,
} from "../../../src/scenario/report/text.ts";
import type { Failure, ScenarioResult } from "../../../src/scenario/run/result.ts";
import { ConfigError, readValue } from "../../../src/setting.ts";
import { forAll } from "../../support/runs.ts";
import { eachHostile, hostileText } from "./hostile.ts";
import { EXAMPLE, failedOf, reportOf, resultOf, skippedOf, writesOf, wrongReportOf } from "./suite.ts";

/** Checks a rule for any three texts. */
const withAnyTexts = (check: (first: string, second: string, third: string) => void): void =>
  forAll(eachHostile, [hostileText, hostileText, hostileText], check);

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
describe("the argument of a reporter", () => {
  it.each([
    ["junit", { name: "junit", file: null }],
    ["junit=out.xml", { name: "junit", file: "out.xml" }],
    ["json=a=b.json", { name: "json", file: "a=b.json" }],
  ])("%s is read", (argument, expected) => {
    expect(readValue("--reporter", argument, REPORTER)).toEqual(expected);
  });

  it.each([
    ["junitt", '"junitt", did you mean junit?'],
    ["JSON", '"JSON", did you mean json?'],
    ["teamcity", '"teamcity"'],
    ["", "nothing"],
    ["__proto__", '"__proto__"'],
    ["junti=out.xml", '"junti=out.xml", did you mean junit?'],
    ["junit=", '"junit=", did you mean junit?'],
    ["=out.xml", '"=out.xml"'],
  ])("%s is refused with the nearest", (argument, found) => {
    const expected = "spec, json, junit, tap or github, or with a file such as junit=out.xml";
    const message = `--reporter expects ${expected}, found ${found}`;
    expect(() => readValue("--reporter", argument, REPORTER)).toThrow(new ConfigError(message));
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

  it("keeps any text unchanged", () =>
    withAnyTexts((name, message) => {
      const { scenarios } = JSON.parse(reportOf("json", [failedOf({ name }, { message })]));
      expect([scenarios[0].name, scenarios[0].failure.message]).toEqual([name, message]);
    }));
});

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  parseAttributeValue: false,
  parseTagValue: false,
  trimValues: false,
  // Numeric references are read only with these.
  htmlEntities: true,
  isArray: (name) => name === "testsuite" || name === "testcase",
});

describe("junit", () => {
  it("is well-formed", () => {
    const seeded = reportOf("junit", EXAMPLE, { seed: "a & b" });
    for (const xml of [seeded, reportOf("junit", []), wrongReportOf("junit")])
      expect(XMLValidator.validate(xml)).toBe(true);
  });

  it("keeps any text, except characters that XML 1.0 forbids", () =>
    withAnyTexts((name, message, file) => {
      const failure = failedOf({ name, file }, { message, text: message });
      const xml = reportOf("junit", [failure, skippedOf({ file, reason: message })]);
      expect(XMLValidator.validate(xml)).toBe(true);
      const [failed, skipped] = parser.parse(xml).testsuites.testsuite[0].testcase;
      expect(failed).toMatchObject({ name: printable(name), file: printable(file) });
      expect(failed.failure.message).toBe(printable(message));
      expect(skipped.skipped.message).toBe(printable(message));
    }));

  it.each([
    ["a & b < c > d", "a &amp; b &lt; c &gt; d"],
    ["]]>", "]]&gt;"],
    ["a\r\nb\tc\"'", "a&#13;\nb\tc\"'"],
    ["a\u0000b\ud800", "a\ufffdb\ufffd"],
  ])("text %j is written %j", (text, expected) => {
    expect(xmlText(text)).toBe(expected);
  });

  it.each([
    ["a & \"b\" < 'c' > d", ` name="a &amp; &quot;b&quot; &lt; 'c' &gt; d"`],
    ["a\r\nb\tc", ' name="a&#13;&#10;b&#9;c"'],
    ["a\u0000b\ud800", ' name="a\ufffdb\ufffd"'],
    [7, ' name="7"'],
  ])("an attribute %j is written%s", (value, expected) => {
    expect(xmlAttributes({ name: value })).toBe(expected);
  });
});

type Point = Record<"ok" | "name" | "id" | "skip" | "time", unknown> & { diag: Record<string, unknown> };

/** Parses test points with a strict public parser. */
function pointsOf(tap: string): Point[] {
  const events = Parser.parse(tap, { strict: true }) as [string, unknown][];
  expect(events.filter(([kind]) => kind === "extra" || kind === "child")).toEqual([]);
  return events.filter(([kind]) => kind === "assert").map(([, point]) => point as Point);
}

/** The reporter's rule: on one line, without a brace at the end, which would open a subtest. */
const described = (text: string): string => text.replace(/\{$/, "\uff5b");

describe("tap", () => {
  it.each([
    ["nothing failed", reportOf("tap", [resultOf(), skippedOf()]), true],
    ["nothing was to be run", reportOf("tap", []), true],
    ["something failed", reportOf("tap", [resultOf(), failedOf()]), false],
    ["scenarios are missing at the end", reportOf("tap", [resultOf()], {}, 3), false],
    ["files have problems", wrongReportOf("tap"), false],
  ])("says to a parser whether all is well, when %s", (_when, tap, isWell) => {
    const events = Parser.parse(tap, { strict: true }) as [string, { ok: boolean }][];
    expect(events.find(([kind]) => kind === "complete")?.[1].ok).toBe(isWell);
  });

  it("bails out if scenarios are missing at the end", () => {
    expect(reportOf("tap", [resultOf()], {}, 3)).toMatch(/\nBail out! 1 of 3 scenarios were run\n$/);
  });

  it("has a failed point for each problem of a file", () => {
    expect(pointsOf(wrongReportOf("tap")).map(({ ok }) => ok)).toEqual([false, false, false]);
  });

  it("writes a duration without an exponent", () => {
    const results = [resultOf({ durationMs: 1e-9 }), resultOf({ durationMs: 1234.56789 })];
    expect(pointsOf(reportOf("tap", results)).map(({ time }) => time)).toEqual([0, 1234.568]);
  });

  it("skips without a reason if there is none", () => {
    expect(pointsOf(reportOf("tap", [skippedOf({ reason: null })]))[0]?.skip).toBe(true);
  });

  it("keeps any text: names on one line, diagnostics unchanged", () =>
    withAnyTexts((name, message, line) => {
      const diff = [
        { kind: "expected", text: line },
        { kind: "found", text: message },
      ] as const;
      const failure = failedOf({ name }, { message, diff, recent: [line] });
      const results = [resultOf({ name }), failure, skippedOf({ name, reason: message })];
      const points = pointsOf(reportOf("tap", results));
      expect(points.map((point) => point.name)).toEqual(Array(3).fill(described(title(name))));
      expect(points[2]?.skip).toBe(described(oneLine(message)) || true);
      expect(points[1]?.diag).toMatchObject({
        message: wellFormed(message),
        expected: [wellFormed(line)],
        found: [wellFormed(message)],
        recent: [wellFormed(line)],
      });
    }));
});

const decoded = (text: string): string =>
  text.replace(/%(25|0D|0A|3A|2C)/g, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** Parses the workflow commands before the totals like GitHub's runner: by the first `::`, commas and equals signs. */
function commandsOf(text: string) {
  const lines = text.split(/\r?\n|\r/);
  expect(lines.pop()).toBe("");
  expect(lines.pop()).toMatch(/^0 passed, 1 failed, 1 skipped in \S+ m?s$/);
  return lines.map((line) => {
    const [, kind, properties = "", message = ""] = /^::(\w+) (.*?)::(.*)$/s.exec(line) ?? [];
    const fields = properties.split(",").map((property) => {
      const [, name, value = ""] = /^([^=]*)=(.*)$/s.exec(property) ?? [];
      return [name, decoded(value)];
    });
    return { kind, properties: Object.fromEntries(fields), message: decoded(message) };
  });
}

describe("github", () => {
  it("keeps any text, except characters that XML 1.0 forbids", () =>
    withAnyTexts((name, message, file) => {
      const place = { file: `a${file}`, line: 2, column: 3 };
      const failure = failedOf({ name: `a${name}` }, { place, message });
      const skip = skippedOf({ name: `a${name}`, reason: message, place });
      const [failed, skipped] = commandsOf(reportOf("github", [failure, skip]));
      const properties = { file: printable(place.file), line: "2", col: "3", title: printable(`a${name}`) };
      expect(failed).toMatchObject({ kind: "error", properties });
      expect(failed?.message.startsWith(`${printable(message)}\nstep 4`)).toBe(true);
      expect(skipped).toEqual({ kind: "notice", properties, message: `skipped: ${printable(message)}` });
    }));
});
