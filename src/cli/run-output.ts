import { Buffer } from "node:buffer";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { basename, relative } from "node:path";
import { shellOption, shellPath } from "../core/format.ts";
import { defectOf, historySince, reportBytes, saveReport, withScenario } from "../history/report.ts";
import { statOf, withSlashes } from "../regular-file.ts";
import type { WrongFile } from "../scenario/language/page.ts";
import { jobSummary, wrongFilesSummary } from "../scenario/report/github.ts";
import { REPORTERS } from "../scenario/report/reporters.ts";
import {
  oneLine,
  plainPaint,
  type Reporter,
  type ReporterOutput,
  visible,
  WIDTH,
} from "../scenario/report/text.ts";
import { shownPath, sourceFilesOf } from "../scenario/run/files.ts";
import type { ScenarioResult, SuiteResult } from "../scenario/run/result.ts";
import type { OnFailure } from "../scenario/run/run-scenario.ts";
import type { VenueHistory } from "../scenario/venue/views.ts";
import type { Given } from "../setting.ts";
import { optionsOf, type Values } from "./commands.ts";
import {
  ignoreClosedPipe,
  MIN_COLUMNS,
  paintOf,
  prepare,
  realPath,
  requireOutput,
  save,
  summarizeJob,
  unwritable,
  warn,
  writing,
} from "./output.ts";
import { UsageError } from "./process.ts";

/**
 * Combines the requested reporters into one. `transcript` prints what happened in a scenario. `inputs` are the files that the
 * run reads.
 * @throws UsageError if a reporter is unknown, a file cannot be written or is an input, or two reporters have the same output
 */
export function reportersOf(
  values: Values<"run">,
  paths: readonly string[],
  given: Given,
  inputs: readonly string[],
) {
  const outputs = outputsOf(values, given.environment, repeatOf(paths, given), inputs);
  const summarize = (textIn: (bytes: number) => string): void => summarizeJob(given.environment, textIn);
  return {
    started: (plan: Parameters<NonNullable<Reporter["started"]>>[0]): void => {
      for (const { reporter } of outputs) reporter.started?.(plan);
    },
    finished: (result: ScenarioResult): void => {
      for (const { reporter } of outputs) reporter.finished?.(result);
    },
    ended: async (suite: SuiteResult): Promise<void> => {
      // Before any file, because one that cannot be written ends the program.
      for (const { reporter } of outputs) reporter.ended(suite);
      summarize((bytes) => jobSummary(suite, bytes));
      for (const { end } of outputs) await end();
    },
    wrong: async (files: readonly WrongFile[]): Promise<void> => {
      // stderr has shown the same to the reader of the screen.
      const unseen = outputs.filter(({ name, isScreen }) => !isScreen || name !== "spec");
      for (const { reporter } of unseen) reporter.wrong(files);
      summarize((bytes) => wrongFilesSummary(files, bytes));
      for (const { end } of outputs) await end();
    },
    // On stderr, because stdout may have a report.
    transcript: ({ transcript }: ScenarioResult): void => {
      process.stderr.write(`\n${transcript.map((line) => `  ${visible(line)}\n`).join("")}\n`);
    },
  };
}

/** Opens the outputs after all arguments are known to be valid, so that a refused command line writes nothing. */
function outputsOf(
  { reporter: asked, seed, verbose }: Values<"run">,
  environment: Given["environment"],
  repeat: string,
  inputs: readonly string[],
) {
  const chosen: readonly ReporterOutput[] = asked.length === 0 ? [{ name: "spec", file: null }] : asked;
  const written = new Set<string | null>();
  for (const { file } of chosen) {
    if (file !== null) requireOutput(file, "--reporter", inputs);
    const path = file === null ? null : realPath(file);
    if (written.has(path))
      throw new UsageError(
        `two reporters write to ${file ?? "stdout"}: give one of them a file, as junit=out.xml`,
      );
    written.add(path);
  }
  return chosen.map(({ name, file }) => {
    const isScreen = file === null;
    const { write, end } = isScreen ? SCREEN : fileAt(file);
    const reporter = REPORTERS[name]({
      write,
      ...{ seed, repeat, verbose },
      paint: isScreen ? paintOf(environment) : plainPaint,
      width: isScreen ? screenWidth() : WIDTH,
      pathInRepository: (path) => pathWithin(environment.GITHUB_WORKSPACE ?? "", path),
    });
    return { name, reporter, end, isScreen };
  });
}

/** Returns the path of a file from a folder; unchanged if it is outside, or the folder is unknown. */
function pathWithin(folder: string, file: string): string {
  const path = relative(folder, file);
  return folder === "" || path.startsWith("..") ? file : withSlashes(path);
}

/** Returns the columns of stdout: those of a terminal, within limits. */
function screenWidth(): number {
  const { columns } = process.stdout;
  return columns > 0 ? Math.min(Math.max(columns, MIN_COLUMNS), WIDTH) : WIDTH;
}

const SCREEN = { write: (text: string): void => void process.stdout.write(text), end: async () => {} };

/** Holds the text of a file until the end, and writes to a device or a pipe at once. */
function fileAt(path: string): typeof SCREEN {
  const found = writing(path, "--reporter", () => statOf(path));
  if (found?.isFile() === false) return streamTo(path);
  prepare(path, "--reporter");
  const texts: string[] = [];
  return { write: (text) => void texts.push(text), end: () => save(path, texts, "--reporter") };
}

function streamTo(path: string): typeof SCREEN {
  const descriptor = writing(path, "--reporter", () => openSync(path, "w"));
  return {
    write: (text) =>
      writing(path, "--reporter", () => {
        try {
          writeFileSync(descriptor, text);
        } catch (error) {
          ignoreClosedPipe(error);
        }
      }),
    end: async () => closeSync(descriptor),
  };
}

/** Returns the command line with the settings from the environment, without defaults, quoted for a POSIX shell. */
function repeatOf(paths: readonly string[], { flags, environment }: Given): string {
  const options = optionsOf("run").flatMap(({ flag, variable, default: byDefault }) => {
    const value = flags[flag]?.[0] ?? environment[variable] ?? "";
    return NOT_REPEATED.has(flag) || value === "" || value === byDefault ? [] : [shellOption(flag, value)];
  });
  return ["clobsim run", ...paths.map(shellPath), ...options].join(" ");
}

/** Flags that are not repeated because they only change the output, or write files. */
const NOT_REPEATED = new Set(["reporter", "report", "watch", "update", "bail", "verbose"]);

/** Writes a report of each failed scenario into a directory, and prints its path, or why there is none. */
export const reportFailedTo =
  (folder: string): OnFailure =>
  async (venue, scenario, { step, message }) => {
    const file = shownPath(scenario.place.file);
    const reason = oneLine(`${file} fails at step ${step}: ${message}`).slice(0, 200);
    const history = await venue.history(reason);
    if (history === null) {
      warn(`no report of ${file}: its exchange did not record every command`);
      return;
    }
    const subject = basename(scenario.place.file).replace(/\.[^.]*$/, "");
    const sources = sourceFilesOf(scenario);
    try {
      const path = saveReport(folder, subject, (name) => {
        const report = reportOf(history, reason, name);
        return sources === null ? report : withScenario(report, sources);
      });
      warn(`a report of ${file} is in ${path}, try clobsim replay or shrink ${shellPath(path)}`);
    } catch (error) {
      const why = unwritable("--report expects a directory that can be written to", folder, error);
      warn(`no report of ${file}: ${why.message}`);
    }
  };

function reportOf(history: VenueHistory, reason: string, name: string): Buffer {
  if (history.kind !== "session") return Buffer.from(history.text);
  const { world, exchange, opening, log } = history;
  const { thrown, now, hash } = exchange;
  const defect = thrown === null ? null : defectOf(exchange, thrown.error);
  const content = { history: historySince(world, opening, log), reason };
  return reportBytes({ ...content, now, hash, defect }, name);
}
