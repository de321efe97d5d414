import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { WrongFile } from "../scenario/language/problem.ts";
import type { Scenario } from "../scenario/language/scenario.ts";
import { UsageError } from "./exit-code.ts";

/** What paths lead to. */
export interface ReadScenarios {
  readonly scenarios: readonly Scenario[];
  readonly files: number;
  /** The files that cannot be understood; stderr has said why. */
  readonly wrong: readonly WrongFile[];
  readonly isWrong: boolean;
}

/** Reads the scenario files of paths, and says on stderr what is wrong with them. @throws UsageError when there are none. */
export async function readScenarios(
  paths: readonly string[],
  walletsFile: string | null = null,
): Promise<ReadScenarios> {
  // The language is not loaded for commands that read none of it.
  const { loadScenario, problemText, wrongFilesText, MAX_PROBLEMS } = await import("./on-scenarios.ts");
  // A wallets file may lie beside the scenarios, and is none.
  const found = await find(paths);
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
  if (wrong.length > 0) process.stderr.write(`clobsim: ${wrongFilesText(wrong)}\n`);
  return { scenarios, files: files.length, wrong, isWrong: wrong.length > 0 };
}

/** What finds files in folders and by globs is not loaded for plain files. */
async function find(paths: readonly string[]): Promise<readonly string[]> {
  if (paths.every((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)) {
    return [...new Set(paths)].sort((a, b) => (a < b ? -1 : 1));
  }
  const { findFiles, NoFilesError } = await import("./on-scenarios.ts");
  try {
    return findFiles(paths);
  } catch (error) {
    throw error instanceof NoFilesError ? new UsageError(error.message) : error;
  }
}
