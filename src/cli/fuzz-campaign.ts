import { availableParallelism } from "node:os";
import type { Campaign, Ending } from "../fuzz/campaign/campaign.ts";
import type { SeedRange } from "../fuzz/campaign/seeds.ts";
import { choice, type Given, readOne, type Setting, wholeNumber } from "../setting.ts";
import { readTimeout, SHARD } from "../setting-values.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { OUT } from "./output-file.ts";
import { paintOf } from "./paint.ts";
import { BUDGET } from "./shrink.ts";
import { stopSignal } from "./stop-signal.ts";
import { UsageError } from "./usage-error.ts";

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
export async function runCampaign(given: Given): Promise<ExitCode> {
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
