import { posix, relative, sep } from "node:path";
import { StoreError } from "../../engine/store-error.ts";
import { isNewer } from "../../engine/version.ts";
import { bySeed, type FoundFailure, type Ran, type Results } from "./results.ts";
import { rangeText, type SeedSeries, seriesOf, sharedSeed, WHOLE } from "./seeds.ts";

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
  for (const other of files) demandSameSettings(first, other);
  demandNoneTwice(files);
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

function demandSameSettings(a: ResultsFile, b: ResultsFile): void {
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
function demandNoneTwice(files: readonly ResultsFile[]): void {
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
