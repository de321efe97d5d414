import type { Place, Problem, WrongFile } from "../language/problem.ts";
import type { Failure, RaceReport, ScenarioResult, SuiteResult } from "../run/result.ts";
import type { Reporter, ReporterOptions, SuitePlan } from "./reporter.ts";

/** Of the document; a change that a reader could stumble over raises it. */
const VERSION = 1;

/** What a document says of a value, named in full: a field that is added and forgotten here does not compile. */
type Document<Value> = { readonly [Key in keyof Value]: unknown };

const placeOf = ({ file, line, column }: Place): Document<Place> => ({ file, line, column });

const failureOf = (failure: Failure): Document<Failure> => ({
  place: placeOf(failure.place),
  step: failure.step,
  text: failure.text,
  message: failure.message,
  diff: failure.diff.map(({ kind, text }) => ({ kind, text })),
  recent: failure.recent,
  repeat: failure.repeat,
});

const raceOf = ({ place, step, outcomes }: RaceReport): Document<RaceReport> => ({
  place: placeOf(place),
  step,
  outcomes: outcomes.map(({ lines, after }) => ({ lines, after })),
});

const scenarioOf = (result: ScenarioResult): Document<Omit<ScenarioResult, "transcript">> => ({
  file: result.file,
  name: result.name,
  place: placeOf(result.place),
  seed: result.seed,
  way: result.way,
  status: result.status,
  reason: result.reason,
  failure: result.failure === null ? null : failureOf(result.failure),
  steps: result.steps,
  durationMs: result.durationMs,
  stateHash: result.stateHash,
  races: result.races.map(raceOf),
  written: result.written,
});

const problemOf = ({ place, message, hint }: Problem): Document<Problem> => ({
  place: placeOf(place),
  message,
  hint,
});

/** What a suite came to; where files are wrong there are no scenarios, and each such file counts as failed. */
interface Content extends Omit<SuiteResult, "results"> {
  readonly problems: readonly Problem[];
  readonly scenarios: readonly unknown[];
}

/** One JSON document at the end, its keys always in the same order. */
export class JsonReporter implements Reporter {
  readonly #options: Pick<ReporterOptions, "write" | "seed" | "transcript">;

  constructor(options: Pick<ReporterOptions, "write" | "seed" | "transcript">) {
    this.#options = options;
  }

  started(_plan: SuitePlan): void {}

  finished(_result: ScenarioResult): void {}

  ended({ results, ...counts }: SuiteResult): void {
    const { transcript } = this.#options;
    const scenarios = results.map((result) =>
      transcript ? { ...scenarioOf(result), transcript: result.transcript } : scenarioOf(result),
    );
    this.#write({ ...counts, problems: [], scenarios });
  }

  wrong(files: readonly WrongFile[]): void {
    const problems = files.flatMap((file) => file.problems);
    this.#write({ passed: 0, failed: files.length, skipped: 0, durationMs: 0, problems, scenarios: [] });
  }

  #write({ passed, failed, skipped, durationMs, problems, scenarios }: Content): void {
    const { write, seed } = this.#options;
    const counts = { version: VERSION, seed, passed, failed, skipped, durationMs };
    write(`${JSON.stringify({ ...counts, problems: problems.map(problemOf), scenarios }, null, 2)}\n`);
  }
}
