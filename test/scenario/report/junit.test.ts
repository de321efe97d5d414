import fc from "fast-check";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { describe, expect, it } from "vitest";
import { printable, type ReporterOptions } from "../../../src/scenario/report/text.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { HOSTILE, hostileText } from "./hostile.ts";
import { failedOf, reportOf, resultOf, skippedOf, wrongReportOf } from "./suite.ts";

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
function parsed(results: readonly ScenarioResult[], own: Partial<ReporterOptions> = {}) {
  const xml = reportOf("junit", results, own);
  expect(XMLValidator.validate(xml)).toBe(true);
  return parser.parse(xml).testsuites;
}

describe("junit", () => {
  it("matches the example", () => {
    const results = [resultOf(), failedOf({}, { diff: [], recent: [] }), skippedOf()];
    expect(reportOf("junit", results)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="clobsim" tests="3" failures="1" errors="0" skipped="1" time="0.0133">
  <testsuite name="scenarios/orders/" tests="2" failures="1" errors="0" skipped="0" time="0.0133">
    <testcase name="a partial fill leaves the remainder live" classname="scenarios/orders/partial.yaml" file="scenarios/orders/partial.yaml" line="1" time="0.0008"/>
    <testcase name="a cancel frees the reservation" classname="scenarios/orders/cancel.yaml" file="scenarios/orders/cancel.yaml" line="1" time="0.0125">
      <failure message="the bids of YES are not as expected" type="failed">scenarios/orders/cancel.yaml:12:7
step 4  expect: book
the bids of YES are not as expected

repeat  clobsim run scenarios/orders/cancel.yaml --seed 7 --step 4</failure>
    </testcase>
  </testsuite>
  <testsuite name="scenarios/faults/" tests="1" failures="0" errors="0" skipped="1" time="0">
    <testcase name="a busy server is asked again" classname="scenarios/faults/busy.yaml" file="scenarios/faults/busy.yaml" line="1" time="0">
      <skipped message="needs control plane"/>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  it("has an error for each problem of a file, at its place", () => {
    const xml = wrongReportOf("junit");
    expect(XMLValidator.validate(xml)).toBe(true);
    expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="clobsim" tests="3" failures="0" errors="3" skipped="0" time="0">
  <testsuite name="scenarios/wrong.yaml" tests="2" failures="0" errors="2" skipped="0" time="0">
    <testcase name="scenarios/wrong.yaml:5:5" classname="scenarios/wrong.yaml" file="scenarios/wrong.yaml" line="5" time="0">
      <error message="unknown key &quot;stauts&quot; (did you mean status?)" type="wrong file">scenarios/wrong.yaml:5:5: unknown key "stauts" (did you mean status?)</error>
    </testcase>
    <testcase name="scenarios/_part.yaml:2:19" classname="scenarios/wrong.yaml" file="scenarios/_part.yaml" line="2" time="0">
      <error message="expected a price, found nothing" type="wrong file">scenarios/_part.yaml:2:19: expected a price, found nothing</error>
    </testcase>
  </testsuite>
  <testsuite name="scenarios/none.yaml" tests="1" failures="0" errors="1" skipped="0" time="0">
    <testcase name="scenarios/none.yaml:1:1" classname="scenarios/none.yaml" file="scenarios/none.yaml" line="1" time="0">
      <error message="expected a scenario, found a list" type="wrong file">scenarios/none.yaml:1:1: expected a scenario, found a list</error>
    </testcase>
  </testsuite>
</testsuites>
`);
  });

  it("groups the scenarios of a folder in one suite, in any order", () => {
    const files = ["a/1.yaml", "b/1.yaml", "a/2.yaml"];
    const { testsuite } = parsed(files.map((file) => resultOf({ file })));
    expect(testsuite.map(({ name, tests }: Record<string, string>) => [name, tests])).toEqual([
      ["a/", "2"],
      ["b/", "1"],
    ]);
  });

  it("names the seed of the suite", () => {
    const { testsuite } = parsed([resultOf()], { seed: "a & b" });
    expect(testsuite[0].properties.property).toEqual({ name: "seed", value: "a & b" });
  });

  it("has the diff in the text of the failure", () => {
    const { testsuite } = parsed([failedOf()]);
    expect(testsuite[0].testcase[0].failure["#text"]).toContain(
      "\n    bid 0.56 x 10\n  - bid 0.55 x 60\n  + bid 0.55 x 100\n  # 2 more lines\n",
    );
  });

  it("of an empty suite is well-formed", () => {
    expect(parsed([]).tests).toBe("0");
  });

  it("a failure without details is a failure", () => {
    const { testsuite } = parsed([failedOf({ failure: null })]);
    expect(testsuite[0].testcase[0].failure).toEqual({ message: "", type: "failed" });
  });

  it.each(HOSTILE.map((text) => [text]))("keeps %j", (text) => {
    const { testsuite } = parsed([failedOf({ name: `a${text}b` }, { message: `c${text}d` })]);
    expect(testsuite[0].testcase[0].name).toBe(printable(`a${text}b`));
    expect(testsuite[0].testcase[0].failure.message).toBe(printable(`c${text}d`));
  });

  it("keeps any text, except characters that XML 1.0 forbids", () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (name, message, file) => {
        const { testsuite } = parsed([
          failedOf({ name, file }, { message, text: message }),
          skippedOf({ file, reason: message }),
        ]);
        const [failed, skipped] = testsuite[0].testcase;
        expect(failed).toMatchObject({ name: printable(name), file: printable(file) });
        expect(failed.failure.message).toBe(printable(message));
        expect(skipped.skipped.message).toBe(printable(message));
      }),
    );
  });
});
