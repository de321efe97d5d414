import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import type { Campaign, Ending } from "../fuzz/campaign/campaign.ts";
import type { SeedRange } from "../fuzz/campaign/seeds.ts";
import { choice, type Given, readOne, readTimeout, type Setting, SHARD, wholeNumber } from "../setting.ts";
import type { Command, Flag } from "./command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { OUT, paintOf } from "./output.ts";
import { stopSignal } from "./process.ts";
import { BUDGET } from "./shrink.ts";

const WHICH = "Which:";
const HOW = "How:";

/** The flags of `clobsim fuzz`, as its help shows them. */
const FUZZ_FLAGS: readonly Flag[] = [
  {
    name: "seeds",
    group: WHICH,
    text: "FROM..TO, without TO itself; a million is 1000000, 1_000_000 or 1e6",
    otherwise: "0..10000",
  },
  { name: "shard", group: WHICH, text: "Only the i-th of n parts, as i/n: every n-th seed from the i-th on" },
  {
    name: "budget",
    group: WHICH,
    text: "Start no more seeds after so long, such as 10m",
    otherwise: "until every seed is done",
  },
  { name: "commands", group: HOW, text: "Commands of each seed", otherwise: "300" },
  {
    name: "via",
    group: HOW,
    text: "process, or http: a real server and real signatures",
    otherwise: "process",
  },
  {
    name: "workers",
    group: HOW,
    text: "Threads that run seeds; what is found is the same for any number",
    otherwise: "one for each processor",
  },
  { name: "seed-timeout", group: HOW, text: "A seed that takes longer hangs, a failure", otherwise: "60s" },
  {
    name: "out",
    group: "Output:",
    text: "Directory for results, scenarios and reports; of merge, the file to write",
    otherwise: "failures, if there are any; of merge, stdout",
  },
];

/** `clobsim fuzz merge PATHS.. --out FILE`: the parts of a campaign as one. */
async function mergeFound(given: Given, paths: readonly string[]): Promise<ExitCode> {
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
async function showFound(given: Given, paths: readonly string[]): Promise<ExitCode> {
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

/** What the threads run; it lies beside the program. */
const PROGRAM = new URL("./fuzz-worker.js", import.meta.url);

const SEEDS = "FROM..TO with FROM below TO, such as 0..10000, 0..10_000 or 0..1e6";
const SEED_TIMEOUT: Setting<number> = {
  expected: "a duration such as 60s or 5m, from 1ms to 1d",
  read: readTimeout,
};
const COMMANDS = wholeNumber(1, 1_000_000);
const WORKERS = wholeNumber(1, 1024);
const VIA = choice("process", "http");

const DEFAULT_SEEDS: SeedRange = { from: 0, to: 10_000 };
const DEFAULT_SEED_TIMEOUT_MS = 60_000;
const DEFAULT_FOLDER = "failures";

/** Runs the seeds that are asked for and says what was found. Nothing is run when a flag or the directory is wrong. */
async function runCampaign(given: Given): Promise<ExitCode> {
  const fuzzing = await import("./on-fuzzing.ts");
  const { DEFAULT_COMMANDS, rangeText, seriesOf, shardText, WHOLE } = fuzzing;
  const seeds = readOne("seeds", { expected: SEEDS, read: fuzzing.readRange }, given) ?? DEFAULT_SEEDS;
  const shard = readOne("shard", SHARD, given) ?? WHOLE;
  const commands = readOne("commands", COMMANDS, given) ?? DEFAULT_COMMANDS;
  const settings = { commands, via: readOne("via", VIA, given) ?? "process" };
  const threads = readOne("workers", WORKERS, given) ?? availableParallelism();
  const seedTimeoutMs = readOne("seed-timeout", SEED_TIMEOUT, given) ?? DEFAULT_SEED_TIMEOUT_MS;
  const budget = readOne("budget", BUDGET, given);
  const out = readOne("out", OUT, given);
  const { length } = seriesOf(seeds, shard);
  if (length === 0) {
    throw new UsageError(
      `--shard ${shardText(shard)} leaves no seed of ${rangeText(seeds)}: give fewer shards`,
    );
  }
  const name = fuzzing.resultsName(seeds, shard, settings);
  const folder = new fuzzing.ResultsFolder(out ?? DEFAULT_FOLDER, name, out !== null);
  const budgetMs = budget?.ms ?? Number.POSITIVE_INFINITY;
  const campaign = new fuzzing.Campaign({
    ...{ program: PROGRAM, settings, seedTimeoutMs },
    ...{ seeds, shard, threads, budgetMs, folder },
  });
  const ending = await watched(campaign, budgetMs, given);
  if (ending === null) return EXIT.failed;
  const { progress, results } = campaign;
  const end = { ending, budget: budget?.text ?? "", progress, results, folder };
  const lines = fuzzing.campaignLines(end, paintOf(given.environment));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  if (ending === "stopped") return EXIT.interrupted;
  return results.failures.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Runs a campaign and shows how far it is; null where what it finds says nothing, which stderr has said. */
async function watched(campaign: Campaign, budgetMs: number, { environment }: Given): Promise<Ending | null> {
  const { CanaryNotFound, FuzzProgress } = await import("./on-fuzzing.ts");
  void stopSignal().then(() => campaign.stop());
  const paint = paintOf(environment, process.stderr);
  const progress = new FuzzProgress(() => campaign.progress, budgetMs, paint);
  try {
    return await campaign.run();
  } catch (error) {
    if (!(error instanceof CanaryNotFound)) throw error;
    progress.end();
    process.stderr.write(`clobsim: ${error.message}\n`);
    return null;
  } finally {
    progress.end();
  }
}

/** `clobsim fuzz`: runs histories made from seeds, and tells what goes wrong in them. */
export const fuzzCommand: Command = {
  name: "fuzz",
  summary: "Run histories made by machine, one for each seed, and write what goes wrong as scenarios.",
  takes: "[merge PATHS.. | show FILE]",
  flags: FUZZ_FLAGS,
  examples: [
    ["fuzz", "10,000 seeds, on all processors"],
    ["fuzz --seeds 4711..4712", "one seed again"],
    ["fuzz --seeds 0..1e6 --shard 3/40 --budget 10m --out failures/3", "the third of 40 machines"],
    ["fuzz merge failures/*/ --out fuzz.json", "one entry for each failure, with its smallest seed"],
    ["fuzz show fuzz.json", "a table; each row ends with the line that repeats it"],
  ],
  run: fuzz,
};

async function fuzz(given: Given, words: readonly string[]): Promise<ExitCode> {
  const [word, ...paths] = words;
  switch (word) {
    case undefined:
      return runCampaign(given);
    case "merge":
      return mergeFound(given, paths);
    case "show":
      return showFound(given, paths);
    default:
      throw new UsageError(`fuzz expects merge, show or options, found ${word} (see clobsim fuzz --help)`);
  }
}
