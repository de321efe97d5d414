import { mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join, posix, relative, resolve } from "node:path";
import { DocumentError, formatValue, within } from "../../core/document-error.ts";
import {
  custom,
  type Infer,
  id,
  integer,
  list,
  oneOf,
  orNull,
  record,
  refined,
  type Type,
  text,
  textLike,
} from "../../core/schema.ts";
import { nodeDisk } from "../../engine/disk.ts";
import { DataFileError } from "../../engine/journal.ts";
import { isNewer } from "../../engine/journal-line.ts";
import {
  FILE_LIMITS,
  FileRefused,
  isDiskFailure,
  readFailure,
  readText,
  replaceFile,
  statOf,
  withSlashes,
} from "../../regular-file.ts";
import { SHARD, type Shard } from "../../setting.ts";
import {
  type FailureFiles,
  rangeText,
  readRange,
  type SeedRange,
  seriesOf,
  shardText,
  sharedSeed,
  WHOLE,
} from "../seeds.ts";

const FAMILY = "clobsim-fuzz/";
const FORMAT = `${FAMILY}1`;

/** Whether seeds run in this process or over HTTP, in the order in which a message names them. */
const VIA = ["process", "http"] as const;

/** Settings with which all seeds of a campaign are run. */
export interface CampaignSettings {
  /** Commands per history, 1 or more. */
  readonly commands: number;
  readonly via: (typeof VIA)[number];
}

const engine = textLike(/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/, "a version such as 0.1.0");

/** A value that is stored as text. */
const asText = <Value>(
  read: (text: string) => Value | null,
  expected: string,
  write: (value: Value) => string,
): Type<Value> => ({
  ...custom((value) => {
    const found = read(text().parse(value));
    if (found === null) throw new DocumentError(expected, value);
    return found;
  }),
  write: (value) => JSON.stringify(write(value)),
});

const RanRecord = refined(
  record({
    /** The version of clobsim. */
    engine,
    seeds: asText(readRange, "a range such as 0..10000", rangeText),
    shard: asText(SHARD.read, SHARD.expected, shardText),
    done: integer(),
  }),
  ({ seeds, shard, done }) => {
    within("done", () => integer(0, seriesOf(seeds, shard).length).parse(done));
  },
);
/** The seeds that one part of a campaign has run: the first `done` seeds of its shard. */
export type RanPart = Readonly<Infer<typeof RanRecord>>;

const FailureRecord = record({
  fingerprint: text(),
  sentence: text(),
  /** Number of seeds that failed in this way. */
  count: id(),
  /** The smallest of these seeds, to which the other fields belong. */
  seed: integer(),
  /** Number of the command after which the check failed, from 1; 0 if unknown because the run did not end by itself. */
  command: integer(),
  profile: text(),
  /** The oldest version of clobsim that failed in this way. */
  version: engine,
  repeat: text(),
  scenario: orNull(text()),
  report: orNull(text()),
  remark: orNull(text()),
});
/** All failures with one fingerprint. */
export type FoundFailure = Readonly<Omit<Infer<typeof FailureRecord>, "repeat">>;

const ResultsRecord = record({
  format: text(),
  via: oneOf(...VIA),
  commands: id(),
  ran: list(RanRecord),
  failures: list(FailureRecord),
});

/** Results of a campaign or a part of it. Failures are sorted by seed. Paths are relative to the results file. */
export interface Results {
  readonly settings: CampaignSettings;
  readonly ran: readonly RanPart[];
  readonly failures: readonly FoundFailure[];
}

/** Returns the command line that runs one seed again. */
export const repeatLine = (seed: number, { commands, via }: CampaignSettings): string =>
  `clobsim fuzz --seeds ${seed}..${seed + 1} --commands ${commands}${via === "http" ? " --via http" : ""}`;

export const seedsRun = ({ ran }: Results): number => ran.reduce((total, { done }) => total + done, 0);

export const seedsFailed = ({ failures }: Pick<Results, "failures">): number =>
  failures.reduce((total, { count }) => total + count, 0);

/** Compares failures for the order of a results file: by seed. */
export const bySeed = (a: FoundFailure, b: FoundFailure): number =>
  a.seed - b.seed || (a.fingerprint < b.fingerprint ? -1 : 1);

/** Returns the text of a results file. */
export function resultsText({ settings, ran, failures: found }: Results): string {
  const failures = found.map((each) => ({ ...each, repeat: repeatLine(each.seed, settings) }));
  const content = ResultsRecord.write({ format: FORMAT, ...settings, ran, failures });
  return `${JSON.stringify(JSON.parse(content), null, 2)}\n`;
}

/**
 * Reads a results file.
 * @throws DataFileError or FileRefused: `usage` if it is not a results file, `newer` if a newer version wrote it, `corrupt`,
 * with the place, if it is damaged.
 */
export function readResults(path: string): Results {
  const document = readDocument(path);
  const { format } = document as { readonly format?: unknown };
  if (typeof format !== "string" || !format.startsWith(FAMILY)) throw notResults(path, formatValue(format));
  const found = `has the format ${formatValue(format)}, this version reads ${FORMAT}`;
  if (format !== FORMAT) throw new DataFileError("newer", `${path} ${found}`);
  try {
    return parseResults(document);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    throw new DataFileError("corrupt", `${path}: ${error.message}`);
  }
}

const notResults = (path: string, found: string): DataFileError =>
  new DataFileError("usage", `${path}: expected results of clobsim fuzz, format "${FORMAT}", found ${found}`);

function readDocument(path: string): object {
  let content: string;
  try {
    content = readText(path, FILE_LIMITS.golden);
  } catch (error) {
    if (error instanceof FileRefused) throw error;
    throw new DataFileError("usage", `${path}: ${readFailure(error)}`);
  }
  let document: unknown;
  try {
    document = JSON.parse(content);
  } catch {
    if (!BEGINNING.test(content)) throw notResults(path, "no JSON");
    const line = content.trimEnd().split("\n").length;
    const problem = `expected JSON up to its end, line ${line}, found something else`;
    throw new DataFileError("corrupt", `${path}: ${problem}`);
  }
  if (typeof document === "object" && document !== null) return document;
  throw notResults(path, formatValue(document));
}

/** Beginning of a results file, even of a truncated one. */
const BEGINNING = new RegExp(`^\\s*\\{\\s*"format": *"${FAMILY}`);

function parseResults(document: object): Results {
  const { via, commands, ran, failures: records } = ResultsRecord.parse(document);
  const settings = { via, commands };
  const failures = records.map(({ repeat, ...failure }, index) => {
    const expected = repeatLine(failure.seed, settings);
    if (repeat === expected) return failure;
    throw new DocumentError(JSON.stringify(expected), repeat, "failures", index, "repeat");
  });
  const names = failures.map(({ fingerprint }) => fingerprint);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new DocumentError("each fingerprint once", twice, "failures");
  const results = { settings, ran, failures: failures.sort(bySeed) };
  const [failed, done] = [seedsFailed(results), seedsRun(results)];
  if (failed <= done) return results;
  throw new DocumentError(`failures in at most the ${done} seeds that were run`, failed, "failures");
}

/** Names of results files in a directory. */
const RESULTS_FILE = /^fuzz.*\.json$/;

/** Commands per seed without `--commands`. File names leave this number out. */
const DEFAULT_COMMANDS = 300;

/** Returns the file name for the results of a part of a campaign. It differs from that of any other part. */
export const resultsName = ({ from, to }: SeedRange, { index, count }: Shard, settings: CampaignSettings) =>
  `${["fuzz", from, to, ...(count === 1 ? [] : [index, "of", count]), ...nameParts(settings)].join("-")}.json`;

/** Returns the beginning of the names of the files for the failure of a seed. */
export const seedName = (seed: number, settings: CampaignSettings): string =>
  ["seed", seed, ...nameParts(settings)].join("-");

const nameParts = ({ via, commands }: CampaignSettings): string[] => [
  ...(via === "process" ? [] : [via]),
  ...(commands === DEFAULT_COMMANDS ? [] : [`${commands}-commands`]),
];

export type ResultsFolder = ReturnType<typeof resultsFolder>;

/**
 * Returns the directory to which a campaign writes its results and the files of its failures, after checking that it can be
 * written to.
 * @param writesAlways whether to write results without failures; else the directory is made for the first failure.
 * @throws DataFileError `usage`, `disk`
 */
export function resultsFolder(path: string, name: string, writesAlways: boolean) {
  try {
    const isThere = statOf(path) !== undefined;
    nodeDisk.makeFolder(path);
    rmdirSync(mkdtempSync(join(path, ".clobsim-fuzz-")));
    if (!isThere && !writesAlways) rmdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (isDiskFailure(error)) throw new DataFileError("disk", `${path} cannot be written (${code})`);
    const expected = "--out expects a directory that can be written to";
    throw new DataFileError("usage", `${expected}, found ${path} (${code})`);
  }
  const file = join(path, name);
  const isWritten = (): boolean => statOf(file) !== undefined;
  return {
    path,
    file,
    isWritten,
    /** Writes the results atomically if they have failures, if they are always written, or to replace older ones. */
    save: (results: Results): void => {
      if (!writesAlways && results.failures.length === 0 && !isWritten()) return;
      nodeDisk.makeFolder(path);
      replaceFile(file, resultsText(results));
    },
    /** Moves the files that `write` makes in a draft directory into this one. Returns their names. */
    addFiles: async (write: (draft: string) => Promise<FailureFiles>): Promise<FailureFiles> => {
      nodeDisk.makeFolder(path);
      const draft = mkdtempSync(join(path, ".clobsim-fuzz-"));
      try {
        const { scenario, report, remark } = await write(draft);
        for (const moved of readdirSync(draft)) renameSync(join(draft, moved), join(path, moved));
        const nameOf = (of: string | null): string | null => (of === null ? null : basename(of));
        return { scenario: nameOf(scenario), report: nameOf(report), remark };
      } finally {
        rmSync(draft, { recursive: true, force: true });
      }
    },
  };
}

/**
 * Reads the results files at paths and in directories, each once.
 * @param out the file to be written, which is skipped in directories; null if there is none.
 * @throws DataFileError or FileRefused if a path has no results
 */
export function findResults(
  paths: readonly [string, ...string[]],
  out: string | null,
): [ResultsFile, ...ResultsFile[]] {
  const found = new Map(paths.flatMap((path) => filesAt(path, out)).map((path) => [resolve(path), path]));
  // There is at least one because a directory without results is refused.
  return [...found.values()].map((path) => ({ path, results: readResults(path) })) as [ResultsFile];
}

function filesAt(path: string, out: string | null): string[] {
  const stats = statOf(path);
  if (stats === undefined) throw new DataFileError("usage", `${path}: there is no such file or directory`);
  if (!stats.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => RESULTS_FILE.test(name));
  const files = names.map((name) => join(path, name)).sort();
  const others = files.filter((file) => out === null || resolve(file) !== resolve(out));
  if (others.length > 0) return others;
  throw new DataFileError("usage", `${path} holds no results of clobsim fuzz, which are called fuzz-*.json`);
}

export interface ResultsFile {
  readonly path: string;
  readonly results: Results;
}

/**
 * Merges parts of a campaign: of each fingerprint the smallest seed, the number of seeds, and the oldest version. Paths
 * become relative to `folder`.
 * @throws DataFileError if settings differ, or if the same version ran a seed in two parts.
 */
export function mergeResults(files: readonly [ResultsFile, ...ResultsFile[]], folder: string): Results {
  const [first] = files;
  for (const other of files) assertSameSettings(first, other);
  assertNoSharedSeed(files);
  const failures = new Map<string, FoundFailure>();
  for (const { path, results } of files) {
    for (const failure of results.failures) {
      const moved = withPathsFrom(folder, path, failure);
      const known = failures.get(failure.fingerprint);
      failures.set(failure.fingerprint, known === undefined ? moved : mergeFailures(known, moved));
    }
  }
  const ran = mergeParts(files.flatMap(({ results }) => results.ran));
  return { settings: first.results.settings, ran, failures: [...failures.values()].sort(bySeed) };
}

function assertSameSettings(a: ResultsFile, b: ResultsFile): void {
  const [one, other] = [a.results.settings, b.results.settings];
  if (one.via === other.via && one.commands === other.commands) return;
  const text = ({ path, results: { settings } }: ResultsFile): string =>
    `${settings.commands} commands via ${settings.via} in ${path}`;
  const found = `${text(a)} and ${text(b)}`;
  throw new DataFileError("usage", `only results with the same settings can be merged, found ${found}`);
}

/** @throws DataFileError if the same version ran the same seed in two parts. */
function assertNoSharedSeed(files: readonly ResultsFile[]): void {
  const parts = files.flatMap(({ path, results }) =>
    results.ran.map(({ engine, seeds, shard, done }) => {
      const series = { ...seriesOf(seeds, shard), length: done };
      return { path, engine, series };
    }),
  );
  for (const [index, a] of parts.entries()) {
    for (const b of parts.slice(index + 1)) {
      const seed = a.engine === b.engine ? sharedSeed(a.series, b.series) : null;
      if (seed === null) continue;
      const places = a.path === b.path ? `${a.path} holds` : `${a.path} and ${b.path} both hold`;
      throw new DataFileError("usage", `${places} seed ${seed}: the same seeds would be counted twice`);
    }
  }
}

function mergeFailures(a: FoundFailure, b: FoundFailure): FoundFailure {
  const isOlder = isNewer(a.version, b.version);
  const version = isOlder ? b.version : a.version;
  const isFirst = b.seed < a.seed || (b.seed === a.seed && isOlder);
  return { ...(isFirst ? b : a), count: a.count + b.count, version };
}

/** Returns a failure of the results file at `path` with paths relative to `folder`. */
function withPathsFrom(folder: string, path: string, failure: FoundFailure): FoundFailure {
  const prefix = withSlashes(relative(folder, dirname(path)));
  const moved = (file: string | null): string | null =>
    file === null || posix.isAbsolute(file) ? file : posix.join(prefix, file);
  return { ...failure, scenario: moved(failure.scenario), report: moved(failure.report) };
}

/** Merges complete shards into their range, and adjacent ranges into one. */
function mergeParts(ran: readonly RanPart[]): RanPart[] {
  const groups = new Map<string, RanPart[]>();
  for (const part of ran) {
    const key = `${part.engine} ${rangeText(part.seeds)} ${part.shard.count}`;
    groups.set(key, [...(groups.get(key) ?? []), part]);
  }
  const parts = [...groups.values()].flatMap((shards) => {
    const [{ engine, seeds }] = shards as [RanPart, ...RanPart[]];
    // No seed is in two parts: if the complete shards have all seeds, the others are empty.
    const done = shards.filter(isComplete).reduce((total, part) => total + part.done, 0);
    return done === seeds.to - seeds.from ? [{ engine, seeds, shard: WHOLE, done }] : shards;
  });
  const ranges: RanPart[] = [];
  for (const part of parts.sort(comparePartOrder)) {
    const last = ranges.at(-1);
    const isNext = last !== undefined && last.engine === part.engine && last.seeds.to === part.seeds.from;
    if (!isNext || ![last, part].every((each) => isComplete(each) && each.shard.count === 1)) {
      ranges.push(part);
      continue;
    }
    const seeds = { from: last.seeds.from, to: part.seeds.to };
    ranges.splice(-1, 1, { ...last, seeds, done: last.done + part.done });
  }
  return ranges;
}

const isComplete = ({ seeds, shard, done }: RanPart): boolean => done === seriesOf(seeds, shard).length;

/** Orders older versions first, then by seeds, then by shards. */
const comparePartOrder = (a: RanPart, b: RanPart): number =>
  Number(isNewer(a.engine, b.engine)) - Number(isNewer(b.engine, a.engine)) ||
  Number(a.engine > b.engine) - Number(a.engine < b.engine) ||
  a.seeds.from - b.seeds.from ||
  a.seeds.to - b.seeds.to ||
  a.shard.count - b.shard.count ||
  a.shard.index - b.shard.index;
