import type { WrongFile } from "../../../src/scenario/language/page.ts";
import { REPORTERS } from "../../../src/scenario/report/reporters.ts";
import { plainPaint, type ReporterOptions, WIDTH } from "../../../src/scenario/report/text.ts";
import type {
  Failure,
  RaceOutcome,
  RaceReport,
  ScenarioResult,
  SuiteResult,
} from "../../../src/scenario/run/result.ts";

/** A scenario that passed in 0.8 ms, with changes. */
export const resultOf = (own: Partial<ScenarioResult> = {}): ScenarioResult => ({
  file: "scenarios/orders/partial.yaml",
  name: "a partial fill leaves the remainder live",
  place: { file: "scenarios/orders/partial.yaml", line: 1, column: 1 },
  seed: "7",
  way: "process",
  status: "passed",
  reason: null,
  failure: null,
  steps: 3,
  durationMs: 0.8,
  stateHash: "ab".repeat(32),
  races: [],
  transcript: ["alice: BUY 100 YES @ 0.55 as bid: LIVE 0/100"],
  written: [],
  ...own,
});

const failureOf = (own: Partial<Failure> = {}): Failure => ({
  place: { file: "scenarios/orders/cancel.yaml", line: 12, column: 7 },
  step: 4,
  text: "expect: book",
  message: "the bids of YES are not as expected",
  diff: [
    { kind: "same", text: "bid 0.56 x 10" },
    { kind: "expected", text: "bid 0.55 x 60" },
    { kind: "found", text: "bid 0.55 x 100" },
    { kind: "note", text: "2 more lines" },
  ],
  mismatches: [],
  recent: ["alice: BUY 100 YES @ 0.55 as bid: LIVE 0/100", "bob: cancel ask: canceled"],
  repeat: "clobsim run scenarios/orders/cancel.yaml --seed 7 --step 4",
  ...own,
});

export const failedOf = (own: Partial<ScenarioResult> = {}, failure: Partial<Failure> = {}): ScenarioResult =>
  resultOf({
    file: "scenarios/orders/cancel.yaml",
    name: "a cancel frees the reservation",
    place: { file: "scenarios/orders/cancel.yaml", line: 1, column: 1 },
    status: "failed",
    durationMs: 12.5,
    failure: failureOf(failure),
    ...own,
  });

export const skippedOf = (own: Partial<ScenarioResult> = {}): ScenarioResult =>
  resultOf({
    file: "scenarios/faults/busy.yaml",
    name: "a busy server is asked again",
    status: "skipped",
    reason: "needs control plane",
    durationMs: 0,
    stateHash: null,
    ...own,
  });

export function suiteOf(results: readonly ScenarioResult[]): SuiteResult {
  const count = (status: ScenarioResult["status"]): number =>
    results.filter((result) => result.status === status).length;
  return {
    results,
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    durationMs: results.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}

const problem = (
  file: string,
  line: number,
  column: number,
  message: string,
  hint: string | null = null,
) => ({
  place: { file, line, column },
  message,
  hint,
});

/** Two invalid files, the first with two problems. */
export const WRONG_FILES: readonly WrongFile[] = [
  {
    file: "scenarios/wrong.yaml",
    problems: [
      problem("scenarios/wrong.yaml", 5, 5, 'unknown key "stauts"', "did you mean status?"),
      problem("scenarios/_part.yaml", 2, 19, "expected a price, found nothing"),
    ],
  },
  {
    file: "scenarios/none.yaml",
    problems: [problem("scenarios/none.yaml", 1, 1, "expected a scenario, found a list")],
  },
];

/** Returns a race of step 3. */
export const raceOf = (outcomes: readonly RaceOutcome[]): RaceReport => ({
  place: { file: "scenarios/orders/race.yaml", line: 9, column: 5 },
  step: 3,
  outcomes,
});

const CANCEL_FIRST: RaceOutcome = {
  lines: ["bob: cancel ask: canceled", "alice: BUY 10 YES @ 0.6: LIVE 0/10"],
  after: ["market YES bids 0.6 x 10 (1); asks none", "alice USDC 10 (6 reserved)"],
};
const BUY_FIRST: RaceOutcome = {
  lines: ["alice: BUY 10 YES @ 0.6: MATCHED 10/10", "bob: cancel ask: already matched"],
  after: ["market YES bids none; asks none", "alice USDC 4"],
};

/** Results of all kinds, in two folders, with two races, the second of which ends in the same way in either order. */
export const EXAMPLE: readonly ScenarioResult[] = [
  resultOf({
    races: [CANCEL_FIRST.after, BUY_FIRST.after].map((after) =>
      raceOf([{ ...BUY_FIRST, after }, CANCEL_FIRST]),
    ),
    written: ["scenarios/orders/book.golden"],
  }),
  skippedOf(),
  failedOf(),
  failedOf({ name: "a failure without details", failure: null }),
];

const OPTIONS: Omit<ReporterOptions, "write"> = {
  seed: null,
  repeat: "clobsim run scenarios",
  paint: plainPaint,
  width: WIDTH,
  verbose: false,
  pathInRepository: (file) => file,
};

/** Returns a reporter, and what it has written. */
function reporterOf(name: string, own: Partial<ReporterOptions> = {}) {
  const writes: string[] = [];
  const options = { ...OPTIONS, write: (text: string) => void writes.push(text), ...own };
  return { reporter: REPORTERS[name as keyof typeof REPORTERS](options), writes };
}

/** Returns the output of a reporter for two invalid files. */
export function wrongReportOf(name: string): string {
  const { reporter, writes } = reporterOf(name);
  reporter.wrong(WRONG_FILES);
  return writes.join("");
}

/** Returns each text that a reporter writes for results; by default for all of the suite. */
export function writesOf(
  name: string,
  results: readonly ScenarioResult[],
  own: Partial<ReporterOptions> = {},
  scenarios = results.length,
): string[] {
  const { reporter, writes } = reporterOf(name, own);
  reporter.started?.({ scenarios, files: new Set(results.map(({ file }) => file)).size });
  for (const result of results) reporter.finished?.(result);
  reporter.ended(suiteOf(results));
  return writes;
}

/** Returns the output of a reporter for results. */
export const reportOf = (...given: Parameters<typeof writesOf>): string => writesOf(...given).join("");
