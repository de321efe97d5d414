import type { Shard } from "../setting.ts";

/** Seeds from `from` (inclusive) to `to` (exclusive). */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
}

/** Every `step`-th seed beginning with `first`. */
export interface SeedSeries {
  readonly first: number;
  readonly step: number;
  readonly length: number;
}

export const WHOLE: Shard = { index: 1, count: 1 };

/** Returns the seeds of a range that a shard runs. */
export function seriesOf({ from, to }: SeedRange, { index, count }: Shard): SeedSeries {
  const first = from + index - 1;
  return { first, step: count, length: Math.max(0, Math.ceil((to - first) / count)) };
}

/** Returns the seed at an index of a series, from 0. */
export const seedAt = ({ first, step }: SeedSeries, index: number): number => first + step * index;

/** Formats a range: `0..10000`. */
export const rangeText = ({ from, to }: SeedRange): string => `${from}..${to}`;

/** Formats a shard: `3/40`. */
export const shardText = ({ index, count }: Shard): string => `${index}/${count}`;

/** Parses `0..10000`. Numbers may be written as `10_000` or `1e6`. Returns null if it is not a range or is empty. */
export function readRange(text: string): SeedRange | null {
  const [first, second, ...more] = text.split("..");
  const [from, to] = [readSeed(first ?? ""), readSeed(second ?? "")];
  return more.length === 0 && from !== null && to !== null && from < to ? { from, to } : null;
}

function readSeed(text: string): number | null {
  const isNumber = /^\d+(?:_\d+)*$/.test(text) || /^\d{1,3}e\d{1,2}$/.test(text);
  const seed = isNumber ? Number(text.replaceAll("_", "")) : Number.NaN;
  return Number.isSafeInteger(seed) ? seed : null;
}

/** Returns the smallest seed in both series; null if there is none. */
export function sharedSeed(a: SeedSeries, b: SeedSeries): number | null {
  const last = Math.min(seedAt(a, a.length - 1), seedAt(b, b.length - 1));
  const from = Math.max(0, Math.ceil((a.first - b.first) / b.step));
  // After a.step seeds of b, the remainders modulo a.step repeat.
  for (let index = from; index < from + a.step; index += 1) {
    const seed = seedAt(b, index);
    if (seed > last) return null;
    if ((seed - a.first) % a.step === 0) return seed;
  }
  return null;
}

/** The first failed check of a history. */
export interface Failure {
  /** Kind of failure without numbers, names or seeds: equal for failures of the same cause. */
  readonly fingerprint: string;
  /** Description with figures. */
  readonly sentence: string;
  /** Number of the command after which the check failed, from 1. */
  readonly command: number;
}

/** Thrown when a check of a history fails. */
export class CheckFailed extends Error {
  readonly fingerprint: string;

  constructor(kind: string, about: string, text: string) {
    super(`${kind}: ${text}`);
    this.fingerprint = `${kind}: ${about}`;
  }
}

/** Result of running one seed: the same on any machine and with any number of workers. */
export interface SeedResult {
  readonly seed: number;
  /** The profile drawn from the seed, in one line. */
  readonly profile: string;
  /** Number of commands that were run. */
  readonly commands: number;
  readonly failure: Failure | null;
  /** Record of a failed session, kept because running the seed again may pass. */
  readonly evidence?: Evidence;
}

/** Record of a session over HTTP, from which the files of a failure are written. */
export interface Evidence {
  /** The report of the session: text of a journal. */
  readonly report: string;
  /** Every request and answer, one per line. */
  readonly observations: string;
  /** Whether the report alone shows the failure, so that replaying its commands can reproduce it. */
  readonly isInJournal: boolean;
}

/** Paths of the files written for a failure. */
export interface FailureFiles {
  /** A scenario that fails in the same way; null if there is none. */
  readonly scenario: string | null;
  /** A bug report for `clobsim replay` and `clobsim shrink`; null if there is none. */
  readonly report: string | null;
  /** Why a file is missing, or a caveat; null if there is nothing to say. */
  readonly remark: string | null;
}

/** Runs seeds, in this process or over HTTP. `commands` is the number of commands of each, 1 or more. */
export interface SeedRunner {
  run(seed: number, commands: number): Promise<SeedResult>;
  /** Writes the files of a failure into an existing folder. Their names begin with `name`. */
  write(result: SeedResult, commands: number, folder: string, name: string): Promise<FailureFiles>;
}
