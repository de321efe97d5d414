import { describe, expect, it } from "vitest";
import { plainPaint } from "../../src/scenario/report/text.ts";
import type { Figures, PhaseFigures } from "./plan.ts";
import { timedPlan } from "./plan.ts";
import { resultJson, resultText } from "./report.ts";
import { checkFigures, type Verdict } from "./verdict.ts";

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

/** Returns the passing soak with changed phases. */
const withPhases = (
  change: (phase: PhaseFigures, index: number) => Partial<PhaseFigures>,
  ofKind?: PhaseFigures["kind"],
): Figures => ({
  ...PASSING,
  phases: PASSING.phases.map((phase, index) =>
    ofKind === undefined || phase.kind === ofKind ? { ...phase, ...change(phase, index) } : phase,
  ),
});

const withEnd = (end: Partial<Figures["end"]>): Figures => ({ ...PASSING, end: { ...PASSING.end, ...end } });

const failed = (figures: Figures): string[] =>
  checkFigures(figures)
    .filter(({ holds }) => holds !== true)
    .map(({ what }) => what);

describe("a soak passes", () => {
  it("if all checks pass", () => {
    expect(failed(PASSING)).toEqual([]);
  });

  it("if injected faults explain the failures, and the crash the missing answers", () => {
    const faults = withPhases(
      () => ({ failures: { 503: 4, 0: 2 }, injected: { 503: 5, 0: 2 } }),
      "disturbed",
    );
    expect(failed(faults)).toEqual([]);
    expect(failed(withPhases(() => ({ failures: { 0: 31 } }), "crash"))).toEqual([]);
  });

  it("if a slower quarter is below the exchange", () => {
    const phases = withPhases(({ cycle }) => ({ latencies: [cycle > 5 ? 24 : 2] }), "steady");
    expect(failed(phases)).toEqual([]);
  });

  it("if clients get the expected refusals", () => {
    const refusals = { INSUFFICIENT_BALANCE: 3, INVALID_TICK_SIZE: 2, ORDER_NOT_FOUND: 1 };
    expect(failed(withPhases(() => ({ refusals }), "steady"))).toEqual([]);
  });
});

describe("a soak fails", () => {
  it.each<[string, Figures]>([
    ["5xx and 429 that no fault explains", withPhases(() => ({ failures: { 500: 1 } }), "steady")],
    [
      "5xx and 429 that no fault explains",
      withPhases(() => ({ failures: { 503: 3 }, injected: { 503: 2, 500: 9 } }), "disturbed"),
    ],
    ["5xx and 429 that no fault explains", withPhases(() => ({ failures: { 503: 1 } }), "crash")],
    [
      "requests without an answer that no fault explains",
      withPhases(() => ({ failures: { 0: 1 } }), "steady"),
    ],
    ["refusals of an unexpected code", withPhases(() => ({ refusals: { ROUTE_NOT_FOUND: 1 } }), "steady")],
    [
      "refusals of an unexpected code",
      withPhases(() => ({ refusals: { TIMESTAMP_OUT_OF_WINDOW: 1 } }), "steady"),
    ],
    ["bug reports of the server", withEnd({ defects: ["report.ndjson"] })],
    ["p99 of ordinary requests", withPhases(() => ({ latencies: [1, 251] }), "steady")],
    [
      "p99 of the last quarter to the first",
      withPhases(({ cycle }) => ({ latencies: [cycle > 5 ? 31 : 10] }), "steady"),
    ],
    ["memory in use", withPhases(({ accepted }) => ({ liveBytes: 3_001 * accepted }))],
    ["memory of the process", withPhases(({ accepted }) => ({ residentBytes: 9_001 * accepted }))],
    [
      "memory in use, only reads",
      withPhases(({ liveBytes }) => ({ liveBytes: liveBytes + 257 * 4_000 }), "reads"),
    ],
    ["open file descriptors", withPhases((_, index) => ({ descriptors: index > 17 ? index : 22 }))],
    [
      "invariants broken, of 32 checks of all",
      withPhases(() => ({ violations: ["USDC: 1 short"] }), "reads"),
    ],
    ["acknowledged orders lost, of 500", { ...PASSING, crash: { checked: 500, contradictions: ["gone"] } }],
    ["exit codes of serve, replay and doctor", withEnd({ stopCode: 70 })],
    ["exit codes of serve, replay and doctor", withEnd({ replayCode: 3 })],
    ["exit codes of serve, replay and doctor", withEnd({ doctorCode: 7 })],
    ["state of the replay", withEnd({ replayedHash: "v2:other" })],
    ["state of the replay", withEnd({ replayedHash: null })],
  ])("by its %s (%#)", (what, figures) => {
    expect(failed(figures)).toEqual([what]);
  });
});

describe("a soak that is too short", () => {
  it("reports checks that it cannot make", () => {
    const short = withPhases(({ accepted }) => ({
      accepted: accepted / 100,
      requests: 20,
      descriptors: null,
    }));
    const unchecked = checkFigures(short).filter(({ holds }) => holds === null);
    expect(unchecked.map(({ what, figure }) => `${what} ${figure}`)).toEqual([
      "memory in use not checked: fewer than 5000 commands",
      "memory of the process not checked: fewer than 5000 commands",
      "memory in use, only reads not checked: fewer than 5000 reads",
      "open file descriptors not checked: no /proc on this system",
    ]);
  });
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
