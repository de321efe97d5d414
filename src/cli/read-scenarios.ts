import { resolve } from "node:path";
import { MAX_PROBLEMS, problemText, type WrongFile, wrongFilesText } from "../scenario/language/problem.ts";
import { loadScenario } from "../scenario/language/read-scenario.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { findFiles, NoFilesError } from "../scenario/run/files.ts";
import { UsageError } from "./exit-code.ts";
import { warn } from "./output.ts";

/** Scenarios read from files. */
interface ReadScenarios {
  readonly scenarios: readonly Scenario[];
  readonly files: number;
  /** Paths of the files, and of those that they name, also of missing ones. */
  readonly inputs: readonly string[];
  /** Invalid files, whose problems were printed on stderr. */
  readonly wrong: readonly WrongFile[];
}

/** Reads scenario files, and prints their problems on stderr. @throws UsageError if there are no files. */
export function readScenarios(paths: readonly string[], walletsFile: string | null = null): ReadScenarios {
  // A wallets file may be in the same folder as the scenarios.
  const found = find(paths);
  const files = found.filter((file) => walletsFile === null || resolve(file) !== resolve(walletsFile));
  const scenarios: Scenario[] = [];
  const wrong: WrongFile[] = [];
  const inputs = [...files, ...(walletsFile === null ? [] : [walletsFile])];
  for (const file of files) {
    const read = loadScenario(file);
    inputs.push(...read.named);
    if (read.scenario !== null && read.problems.length === 0) {
      scenarios.push(read.scenario);
      continue;
    }
    wrong.push({ file, problems: read.problems });
    for (const problem of read.problems) process.stderr.write(`${problemText(problem)}\n`);
    if (read.problems.length >= MAX_PROBLEMS) {
      process.stderr.write(`${file}: its first ${MAX_PROBLEMS} problems are shown, there may be more\n`);
    }
  }
  if (wrong.length > 0) warn(wrongFilesText(wrong));
  return { scenarios, files: files.length, inputs, wrong };
}

function find(paths: readonly string[]): readonly string[] {
  try {
    return findFiles(paths);
  } catch (error) {
    throw error instanceof NoFilesError ? new UsageError(error.message) : error;
  }
}
