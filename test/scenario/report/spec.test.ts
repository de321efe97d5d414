import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnsOf, type Paint, plainPaint } from "../../../src/scenario/report/text.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { forAll } from "../../support/runs.ts";
import { hostileText } from "./hostile.ts";
import { EXAMPLE, failedOf, raceOf, reportOf, resultOf, skippedOf } from "./suite.ts";

/** Scenarios of a folder, each in its own file. */
const manyOf = (number: number, folder: string, own: Partial<ScenarioResult> = {}): ScenarioResult[] =>
  Array.from({ length: number }, (_, index) => resultOf({ file: `${folder}/${index}.yaml`, ...own }));

/** Names instead of colours. */
const named = Object.fromEntries(
  Object.keys(plainPaint).map((colour) => [colour, (text: string) => `<${colour}>${text}</${colour}>`]),
) as unknown as Paint;

describe("spec of a short suite", () => {
  it("shows twelve outcomes of a race and counts the others", () => {
    const outcomes = Array.from({ length: 24 }, (_, index) => ({ lines: [`${index}`], after: [`${index}`] }));
    const text = reportOf("spec", [resultOf({ races: [raceOf(outcomes)] })]);
    expect(text).toContain("      12  11\n          = 11\n      and 12 more outcomes: the json report");
    expect(text).toContain("       1  0\n");
  });

  it("indents wrapped lines", () => {
    const long = "a name that goes on ".repeat(8).trim();
    const text = reportOf("spec", [resultOf({ name: long }), failedOf({}, { text: long })]);
    const names = (number: number): string => "a name that goes on ".repeat(number);
    expect(text).toContain(`  ✓ ${names(4)}a name\n    that goes on ${names(3).trimEnd()}  0.8 ms\n`);
    expect(text).toContain(
      `    step 4  ${names(4)}a name\n            that goes on ${names(3).trimEnd()}\n    the bids`,
    );
  });

  it("is coloured by the given functions", async () => {
    await expect(reportOf("spec", EXAMPLE, { paint: named })).toMatchFileSnapshot(
      "examples/coloured.spec.txt",
    );
  });
});

describe("spec of more than 200 scenarios", () => {
  it("counts each folder, shows failures in full, and counts the reasons of skipped scenarios", async () => {
    const results = [
      ...manyOf(1500, "scenarios/books"),
      failedOf({}, { diff: [], recent: [] }),
      ...manyOf(3, "scenarios/orders"),
      ...manyOf(12, "remote", { status: "skipped", reason: "needs control plane", durationMs: 0 }),
      skippedOf({ file: "remote/x.yaml", reason: "needs a wallet" }),
    ];
    await expect(reportOf("spec", results)).toMatchFileSnapshot("examples/many.spec.txt");
  });

  it.each([
    [200, false, 200],
    [201, false, 0],
    [201, true, 201],
  ])("%i of them, verbose: %s, are listed as %i", (number, verbose, listed) => {
    const text = reportOf("spec", manyOf(number, "a"), { verbose });
    expect(text.match(/✓ a partial/g) ?? []).toHaveLength(listed);
  });
});

describe("spec of any texts", () => {
  const place = /:12:7$|^ *repeat {2}/;
  /** Texts long enough to be wrapped anywhere. */
  const anyText = fc
    .tuple(hostileText, fc.integer({ min: 1, max: 12 }))
    .map(([text, times]) => text.repeat(times));
  const anyResult = fc
    .record({ file: anyText, name: anyText, text: anyText, message: anyText, line: anyText })
    .map(({ file, name, text, message, line }) =>
      failedOf(
        { file, name, written: [line], races: [raceOf([{ lines: [line], after: [text] }])] },
        {
          place: { file, line: 12, column: 7 },
          text,
          message,
          recent: [line],
          diff: [{ kind: "note", text: line }],
          repeat: `clobsim run ${file}`,
        },
      ),
    );

  it.each([
    ["few", 0, 100],
    ["few", 0, 60],
    ["many", 200, 100],
  ])(
    "of %s scenarios (and %i) fills at most %i columns, has no blanks at the ends of lines and no control characters",
    (_case, more, width) => {
      forAll({}, [fc.array(anyResult, { minLength: 1, maxLength: 3 })], (results) => {
        const others = manyOf(more, "a-folder-of-a-long-name".repeat(4));
        const text = reportOf("spec", [...results, ...others], { width });
        expect(text).not.toMatch(/(?!\n)\p{Cc}|\p{Surrogate}/u);
        expect(text).not.toContain("\n\n\n");
        for (const line of text.split("\n")) {
          expect(line).toBe(line.trimEnd());
          if (!place.test(line)) expect(columnsOf(line)).toBeLessThanOrEqual(width);
        }
      });
    },
  );

  it("places and commands are not wrapped", () => {
    const file = `scenarios/${"deep/".repeat(40)}a.yaml`;
    const repeat = `clobsim run ${file} --step 4`;
    const text = reportOf("spec", [failedOf({}, { place: { file, line: 1, column: 2 }, repeat })]);
    expect(text).toContain(`\n    ${file}:1:2\n`);
    expect(text).toContain(`\n    repeat  ${repeat}\n`);
  });
});
