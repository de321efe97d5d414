import fc from "fast-check";
import { Parser } from "tap-parser";
import { describe, expect, it } from "vitest";
import { reporterOf } from "../../../src/scenario/report/reporter-of.ts";
import { oneLine, plainPaint, title, wellFormed } from "../../../src/scenario/report/text.ts";
import { HOSTILE, hostileText } from "./hostile.ts";
import { failedOf, reportOf, resultOf, skippedOf, suiteOf, wrongReportOf } from "./suite.ts";

type Point = Record<"ok" | "name" | "id" | "skip" | "time", unknown> & { diag: Record<string, unknown> };

/** Parses test points with a strict public parser. */
function pointsOf(tap: string): Point[] {
  const events = Parser.parse(tap, { strict: true }) as [string, unknown][];
  expect(events.filter(([kind]) => kind === "extra" || kind === "child")).toEqual([]);
  return events.filter(([kind]) => kind === "assert").map(([, point]) => point as Point);
}

const isOk = (tap: string): boolean => {
  const events = Parser.parse(tap, { strict: true }) as [string, { ok: boolean }][];
  return events.find(([kind]) => kind === "complete")?.[1].ok === true;
};

/** The reporter's rule: on one line, without a brace at the end, which would open a subtest. */
const described = (text: string): string => text.replace(/\{$/, "\uff5b");

describe("tap", () => {
  it("matches the example", () => {
    expect(reportOf("tap", [resultOf(), failedOf(), skippedOf()])).toBe(`TAP version 14
1..3
ok 1 - a partial fill leaves the remainder live # time=0.8ms
not ok 2 - a cancel frees the reservation # time=12.5ms
  ---
  message: "the bids of YES are not as expected"
  severity: fail
  at:
    file: "scenarios/orders/cancel.yaml"
    line: 12
    column: 7
  step: 4
  text: "expect: book"
  expected:
    - "bid 0.56 x 10"
    - "bid 0.55 x 60"
  found:
    - "bid 0.56 x 10"
    - "bid 0.55 x 100"
  notes:
    - "2 more lines"
  recent:
    - "alice: BUY 100 YES @ 0.55 as bid: LIVE 0/100"
    - "bob: cancel ask: canceled"
  seed: "7"
  repeat: "clobsim run scenarios/orders/cancel.yaml --seed 7 --step 4"
  ...
ok 3 - a busy server is asked again # SKIP needs control plane
`);
  });

  it("is ok for a parser if nothing failed, and not ok if something did", () => {
    expect(isOk(reportOf("tap", [resultOf(), skippedOf()]))).toBe(true);
    expect(isOk(reportOf("tap", [resultOf(), failedOf()]))).toBe(false);
  });

  it("has a failed point for each problem of a file", () => {
    const tap = wrongReportOf("tap");
    expect(tap).toBe(`TAP version 14
1..3
not ok 1 - scenarios/wrong.yaml:5:5: unknown key "stauts" (did you mean status?)
  ---
  message: "unknown key \\"stauts\\" (did you mean status?)"
  severity: fail
  at:
    file: "scenarios/wrong.yaml"
    line: 5
    column: 5
  ...
not ok 2 - scenarios/_part.yaml:2:19: expected a price, found nothing
  ---
  message: "expected a price, found nothing"
  severity: fail
  at:
    file: "scenarios/_part.yaml"
    line: 2
    column: 19
  ...
not ok 3 - scenarios/none.yaml:1:1: expected a scenario, found a list
  ---
  message: "expected a scenario, found a list"
  severity: fail
  at:
    file: "scenarios/none.yaml"
    line: 1
    column: 1
  ...
# 3 problems in 2 files, nothing was run
`);
    expect(pointsOf(tap)).toHaveLength(3);
    expect(isOk(tap)).toBe(false);
  });

  it("writes a duration without an exponent", () => {
    const [first, second] = pointsOf(
      reportOf("tap", [resultOf({ durationMs: 1e-9 }), resultOf({ durationMs: 1234.56789 })]),
    );
    expect([first?.time, second?.time]).toEqual([0, 1234.568]);
  });

  it("skips without a reason if there is none", () => {
    expect(pointsOf(reportOf("tap", [skippedOf({ reason: null })]))[0]?.skip).toBe(true);
  });

  it("of an empty suite is a plan that is skipped", () => {
    expect(reportOf("tap", [])).toBe("TAP version 14\n1..0 # SKIP no scenarios\n");
    expect(isOk(reportOf("tap", []))).toBe(true);
  });

  it("bails out if scenarios are missing at the end", () => {
    const writes: string[] = [];
    const reporter = reporterOf("tap")({
      write: (text) => writes.push(text),
      seed: null,
      repeat: "clobsim run scenarios",
      paint: plainPaint,
      tty: false,
      verbose: false,
      transcript: false,
      pathInRepository: (file) => file,
    });
    reporter.started?.({ scenarios: 3, files: 1 });
    reporter.finished?.(resultOf());
    reporter.ended(suiteOf([resultOf()]));
    expect(writes.at(-1)).toBe("Bail out! 1 of 3 scenarios were run\n");
    expect(isOk(writes.join(""))).toBe(false);
  });

  it.each(HOSTILE.map((text) => [text]))("keeps %j", (text) => {
    const [failed, skipped] = pointsOf(
      reportOf("tap", [failedOf({ name: `a${text}` }, { message: text }), skippedOf({ reason: `a${text}` })]),
    );
    expect(failed?.name).toBe(described(oneLine(`a${text}`)));
    expect(failed?.diag.message).toBe(wellFormed(text));
    expect(skipped?.skip).toBe(described(oneLine(`a${text}`)));
  });

  it("keeps any text: names on one line, diagnostics unchanged", () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, (name, message, line) => {
        const diff = [
          { kind: "expected", text: line },
          { kind: "found", text: message },
        ] as const;
        const [passed, failed, skipped] = pointsOf(
          reportOf("tap", [
            resultOf({ name }),
            failedOf({ name }, { message, diff, recent: [line] }),
            skippedOf({ name, reason: message }),
          ]),
        );
        expect([passed?.name, failed?.name, skipped?.name]).toEqual(Array(3).fill(described(title(name))));
        expect(skipped?.skip).toBe(described(oneLine(message)) || true);
        expect(failed?.diag).toMatchObject({
          message: wellFormed(message),
          expected: [wellFormed(line)],
          found: [wellFormed(message)],
          recent: [wellFormed(line)],
        });
      }),
    );
  });
});
