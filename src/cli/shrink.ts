import { constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { listed, shellPath } from "../core/format.ts";
import { numberOf } from "../core/ids.ts";
import type { State } from "../core/state.ts";
import { nodeDisk } from "../engine/disk.ts";
import type { RefusedEntry } from "../engine/journal.ts";
import { wrongLine } from "../engine/journal-line.ts";
import { refusedText } from "../history/describe-line.ts";
import { isJournal, type ReportedScenario, scenarioIn } from "../history/journal-files.ts";
import { type ReplayedHistory, replayHistory } from "../history/journal-replay.ts";
import {
  type HistoryExpectation,
  type HistoryNames,
  HistoryNotExpressible,
  type HistoryRefusal,
  historyNames,
  readHistoryExpectation,
} from "../history/shrink/history-failure.ts";
import { shrinkHistory } from "../history/shrink/shrink-history.ts";
import {
  NotRunInTime,
  type ShrinkOptions,
  type ShrunkScenario,
  shrinkScenario,
} from "../history/shrink/shrink-scenario.ts";
import type { Environment } from "../history/shrink/trial.ts";
import { makeFolder } from "../make-folder.ts";
import { problemText } from "../scenario/language/page.ts";
import { readTextFile } from "../scenario/language/scenario-files.ts";
import { needsHttp, type Scenario } from "../scenario/language/steps.ts";
import { count, indented } from "../scenario/report/text.ts";
import { shownPath, writeSourceFiles } from "../scenario/run/files.ts";
import { VenueOpener } from "../scenario/run/run-suite.ts";
import { startScenarioServer } from "../start-exchange.ts";
import type { Run, Values } from "./commands.ts";
import { replayProblems } from "./failure.ts";
import { openNamed, requireLine } from "./journal.ts";
import { failed, prepare, saveOrPrint, warn } from "./output.ts";
import { EXIT, type ExitCode, UsageError } from "./process.ts";
import { readScenarios } from "./run.ts";

/** `clobsim shrink`: reduces a failing scenario to the few steps that still make it fail. */
export const shrink: Run<"shrink"> = async (values, [file = ""], _given, progress) => {
  const { budget } = values;
  const end = performance.now() + (budget?.ms ?? Number.POSITIVE_INFINITY);
  const options: ShrinkOptions = {
    isOver: (reserveMs) => performance.now() + reserveMs >= end,
    progress: (done) => progress.update({ done, total: 0 }),
  };
  try {
    return await (isJournal(nodeDisk, file) ? shrinkReport : shrinkFile)(file, values, options);
  } catch (error) {
    if (!(error instanceof NotRunInTime)) throw error;
    throw new UsageError(
      `--budget expects enough time for one run until it fails, found ${budget?.text}: nothing was written`,
    );
  }
};

async function shrinkFile(file: string, values: Target, options: ShrinkOptions): Promise<ExitCode> {
  const { out } = values;
  if (file.endsWith(".ndjson")) openNamed(file);
  const flag = (["expect", "refused", "at"] as const).find((name) => values[name] !== null);
  if (flag !== undefined)
    throw new UsageError(`--${flag} goes with a report or a data directory, found ${file}`);
  const { scenarios, inputs, wrong } = readScenarios([file]);
  if (wrong.length > 0) return EXIT.usage;
  const [scenario] = scenarios;
  if (scenario === undefined || scenarios.length > 1) {
    throw new UsageError(`shrink expects one file, found ${scenarios.length} scenarios at ${file}`);
  }
  if (out !== null) prepare(out, "--out", inputs);
  const shrunk = await reduced(scenario, options);
  if (shrunk === null) return failed(`${shownPath(scenario.place.file)} does not fail, nothing was written`);
  return write(shrunk, out, missingFiles(shrunk, scenario, out));
}

/** Names the files that must be copied because the result is written to another folder. */
function missingFiles({ files }: ShrunkScenario, { place }: Scenario, out: string | null): string[] {
  const folder = dirname(resolve(place.file));
  if (files.length === 0 || out === null || dirname(resolve(out)) === folder) return [];
  const names = files.map((path) => relative(folder, path));
  return [`it names ${names.join(", ")}, which must be copied from ${dirname(place.file)} to beside it`];
}

/** Reduces a scenario. Returns null if it does not fail. */
function reduced(scenario: Scenario, options: ShrinkOptions): Promise<ShrunkScenario | null> {
  const { file } = scenario.place;
  const read = readTextFile(file);
  if (read.problem !== null) throw new UsageError(`${file}: ${read.problem}`);
  const opener = new VenueOpener();
  const open: Environment["open"] = needsHttp(scenario)
    ? (each) => opener.served(each, startScenarioServer)
    : (each) => opener.local(each);
  const folder = dirname(resolve(file));
  return shrinkScenario(read.text, { file, folder, open }, options);
}

/**
 * Writes the shrunk scenario to a file, or to stdout if `out` is null, and prints how it fails and how to run it, with the
 * lines of `more`.
 */
async function write(
  { text, before, steps, fingerprint, failure, isMinimal, remarks }: ShrunkScenario,
  out: string | null,
  more: readonly string[] = [],
): Promise<ExitCode> {
  await saveOrPrint(out, text);
  const lines = [
    `it fails at step ${failure.step}, ${failure.text}: ${fingerprint.sentence}`,
    ...[...remarks, ...more],
    ...(out === null ? [] : [`clobsim run ${shellPath(out)}`]),
  ];
  const ending = isMinimal ? "" : ", not minimal because the time was up";
  warn([`${count(before, "step")} → ${count(steps, "step")}${ending}`, ...indented(lines, 2)]);
  return EXIT.ok;
}

/** Reduces the scenario in a report; or else the commands of a journal, as a scenario. */
async function shrinkReport(file: string, target: Target, options: ShrinkOptions): Promise<ExitCode> {
  const { expect: expectation, refused, out } = target;
  const other = expectation !== null ? "expect" : target.at !== null ? "at" : null;
  if (refused !== null && other !== null)
    throw new UsageError(`--refused names where it ends: --${other} does not go with it`);
  const source = openNamed(file);
  if (out !== null) prepare(out, "--out", [source.path]);
  const at = refused === null ? (target.at ?? {}) : { to: refused };
  const carried = expectation === null && refused === null ? scenarioIn(source) : null;
  if (carried !== null) return shrinkCarried(source.path, carried, out, options);
  if (source.opening.base.kind === "state") {
    return failed(`${file} begins with a state: it has no commands before the state that could be left out`);
  }
  const history = replayHistory(source, at);
  const ending = replayProblems(source, history.end);
  if (ending.code !== EXIT.ok) return failed(ending.lines, ending.code);
  requireLine(source, at, history.end, refused === null ? "--at" : "--refused");
  const { config, start } = history.origin;
  const expected =
    expectation !== null
      ? readExpectation(file, expectation, namesOf(history))
      : refused !== null
        ? refusalAt(file, refused, history)
        : null;
  const failing = history.failing === null || expected !== null ? [] : [history.failing];
  const entries = [...history.entries, ...failing];
  try {
    const shrunk = await shrinkHistory({ config, start, entries }, { ...options, expected });
    if (shrunk !== null) return await write(shrunk, out, expected?.names.linesFor(shrunk.text));
  } catch (error) {
    if (!(error instanceof HistoryNotExpressible)) throw error;
    return failed(error.message);
  }
  const expectable = history.refused.filter(
    (each) => expectableCommand(each, history.exchange.state) !== null,
  );
  const [only, ...others] = expectable;
  if (expected === null && only !== undefined && others.length === 0) {
    return shrinkReport(file, { expect: null, refused: only.line, at: null, out }, options);
  }
  return failed(notFailingText(file, target, expectable));
}

/** Explains why nothing was written. */
function notFailingText(
  file: string,
  { expect: expectation, refused }: Target,
  expectable: ReplayedHistory["refused"],
): string {
  if (expectation !== null) {
    return `the expectation of --expect is met at the end of ${file}: nothing was written (--at ends it at a line)`;
  }
  if (refused !== null) return `line ${refused} of ${file} is not refused in this way: nothing was written`;
  const lines = expectable.map(({ line }) => String(line));
  const either = lines.length === 0 ? "" : `; --refused which request of the lines ${listed(lines)}`;
  return `${file} does not fail: no command makes the program fail, and every invariant holds; nothing was written (--expect says what should be true${either})`;
}

const namesOf = ({ open, session, origin: { devAccounts } }: ReplayedHistory): HistoryNames =>
  historyNames({ open, entries: session, devAccounts });

/** @throws UsageError if the line is not a refused request, or one that a scenario cannot expect to be accepted. */
function refusalAt(file: string, line: number, history: ReplayedHistory): HistoryRefusal {
  const { refused, exchange } = history;
  const found = refused.find((each) => each.line === line);
  if (found === undefined)
    throw new UsageError(
      `--refused expects the line of a refused request, and line ${line} of ${file} is not one`,
    );
  const command = expectableCommand(found, exchange.state);
  const { request, sequence, at } = found;
  if (command !== null) return { names: namesOf(history), sequence, at, command, code: request.code };
  const why =
    request.asked?.kind === "command"
      ? "a step cannot expect it to be accepted because it is neither an order nor a cancel of an existing order"
      : "it was refused when it was read, regardless of earlier commands: there is nothing to leave out";
  throw new UsageError(
    `line ${line} of ${file}, ${refusedText(request, exchange.state)}, refused with ${request.code}: ${why}`,
  );
}

/** Returns the command of a refused request if a scenario can expect it to be accepted; else null. */
function expectableCommand({ request: { asked } }: RefusedEntry, state: State) {
  if (asked?.kind !== "command") return null;
  const { command } = asked;
  if (command.kind === "placeOrder") return command;
  const isKnown =
    command.kind === "cancelOrder" &&
    state.orders.find(numberOf(state.idPrefixes.order, command.orderId)) !== undefined;
  return isKnown ? command : null;
}

/** The file to write, the failure that a reduced history must have if it does not fail by itself, and its end. */
type Target = Pick<Values<"shrink">, "out" | "expect" | "refused" | "at">;

/** @throws UsageError with all problems of the text, and the names that it may use. */
function readExpectation(file: string, text: string, names: HistoryNames): HistoryExpectation {
  const read = readHistoryExpectation("--expect", text, names);
  if (!("problems" in read)) return read;
  const [first = "", ...others] = read.problems.map(problemText);
  throw new UsageError(first, [...others, `names in ${file}`, ...indented(names.lines, 2)]);
}

/** Reduces the scenario in a report, with its files in a temporary folder. */
async function shrinkCarried(
  path: string,
  carried: ReportedScenario,
  out: string | null,
  options: ShrinkOptions,
): Promise<ExitCode> {
  const { line, sources } = carried;
  const folder = mkdtempSync(join(tmpdir(), "clobsim-shrink-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // The program exits at once if its output is closed.
  process.once("exit", remove);
  try {
    const { scenarios, wrong } = readScenarios([writeCarried(path, carried, folder)]);
    const [scenario] = scenarios;
    if (wrong.length > 0 || scenario === undefined) {
      return failed(`line ${line} of ${path} has a scenario that cannot be read`, EXIT.corrupt);
    }
    const shrunk = await reduced(scenario, options);
    if (shrunk !== null) return await write(shrunk, out, copyFiles(shrunk, scenario, out));
  } finally {
    process.off("exit", remove);
    remove();
  }
  return failed(`${sources.file}, the scenario in the report, does not fail here; nothing was written`);
}

/** Writes the files of a report's scenario. @throws DataFileError if a path leads out of the folder */
function writeCarried(path: string, { line, sources }: ReportedScenario, folder: string): string {
  try {
    return writeSourceFiles(sources, folder);
  } catch (error) {
    throw error instanceof RangeError ? wrongLine(path, line, `d.texts: ${error.message}`) : error;
  }
}

/** Copies the files that the result names to its folder, and says so. Existing files are not overwritten. */
function copyFiles({ files }: ShrunkScenario, { place }: Scenario, out: string | null): string[] {
  const names = files.map((path) => relative(dirname(place.file), path));
  if (names.length === 0) return [];
  if (out === null) return [`it names ${names.join(", ")}, which --out FILE copies from the report`];
  const kept: string[] = [];
  for (const [index, name] of names.entries()) {
    const to = resolve(dirname(out), name);
    makeFolder(dirname(to));
    if (existsSync(to)) kept.push(name);
    else copyFileSync(files[index] as string, to, constants.COPYFILE_EXCL);
  }
  const except = kept.length === 0 ? "" : ` except ${kept.join(", ")}, which existed and may differ`;
  return [`it names ${names.join(", ")}, copied from the report${except}`];
}
