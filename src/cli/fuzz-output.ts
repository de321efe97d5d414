import { join } from "node:path";
import type { CampaignProgress, Ending } from "../fuzz/campaign/campaign.ts";
import type { ResultsFolder } from "../fuzz/campaign/results.ts";
import {
  type FoundFailure,
  type RanPart,
  type Results,
  repeatLine,
  seedsFailed,
  seedsRun,
} from "../fuzz/campaign/results.ts";
import { rangeText, shardText } from "../fuzz/campaign/seeds.ts";
import { count, durationText, grouped, oneLine, type Paint } from "../scenario/report/text.ts";
import { table } from "./output.ts";

const REDRAW_MS = 250;
const LINE_MS = 10_000;

/** Shows the progress of a campaign on stderr: on a terminal in one line that is redrawn, else a line every ten seconds. */
export class FuzzProgress {
  readonly #progress: () => CampaignProgress;
  readonly #budgetMs: number;
  readonly #paint: Paint;
  readonly #isTerminal = process.stderr.isTTY === true;
  readonly #timer: NodeJS.Timeout;

  constructor(progress: () => CampaignProgress, budgetMs: number, paint: Paint) {
    this.#progress = progress;
    this.#budgetMs = budgetMs;
    this.#paint = paint;
    this.#timer = setInterval(() => this.#show(), this.#isTerminal ? REDRAW_MS : LINE_MS);
  }

  /** Removes the progress line from a terminal. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#isTerminal) process.stderr.write("\r\u001b[K");
  }

  #show(): void {
    const line = progressLine(this.#progress(), this.#budgetMs, this.#paint);
    process.stderr.write(this.#isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
  }
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

/** The facts that the summary of a campaign prints. */
interface CampaignEnd {
  readonly ending: Ending;
  /** The budget as it was typed. */
  readonly budget: string;
  readonly progress: CampaignProgress;
  readonly results: Results;
  readonly folder: ResultsFolder;
}

/** Returns the summary of a campaign: failures, figures, results file. */
export function campaignLines(end: CampaignEnd, paint: Paint): string[] {
  const { progress, results, folder } = end;
  const [done, { commands, ms }] = [seedsRun(results), progress];
  const aMinute = (number: number): string => grouped(Math.round((number * 60_000) / Math.max(1, ms)));
  return [
    ...results.failures.flatMap((failure) => [...failureLines(failure, results, folder.path, paint), ""]),
    `${count(done, "seed")}, ${count(commands, "command")} in ${durationText(ms)}: ${aMinute(done)} seeds and ${aMinute(commands)} commands a minute`,
    ...endingLines(end, done),
    foundText(results, paint),
    ...(folder.isWritten ? [`results  ${folder.file}`] : []),
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

function endingLines({ ending, budget, progress: { total } }: CampaignEnd, done: number): string[] {
  const after = `after ${grouped(done)} of ${count(total, "seed")}`;
  if (ending === "budget") return [`the budget of ${budget} was used up ${after}`];
  return ending === "stopped" ? [`interrupted ${after}`] : [];
}

/** Formats `2 failures in 7 seeds`. */
export function foundText(results: Results, paint: Paint): string {
  const { failures } = results;
  if (failures.length === 0) return paint.green("no failure");
  return paint.red(`${count(failures.length, "failure")} in ${count(seedsFailed(results), "seed")}`);
}

/** Formats `3 results merged into fuzz.json: 2 failures in 200 seeds`. */
export const mergedText = (files: number, merged: Results, path: string): string =>
  `${count(files, "result")} merged into ${path}: ${count(merged.failures.length, "failure")} in ${count(seedsRun(merged), "seed")}`;

/** Returns results as a table. Each row ends with the command line that repeats the failure. */
export function tableLines(path: string, results: Results, paint: Paint): string[] {
  const { settings, failures } = results;
  const head = `${path}: ${settings.commands} commands a seed via ${settings.via}, ${count(seedsRun(results), "seed")}`;
  const [headings = "", ...rows] = table(
    [HEADINGS, ...failures.map((failure) => rowOf(failure, settings))],
    FIGURES,
  );
  return [
    paint.bold(head),
    ...results.ran.map((ran) => `  ${ranText(ran)}`),
    ...(rows.length === 0 ? [] : ["", paint.dim(headings), ...rows, ""]),
    foundText(results, paint),
  ];
}

function ranText({ engine, seeds, shard, done }: RanPart): string {
  const part = shard.count === 1 ? "" : `, shard ${shardText(shard)}`;
  return `${engine}  seeds ${rangeText(seeds)}${part}: ${grouped(done)} done`;
}

const HEADINGS = ["seeds", "smallest", "command", "since", "failure", "repeat"];
/** Number of numeric columns, from the left. */
const FIGURES = 3;

const rowOf = (
  { count: times, seed, command, version, fingerprint }: FoundFailure,
  settings: Results["settings"],
): string[] => [
  grouped(times),
  String(seed),
  command === 0 ? "-" : grouped(command),
  version,
  oneLine(fingerprint),
  repeatLine(seed, settings),
];
