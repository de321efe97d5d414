import fc from "fast-check";
import { Parser } from "tap-parser";
import { describe, expect, it } from "vitest";
import { oneLine, title, wellFormed } from "../../../src/scenario/report/text.ts";
import { eachHostile, hostileText } from "./hostile.ts";
import { failedOf, reportOf, resultOf, skippedOf, wrongReportOf } from "./suite.ts";

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
  it("is ok for a parser if nothing failed, and not ok if something did", () => {
    expect(isOk(reportOf("tap", [resultOf(), skippedOf()]))).toBe(true);
    expect(isOk(reportOf("tap", [resultOf(), failedOf()]))).toBe(false);
  });

  it("has a failed point for each problem of a file", () => {
    const tap = wrongReportOf("tap");
    expect([pointsOf(tap).length, isOk(tap)]).toEqual([3, false]);
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
    expect(isOk(reportOf("tap", []))).toBe(true);
  });

  it("bails out if scenarios are missing at the end", () => {
    const tap = reportOf("tap", [resultOf()], {}, 3);
    expect(tap.endsWith("\nBail out! 1 of 3 scenarios were run\n")).toBe(true);
    expect(isOk(tap)).toBe(false);
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
      eachHostile,
    );
  });
});
