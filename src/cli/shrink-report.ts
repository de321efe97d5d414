import { constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { VERSION } from "../config.ts";
import { type CarriedScenario, scenarioIn } from "../history/told-scenario.ts";
import { wholeHistory } from "../history/whole-history.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { writeSourceFiles } from "../scenario/run/source-files.ts";
import { HistoryNotTellable, shrinkHistory } from "../scenario/shrink/shrink-history.ts";
import type { ShrunkScenario } from "../scenario/shrink/shrink-scenario.ts";
import { wrongLine } from "../store/store-error.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { sourceNamed } from "./history-arguments.ts";
import { readScenarios } from "./read-scenarios.ts";
import { type Limits, printShrunk, shrunkOf, watched, writing } from "./shrink.ts";
import { endingOf } from "./walk-ending.ts";

/**
 * Reduces the scenario that a report carries; or else what a journal tells to the few commands that are enough to fail, as
 * a scenario.
 */
export async function shrinkReport(file: string, limits: Limits, out: string | null): Promise<ExitCode> {
  const source = sourceNamed("shrink", [file]);
  const carried = scenarioIn(source);
  if (carried !== null) return shrinkCarried(source.path, carried, limits, out);
  const history = wholeHistory(source, VERSION);
  if (history === null) {
    return failed(`${file} goes on from a state: what led to it is not in there, and cannot be left out`);
  }
  const ending = endingOf(source, history.end, history.state);
  if (ending.code !== EXIT.ok) return failed(ending.lines.join("\n"), ending.code);
  try {
    const shrunk = await watched(limits, (options) =>
      shrinkHistory(history, { ...options, ...writing(out, ".") }),
    );
    if (shrunk !== null) return printShrunk(shrunk, out);
  } catch (error) {
    if (!(error instanceof HistoryNotTellable)) throw error;
    return failed(error.message);
  }
  return failed(
    `${file} does not fail: no command makes the program fail, and every invariant holds; nothing was written`,
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
    const { scenarios, isWrong } = await readScenarios([written(path, carried, folder)]);
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
  process.stderr.write(`clobsim: ${message}\n`);
  return code;
}
