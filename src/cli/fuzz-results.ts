import { readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { mergeResults, type ResultsFile } from "../fuzz/campaign/merge.ts";
import { doneOf, readResults, resultsText } from "../fuzz/campaign/results.ts";
import { RESULTS_FILE, saveWhole } from "../fuzz/campaign/results-folder.ts";
import { count } from "../scenario/report/figures.ts";
import { type Given, readOne } from "../setting.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { tableLines } from "./fuzz-summary.ts";
import { OUT } from "./output-file.ts";
import { paintOf } from "./paint.ts";
import { UsageError } from "./usage-error.ts";

/** `clobsim fuzz merge PATHS.. --out FILE`: the parts of a campaign as one. */
export async function mergeFound(given: Given, paths: readonly string[]): Promise<ExitCode> {
  refuseFlags(given, "merge", ["out"]);
  const out = readOne("out", OUT, given);
  if (paths.length === 0) {
    throw new UsageError("fuzz merge expects directories or files of results, found none");
  }
  // A path that is named twice is read once.
  const named = new Map(paths.flatMap((path) => resultsAt(path, out)).map((path) => [resolve(path), path]));
  const files = [...named.values()].map((path): ResultsFile => ({ path, results: readResults(path) }));
  const [first, ...more] = files;
  if (first === undefined) throw new UsageError(`${paths.join(", ")}: no results of clobsim fuzz`);
  const merged = mergeResults([first, ...more], out === null ? "." : dirname(out));
  const text = resultsText(merged);
  if (out === null) {
    process.stdout.write(text);
    return EXIT.ok;
  }
  save(out, text);
  const found = `${count(merged.failures.length, "failure")} in ${count(doneOf(merged), "seed")}`;
  process.stderr.write(`clobsim: ${count(files.length, "result")} merged into ${out}: ${found}\n`);
  return EXIT.ok;
}

/** `clobsim fuzz show FILE`: a table of results. */
export async function showFound(given: Given, paths: readonly string[]): Promise<ExitCode> {
  refuseFlags(given, "show", []);
  const [path, ...others] = paths;
  if (path === undefined || others.length > 0) {
    throw new UsageError(`fuzz show expects one file of results, found ${paths.length || "none"}`);
  }
  const lines = tableLines(path, readResults(path), paintOf(given.environment));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return EXIT.ok;
}

/** @throws UsageError for a flag of campaigns. */
function refuseFlags({ flags }: Given, word: string, allowed: readonly string[]): void {
  const stray = Object.keys(flags).find((name) => !allowed.includes(name));
  if (stray !== undefined) throw new UsageError(`--${stray} does not go with fuzz ${word}`);
}

/** The files of results at a path; in a directory, the file that is to be written is not one. @throws UsageError */
function resultsAt(path: string, out: string | null): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new UsageError(`${path}: there is no such file or directory`);
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => RESULTS_FILE.test(name));
  const files = names.map((name) => join(path, name)).sort();
  const others = files.filter((file) => out === null || resolve(file) !== resolve(out));
  if (others.length > 0) return others;
  throw new UsageError(`${path} holds no results of clobsim fuzz, which are called fuzz-*.json`);
}

/** @throws UsageError when it cannot be written. */
function save(path: string, text: string): void {
  try {
    saveWhole(path, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UsageError(`--out expects a file that can be written, found ${path} (${code})`);
  }
}
