import { resolve } from "node:path";
import { MAX_PROBLEMS, problemText, type WrongFile, wrongFilesText } from "../scenario/language/problem.ts";
import { loadScenario } from "../scenario/language/read-scenario.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { findFiles, NoFilesError } from "../scenario/run/files.ts";
import { UsageError } from "./exit-code.ts";
import { warn } from "./output.ts";

/** What paths lead to. */
interface ReadScenarios {
  readonly scenarios: readonly Scenario[];
  readonly files: number;
  /** The files that cannot be understood; stderr has said why. */
  readonly wrong: readonly WrongFile[];
}

/** Reads the scenario files of paths, and says on stderr what is wrong with them. @throws UsageError when there are none. */
export function readScenarios(paths: readonly string[], walletsFile: string | null = null): ReadScenarios {
  // A wallets file may lie beside the scenarios, and is none.
  const found = find(paths);
  const files = found.filter((file) => walletsFile === null || resolve(file) !== resolve(walletsFile));
  const scenarios: Scenario[] = [];
  const wrong: WrongFile[] = [];
  for (const file of files) {
    const read = loadScenario(file);
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
  return { scenarios, files: files.length, wrong };
}

function find(paths: readonly string[]): readonly string[] {
  try {
    return findFiles(paths);
  } catch (error) {
    throw error instanceof NoFilesError ? new UsageError(error.message) : error;
  }
}
