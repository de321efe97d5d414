import type { Shard } from "../../setting.ts";

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
