import { Buffer } from "node:buffer";
import { closeSync, openSync, writeSync } from "node:fs";
import { basename, relative, sep } from "node:path";
import { VERSION } from "../config.ts";
import { defectOf, historySince, reportBytes, saveReport, withScenario } from "../history/report.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { jobSummary, wrongFilesSummary } from "../scenario/report/github.ts";
import type { Reporter } from "../scenario/report/reporter.ts";
import {
  parseReporterArgument,
  ReporterError,
  type ReporterName,
  reporterOf,
} from "../scenario/report/reporter-of.ts";
import { oneLine, plainPaint } from "../scenario/report/text.ts";
import { shownPath, sourceFilesOf } from "../scenario/run/files.ts";
import type { ScenarioResult } from "../scenario/run/result.ts";
import { type Failed, shellWord } from "../scenario/run/run-scenario.ts";
import type { VenueHistory } from "../scenario/venue/views.ts";
import { flagOf, type Given, type Settings } from "../setting.ts";
import { COMMANDS, type Values } from "./commands.ts";
import { UsageError } from "./exit-code.ts";
import { paintOf, summarizeJob, warn } from "./output.ts";
import { unwritable } from "./output-file.ts";

/** All requested reporters, combined into one. */
interface Reporters extends Required<Reporter> {
  /** Prints the transcript of a scenario. */
  transcript(result: ScenarioResult): void;
}

/** @throws UsageError if a reporter is unknown, a file cannot be written, or two reporters have the same output. */
export function reportersOf(values: Values<"run">, paths: readonly string[], given: Given): Reporters {
  const outputs = outputsOf(values, given.environment, repeatOf(paths, given));
  const summarize = (textIn: (bytes: number) => string): void => summarizeJob(given.environment, textIn);
  const toEach = (tell: (output: NamedReporter) => void): void => {
    for (const output of outputs) tell(output);
  };
  return {
    started: (plan) => toEach(({ reporter }) => reporter.started?.(plan)),
    finished: (result) => toEach(({ reporter }) => reporter.finished?.(result)),
    ended: (suite) => {
      toEach(({ reporter, end }) => {
        reporter.ended(suite);
        end();
      });
      summarize((bytes) => jobSummary(suite, bytes));
    },
    wrong: (files) => {
      toEach(({ name, reporter, end, isScreen }) => {
        // stderr has shown the same to the reader of the screen.
        if (!isScreen || name !== "spec") reporter.wrong(files);
        end();
      });
      summarize((bytes) => wrongFilesSummary(files, bytes));
    },
    // On stderr, because stdout may have a report.
    transcript: ({ transcript }) => {
      process.stderr.write(`\n${transcript.map((line) => `  ${line}\n`).join("")}\n`);
    },
  };
}

/** A reporter with its output. */
interface NamedReporter extends Pick<Output, "end" | "isScreen"> {
  readonly name: ReporterName;
  readonly reporter: Reporter;
}

function outputsOf(
  { reporter: asked, seed, verbose }: Values<"run">,
  environment: Given["environment"],
  repeat: string,
): readonly NamedReporter[] {
  const outputs: NamedReporter[] = [];
  const files = new Set<string>();
  for (const argument of asked.length === 0 ? ["spec"] : asked) {
    const { name, file } = parsed(argument);
    if (files.has(file ?? ""))
      throw new UsageError(
        `two reporters write to ${file ?? "stdout"}: give one of them a file, as junit=out.xml`,
      );
    files.add(file ?? "");
    const { write, end, isScreen } = file === null ? SCREEN : fileAt(file);
    const reporter = reporterOf(name)({
      write,
      ...{ seed, repeat, verbose },
      paint: isScreen ? paintOf(environment) : plainPaint,
      tty: isScreen && process.stdout.isTTY === true,
      transcript: verbose,
      pathInRepository: (path) => pathWithin(environment.GITHUB_WORKSPACE ?? "", path),
    });
    outputs.push({ name, reporter, end, isScreen });
  }
  return outputs;
}

/** Returns the path of a file from a folder; unchanged if it is outside, or the folder is unknown. */
function pathWithin(folder: string, file: string): string {
  const path = relative(folder, file);
  return folder === "" || path.startsWith("..") ? file : path.split(sep).join("/");
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
    throw unwritable("--reporter expects a file that can be written", path, error);
  }
  return {
    write: (text) => {
      for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(descriptor, rest));
    },
    end: () => closeSync(descriptor),
    isScreen: false,
  };
}

/** Returns the command line as typed, quoted for a POSIX shell. */
function repeatOf(paths: readonly string[], { flags }: Given): string {
  const settings: Settings = COMMANDS.run.settings;
  const options = Object.entries(settings).flatMap(([key, { toggle }]) => {
    const flag = flagOf(key);
    if (NOT_REPEATED.has(flag)) return [];
    return (flags[flag] ?? []).flatMap((value) => (toggle === "on" ? [`--${flag}`] : [`--${flag}`, value]));
  });
  return ["clobsim", "run", ...paths, ...options].map(shellWord).join(" ");
}

/** Flags that are not repeated because they only change the output, or write files. */
const NOT_REPEATED: ReadonlySet<string> = new Set([
  "reporter",
  "report",
  "watch",
  "update",
  "bail",
  "verbose",
]);

const MAX_REASON = 200;

/** Writes a report of each failed scenario into a directory, and prints its path. */
export const reportFailedTo =
  (folder: string): Failed =>
  async (venue, scenario, { step, message }) => {
    const file = shownPath(scenario.place.file);
    const reason = oneLine(`${file} fails at step ${step}: ${message}`).slice(0, MAX_REASON);
    const history = await venue.history(reason);
    if (history === null) {
      warn(`no report of ${file}: its exchange did not record every command`);
      return;
    }
    const path = writeReport(folder, scenario, (name) => reportOf(history, reason, name));
    warn(`a report of ${file} is in ${path}, try clobsim replay or shrink ${path}`);
  };

/** @throws UsageError if the report cannot be written. */
function writeReport(folder: string, scenario: Scenario, reportIn: (name: string) => Buffer): string {
  const subject = basename(scenario.place.file).replace(/\.[^.]*$/, "");
  const sources = sourceFilesOf(scenario);
  try {
    return saveReport(folder, subject, (name) =>
      sources === null ? reportIn(name) : withScenario(reportIn(name), sources),
    );
  } catch (error) {
    throw unwritable("--report expects a directory that can be written to", folder, error);
  }
}

function reportOf(history: VenueHistory, reason: string, name: string): Buffer {
  if (history.kind !== "session") return Buffer.from(history.text);
  const { world, exchange, opening, log } = history;
  const { thrown, now, hash } = exchange;
  const defect = thrown === null ? null : defectOf(exchange, thrown.error);
  const content = { history: historySince(world, opening, log), engine: VERSION, reason };
  return reportBytes({ ...content, now, hash, defect }, name);
}
