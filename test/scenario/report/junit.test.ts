import fc from "fast-check";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { describe, expect, it } from "vitest";
import { xmlAttributes, xmlText } from "../../../src/scenario/report/reporters.ts";
import { printable } from "../../../src/scenario/report/text.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { eachHostile, hostileText } from "./hostile.ts";
import { EXAMPLE, failedOf, reportOf, skippedOf, wrongReportOf } from "./suite.ts";

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

/** Parses the report with a public parser, which requires well-formed XML. */
function parsed(results: readonly ScenarioResult[]) {
  const xml = reportOf("junit", results);
  expect(XMLValidator.validate(xml)).toBe(true);
  return parser.parse(xml).testsuites;
}

describe("junit", () => {
  it("is well-formed", () => {
    const seeded = reportOf("junit", EXAMPLE, { seed: "a & b" });
    for (const xml of [seeded, reportOf("junit", []), wrongReportOf("junit")])
      expect(XMLValidator.validate(xml)).toBe(true);
  });

  it("keeps any text, except characters that XML 1.0 forbids", () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (name, message, file) => {
        const results = [
          failedOf({ name, file }, { message, text: message }),
          skippedOf({ file, reason: message }),
        ];
        const [failed, skipped] = parsed(results).testsuite[0].testcase;
        expect(failed).toMatchObject({ name: printable(name), file: printable(file) });
        expect(failed.failure.message).toBe(printable(message));
        expect(skipped.skipped.message).toBe(printable(message));
      }),
      eachHostile,
    );
  });

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
