import { describe, expect, it } from "vitest";
import { plainPaint } from "../../src/scenario/report/text.ts";
import type { Figures, PhaseFigures } from "./plan.ts";
import { timedPlan } from "./plan.ts";
import { resultJson, resultText } from "./report.ts";
import { checkFigures, percentile, slope, type Verdict } from "./verdict.ts";

const MIB = 2 ** 20;
const COMMANDS_PER_PHASE = 2_000;

/** A passing soak of eight minutes: each command adds 500 bytes, a read none. */
const PASSING: Figures = {
  phases: timedPlan(8).map(({ kind, cycle }, index): PhaseFigures => {
    const accepted = COMMANDS_PER_PHASE * (cycle + 1);
    return {
      ...{ kind, cycle, process: index > 17 ? 2 : 1, seconds: 15, requests: 4_000, accepted },
      ...{ latencies: [1, 2, 20], failures: {}, injected: {}, refusals: {}, examples: {} },
      ...{ liveBytes: 30 * MIB + 500 * accepted, residentBytes: 150 * MIB + 600 * accepted },
      ...{ descriptors: 22, violations: [] },
    };
  }),
  crash: { checked: 500, contradictions: [] },
  disturbances: { snapshot: 9 },
  end: {
    ...{ lastHash: "v2:0123456789abcdef", replayedHash: "v2:0123456789abcdef" },
    ...{ stopCode: 0, replayCode: 0, doctorCode: 0, stderr: "clobsim: stopping\n", defects: [] },
    journalBytes: MIB,
  },
};

/** Returns the passing soak with changed phases, of one kind or all. */
const phases = (
  kind: PhaseFigures["kind"] | "all",
  change: Partial<PhaseFigures> | ((phase: PhaseFigures, index: number) => Partial<PhaseFigures>),
): Figures => ({
  ...PASSING,
  phases: PASSING.phases.map((phase, index) => {
    if (kind !== "all" && phase.kind !== kind) return phase;
    return { ...phase, ...(typeof change === "function" ? change(phase, index) : change) };
  }),
});

const end = (change: Partial<Figures["end"]>): Figures => ({
  ...PASSING,
  end: { ...PASSING.end, ...change },
});

/** Returns the passing soak with other latencies before the last quarter and in it. */
const slower = (before: number, last: number): Figures =>
  phases("steady", ({ cycle }) => ({ latencies: [cycle > 5 ? last : before] }));

const failed = (figures: Figures): string[] =>
  checkFigures(figures)
    .filter(({ holds }) => holds !== true)
    .map(({ what }) => what);

it.each<[string, Figures]>([
  ["all checks pass", PASSING],
  [
    "injected faults explain the failures",
    phases("disturbed", { failures: { 503: 4, 0: 2 }, injected: { 503: 5, 0: 2 } }),
  ],
  ["the crash explains missing answers", phases("crash", { failures: { 0: 31 } })],
  ["a slower quarter is below the exchange", slower(2, 24)],
  [
    "clients get the expected refusals",
    phases("steady", { refusals: { INSUFFICIENT_BALANCE: 3, INVALID_TICK_SIZE: 2, ORDER_NOT_FOUND: 1 } }),
  ],
])("a soak passes if %s", (_if, figures) => {
  expect(failed(figures)).toEqual([]);
});

const FAILURES = "5xx and 429 that no fault explains";
const REFUSALS = "refusals of an unexpected code";
const CODES = "exit codes of serve, replay and doctor";

it.each<[string, Figures]>([
  [FAILURES, phases("steady", { failures: { 500: 1 } })],
  [FAILURES, phases("disturbed", { failures: { 503: 3 }, injected: { 503: 2, 500: 9 } })],
  [FAILURES, phases("crash", { failures: { 503: 1 } })],
  ["requests without an answer that no fault explains", phases("steady", { failures: { 0: 1 } })],
  [REFUSALS, phases("steady", { refusals: { ROUTE_NOT_FOUND: 1 } })],
  [REFUSALS, phases("steady", { refusals: { TIMESTAMP_OUT_OF_WINDOW: 1 } })],
  ["bug reports of the server", end({ defects: ["report.ndjson"] })],
  ["p99 of ordinary requests", phases("steady", { latencies: [1, 251] })],
  ["p99 of the last quarter to the first", slower(10, 31)],
  ["memory in use", phases("all", ({ accepted }) => ({ liveBytes: 3_001 * accepted }))],
  ["memory of the process", phases("all", ({ accepted }) => ({ residentBytes: 9_001 * accepted }))],
  ["memory in use, only reads", phases("reads", ({ liveBytes }) => ({ liveBytes: liveBytes + 257 * 4_000 }))],
  ["open file descriptors", phases("all", (_, index) => ({ descriptors: index > 17 ? index : 22 }))],
  ["invariants broken, of 32 checks of all", phases("reads", { violations: ["USDC: 1 short"] })],
  ["acknowledged orders lost, of 500", { ...PASSING, crash: { checked: 500, contradictions: ["gone"] } }],
  [CODES, end({ stopCode: 70 })],
  [CODES, end({ replayCode: 3 })],
  [CODES, end({ doctorCode: 7 })],
  ["state of the replay", end({ replayedHash: "v2:other" })],
  ["state of the replay", end({ replayedHash: null })],
])("a soak fails by its %s (%#)", (what, figures) => {
  expect(failed(figures)).toEqual([what]);
});

it("a soak that is too short reports checks that it cannot make", () => {
  const short = phases("all", ({ accepted }) => ({
    ...{ accepted: accepted / 100, requests: 20, descriptors: null },
  }));
  const unchecked = checkFigures(short).filter(({ holds }) => holds === null);
  expect(unchecked.map(({ what, figure }) => `${what} ${figure}`)).toEqual([
    "memory in use not checked: fewer than 5000 commands",
    "memory of the process not checked: fewer than 5000 commands",
    "memory in use, only reads not checked: fewer than 5000 reads",
    "open file descriptors not checked: no /proc on this system",
  ]);
});

describe("the result of a soak", () => {
  const verdicts: Verdict[] = [
    { what: "short", figure: "0", limit: "0", holds: true },
    { what: "longer words", figure: "2 of them", limit: "0", holds: false, why: ["because"] },
    { what: "open", figure: "not checked", limit: "1", holds: null },
  ];

  it("is aligned, and has details of failed checks", () => {
    expect(resultText(PASSING, verdicts, plainPaint).split("\n").slice(3)).toEqual([
      "✓ short         0            limit 0",
      "✗ longer words  2 of them    limit 0",
      "    because",
      "- open          not checked  limit 1",
    ]);
  });

  it("is JSON without single latencies", () => {
    const json = JSON.parse(resultJson({ options: { seed: 1 } }, PASSING, checkFigures(PASSING)));
    expect(json).toMatchObject({ options: { seed: 1 }, passed: true });
    expect(json.phases[0]).toMatchObject({ kind: "steady", p50Ms: 2, p99Ms: 20 });
    expect(json.phases[0]).not.toHaveProperty("latencies");
  });
});

it.each([
  { values: [3, 1, 2], share: 0.5, found: 2 },
  { values: [1, 2, 3, 4], share: 0.5, found: 2 },
  { values: [10, 9, 100], share: 0.99, found: 100 },
  { values: Array.from({ length: 100 }, (_, index) => 100 - index), share: 0.99, found: 99 },
  { values: [7], share: 0, found: 7 },
])("a percentile of $share is the nearest rank: $found", ({ values, share, found }) => {
  expect(percentile(values, share)).toBe(found);
});

it("a slope is least squares", () => {
  const points = [0, 3, 0, 3].map((y, x) => ({ x, y }));
  expect(slope(points)).toBeCloseTo(0.6);
  expect(() => slope(points.slice(0, 1))).toThrow("two points");
});
