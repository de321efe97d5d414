import { appendFileSync } from "node:fs";
import { type Place, sentenceOf, type WrongFile } from "../language/problem.ts";
import type { Failure, ScenarioResult, SuiteResult } from "../run/result.ts";
import { DIFF_MARKS } from "./failure-lines.ts";
import { jobSummary, wrongFilesSummary } from "./job-summary.ts";
import { printable } from "./printable.ts";
import type { Reporter, ReporterOptions, SuitePlan } from "./reporter.ts";

const encoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

const commandMessage = (text: string): string => printable(text).replace(/[%\r\n]/g, encoded);
const commandProperty = (text: string): string => printable(text).replace(/[%\r\n:,]/g, encoded);

/** An annotation at a place, as a workflow command; what XML 1.0 forbids becomes U+FFFD. */
function annotation(
  kind: "error" | "notice",
  { file, line, column }: Place,
  title: string,
  text: string,
): string {
  const properties = Object.entries({ file, line: `${line}`, col: `${column}`, title })
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${commandProperty(value)}`);
  return `::${kind} ${properties.join(",")}::${commandMessage(text)}\n`;
}

function failureText({ step, text, message, diff, repeat }: Failure): string {
  const lines = diff.map((line) => `${DIFF_MARKS[line.kind]} ${line.text}`);
  return [message, `step ${step}: ${text}`, ...lines, `repeat: ${repeat}`].join("\n");
}

/**
 * GitHub's annotations: an error at the line of each failure, a notice for each scenario that was skipped; and the
 * failures once more in the summary of the job, since GitHub shows ten annotations of a kind for each step.
 */
export class GithubReporter implements Reporter {
  readonly #options: Pick<ReporterOptions, "write" | "summaryPath">;

  constructor(options: Pick<ReporterOptions, "write" | "summaryPath">) {
    this.#options = options;
  }

  started(_plan: SuitePlan): void {}

  finished({ name, place, status, reason, failure }: ScenarioResult): void {
    const { write } = this.#options;
    if (status === "skipped")
      write(annotation("notice", place, name, `skipped: ${reason ?? "no reason given"}`));
    if (status !== "failed") return;
    if (failure === null) write(annotation("error", place, name, "failed"));
    else write(annotation("error", failure.place, name, failureText(failure)));
  }

  ended(suite: SuiteResult): void {
    this.#summarize(jobSummary(suite));
  }

  wrong(files: readonly WrongFile[]): void {
    for (const problem of files.flatMap((file) => file.problems)) {
      this.#options.write(annotation("error", problem.place, "wrong scenario file", sentenceOf(problem)));
    }
    this.#summarize(wrongFilesSummary(files));
  }

  /** A summary that cannot be written is a warning: the results stand all the same. */
  #summarize(text: string): void {
    const { write, summaryPath } = this.#options;
    if (summaryPath === null || text === "") return;
    try {
      appendFileSync(summaryPath, text);
    } catch (error) {
      write(
        `::warning title=clobsim::${commandMessage(`the job summary is not written: ${String(error)}`)}\n`,
      );
    }
  }
}
