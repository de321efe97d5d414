import { closeSync, openSync, writeSync } from "node:fs";
import type { WrongFile } from "../scenario/language/problem.ts";
import type { Reporter, SuitePlan } from "../scenario/report/reporter.ts";
import {
  parseReporterArgument,
  ReporterError,
  type ReporterName,
  reporterOf,
} from "../scenario/report/reporter-of.ts";
import { plainPaint } from "../scenario/report/text.ts";
import type { ScenarioResult, SuiteResult } from "../scenario/run/result.ts";
import { shellWord } from "../scenario/run/run-scenario.ts";
import { paintOf } from "./paint.ts";
import { RUN_FLAGS } from "./run-flags.ts";
import type { RunRequest } from "./run-request.ts";
import { UsageError } from "./usage-error.ts";

/** All reporters that were asked for, as one. */
export interface Reporters extends Reporter {
  /** Prints all that happened in one scenario. */
  transcript(result: ScenarioResult): void;
}

/** @throws UsageError when a reporter is unknown, a file cannot be written, or two would write to one place. */
export function reportersOf(request: RunRequest): Reporters {
  const outputs = outputsOf(request);
  return {
    started: (plan: SuitePlan) => {
      for (const { reporter } of outputs) reporter.started(plan);
    },
    finished: (result: ScenarioResult) => {
      for (const { reporter } of outputs) reporter.finished(result);
    },
    ended: (suite: SuiteResult) => {
      for (const { reporter, end } of outputs) {
        reporter.ended(suite);
        end();
      }
    },
    wrong: (files: readonly WrongFile[]) => {
      for (const { name, reporter, end, isScreen } of outputs) {
        // Whoever reads the screen has read it on stderr.
        if (!isScreen || name !== "spec") reporter.wrong(files);
        end();
      }
    },
    // Beside the reports, so that a document on stdout stays whole.
    transcript: ({ transcript }: ScenarioResult) => {
      process.stderr.write(`\n${transcript.map((line) => `  ${line}\n`).join("")}\n`);
    },
  };
}

/** A reporter with the place that it writes to. */
interface NamedReporter extends Pick<Output, "end" | "isScreen"> {
  readonly name: ReporterName;
  readonly reporter: Reporter;
}

function outputsOf(request: RunRequest): readonly NamedReporter[] {
  const asked = request.all("reporter");
  const outputs: NamedReporter[] = [];
  const places = new Set<string>();
  for (const argument of asked.length === 0 ? ["spec"] : asked) {
    const { name, file } = parsed(argument);
    if (places.has(file ?? ""))
      throw new UsageError(
        `two reporters write to ${file ?? "stdout"}: give one of them a file, as junit=out.xml`,
      );
    places.add(file ?? "");
    const { write, end, isScreen } = file === null ? SCREEN : fileAt(file);
    const reporter = reporterOf(name)({
      write,
      seed: request.one("seed"),
      repeat: repeatOf(request),
      paint: isScreen ? paintOf(request.environment) : plainPaint,
      tty: isScreen && process.stdout.isTTY === true,
      verbose: request.one("verbose") ?? false,
      transcript: request.one("verbose") ?? false,
      summaryPath: request.environment.GITHUB_STEP_SUMMARY || null,
    });
    outputs.push({ name, reporter, end, isScreen });
  }
  return outputs;
}

function parsed(argument: string) {
  try {
    return parseReporterArgument(argument);
  } catch (error) {
    throw error instanceof ReporterError ? new UsageError(`--reporter: ${error.message}`) : error;
  }
}

interface Output {
  readonly write: (text: string) => void;
  readonly end: () => void;
  readonly isScreen: boolean;
}

const SCREEN: Output = {
  write: (text) => void process.stdout.write(text),
  end: () => {},
  isScreen: true,
};

function fileAt(path: string): Output {
  let descriptor: number;
  try {
    descriptor = openSync(path, "w");
  } catch (error) {
    throw new UsageError(
      `--reporter expects a file that can be written, found ${path} (${(error as NodeJS.ErrnoException).code})`,
    );
  }
  return {
    write: (text) => {
      for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(descriptor, rest));
    },
    end: () => closeSync(descriptor),
    isScreen: false,
  };
}

/** The command line that was typed, as a POSIX shell reads it back. */
function repeatOf(request: RunRequest): string {
  const { flags } = request.given;
  const options = RUN_FLAGS.flatMap(({ name, toggle }) =>
    NOT_REPEATED.has(name)
      ? []
      : (flags[name] ?? []).flatMap((value) => (toggle === "on" ? [`--${name}`] : [`--${name}`, value])),
  );
  return ["clobsim", "run", ...request.paths, ...options].map(shellWord).join(" ");
}

/** What only concerns how results are shown, or changes files. */
const NOT_REPEATED: ReadonlySet<string> = new Set([
  "reporter",
  "report",
  "watch",
  "update",
  "bail",
  "verbose",
]);
