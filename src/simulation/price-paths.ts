import type { Random } from "../core/random.ts";
import { FULL_PRICE } from "../core/units.ts";
import type { EventShape } from "./event-story.ts";

/** First and last price of YES in a market's history, in 0.0001 USDC. */
export interface FairPrices {
  readonly from: number;
  readonly to: number;
}

export interface EarlyResolution {
  readonly position: number;
  readonly winningOutcome: "YES" | "NO";
}

const LOWEST = 150;
const HIGHEST = FULL_PRICE - LOWEST;
const KNOWN_YES = FULL_PRICE - 120;
const KNOWN_NO = 120;
/** Minimum price difference between neighbouring thresholds. */
const STEP = 300;
/** Maximum change of a price of 0.5 over the history; prices near 0 or 1 change less. */
const MAX_SHIFT = 1200;

/**
 * Draws the prices of an event: those of candidates sum to about 1 USDC, higher thresholds are less likely, a single
 * question has the chance of its template. The first market of a busy event has a chance around 50 %, or is the likeliest.
 */
export function drawFairPrices(
  random: Random,
  shape: EventShape,
  count: number,
  resolution: EarlyResolution | null,
  isBusy: boolean,
): FairPrices[] {
  const drawn =
    shape.shape === "single"
      ? [drawSingle(random, shape.chance, isBusy)]
      : shape.shape === "ladder"
        ? drawSteps(random, count, isBusy)
        : drawShares(random, count, resolution, shape.isRanked === true, isBusy);
  if (resolution === null) return drawn;
  const known = resolution.winningOutcome === "YES" ? KNOWN_YES : KNOWN_NO;
  return drawn.map(({ from, to }, position) => ({ from, to: position === resolution.position ? known : to }));
}

/** Draws the market to resolve early, never the last one; null if none can be resolved while others stay open. */
export function resolutionIn(random: Random, shape: EventShape, count: number): EarlyResolution | null {
  if (count < 3 || shape.resolvesEarly !== true) return null;
  return shape.shape === "ladder"
    ? { position: 0, winningOutcome: "YES" }
    : { position: random.below(count - 1), winningOutcome: "NO" };
}

function drawSingle(random: Random, chance: readonly [number, number], isBusy: boolean): FairPrices {
  const [low, high] = isBusy ? [Math.max(chance[0], 30), Math.min(chance[1], 70)] : chance;
  const from = random.between(low * 100, high * 100);
  return { from: bounded(from), to: bounded(shifted(from, random.between(-MAX_SHIFT, MAX_SHIFT))) };
}

function drawSteps(random: Random, count: number, isBusy: boolean): FairPrices[] {
  let price = random.between(4500, isBusy ? 6500 : 9300);
  const move = random.between(-MAX_SHIFT / 2, MAX_SHIFT / 2);
  return Array.from({ length: count }, (_, level) => {
    if (level > 0) {
      const share = Math.floor((price * random.between(45, 85)) / 100);
      price = Math.min(price - STEP, Math.max(LOWEST + STEP * (count - 1 - level), share));
    }
    return { from: price, to: bounded(shifted(price, move)) };
  });
}

/** Draws the prices of candidates; the price of one who drops out goes to the others. */
function drawShares(
  random: Random,
  count: number,
  resolution: EarlyResolution | null,
  isRanked: boolean,
  isBusy: boolean,
): FairPrices[] {
  const weights = Array.from({ length: count }, () => 100 + Math.floor(20_000 / random.between(10, 200)));
  if (isRanked || isBusy) weights.sort(descending);
  const later = weights.map((weight) => Math.floor((weight * random.between(50, 190)) / 100));
  if (isRanked) later.sort(descending);
  if (resolution !== null) later[resolution.position] = 0;
  const shared = FULL_PRICE + random.between(-250, 250);
  const [before, after] = [shares(weights, shared), shares(later, shared)];
  return before.map((from, position) => ({ from, to: after[position] as number }));
}

const descending = (a: number, b: number): number => b - a;

function shares(weights: readonly number[], shared: number): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => bounded(Math.floor((weight * shared) / sum)));
}

/** Shifts a price by `by` at 0.5 and less towards 0 and 1, so that the order of prices stays. */
const shifted = (price: number, by: number): number =>
  price + Math.round((4 * by * price * (FULL_PRICE - price)) / (FULL_PRICE * FULL_PRICE));

const bounded = (price: number): number => Math.min(HIGHEST, Math.max(LOWEST, price));

/** Fair prices of YES in 0.0001 USDC, at equal intervals from the creation of an event to the start of the exchange. */
export type FairPath = readonly number[];

interface PathSetting {
  readonly shape: EventShape["shape"];
  readonly prices: readonly FairPrices[];
  /** A path has `steps + 1` prices. */
  readonly steps: number;
  /** Typical size of a step at a price of 0.5, in 0.0001 USDC. */
  readonly volatility: number;
  /** The market that is resolved early, and the step at which it is. */
  readonly resolution: EarlyResolution | null;
  readonly resolvedStep: number;
}

const EDGE = 30;
/** A shift of prices by up to a quarter keeps their order. */
const MAX_SWING = 2000;

/**
 * Draws the paths of an event. The sum of candidates' prices goes linearly from the first to the last sum. Thresholds share
 * one random walk, so that a higher one is never likelier than a lower one.
 */
export function drawFairPaths(random: Random, setting: PathSetting): FairPath[] {
  const { shape, prices } = setting;
  if (shape === "choice") {
    const alone = prices.map((_, position) => along(setting, position, drawWalk(random, setting)));
    return sharing(alone, prices);
  }
  const walk = drawWalk(random, setting);
  const paths: number[][] = [];
  for (const position of prices.keys()) {
    const below = paths[position - 1];
    const path = along(setting, position, walk);
    paths.push(path.map((price, step) => Math.min(price, below?.[step] ?? price)));
  }
  return paths;
}

/** Interpolates the price at a time on a path from `since` to 0, in milliseconds. */
export function fairAt(path: FairPath, since: number, at: number): number {
  const place = ((at - since) * (path.length - 1)) / -since;
  const step = Math.min(path.length - 2, Math.floor(place));
  const price = path[step] as number;
  return price + Math.round(((path[step + 1] as number) - price) * (place - step));
}

/** Draws a random bridge: a walk that starts and ends at 0. One step in twelve is several times as large, like news. */
function drawWalk(random: Random, { steps, volatility }: PathSetting): number[] {
  const walk = [0];
  for (let step = 1; step <= steps; step += 1) {
    const size = random.oneIn(12) ? volatility * 4 : volatility;
    const move = random.between(-size, size) + random.between(-size, size);
    walk.push((walk[step - 1] as number) + move);
  }
  const last = walk[steps] as number;
  return walk.map((place, step) => {
    const swing = place - Math.round((last * step) / steps);
    return Math.min(MAX_SWING, Math.max(-MAX_SWING, swing));
  });
}

/** Adds a walk to the trend of one market. A market that is resolved moves mostly at the end. */
function along(
  { prices, steps, resolution, resolvedStep }: PathSetting,
  position: number,
  walk: readonly number[],
): number[] {
  const { from, to } = prices[position] as FairPrices;
  const isResolved = resolution?.position === position;
  return walk.map((swing, step) => {
    const part = isResolved ? Math.min(1, step / resolvedStep) : step / steps;
    const progress = isResolved ? part * part * part : part;
    const trend = from + Math.round((to - from) * progress);
    return Math.min(FULL_PRICE - EDGE, Math.max(EDGE, part === 1 ? trend : shifted(trend, swing)));
  });
}

/** Scales paths so that their sum goes linearly from its first to its last value. */
function sharing(paths: readonly number[][], prices: readonly FairPrices[]): number[][] {
  const before = prices.reduce((sum, { from }) => sum + from, 0);
  const after = prices.reduce((sum, { to }) => sum + to, 0);
  const steps = (paths[0] as number[]).length - 1;
  return paths.map((path) =>
    path.map((price, step) => {
      const whole = before + ((after - before) * step) / steps;
      const sum = paths.reduce((total, other) => total + (other[step] as number), 0);
      return Math.min(FULL_PRICE - EDGE, Math.max(EDGE, Math.round((price * whole) / sum)));
    }),
  );
}
