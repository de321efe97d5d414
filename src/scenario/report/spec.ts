import { problemText, type WrongFile, wrongFilesText } from "../language/problem.ts";
import type { ScenarioResult, SuiteResult } from "../run/result.ts";
import { failedLines, folderLines, folderOf, scenarioLines, totalLines } from "./lines.ts";
import type { Reporter, ReporterOptions, SuitePlan } from "./reporter.ts";
import { endOf, grouped, oneLine, visible, WIDTH } from "./text.ts";

/** In larger suites, passed scenarios are only counted. */
const MAX_LISTED = 200;

type SpecOptions = Pick<ReporterOptions, "write" | "seed" | "repeat" | "paint" | "tty" | "verbose">;

/** The report for terminals: a line for each scenario under its folder, failures in full, totals at the end. */
export class SpecReporter implements Reporter {
  readonly #options: SpecOptions;
  #plan: SuitePlan = { scenarios: 0, files: 0 };
  #progress: Progress | null = null;
  #folder: string | null = null;
  #isAfterBlank = true;

  constructor(options: SpecOptions) {
    this.#options = options;
  }

  started(plan: SuitePlan): void {
    this.#plan = plan;
    if (this.#options.tty && this.#isSummed)
      this.#progress = new Progress(this.#options.write, plan.scenarios);
  }

  finished(result: ScenarioResult): void {
    if (!this.#isSummed || result.status === "failed") this.#report(result);
    this.#progress?.finished(result);
  }

  ended(suite: SuiteResult): void {
    const { paint } = this.#options;
    if (this.#isSummed) this.#print(["", ...folderLines(suite.results, paint)]);
    this.#print(["", ...failedLines(suite.results, paint)]);
    this.#print(["", ...totalLines(suite, this.#plan, this.#options)]);
  }

  wrong(files: readonly WrongFile[]): void {
    const lines = files.flatMap(({ problems }) => problems.map(problemText));
    this.#print([...lines.map(oneLine), "", wrongFilesText(files)]);
  }

  get #isSummed(): boolean {
    return !this.#options.verbose && this.#plan.scenarios > MAX_LISTED;
  }

  #report(result: ScenarioResult): void {
    const folder = folderOf(result.file);
    const heading =
      folder === this.#folder ? [] : ["", this.#options.paint.bold(endOf(visible(folder), WIDTH))];
    this.#folder = folder;
    this.#print([...heading, ...scenarioLines(result, this.#options.paint)]);
  }

  /** Writes lines, without blank lines at the beginning or several in a row. */
  #print(lines: readonly string[]): void {
    const kept: string[] = [];
    for (const line of lines) {
      if (line !== "" || !this.#isAfterBlank) kept.push(`${line}\n`);
      this.#isAfterBlank = line === "";
    }
    if (kept.length === 0) return;
    this.#progress?.erase();
    this.#options.write(kept.join(""));
  }
}

/** Scenarios between two updates of the progress line. */
const UPDATE_INTERVAL = 50;
/** Total duration of the finished scenarios before progress is shown. */
const PROGRESS_DELAY_MS = 1000;
/** Back to the first column, then erase to the end of the line (ECMA-48, EL). */
const ERASE = "\r\u001b[K";

/** A line that is overwritten as scenarios finish; no timers. */
class Progress {
  readonly #write: (text: string) => void;
  readonly #scenarios: number;
  #finished = 0;
  #failed = 0;
  #elapsedMs = 0;
  #shownAt = 0;
  #isShown = false;

  constructor(write: (text: string) => void, scenarios: number) {
    this.#write = write;
    this.#scenarios = scenarios;
  }

  finished({ status, durationMs }: ScenarioResult): void {
    this.#finished += 1;
    if (status === "failed") this.#failed += 1;
    this.#elapsedMs += durationMs;
    if (this.#elapsedMs <= PROGRESS_DELAY_MS || this.#finished - this.#shownAt < UPDATE_INTERVAL) return;
    this.#shownAt = this.#finished;
    this.#isShown = true;
    const failed = this.#failed === 0 ? "" : ` · ${grouped(this.#failed)} failed`;
    this.#write(`${ERASE}${grouped(this.#finished)}/${grouped(this.#scenarios)}${failed}`);
  }

  erase(): void {
    if (this.#isShown) this.#write(ERASE);
    this.#isShown = false;
  }
}
