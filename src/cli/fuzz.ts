import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { Campaign, CanaryNotFound, type Ending } from "../fuzz/campaign/campaign.ts";
import {
  findResults,
  mergeResults,
  ResultsFolder,
  readResults,
  resultsName,
  resultsText,
} from "../fuzz/campaign/results.ts";
import { rangeText, seriesOf, shardText, WHOLE } from "../fuzz/campaign/seeds.ts";
import { codeSummary } from "../scenario/report/github.ts";
import { plainPaint } from "../scenario/report/text.ts";
import type { Given } from "../setting.ts";
import type { Run, Values } from "./commands.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { campaignLines, FuzzProgress, foundText, mergedText, tableLines } from "./fuzz-output.ts";
import { paintOf, print, summarizeJob, warn } from "./output.ts";
import { save } from "./output-file.ts";
import { stopSignal } from "./process.ts";

/** `clobsim fuzz merge PATHS.. --out FILE`: merges the results of parts of a campaign. */
async function merge({ out }: Values<"fuzz">, paths: readonly string[], given: Given): Promise<ExitCode> {
  refuseFlags(given, "merge", ["out"]);
  const [first, ...more] = paths;
  if (first === undefined) {
    throw new UsageError("fuzz merge expects directories or files of results, found none");
  }
  const files = findResults([first, ...more], out);
  const merged = mergeResults(files, out === null ? "." : dirname(out));
  if (out === null) {
    process.stdout.write(resultsText(merged));
    return EXIT.ok;
  }
  await save(out, resultsText(merged));
  warn(mergedText(files.length, merged, out));
  return EXIT.ok;
}

/** `clobsim fuzz show FILE`: prints results as a table. */
function show(given: Given, paths: readonly string[]): ExitCode {
  refuseFlags(given, "show", []);
  const [path, ...others] = paths;
  if (path === undefined || others.length > 0) {
    throw new UsageError(`fuzz show expects one file of results, found ${paths.length || "none"}`);
  }
  print(tableLines(path, readResults(path), paintOf(given.environment)));
  return EXIT.ok;
}

/** @throws UsageError for a flag that only campaigns have. */
function refuseFlags({ flags }: Given, word: string, allowed: readonly string[]): void {
  const stray = Object.keys(flags).find((name) => !allowed.includes(name));
  if (stray !== undefined) throw new UsageError(`--${stray} does not go with fuzz ${word}`);
}

/** Entry point of the threads, in the same directory as the program. */
const PROGRAM = new URL("./fuzz-worker.js", import.meta.url);

const DEFAULT_FOLDER = "failures";

/** Runs the seeds and prints the results. Runs nothing if a flag or the directory is invalid. */
async function runCampaign(values: Values<"fuzz">, { environment }: Given): Promise<ExitCode> {
  const { seeds, commands, via, budget, out, seedTimeout: seedTimeoutMs } = values;
  const shard = values.shard ?? WHOLE;
  const threads = values.workers ?? availableParallelism();
  const settings = { commands, via };
  const { length } = seriesOf(seeds, shard);
  if (length === 0) {
    throw new UsageError(
      `--shard ${shardText(shard)} leaves no seed of ${rangeText(seeds)}: give fewer shards`,
    );
  }
  const name = resultsName(seeds, shard, settings);
  const folder = new ResultsFolder(out ?? DEFAULT_FOLDER, name, out !== null);
  const budgetMs = budget?.ms ?? Number.POSITIVE_INFINITY;
  const campaign = new Campaign({
    ...{ program: PROGRAM, settings, seedTimeoutMs },
    ...{ seeds, shard, threads, budgetMs, folder },
  });
  const stopped = stopSignal();
  void stopped.then(() => campaign.stop());
  const ending = await runWithProgress(campaign, budgetMs, environment);
  if (ending === null) return EXIT.failed;
  const { progress, results } = campaign;
  const end = { ending, budget: budget?.text ?? "", progress, results, folder };
  print(campaignLines(end, paintOf(environment)));
  summarizeJob(environment, (bytes) =>
    codeSummary(`fuzz, ${foundText(results, plainPaint)}`, campaignLines(end, plainPaint), "line", bytes),
  );
  if (ending === "stopped") return stopped;
  return results.failures.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Runs a campaign and shows its progress. Returns null if the fuzzer misses the planted defect, and warns. */
async function runWithProgress(
  campaign: Campaign,
  budgetMs: number,
  environment: Given["environment"],
): Promise<Ending | null> {
  const paint = paintOf(environment, process.stderr);
  const progress = new FuzzProgress(() => campaign.progress, budgetMs, paint);
  try {
    return await campaign.run();
  } catch (error) {
    if (!(error instanceof CanaryNotFound)) throw error;
    progress.end();
    warn(error.message);
    return null;
  } finally {
    progress.end();
  }
}

/** `clobsim fuzz`: runs histories that are generated from seeds, and reports failures. */
export const run: Run<"fuzz"> = async (values, words, given) => {
  const [word, ...paths] = words;
  switch (word) {
    case undefined:
      return runCampaign(values, given);
    case "merge":
      return merge(values, paths, given);
    case "show":
      return show(given, paths);
    default:
      throw new UsageError(`fuzz expects merge, show or options, found ${word} (see clobsim fuzz --help)`);
  }
};
