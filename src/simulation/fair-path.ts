import type { Stream } from "../core/random.ts";
import { FULL_PRICE } from "../core/units.ts";
import type { EventShape } from "./event-story.ts";
import { type EarlyResolution, type FairPrices, shifted } from "./fair-prices.ts";

/** Fair prices of YES in 0.0001 USDC, at equal distances from the creation of an event to the start of the exchange. */
export type FairPath = readonly number[];

/** What the paths of an event are drawn from. */
export interface PathSetting {
  readonly shape: EventShape["shape"];
  readonly prices: readonly FairPrices[];
  /** A path has one price more than steps. */
  readonly steps: number;
  /** The usual size of one step at a price of 0.5, in 0.0001 USDC. */
  readonly volatility: number;
  /** What is resolved early, and the step at which it is. */
  readonly resolution: EarlyResolution | null;
  readonly resolvedStep: number;
}

const EDGE = 30;
/** A shift of prices by up to a quarter keeps their order. */
const MOST_SWING = 2000;

/**
 * The paths of an event's markets, which hang together at every moment: candidates share what they share at the ends,
 * and all thresholds follow one and the same quantity, so that a higher one is never likelier than a lower one.
 */
export function drawFairPaths(random: Stream, setting: PathSetting): FairPath[] {
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
    paths.push(
      below === undefined ? path : path.map((price, step) => Math.min(price, below[step] as number)),
    );
  }
  return paths;
}

/** The price at a moment of a path that begins at `since` and ends at 0, both in milliseconds. */
export function fairAt(path: FairPath, since: number, at: number): number {
  const place = ((at - since) * (path.length - 1)) / -since;
  const step = Math.min(path.length - 2, Math.floor(place));
  const price = path[step] as number;
  return price + Math.round(((path[step + 1] as number) - price) * (place - step));
}

/** A random walk that ends at the 0 where it begins (a bridge); one step in twelve is news and several times as large. */
function drawWalk(random: Stream, { steps, volatility }: PathSetting): number[] {
  const walk = [0];
  for (let step = 1; step <= steps; step += 1) {
    const size = random.oneIn(12) ? volatility * 4 : volatility;
    const move = random.between(-size, size) + random.between(-size, size);
    walk.push((walk[step - 1] as number) + move);
  }
  const last = walk[steps] as number;
  return walk.map((place, step) => {
    const swing = place - Math.round((last * step) / steps);
    return Math.min(MOST_SWING, Math.max(-MOST_SWING, swing));
  });
}

/** The path of one market: its way from beginning to end, and the walk beside it. What is resolved goes most of it late. */
function along(
  { prices, steps, resolution, resolvedStep }: PathSetting,
  position: number,
  walk: readonly number[],
): number[] {
  const { from, to } = prices[position] as FairPrices;
  const isResolved = resolution?.position === position;
  return walk.map((swing, step) => {
    const part = isResolved ? Math.min(1, step / resolvedStep) : step / steps;
    const way = isResolved ? part * part * part : part;
    const trend = from + Math.round((to - from) * way);
    return Math.min(FULL_PRICE - EDGE, Math.max(EDGE, part === 1 ? trend : shifted(trend, swing)));
  });
}

/** Scales paths so that together they are worth at every moment what they are worth at the ends. */
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
