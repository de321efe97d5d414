import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Paint } from "../../../src/scenario/report/text.ts";
import { columnsOf } from "../../../src/scenario/report/text.ts";
import type { RaceOutcome, RaceReport, ScenarioResult } from "../../../src/scenario/run/result.ts";
import { hostileText } from "./hostile.ts";
import { failedOf, reportOf, resultOf, skippedOf, writesOf } from "./suite.ts";

const raceOf = (outcomes: readonly RaceOutcome[]): RaceReport => ({
  place: { file: "scenarios/orders/race.yaml", line: 9, column: 5 },
  step: 3,
  outcomes,
});

const cancelFirst: RaceOutcome = {
  lines: ["bob: cancel ask: canceled", "alice: BUY 10 YES @ 0.6: LIVE 0/10"],
  after: ["market YES bids 0.6 x 10 (1); asks none", "alice USDC 10 (6 reserved)"],
};
const buyFirst: RaceOutcome = {
  lines: ["alice: BUY 10 YES @ 0.6: MATCHED 10/10", "bob: cancel ask: already matched"],
  after: ["market YES bids none; asks none", "alice USDC 4"],
};

/** Scenarios of a folder, each in its own file. */
const manyOf = (number: number, folder: string, own: Partial<ScenarioResult> = {}): ScenarioResult[] =>
  Array.from({ length: number }, (_, index) => resultOf({ file: `${folder}/${index}.yaml`, ...own }));

/** Names instead of colours. */
const named: Paint = {
  red: (text) => `<red>${text}</red>`,
  green: (text) => `<green>${text}</green>`,
  yellow: (text) => `<yellow>${text}</yellow>`,
  dim: (text) => `<dim>${text}</dim>`,
  bold: (text) => `<bold>${text}</bold>`,
};

describe("spec of a short suite", () => {
  it("matches the example", () => {
    const results = [resultOf(), failedOf(), resultOf({ name: "a cancel comes too late" }), skippedOf()];
    expect(reportOf("spec", results)).toBe(`scenarios/orders/
  ✓ a partial fill leaves the remainder live  0.8 ms
  ✗ a cancel frees the reservation  13 ms

    scenarios/orders/cancel.yaml:12:7
    step 4  expect: book
    the bids of YES are not as expected

        bid 0.56 x 10
      - bid 0.55 x 60
      + bid 0.55 x 100
      # 2 more lines

    what happened last
      alice: BUY 100 YES @ 0.55 as bid: LIVE 0/100
      bob: cancel ask: canceled

    repeat  clobsim run scenarios/orders/cancel.yaml --seed 7 --step 4

  ✓ a cancel comes too late  0.8 ms

scenarios/faults/
  - a busy server is asked again  skipped: needs control plane

failed
  ✗ a cancel frees the reservation
    scenarios/orders/cancel.yaml:12:7

4 scenarios in 3 files: 2 passed, 1 failed, 1 skipped
in 14 ms · each scenario its own seed
repeat  clobsim run scenarios
`);
  });

  it("names the seed of the suite", () => {
    expect(reportOf("spec", [resultOf()], { seed: "7" })).toContain("\nin 0.8 ms · seed 7\n");
  });

  it("lists each outcome of a race once", () => {
    const result = resultOf({ races: [raceOf([cancelFirst, buyFirst])] });
    expect(reportOf("spec", [result])).toContain(`  ✓ a partial fill leaves the remainder live  0.8 ms
    race at step 3: 2 orders, 2 outcomes
      1  bob: cancel ask: canceled
         alice: BUY 10 YES @ 0.6: LIVE 0/10
         = market YES bids 0.6 x 10 (1); asks none
         = alice USDC 10 (6 reserved)
      2  alice: BUY 10 YES @ 0.6: MATCHED 10/10
         bob: cancel ask: already matched
         = market YES bids none; asks none
         = alice USDC 4
`);
  });

  it("groups orders of a race that have the same outcome", () => {
    const result = resultOf({ races: [raceOf([cancelFirst, { ...buyFirst, after: cancelFirst.after }])] });
    expect(reportOf("spec", [result])).toContain(`    race at step 3: 2 orders, 1 outcome
      1  bob: cancel ask: canceled
         alice: BUY 10 YES @ 0.6: LIVE 0/10
         and the same after 1 other order
         = market`);
  });

  it("shows twelve outcomes of a race and counts the others", () => {
    const outcomes = Array.from({ length: 24 }, (_, index) => ({ lines: [`${index}`], after: [`${index}`] }));
    const text = reportOf("spec", [resultOf({ races: [raceOf(outcomes)] })]);
    expect(text).toContain("      12  11\n          = 11\n      and 12 more outcomes: the json report");
    expect(text).toContain("       1  0\n");
  });

  it("names the files that an update wrote", () => {
    const text = reportOf("spec", [resultOf({ written: ["scenarios/orders/book.golden"] })]);
    expect(text).toContain("  0.8 ms\n    wrote scenarios/orders/book.golden\n");
    expect(text).toContain("1 scenario in 1 file: 1 passed\nwrote 1 file\n");
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

  it("says that there are no scenarios", () => {
    expect(reportOf("spec", [])).toBe(`0 scenarios in 0 files
in 0.0 ms · each scenario its own seed
repeat  clobsim run scenarios
`);
  });

  it("is coloured by the given functions", () => {
    const text = reportOf("spec", [resultOf(), failedOf(), skippedOf()], { paint: named });
    for (const part of [
      "<bold>scenarios/orders/</bold>",
      "  <green>✓</green> a partial fill leaves the remainder live  <dim>0.8 ms</dim>",
      "  <red>✗</red> a cancel frees",
      "  <yellow>-</yellow> a busy server",
      "      <red>- bid 0.55 x 60</red>",
      "      <green>+ bid 0.55 x 100</green>",
      "<green>1 passed</green>, <red>1 failed</red>, <yellow>1 skipped</yellow>",
    ])
      expect(text).toContain(part);
  });
});

describe("spec of more than 200 scenarios", () => {
  it("counts each folder, shows failures in full, and counts the reasons of skipped scenarios", () => {
    const results = [
      ...manyOf(1500, "scenarios/books"),
      failedOf({}, { diff: [], recent: [] }),
      ...manyOf(3, "scenarios/orders"),
      ...manyOf(12, "remote", { status: "skipped", reason: "needs control plane", durationMs: 0 }),
      skippedOf({ file: "remote/x.yaml", reason: "needs a wallet" }),
    ];
    expect(reportOf("spec", results)).toBe(`scenarios/orders/
  ✗ a cancel frees the reservation  13 ms

    scenarios/orders/cancel.yaml:12:7
    step 4  expect: book
    the bids of YES are not as expected

    repeat  clobsim run scenarios/orders/cancel.yaml --seed 7 --step 4

✓ scenarios/books/   1,500 passed                         1.2 s
✗ scenarios/orders/      3 passed  1 failed               15 ms
- remote/                                    13 skipped  0.0 ms

  12 skipped: needs control plane
  1 skipped: needs a wallet

failed
  ✗ a cancel frees the reservation
    scenarios/orders/cancel.yaml:12:7

1,517 scenarios in 1,517 files: 1,503 passed, 1 failed, 13 skipped
in 1.2 s · each scenario its own seed
repeat  clobsim run scenarios
`);
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

describe("progress", () => {
  const ERASE = "\r\u001b[K";
  const lookAt = (results: ScenarioResult[], own = {}): string[] =>
    writesOf("spec", results, { tty: true, ...own }).filter((text) => text.includes("\r"));

  it("is one line, updated every 50 results after the first second, erased before other lines", () => {
    const results = manyOf(20_000, "a", { durationMs: 10 });
    results[120] = failedOf();
    const looks = lookAt(results);
    expect(looks.slice(0, 4)).toEqual([
      `${ERASE}101/20,000`,
      ERASE,
      `${ERASE}151/20,000 · 1 failed`,
      `${ERASE}201/20,000 · 1 failed`,
    ]);
    expect(looks.at(-1)).toBe(ERASE);
    expect(looks).toHaveLength(400);
  });

  it.each([
    ["a suite that takes no second", manyOf(1000, "a", { durationMs: 1 }), {}],
    ["a suite that lists its scenarios", manyOf(200, "a", { durationMs: 100 }), {}],
    ["a verbose suite", manyOf(1000, "a", { durationMs: 100 }), { verbose: true }],
    ["a file", manyOf(1000, "a", { durationMs: 100 }), { tty: false }],
  ])("is not shown for %s", (_case, results, own) => {
    expect(lookAt(results, own)).toEqual([]);
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
    ["few", 0],
    ["many", 200],
  ])(
    "of %s scenarios fills at most 100 columns, has no blanks at the ends of lines and no control characters",
    (_case, more) => {
      fc.assert(
        fc.property(fc.array(anyResult, { minLength: 1, maxLength: 3 }), (results) => {
          const text = reportOf("spec", [...results, ...manyOf(more, "a-folder-of-a-long-name".repeat(4))]);
          expect(text).not.toMatch(/(?!\n)\p{Cc}|\p{Surrogate}/u);
          expect(text).not.toContain("\n\n\n");
          for (const line of text.split("\n")) {
            expect(line).toBe(line.trimEnd());
            if (!place.test(line)) expect(columnsOf(line)).toBeLessThanOrEqual(100);
          }
        }),
      );
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
