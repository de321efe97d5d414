import { dirname } from "node:path";
import { type Given, readOne } from "../setting.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { OUT } from "./output-file.ts";
import { paintOf } from "./paint.ts";
import { UsageError } from "./usage-error.ts";

/** `clobsim fuzz merge PATHS.. --out FILE`: the parts of a campaign as one. */
export async function mergeFound(given: Given, paths: readonly string[]): Promise<ExitCode> {
  refuseFlags(given, "merge", ["out"]);
  const out = readOne("out", OUT, given);
  const [first, ...more] = paths;
  if (first === undefined) {
    throw new UsageError("fuzz merge expects directories or files of results, found none");
  }
  const { findResults, mergedText, mergeResults, resultsText, saveWhole } = await import("./on-fuzzing.ts");
  const files = findResults([first, ...more], out);
  const merged = mergeResults(files, out === null ? "." : dirname(out));
  if (out === null) {
    process.stdout.write(resultsText(merged));
    return EXIT.ok;
  }
  try {
    saveWhole(out, resultsText(merged));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UsageError(`--out expects a file that can be written, found ${out} (${code})`);
  }
  process.stderr.write(`clobsim: ${mergedText(files.length, merged, out)}\n`);
  return EXIT.ok;
}

/** `clobsim fuzz show FILE`: a table of results. */
export async function showFound(given: Given, paths: readonly string[]): Promise<ExitCode> {
  refuseFlags(given, "show", []);
  const [path, ...others] = paths;
  if (path === undefined || others.length > 0) {
    throw new UsageError(`fuzz show expects one file of results, found ${paths.length || "none"}`);
  }
  const { readResults, tableLines } = await import("./on-fuzzing.ts");
  const lines = tableLines(path, readResults(path), paintOf(given.environment));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return EXIT.ok;
}

/** @throws UsageError for a flag of campaigns. */
function refuseFlags({ flags }: Given, word: string, allowed: readonly string[]): void {
  const stray = Object.keys(flags).find((name) => !allowed.includes(name));
  if (stray !== undefined) throw new UsageError(`--${stray} does not go with fuzz ${word}`);
}
