import { constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { VERSION } from "../config.ts";
import { numberOf } from "../core/ids.ts";
import type { State } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import type { RefusedEntry } from "../engine/journal.ts";
import { wrongLine } from "../engine/store-error.ts";
import { type WholeHistory, wholeHistory } from "../history/journal-replay.ts";
import { type CarriedScenario, scenarioIn } from "../history/journal-source.ts";
import {
  type HistoryExpectation,
  HistoryNames,
  readHistoryExpectation,
} from "../history/shrink/history-expectation.ts";
import type { HistoryRefusal } from "../history/shrink/history-trial.ts";
import { HistoryNotTellable, shrinkHistory } from "../history/shrink/shrink-history.ts";
import type { ShrunkScenario } from "../history/shrink/shrink-scenario.ts";
import { refusedText } from "../history/words.ts";
import { problemText } from "../scenario/language/problem.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { writeSourceFiles } from "../scenario/run/files.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { endingOf, requireLine, sourceNamed } from "./journal-text.ts";
import { warn } from "./output.ts";
import { readScenarios } from "./read-scenarios.ts";
import { type Limits, printShrunk, shrunkOf, watched, writing } from "./shrinking.ts";

/**
 * Reduces the scenario that a report carries; or else what a journal tells to the few commands that are enough to fail, as
 * a scenario.
 */
export async function shrinkReport(
  file: string,
  limits: Limits,
  out: string | null,
  wanted: Wanted,
): Promise<ExitCode> {
  refuseContradictions(wanted);
  const source = sourceNamed("shrink", [file]);
  const { expectation, refused } = wanted;
  const at = refused === null ? wanted.at : { to: refused };
  const carried = expectation === null && refused === null ? scenarioIn(source) : null;
  if (carried !== null) return shrinkCarried(source.path, carried, limits, out);
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
    const shrunk = await watched(limits, (options) =>
      shrinkHistory({ config, start, entries }, { ...options, ...writing(out, "."), expected }),
    );
    if (shrunk !== null) {
      const names = expected?.names.linesFor(shrunk.text).map((line) => `  ${line}`);
      return printShrunk(shrunk, out, names);
    }
  } catch (error) {
    if (!(error instanceof HistoryNotTellable)) throw error;
    return failed(error.message);
  }
  const askable = history.refused.filter((each) => askedBy(each, history.exchange.state) !== null);
  const [only, ...others] = askable;
  if (expected === null && only !== undefined && others.length === 0) {
    return shrinkReport(file, limits, out, { ...wanted, refused: only.line, at: {} });
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
export interface Wanted {
  /** In the scenario language; null for what fails by itself. */
  readonly expectation: string | null;
  /** The line of a request that should have been accepted. */
  readonly refused: number | null;
  readonly at: { readonly to?: number; readonly until?: Millis };
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
async function shrinkCarried(
  path: string,
  carried: CarriedScenario,
  limits: Limits,
  out: string | null,
): Promise<ExitCode> {
  const { line, sources } = carried;
  const folder = mkdtempSync(join(tmpdir(), "clobsim-shrink-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Nobody may read any more what this prints, and then the program ends at once.
  process.once("exit", remove);
  try {
    const { scenarios, isWrong } = readScenarios([written(path, carried, folder)]);
    const [scenario] = scenarios;
    if (isWrong || scenario === undefined) {
      return failed(`line ${line} of ${path} carries a scenario that cannot be read`, EXIT.corrupt);
    }
    const shrunk = await shrunkOf(scenario, limits, out);
    if (shrunk !== null) return printShrunk(shrunk, out, placeBeside(shrunk, scenario, out));
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

function failed(message: string, code: ExitCode = EXIT.failed): ExitCode {
  warn(message);
  return code;
}
