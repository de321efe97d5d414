import { DocumentError, shown } from "../../core/document/document-error.ts";
import { Fields } from "../../core/document/fields.ts";
import { jsonIn } from "../../core/document/json-in.ts";
import { StoreError } from "../../engine/store-error.ts";
import { FILE_LIMITS, FileRefused, readText, whyUnread } from "../../regular-file.ts";
import { SHARD, type Shard } from "../../setting.ts";
import type { FailureFiles, SeedSettings } from "../outcome.ts";
import { rangeText, readRange, type SeedRange, seriesOf, shardText } from "./seeds.ts";

const FAMILY = "clobsim-fuzz/";
const FORMAT = `${FAMILY}1`;

/** The ways to run seeds, in the order in which a message names them. */
export const WAYS = ["process", "http"] as const;
export type Via = (typeof WAYS)[number];

/** How all seeds of a campaign are run. */
export interface CampaignSettings extends SeedSettings {
  readonly via: Via;
}

/** What one part of a campaign has run: the first `done` seeds of its shard. */
export interface Ran {
  /** The version of clobsim. */
  readonly engine: string;
  readonly seeds: SeedRange;
  readonly shard: Shard;
  readonly done: number;
}

/** All failures of one fingerprint. */
export interface FoundFailure extends FailureFiles {
  readonly fingerprint: string;
  /** In how many seeds. */
  readonly count: number;
  /** The smallest of them, of which all that follows tells. */
  readonly seed: number;
  readonly sentence: string;
  /** After which command it shows, from 1; 0 where nobody knows, for the run did not end by itself. */
  readonly command: number;
  readonly profile: string;
  /** The oldest version of clobsim that has been seen to fail so. */
  readonly version: string;
}

/** What a campaign, or a part of it, has found; failures by their seeds. Paths of files begin where the results lie. */
export interface Results {
  readonly settings: CampaignSettings;
  readonly ran: readonly Ran[];
  readonly failures: readonly FoundFailure[];
}

/** The command line that runs one seed again. */
export const repeatLine = (seed: number, { commands, via }: CampaignSettings): string =>
  `clobsim fuzz --seeds ${seed}..${seed + 1} --commands ${commands}${via === "http" ? " --via http" : ""}`;

/** How many seeds were run. */
export const doneOf = ({ ran }: Results): number => ran.reduce((total, { done }) => total + done, 0);

/** In how many seeds something failed. */
export const failedOf = ({ failures }: Pick<Results, "failures">): number =>
  failures.reduce((total, { count }) => total + count, 0);

/** Failures in the order of a results file: by seed. */
export const bySeed = (a: FoundFailure, b: FoundFailure): number =>
  a.seed - b.seed || (a.fingerprint < b.fingerprint ? -1 : 1);

/** Results as the text of a file. */
export function resultsText({ settings, ran, failures }: Results): string {
  const document = {
    format: FORMAT,
    via: settings.via,
    commands: settings.commands,
    ran: ran.map(({ engine, seeds, shard, done }) => ({
      ...{ engine, seeds: rangeText(seeds), shard: shardText(shard), done },
    })),
    failures: failures.map((failure) => ({
      fingerprint: failure.fingerprint,
      sentence: failure.sentence,
      count: failure.count,
      seed: failure.seed,
      command: failure.command,
      profile: failure.profile,
      version: failure.version,
      repeat: repeatLine(failure.seed, settings),
      scenario: failure.scenario,
      report: failure.report,
      remark: failure.remark,
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/**
 * The results in a file.
 * @throws StoreError or FileRefused: `usage` where the file holds none, `newer` where a newer version has written them,
 * `corrupt`, with the place, where they are damaged.
 */
export function readResults(path: string): Results {
  const document = documentIn(path);
  const { format } = document as { readonly format?: unknown };
  if (typeof format !== "string" || !format.startsWith(FAMILY)) throw noResults(path, shown(format));
  if (format !== FORMAT) {
    throw new StoreError("newer", `${path} has the format ${shown(format)}, this version reads ${FORMAT}`);
  }
  try {
    return resultsIn(document);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new StoreError("corrupt", `${path}: ${error.message}`);
  }
}

const noResults = (path: string, found: string): StoreError =>
  new StoreError("usage", `${path}: expected results of clobsim fuzz, format "${FORMAT}", found ${found}`);

function documentIn(path: string): object {
  const text = textIn(path);
  const document = jsonIn(text);
  if (typeof document === "object" && document !== null) return document;
  if (document !== undefined) throw noResults(path, shown(document));
  if (!BEGINNING.test(text)) throw noResults(path, "no JSON");
  const line = text.trimEnd().split("\n").length;
  throw new StoreError("corrupt", `${path}: expected JSON up to its end, line ${line}, found something else`);
}

/** What results begin with, however little of them is left. */
const BEGINNING = new RegExp(`^\\s*\\{\\s*"format": *"${FAMILY}`);

function textIn(path: string): string {
  try {
    return readText(path, FILE_LIMITS.golden);
  } catch (error) {
    if (error instanceof FileRefused) throw error;
    throw new StoreError("usage", `${path}: ${whyUnread(error)}`);
  }
}

function resultsIn(document: object): Results {
  const keys = ["format", "via", "commands", "ran", "failures"] as const;
  const fields = new Fields(document, TOP, "", keys);
  const settings = { via: fields.oneOf("via", WAYS), commands: fields.integer("commands", 1) };
  const ran = fields.list("ran", ranIn);
  const failures = fields.list("failures", (item, path) => failureIn(item, path, settings)).sort(bySeed);
  const names = new Set(failures.map(({ fingerprint }) => fingerprint));
  if (names.size !== failures.length) throw repeated(failures);
  const results = { settings, ran, failures };
  const [failed, done] = [failedOf(results), doneOf(results)];
  if (failed <= done) return results;
  throw new DocumentError(TOP, ".failures", `failures in at most the ${done} seeds that were run`, failed);
}

const TOP = { section: "", index: null, line: null };

function repeated(failures: readonly FoundFailure[]): DocumentError {
  const names = failures.map(({ fingerprint }) => fingerprint);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return new DocumentError(TOP, ".failures", "each fingerprint once", twice);
}

function ranIn(value: unknown, path: string): Ran {
  const fields = new Fields(value, TOP, path, ["engine", "seeds", "shard", "done"]);
  const seeds = readRange(fields.text("seeds"));
  if (seeds === null) throw fields.wrong("seeds", "a range such as 0..10000");
  const shard = SHARD.read(fields.text("shard"));
  if (shard === null) throw fields.wrong("shard", SHARD.expected);
  const done = fields.integer("done", 0, seriesOf(seeds, shard).length);
  return { engine: fields.textLike("engine", ENGINE, ENGINE_TEXT), seeds, shard, done };
}

const ENGINE = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/;
const ENGINE_TEXT = "a version such as 0.1.0";
const FAILURE_KEYS = [
  ...(["fingerprint", "sentence", "count", "seed", "command", "profile", "version"] as const),
  ...(["repeat", "scenario", "report", "remark"] as const),
] as const;

function failureIn(value: unknown, path: string, settings: CampaignSettings): FoundFailure {
  const fields = new Fields(value, TOP, path, FAILURE_KEYS);
  const seed = fields.integer("seed");
  const repeat = repeatLine(seed, settings);
  fields.demand(fields.text("repeat") === repeat, "repeat", JSON.stringify(repeat));
  return {
    seed,
    fingerprint: fields.text("fingerprint"),
    sentence: fields.text("sentence"),
    count: fields.integer("count", 1),
    command: fields.integer("command"),
    profile: fields.text("profile"),
    version: fields.textLike("version", ENGINE, ENGINE_TEXT),
    scenario: fields.textOrNull("scenario"),
    report: fields.textOrNull("report"),
    remark: fields.textOrNull("remark"),
  };
}
