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
  if (a.length === 0 || b.length === 0) return null;
  const least = Math.max(a.first, b.first);
  const last = Math.min(seedAt(a, a.length - 1), seedAt(b, b.length - 1));
  const common = least > last ? null : commonSeeds(a, b);
  if (common === null) return null;
  const { rest, step } = common;
  const seed = rest + ((BigInt(least) - rest + step - 1n) / step) * step;
  return seed <= BigInt(last) ? Number(seed) : null;
}

/**
 * What two series would share if they had no ends: the numbers with this rest, 0 to `step` - 1, when they are divided by
 * `step` (Chinese remainder theorem); null where they share none.
 */
function commonSeeds(a: SeedSeries, b: SeedSeries): { readonly rest: bigint; readonly step: bigint } | null {
  const [stepA, stepB] = [BigInt(a.step), BigInt(b.step)];
  const { divisor, factor } = greatestDivisor(stepA, stepB);
  const distance = BigInt(b.first) - BigInt(a.first);
  if (distance % divisor !== 0n) return null;
  const step = (stepA / divisor) * stepB;
  const shared = BigInt(a.first) + stepA * (distance / divisor) * factor;
  return { rest: ((shared % step) + step) % step, step };
}

/** The greatest common divisor of two numbers, and what the first makes it by, modulo the second (extended Euclidean algorithm). */
function greatestDivisor(a: bigint, b: bigint): { readonly divisor: bigint; readonly factor: bigint } {
  let [divisor, next, factor, nextFactor] = [a, b, 1n, 0n];
  while (next !== 0n) {
    const quotient = divisor / next;
    [divisor, next] = [next, divisor - quotient * next];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return { divisor, factor };
}
