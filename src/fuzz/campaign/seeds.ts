import type { Shard } from "../../setting.ts";

/** Seeds from `from`, which is one of them, up to `to`, which is not. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
}

/** Every n-th seed from a first one on. */
export interface SeedSeries {
  readonly first: number;
  readonly step: number;
  readonly length: number;
}

/** The only part of all. */
export const WHOLE: Shard = { index: 1, count: 1 };

/** The seeds of a range that a shard runs. */
export function seriesOf({ from, to }: SeedRange, { index, count }: Shard): SeedSeries {
  const first = from + index - 1;
  return { first, step: count, length: Math.max(0, Math.ceil((to - first) / count)) };
}

/** The seed at a place of a series, from 0. */
export const seedAt = ({ first, step }: SeedSeries, place: number): number => first + step * place;

/** `0..10000`. */
export const rangeText = ({ from, to }: SeedRange): string => `${from}..${to}`;

/** `3/40`. */
export const shardText = ({ index, count }: Shard): string => `${index}/${count}`;

/** Reads `0..10000`, whose numbers may be written as `10_000` and `1e6`; null where it is no range or has no seed. */
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

/** The smallest seed that two series share; null where there is none. */
export function sharedSeed(a: SeedSeries, b: SeedSeries): number | null {
  const last = Math.min(seedAt(a, a.length - 1), seedAt(b, b.length - 1));
  const from = Math.max(0, Math.ceil((a.first - b.first) / b.step));
  // After as many seeds of b as a step of a is long, the distances to the seeds of a repeat.
  for (let place = from; place < from + a.step; place += 1) {
    const seed = seedAt(b, place);
    if (seed > last) return null;
    if ((seed - a.first) % a.step === 0) return seed;
  }
  return null;
}
