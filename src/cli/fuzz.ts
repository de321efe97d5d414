import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { Campaign, type CampaignProgress, CanaryNotFound } from "../fuzz/campaign/campaign.ts";
import {
  type FoundFailure,
  findResults,
  mergeResults,
  type Results,
  type ResultsFolder,
  readResults,
  repeatLine,
  resultsFolder,
  resultsName,
  resultsText,
  seedsFailed,
  seedsRun,
} from "../fuzz/campaign/results.ts";
import { rangeText, seriesOf, shardText, WHOLE } from "../fuzz/seeds.ts";
import { codeSummary } from "../scenario/report/github.ts";
import { count, durationText, grouped, oneLine, type Paint, plainPaint } from "../scenario/report/text.ts";
import type { Given } from "../setting.ts";
import type { Run, Values } from "./commands.ts";
import { failed, isInteractive, paintOf, print, saveOrPrint, summarizeJob, table, warn } from "./output.ts";
import { EXIT, type ExitCode, stopSignal, UsageError } from "./process.ts";

/** `clobsim fuzz`: runs histories that are generated from seeds, and reports failures. */
export const fuzz: Run<"fuzz"> = async (values, [word, ...paths], given) => {
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

/** `clobsim fuzz merge PATHS.. --out FILE`: merges the results of parts of a campaign. */
async function merge({ out }: Values<"fuzz">, paths: readonly string[], given: Given): Promise<ExitCode> {
  refuseFlags(given, "merge", ["out"]);
  const [first, ...more] = paths;
  if (first === undefined) {
    throw new UsageError("fuzz merge expects directories or files of results, found none");
  }
  const files = findResults([first, ...more], out);
  const merged = mergeResults(files, out === null ? "." : dirname(out));
  await saveOrPrint(out, resultsText(merged));
  if (out === null) return EXIT.ok;
  const found = `${count(merged.failures.length, "failure")} in ${count(seedsRun(merged), "seed")}`;
  warn(`${count(files.length, "result")} merged into ${out}: ${found}`);
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
  const folder = resultsFolder(out ?? "failures", name, out !== null);
  const budgetMs = budget?.ms ?? Number.POSITIVE_INFINITY;
  const campaign = new Campaign({
    ...{ program: PROGRAM, settings, seedTimeoutMs },
    ...{ seeds, shard, threads, budgetMs, folder },
  });
  const stopped = stopSignal();
  void stopped.then(() => campaign.stop());
  const endProgress = showProgress(campaign, budgetMs, environment);
  const ending = await campaign
    .run()
    .catch((error: unknown) => {
      if (error instanceof CanaryNotFound) return error;
      throw error;
    })
    .finally(endProgress);
  if (ending instanceof CanaryNotFound) return failed(ending.message);
  const endingText = {
    done: "",
    budget: `the budget of ${budget?.text} was used up`,
    stopped: "interrupted",
  };
  const { progress, results } = campaign;
  const lines = (paint: Paint): string[] =>
    campaignLines({ progress, results }, endingText[ending], folder, paint);
  print(lines(paintOf(environment)));
  summarizeJob(environment, (bytes) =>
    codeSummary(`fuzz, ${foundText(results, plainPaint)}`, lines(plainPaint), "line", bytes),
  );
  if (ending === "stopped") return stopped;
  return results.failures.length > 0 ? EXIT.failed : EXIT.ok;
}

/**
 * Shows the progress of a campaign on stderr: on an interactive terminal in one line that is redrawn, else a line every
 * ten seconds. Returns a function that ends this, and removes the line from a terminal.
 */
export function showProgress(
  campaign: Pick<Campaign, "progress">,
  budgetMs: number,
  environment: Given["environment"],
): () => void {
  const isTerminal = isInteractive(environment);
  const paint = paintOf(environment, process.stderr);
  const timer = setInterval(
    () => {
      const line = progressLine(campaign.progress, budgetMs, paint);
      process.stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
    },
    isTerminal ? 250 : 10_000,
  );
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write("\r\u001b[K");
  };
}

/** Formats ` 3,412/10,000 seeds    171 seeds/s   51,300 commands/s   2 failures   38 s left` in columns of fixed width. */
export function progressLine(
  { done, total, commands, failures, ms }: CampaignProgress,
  budgetMs: number,
  paint: Paint,
): string {
  const rate = (number: number): number => (ms === 0 ? 0 : Math.round((number * 1000) / ms));
  const found = count(failures, "failure").padStart(11);
  return [
    `${grouped(done).padStart(grouped(total).length)}/${grouped(total)} seeds`,
    `${grouped(rate(done)).padStart(7)} seeds/s`,
    `${grouped(rate(commands)).padStart(9)} commands/s`,
    failures === 0 ? found : paint.red(found),
    paint.dim(timeLeft(done, total, ms, budgetMs).padStart(15)),
  ].join("  ");
}

/** Estimates the time left from the seeds done so far and from the budget. */
function timeLeft(done: number, total: number, ms: number, budgetMs: number): string {
  const left = Math.min(done === 0 ? Number.POSITIVE_INFINITY : ((total - done) * ms) / done, budgetMs - ms);
  return Number.isFinite(left) ? `${clockText(Math.max(0, left))} left` : "";
}

/** Formats a duration: `38 s`, `2 min 5 s`, `3 h 12 min`. */
function clockText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${grouped(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** Returns the summary of a campaign: failures, figures, results file. `ending` is why seeds are left; empty if none are. */
function campaignLines(
  { progress, results }: Pick<Campaign, "progress" | "results">,
  ending: string,
  folder: ResultsFolder,
  paint: Paint,
): string[] {
  const { commands, ms, total } = progress;
  const done = seedsRun(results);
  const aMinute = (number: number): string => grouped(Math.round((number * 60_000) / Math.max(1, ms)));
  return [
    ...results.failures.flatMap((failure) => [...failureLines(failure, results, folder.path, paint), ""]),
    `${count(done, "seed")}, ${count(commands, "command")} in ${durationText(ms)}: ${aMinute(done)} seeds and ${aMinute(commands)} commands a minute`,
    ...(ending === "" ? [] : [`${ending} after ${grouped(done)} of ${count(total, "seed")}`]),
    foundText(results, paint),
    ...(folder.isWritten() ? [`results  ${folder.file}`] : []),
  ];
}

function failureLines(
  { sentence, count: times, seed, command, profile, scenario, report, remark }: FoundFailure,
  { settings }: Results,
  folder: string,
  paint: Paint,
): string[] {
  const files = [scenario, report].flatMap((name) => (name === null ? [] : [join(folder, name)]));
  const after = command === 0 ? "" : `, after command ${grouped(command)}`;
  const row = (label: string, text: string): string => `    ${paint.dim(label.padEnd(7))}  ${text}`;
  return [
    `  ${paint.red("✗")} ${paint.bold(oneLine(sentence))}`,
    row("seeds", `${grouped(times)}; the smallest is ${seed}${after}`),
    ...(profile === "" ? [] : [row("profile", oneLine(profile))]),
    ...(files.length === 0 ? [] : [row("files", files.join(", "))]),
    ...(remark === null ? [] : [row("remark", oneLine(remark))]),
    row("repeat", repeatLine(seed, settings)),
  ];
}

/** Formats `2 failures in 7 seeds`. */
function foundText(results: Results, paint: Paint): string {
  const { failures } = results;
  if (failures.length === 0) return paint.green("no failure");
  return paint.red(`${count(failures.length, "failure")} in ${count(seedsFailed(results), "seed")}`);
}

/** Returns results as a table. Each row ends with the command line that repeats the failure. */
function tableLines(path: string, results: Results, paint: Paint): string[] {
  const { settings, failures } = results;
  const head = `${path}: ${settings.commands} commands a seed via ${settings.via}, ${count(seedsRun(results), "seed")}`;
  const cells = failures.map((found) => [
    grouped(found.count),
    String(found.seed),
    found.command === 0 ? "-" : grouped(found.command),
    found.version,
    oneLine(found.fingerprint),
    repeatLine(found.seed, settings),
  ]);
  const [headings = "", ...rows] = table([HEADINGS, ...cells], FIGURES);
  const ran = results.ran.map(({ engine, seeds, shard, done }) => {
    const part = shard.count === 1 ? "" : `, shard ${shardText(shard)}`;
    return `  ${engine}  seeds ${rangeText(seeds)}${part}: ${grouped(done)} done`;
  });
  return [
    paint.bold(head),
    ...ran,
    ...(rows.length === 0 ? [] : ["", paint.dim(headings), ...rows, ""]),
    foundText(results, paint),
  ];
}

const HEADINGS = ["seeds", "smallest", "command", "since", "failure", "repeat"];
/** Number of numeric columns, from the left. */
const FIGURES = 3;
