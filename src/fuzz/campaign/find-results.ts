import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { StoreError } from "../../engine/store-error.ts";
import type { ResultsFile } from "./merge.ts";
import { readResults } from "./results.ts";
import { RESULTS_FILE } from "./results-folder.ts";

/**
 * The results in files and directories, each once. A file in a directory that is to be written is passed over.
 * @param paths one or more. @param out the file to write; null where there is none.
 * @throws StoreError or FileRefused where a path leads to none
 */
export function findResults(
  paths: readonly [string, ...string[]],
  out: string | null,
): [ResultsFile, ...ResultsFile[]] {
  const found = new Map(paths.flatMap((path) => filesAt(path, out)).map((path) => [resolve(path), path]));
  // There is one at least, for a directory without any is refused.
  return [...found.values()].map((path) => ({ path, results: readResults(path) })) as [ResultsFile];
}

function filesAt(path: string, out: string | null): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new StoreError("usage", `${path}: there is no such file or directory`);
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => RESULTS_FILE.test(name));
  const files = names.map((name) => join(path, name)).sort();
  const others = files.filter((file) => out === null || resolve(file) !== resolve(out));
  if (others.length > 0) return others;
  throw new StoreError("usage", `${path} holds no results of clobsim fuzz, which are called fuzz-*.json`);
}
