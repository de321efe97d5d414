import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, posix, relative, resolve, sep } from "node:path";
import {
  custom,
  DocumentError,
  formatValue,
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
  within,
} from "../../core/schema.ts";
import { nodeDisk, writeFully } from "../../engine/disk.ts";
import { draftOf } from "../../engine/files.ts";
import { isNewer, StoreError } from "../../engine/store-error.ts";
import { FILE_LIMITS, FileRefused, readText, whyUnread } from "../../regular-file.ts";
import { SHARD, type Shard } from "../../setting.ts";
import type { FailureFiles, SeedSettings } from "../outcome.ts";
import {
  rangeText,
  readRange,
  type SeedRange,
  type SeedSeries,
  seriesOf,
  shardText,
  sharedSeed,
  WHOLE,
} from "./seeds.ts";

const FAMILY = "clobsim-fuzz/";
const FORMAT = `${FAMILY}1`;

/** The ways to run seeds, in the order in which a message names them. */
const WAYS = ["process", "http"] as const;
type Via = (typeof WAYS)[number];

/** How all seeds of a campaign are run. */
export interface CampaignSettings extends SeedSettings {
  readonly via: Via;
}

const engine = textLike(/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/, "a version such as 0.1.0");

/** What is kept as a text. */
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
/** What one part of a campaign has run: the first `done` seeds of its shard. */
export type Ran = Readonly<Infer<typeof RanRecord>>;

const FailureRecord = record({
  fingerprint: text(),
  sentence: text(),
  /** In how many seeds. */
  count: id(),
  /** The smallest of them, of which all that follows tells. */
  seed: integer(),
  /** After which command it shows, from 1; 0 where nobody knows, for the run did not end by itself. */
  command: integer(),
  profile: text(),
  /** The oldest version of clobsim that has been seen to fail so. */
  version: engine,
  repeat: text(),
  scenario: orNull(text()),
  report: orNull(text()),
  remark: orNull(text()),
});
/** All failures of one fingerprint. */
export type FoundFailure = Readonly<Omit<Infer<typeof FailureRecord>, "repeat">>;

const ResultsRecord = record({
  format: text(),
  via: oneOf(...WAYS),
  commands: id(),
  ran: list(RanRecord),
  failures: list(FailureRecord),
});

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
export function resultsText({ settings, ran, failures: found }: Results): string {
  const failures = found.map((each) => ({ ...each, repeat: repeatLine(each.seed, settings) }));
  const content = ResultsRecord.write({ format: FORMAT, ...settings, ran, failures });
  return `${JSON.stringify(JSON.parse(content), null, 2)}\n`;
}

/**
 * The results in a file.
 * @throws StoreError or FileRefused: `usage` where the file holds none, `newer` where a newer version has written them,
 * `corrupt`, with the place, where they are damaged.
 */
export function readResults(path: string): Results {
  const document = documentIn(path);
  const { format } = document as { readonly format?: unknown };
  if (typeof format !== "string" || !format.startsWith(FAMILY)) throw noResults(path, formatValue(format));
  if (format !== FORMAT) {
    throw new StoreError(
      "newer",
      `${path} has the format ${formatValue(format)}, this version reads ${FORMAT}`,
    );
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
  const content = textIn(path);
  let document: unknown;
  try {
    document = JSON.parse(content);
  } catch {
    if (!BEGINNING.test(content)) throw noResults(path, "no JSON");
    const line = content.trimEnd().split("\n").length;
    throw new StoreError(
      "corrupt",
      `${path}: expected JSON up to its end, line ${line}, found something else`,
    );
  }
  if (typeof document === "object" && document !== null) return document;
  throw noResults(path, formatValue(document));
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
  const { via, commands, ran, failures: told } = ResultsRecord.parse(document);
  const settings = { via, commands };
  const failures = told.map(({ repeat, ...failure }, index) => {
    const expected = repeatLine(failure.seed, settings);
    if (repeat === expected) return failure;
    throw new DocumentError(JSON.stringify(expected), repeat, "failures", index, "repeat");
  });
  const names = failures.map(({ fingerprint }) => fingerprint);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new DocumentError("each fingerprint once", twice, "failures");
  const results = { settings, ran, failures: failures.sort(bySeed) };
  const [failed, done] = [failedOf(results), doneOf(results)];
  if (failed <= done) return results;
  throw new DocumentError(`failures in at most the ${done} seeds that were run`, failed, "failures");
}

/** The files of a folder that hold results. */
const RESULTS_FILE = /^fuzz.*\.json$/;

/** How many commands a seed has unless another number is asked for: names of files leave it out. */
export const DEFAULT_COMMANDS = 300;

/** What the results of a part of a campaign are called: nothing else that lies in the same folder is. */
export const resultsName = ({ from, to }: SeedRange, { index, count }: Shard, settings: CampaignSettings) =>
  `${["fuzz", from, to, ...(count === 1 ? [] : [index, "of", count]), ...named(settings)].join("-")}.json`;

/** What the names of the files begin with that tell the failure of a seed. */
export const seedName = (seed: number, settings: CampaignSettings): string =>
  ["seed", seed, ...named(settings)].join("-");

const named = ({ via, commands }: CampaignSettings): string[] => [
  ...(via === "process" ? [] : [via]),
  ...(commands === DEFAULT_COMMANDS ? [] : [`${commands}-commands`]),
];

/** Writes a file that is there whole or not at all, whatever happens meanwhile. @throws the system's error */
export function saveWhole(path: string, text: string): void {
  const draft = draftOf(path, randomUUID());
  const file = nodeDisk.open(draft, "new");
  try {
    writeFully(file, new TextEncoder().encode(text), 0);
    file.sync();
    nodeDisk.rename(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    file.close();
  }
  nodeDisk.syncFolder(dirname(path));
}

/** Where a campaign writes what it finds. */
export class ResultsFolder {
  readonly path: string;
  /** The file of the results. */
  readonly file: string;
  readonly #isWanted: boolean;

  /**
   * Sees that the folder can be written to.
   * @param isWanted whether there are to be results where nothing is found; else the folder stays away, too.
   * @throws StoreError `usage`
   */
  constructor(path: string, name: string, isWanted: boolean) {
    this.path = path;
    this.file = join(path, name);
    this.#isWanted = isWanted;
    try {
      const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
      nodeDisk.makeFolder(path);
      rmdirSync(mkdtempSync(join(path, ".clobsim-fuzz-")));
      if (!isThere && !isWanted) rmdirSync(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      throw new StoreError(
        "usage",
        `--out expects a directory that can be written to, found ${path} (${code})`,
      );
    }
  }

  /** Whether there are results in the folder. */
  get isWritten(): boolean {
    return statSync(this.file, { throwIfNoEntry: false }) !== undefined;
  }

  /** Writes the results, where there is something to say or something older that would contradict them. */
  save(results: Results): void {
    if (!this.#isWanted && results.failures.length === 0 && !this.isWritten) return;
    nodeDisk.makeFolder(this.path);
    saveWhole(this.file, resultsText(results));
  }

  /** Has files written, which are in the folder afterwards, whole, or not at all; answers their names there. */
  async place(write: (draft: string) => Promise<FailureFiles>): Promise<FailureFiles> {
    nodeDisk.makeFolder(this.path);
    const draft = mkdtempSync(join(this.path, ".clobsim-fuzz-"));
    try {
      const { scenario, report, remark } = await write(draft);
      for (const name of readdirSync(draft)) renameSync(join(draft, name), join(this.path, name));
      const nameOf = (path: string | null): string | null => (path === null ? null : basename(path));
      return { scenario: nameOf(scenario), report: nameOf(report), remark };
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
}

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

/** Results, and the file in which they lie. */
export interface ResultsFile {
  readonly path: string;
  readonly results: Results;
}

/**
 * Several parts of a campaign as one: of each fingerprint the smallest seed, how many there are, and the oldest version.
 * The paths of files begin in `folder` afterwards.
 * @throws StoreError where settings differ, or the same seeds were run twice by the same version.
 */
export function mergeResults(files: readonly [ResultsFile, ...ResultsFile[]], folder: string): Results {
  const [first] = files;
  for (const other of files) assertSameSettings(first, other);
  assertNoneTwice(files);
  const failures = new Map<string, FoundFailure>();
  for (const { path, results } of files) {
    for (const failure of results.failures) {
      const moved = movedTo(folder, path, failure);
      const known = failures.get(failure.fingerprint);
      failures.set(failure.fingerprint, known === undefined ? moved : together(known, moved));
    }
  }
  const ran = files.flatMap(({ results }) => results.ran);
  return {
    settings: first.results.settings,
    ran: joined(ran),
    failures: [...failures.values()].sort(bySeed),
  };
}

function assertSameSettings(a: ResultsFile, b: ResultsFile): void {
  const [one, other] = [a.results.settings, b.results.settings];
  const isSame = one.via === other.via && one.commands === other.commands;
  if (isSame) return;
  const said = ({ path, results: { settings } }: ResultsFile): string =>
    `${settings.commands} commands via ${settings.via} in ${path}`;
  throw new StoreError(
    "usage",
    `results of the same settings can be merged, found ${said(a)} and ${said(b)}`,
  );
}

/** @throws StoreError where the same version has run the same seed in two parts. */
function assertNoneTwice(files: readonly ResultsFile[]): void {
  const parts = files.flatMap(({ path, results }) =>
    results.ran.map((ran) => ({ path, ran, series: doneSeries(ran) })),
  );
  for (const [index, a] of parts.entries()) {
    for (const b of parts.slice(index + 1)) {
      const seed = a.ran.engine === b.ran.engine ? sharedSeed(a.series, b.series) : null;
      if (seed === null) continue;
      const places = a.path === b.path ? `${a.path} holds` : `${a.path} and ${b.path} both hold`;
      throw new StoreError("usage", `${places} seed ${seed}: the same seeds would be counted twice`);
    }
  }
}

const doneSeries = ({ seeds, shard, done }: Ran): SeedSeries => ({ ...seriesOf(seeds, shard), length: done });

/** Two entries of the same fingerprint. */
function together(a: FoundFailure, b: FoundFailure): FoundFailure {
  const isOlder = isNewer(a.version, b.version);
  const version = isOlder ? b.version : a.version;
  const isFirst = b.seed < a.seed || (b.seed === a.seed && isOlder);
  return { ...(isFirst ? b : a), count: a.count + b.count, version };
}

/** A failure whose paths begin in another folder than that of the file which tells it. */
function movedTo(folder: string, path: string, failure: FoundFailure): FoundFailure {
  const below = relative(folder, posix.join(path.split(sep).join("/"), ".."))
    .split(sep)
    .join("/");
  const moved = (file: string | null): string | null =>
    file === null || posix.isAbsolute(file) ? file : posix.join(below, file);
  return { ...failure, scenario: moved(failure.scenario), report: moved(failure.report) };
}

/** Complete shards become the range that they make up together, ranges beside one another become one. */
function joined(ran: readonly Ran[]): Ran[] {
  const groups = new Map<string, Ran[]>();
  for (const part of ran) {
    const key = `${part.engine} ${rangeText(part.seeds)} ${part.shard.count}`;
    groups.set(key, [...(groups.get(key) ?? []), part]);
  }
  const parts = [...groups.values()].flatMap((shards) => {
    const [{ engine, seeds }] = shards as [Ran, ...Ran[]];
    // No seed is in two parts: where complete ones have them all, others have none.
    const done = shards.filter(isComplete).reduce((total, part) => total + part.done, 0);
    return done === seeds.to - seeds.from ? [{ engine, seeds, shard: WHOLE, done }] : shards;
  });
  const ranges: Ran[] = [];
  for (const part of parts.sort(inOrder)) {
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

const isComplete = ({ seeds, shard, done }: Ran): boolean => done === seriesOf(seeds, shard).length;

/** Older versions first, then by seeds, then by shards. */
function inOrder(a: Ran, b: Ran): number {
  if (isNewer(a.engine, b.engine) !== isNewer(b.engine, a.engine))
    return isNewer(a.engine, b.engine) ? 1 : -1;
  if (a.engine !== b.engine) return a.engine < b.engine ? -1 : 1;
  return (
    a.seeds.from - b.seeds.from ||
    a.seeds.to - b.seeds.to ||
    a.shard.count - b.shard.count ||
    a.shard.index - b.shard.index
  );
}
