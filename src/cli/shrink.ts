import { constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { VERSION } from "../config.ts";
import { numberOf } from "../core/ids.ts";
import type { State } from "../core/state.ts";
import { nodeDisk } from "../engine/disk.ts";
import type { RefusedEntry } from "../engine/journal.ts";
import { wrongLine } from "../engine/store-error.ts";
import { type WholeHistory, wholeHistory } from "../history/journal-replay.ts";
import { type CarriedScenario, isJournal, scenarioIn } from "../history/journal-source.ts";
import {
  type HistoryExpectation,
  HistoryNames,
  readHistoryExpectation,
} from "../history/shrink/history-expectation.ts";
import type { HistoryRefusal } from "../history/shrink/history-trial.ts";
import { HistoryNotTellable, shrinkHistory } from "../history/shrink/shrink-history.ts";
import {
  NotRunInTime,
  type ShrinkOptions,
  type ShrunkScenario,
  shrinkScenario,
} from "../history/shrink/shrink-scenario.ts";
import type { Place } from "../history/shrink/trial.ts";
import { refusedText } from "../history/words.ts";
import { problemText } from "../scenario/language/problem.ts";
import { readScenario, worldMarkets } from "../scenario/language/read-scenario.ts";
import { needsHttp, type Scenario } from "../scenario/language/scenario.ts";
import { readTextFile } from "../scenario/language/scenario-files.ts";
import { count, grouped } from "../scenario/report/text.ts";
import { shownPath, writeSourceFiles } from "../scenario/run/files.ts";
import { shellWord } from "../scenario/run/run-scenario.ts";
import { VenueOpener } from "../scenario/venue/open-venue.ts";
import { startScenarioServer } from "../scenario-server.ts";
import type { JournalPoint } from "../setting.ts";
import type { Run, Values } from "./commands.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { endingOf, requireLine, sourceNamed } from "./journal-text.ts";
import { failed, save } from "./output.ts";
import { readScenarios } from "./read-scenarios.ts";

/** `clobsim shrink`: reduces a failing scenario to the few steps that it takes to fail. */
export const run: Run<"shrink"> = async (values, [file = ""]) => {
  const { out, expect: expectation, refused, at } = values;
  const task = taskOf(values);
  if (out !== null && resolve(out) === resolve(file)) {
    throw new UsageError(`--out expects another file than the one that is shrunk, found ${out}`);
  }
  if (isJournal(nodeDisk, file)) return shrinkReport(file, task, { expectation, refused, at: at ?? {} });
  if (file.endsWith(".ndjson")) sourceNamed(file);
  const flag = expectation !== null ? "expect" : refused !== null ? "refused" : at !== null ? "at" : null;
  if (flag !== null) throw new UsageError(`--${flag} goes with a report or a data directory, found ${file}`);
  const { scenarios, wrong } = readScenarios([file]);
  if (wrong.length > 0) return EXIT.usage;
  const [scenario] = scenarios;
  if (scenario === undefined || scenarios.length > 1) {
    throw new UsageError(`shrink expects one file, found ${scenarios.length} scenarios at ${file}`);
  }
  const shrunk = await shrunkOf(scenario, task);
  if (shrunk === null) return failed(`${shownPath(scenario.place.file)} does not fail, nothing was written`);
  return printShrunk(shrunk, task, missing(shrunk, scenario, out));
};

/** Where the result goes, and how long it may take. */
interface Task {
  /** The file to write; null for stdout. */
  readonly out: string | null;
  readonly isOver: (reserveMs: number) => boolean;
  /** As it was typed; null for no limit. */
  readonly budget: string | null;
}

/** The time begins to run here. */
function taskOf({ out, budget }: Values<"shrink">): Task {
  const end = budget === null ? Number.POSITIVE_INFINITY : performance.now() + budget.ms;
  return { out, isOver: (reserveMs) => performance.now() + reserveMs >= end, budget: budget?.text ?? null };
}

/** The files that it speaks of, where they do not lie beside it any more. */
function missing({ files }: ShrunkScenario, { place }: Scenario, out: string | null): string[] {
  const folder = dirname(resolve(place.file));
  if (files.length === 0 || out === null || dirname(resolve(out)) === folder) return [];
  const names = files.map((path) => relative(folder, path));
  return [`  it names ${names.join(", ")}, which must be copied from ${dirname(place.file)} to beside it`];
}

/** A scenario reduced, and written where a file is named; null when it does not fail. */
async function shrunkOf(scenario: Scenario, task: Task): Promise<ShrunkScenario | null> {
  const { file } = scenario.place;
  const read = readTextFile(file);
  if (!read.ok) throw new UsageError(`${file}: ${read.message}`);
  const opener = new VenueOpener();
  const open: Place["open"] = needsHttp(scenario)
    ? (each) => opener.served(each, startScenarioServer)
    : (each) => opener.local(each);
  const folder = dirname(resolve(file));
  return watched(task, folder, (options) => shrinkScenario(read.text, { file, folder, open }, options));
}

const DEFAULT_COLUMNS = 80;

/** One line on a terminal that grows, `1,204 steps → 37 → 9`, until it is full: `1,204 steps → … → 9`. */
class Progress {
  #first = "";
  #line = "";

  show(steps: number): void {
    if (process.stderr.isTTY !== true) return;
    const isFirst = this.#line === "";
    if (isFirst) this.#first = `${grouped(steps)} steps`;
    const longer = isFirst ? this.#first : `${this.#line} → ${grouped(steps)}`;
    const isFull = longer.length >= (process.stderr.columns || DEFAULT_COLUMNS);
    this.#line = isFull ? `${this.#first} → … → ${grouped(steps)}` : longer;
    process.stderr.write(`\r\u001b[K${this.#line}`);
  }

  end(): void {
    if (this.#line !== "") process.stderr.write("\n");
  }
}

/**
 * Shows how far a reduction is. What comes out is written, and read from there to be run once more; its paths begin in the
 * folder of the original.
 * @throws UsageError where the time was over before it began
 */
async function watched(
  { out, isOver, budget }: Task,
  folder: string,
  shrinking: (options: ShrinkOptions) => Promise<ShrunkScenario | null>,
): Promise<ShrunkScenario | null> {
  const progress = new Progress();
  const written = async (path: string, text: string): Promise<Scenario | null> => {
    await save(path, text);
    const read = readTextFile(path);
    return read.ok ? readScenario(path, read.text, { folder, worldMarkets }).scenario : null;
  };
  try {
    return await shrinking({
      isOver,
      progress: (steps) => progress.show(steps),
      ...(out === null ? {} : { written: (text) => written(out, text) }),
    });
  } catch (error) {
    if (!(error instanceof NotRunInTime)) throw error;
    throw new UsageError(
      `--budget expects time enough for one run to its failure, found ${budget}: nothing was written`,
    );
  } finally {
    progress.end();
  }
}

/** Says how the shrunk scenario fails, and how to run it; `more` is what else is to be said. */
function printShrunk(
  { text, before, steps, fingerprint, failure, isMinimal, remarks }: ShrunkScenario,
  { out }: Task,
  more: readonly string[] = [],
): ExitCode {
  if (out === null) process.stdout.write(text);
  const lines = [
    `clobsim: ${count(before, "step")} → ${count(steps, "step")}${isMinimal ? "" : ", and perhaps fewer: the time was over"}`,
    `  it fails at step ${failure.step}, ${failure.text}: ${fingerprint.sentence}`,
    ...remarks.map((remark) => `  ${remark}`),
    ...more,
    ...(out === null ? [] : [`  clobsim run ${shellWord(out)}`]),
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
  return EXIT.ok;
}

/**
 * Reduces the scenario that a report carries; or else what a journal tells to the few commands that are enough to fail, as
 * a scenario.
 */
async function shrinkReport(file: string, task: Task, wanted: Wanted): Promise<ExitCode> {
  refuseContradictions(wanted);
  const source = sourceNamed(file);
  const { expectation, refused } = wanted;
  const at = refused === null ? wanted.at : { to: refused };
  const carried = expectation === null && refused === null ? scenarioIn(source) : null;
  if (carried !== null) return shrinkCarried(source.path, carried, task);
  if (source.opening.base.kind === "state") {
    return failed(`${file} goes on from a state: what led to it is not in there, and cannot be left out`);
  }
  const history = wholeHistory(source, VERSION, at);
  const ending = endingOf(source, history.end, history.exchange.state);
  if (ending.code !== EXIT.ok) return failed(ending.lines.join("\n"), ending.code);
  requireLine(source, at, history.end, refused === null ? "--at" : "--refused");
  const { config, start, opening, session, failing } = history;
  const expected =
    expectation !== null
      ? expectedOf(file, expectation, history)
      : refused !== null
        ? refusalAt(file, refused, history)
        : null;
  const entries = [...opening, ...session, ...(failing === null || expected !== null ? [] : [failing])];
  try {
    const shrunk = await watched(task, ".", (options) =>
      shrinkHistory({ config, start, entries }, { ...options, expected }),
    );
    if (shrunk !== null) {
      return printShrunk(
        shrunk,
        task,
        expected?.names.linesFor(shrunk.text).map((line) => `  ${line}`),
      );
    }
  } catch (error) {
    if (!(error instanceof HistoryNotTellable)) throw error;
    return failed(error.message);
  }
  const askable = history.refused.filter((each) => askedBy(each, history.exchange.state) !== null);
  const [only, ...others] = askable;
  if (expected === null && only !== undefined && others.length === 0) {
    return shrinkReport(file, task, { ...wanted, refused: only.line, at: {} });
  }
  return failed(notFailing(file, wanted, askable));
}

/** Why nothing was written. */
function notFailing(file: string, { expectation, refused }: Wanted, all: WholeHistory["refused"]): string {
  if (expectation !== null) {
    return `what --expect says holds at the end of ${file}: nothing was written (--at ends it at a line)`;
  }
  if (refused !== null) return `line ${refused} of ${file} is not refused so any more: nothing was written`;
  const lines = all.slice(0, SHOWN_LINES).map(({ line }) => line);
  const more = all.length > SHOWN_LINES ? ` and ${all.length - SHOWN_LINES} more` : "";
  const either =
    lines.length === 0 ? "" : `; --refused which request of the lines ${lines.join(", ")}${more}`;
  return `${file} does not fail: no command makes the program fail, and every invariant holds; nothing was written (--expect says what should have been${either})`;
}

const SHOWN_LINES = 8;

/** @throws UsageError */
function refuseContradictions({ expectation, refused, at }: Wanted): void {
  if (refused === null) return;
  const beside = expectation !== null ? "expect" : Object.keys(at).length > 0 ? "at" : null;
  if (beside !== null) throw new UsageError(`--refused names where it ends: --${beside} does not go with it`);
}

/** @throws UsageError where the line holds no refused request, or one that no history decides. */
function refusalAt(file: string, line: number, history: WholeHistory): HistoryRefusal {
  const { open, session, devAccounts, refused, exchange } = history;
  const found = refused.find((each) => each.line === line);
  if (found === undefined)
    throw new UsageError(
      `--refused expects the line of a refused request, and line ${line} of ${file} is none`,
    );
  const command = askedBy(found, exchange.state);
  if (command !== null) {
    return { names: new HistoryNames({ open, entries: session, devAccounts }), refused: found, command };
  }
  const { request } = found;
  const why =
    request.asked?.kind === "command"
      ? "no step can expect that it is accepted: it is no order, and no cancel of one that there was"
      : "it was refused as it was read, whatever had happened before: there is nothing to leave out";
  throw new UsageError(
    `line ${line} of ${file}, ${refusedText(request, exchange.state)}, refused with ${request.code}: ${why}`,
  );
}

/** The command of a refused request of which a scenario can expect that it is accepted; null where there is none. */
function askedBy({ request: { asked } }: RefusedEntry, state: State): HistoryRefusal["command"] | null {
  if (asked?.kind !== "command") return null;
  const { command } = asked;
  if (command.kind === "placeOrder") return command;
  const isKnown =
    command.kind === "cancelOrder" &&
    state.orders.find(numberOf(state.idPrefixes.order, command.orderId)) !== undefined;
  return isKnown ? command : null;
}

/** What a history is shrunk against, and where it ends. */
interface Wanted {
  /** In the scenario language; null for what fails by itself. */
  readonly expectation: string | null;
  /** The line of a request that should have been accepted. */
  readonly refused: number | null;
  readonly at: JournalPoint;
}

/** @throws UsageError with all that is wrong with the text, and the names that it may use. */
function expectedOf(
  file: string,
  text: string,
  { open, session, devAccounts }: WholeHistory,
): HistoryExpectation {
  const names = new HistoryNames({ open, entries: session, devAccounts });
  const read = readHistoryExpectation("--expect", text, names);
  if (!("problems" in read)) return read;
  const problems = read.problems.map(problemText);
  throw new UsageError(
    [...problems, `names in ${file}`, ...names.lines.map((line) => `  ${line}`)].join("\n"),
  );
}

/** Runs it where its files are, which is nowhere for long. */
async function shrinkCarried(path: string, carried: CarriedScenario, task: Task): Promise<ExitCode> {
  const { line, sources } = carried;
  const folder = mkdtempSync(join(tmpdir(), "clobsim-shrink-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Nobody may read any more what this prints, and then the program ends at once.
  process.once("exit", remove);
  try {
    const { scenarios, wrong } = readScenarios([written(path, carried, folder)]);
    const [scenario] = scenarios;
    if (wrong.length > 0 || scenario === undefined) {
      return failed(`line ${line} of ${path} carries a scenario that cannot be read`, EXIT.corrupt);
    }
    const shrunk = await shrunkOf(scenario, task);
    if (shrunk !== null) return printShrunk(shrunk, task, placeBeside(shrunk, scenario, task.out));
  } finally {
    process.off("exit", remove);
    remove();
  }
  return failed(`${sources.file}, which the report carries, does not fail here; nothing was written`);
}

/** @throws StoreError when the report would have files written elsewhere. */
function written(path: string, { line, sources }: CarriedScenario, folder: string): string {
  try {
    return writeSourceFiles(sources, folder);
  } catch (error) {
    throw error instanceof RangeError ? wrongLine(path, line, `d.texts: ${error.message}`) : error;
  }
}

/** Brings the files that what is left speaks of to where it will look for them, and says so. No file is overwritten. */
function placeBeside({ files }: ShrunkScenario, { place }: Scenario, out: string | null): string[] {
  const names = files.map((path) => relative(dirname(place.file), path));
  if (names.length === 0) return [];
  if (out === null) return [`  it names ${names.join(", ")}, which --out FILE brings along from the report`];
  for (const [index, name] of names.entries()) {
    const to = resolve(dirname(out), name);
    mkdirSync(dirname(to), { recursive: true });
    if (!existsSync(to)) copyFileSync(files[index] as string, to, constants.COPYFILE_EXCL);
  }
  return [`  it names ${names.join(", ")}, brought along from the report`];
}
