import type { Stream } from "../core/random.ts";
import { FULL_PRICE } from "../core/units.ts";

/** What a walk is drawn from; prices in 0.0001 USDC. */
export interface WalkShape {
  readonly from: number;
  readonly to: number;
  readonly steps: number;
  /** The usual size of one step at a price of 0.5, in 0.0001 USDC. */
  readonly volatility: number;
  /** Whether most of the way is made near the end, as when a question is being settled. */
  readonly isLate: boolean;
}

const EDGE = 30;

/**
 * A random walk that ends where it has to (a bridge), in steps + 1 prices of 0.0001 USDC. Steps shrink near 0 and 1,
 * where a chance has little room; one in twelve is news and several times as large.
 */
export function fairPath(random: Stream, { from, to, steps, volatility, isLate }: WalkShape): number[] {
  const walk = [0];
  for (let step = 1; step <= steps; step += 1) {
    const size = random.oneIn(12) ? volatility * 4 : volatility;
    const move = random.between(-size, size) + random.between(-size, size);
    walk.push((walk[step - 1] as number) + move);
  }
  const last = walk[steps] as number;
  return walk.map((noise, step) => {
    const trend = isLate
      ? from + Math.round(((to - from) * step * step * step) / (steps * steps * steps))
      : from + Math.round(((to - from) * step) / steps);
    const swing = noise - Math.round((last * step) / steps);
    const room = Math.max(0, trend * (FULL_PRICE - trend)) * 4;
    const price = trend + Math.round((swing * room) / (FULL_PRICE * FULL_PRICE));
    return Math.min(FULL_PRICE - EDGE, Math.max(EDGE, price));
  });
}
