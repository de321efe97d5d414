import type { Stream } from "../core/random.ts";
import { FULL_PRICE } from "../core/units.ts";
import type { EventTemplate } from "./event-story.ts";

/** Where a market's price of YES begins and ends its history, in 0.0001 USDC. */
export interface FairPrices {
  readonly from: number;
  readonly to: number;
}

/** The one market of an event that was resolved, and what won. */
export interface EarlyResolution {
  readonly position: number;
  readonly winningOutcome: "YES" | "NO";
}

const LOWEST = 150;
const HIGHEST = FULL_PRICE - LOWEST;
const KNOWN_YES = FULL_PRICE - 120;
const KNOWN_NO = 120;

/**
 * Prices that hang together within an event: candidates share nearly 1 USDC, and a higher threshold is never likelier
 * than a lower one.
 */
export function drawFairPrices(
  random: Stream,
  shape: EventTemplate["shape"],
  count: number,
  resolution: EarlyResolution | null,
): FairPrices[] {
  const known = resolution === null ? null : resolution.winningOutcome === "YES" ? KNOWN_YES : KNOWN_NO;
  if (shape === "single") return [drawSingle(random, known)];
  const [from, to] = shape === "choice" ? drawShares(random, count, resolution) : drawSteps(random, count);
  return from.map((price, position) => ({
    from: bounded(price),
    to: position === resolution?.position && known !== null ? known : bounded(to[position] as number),
  }));
}

/** Which market of such an event can be resolved while the others stay open, or null when none can. */
export function resolutionIn(random: Stream, template: EventTemplate, count: number): EarlyResolution | null {
  if (template.shape === "single") return { position: 0, winningOutcome: random.pick(["YES", "NO"]) };
  if (template.shape === "ladder") {
    return template.passesEarly && count > 1 ? { position: 0, winningOutcome: "YES" } : null;
  }
  return count > 2 ? { position: count - 1, winningOutcome: "NO" } : null;
}

function drawSingle(random: Stream, known: number | null): FairPrices {
  if (known === null && random.oneIn(8)) {
    const far = random.between(LOWEST, 600);
    const near = random.between(LOWEST, 600);
    return random.oneIn(2) ? { from: far, to: near } : { from: FULL_PRICE - far, to: FULL_PRICE - near };
  }
  const from = random.between(1200, 8800);
  return { from, to: known ?? bounded(from + random.between(-1500, 1500)) };
}

/** Shares of candidates before and after; one who drops out leaves the rest to the others. */
function drawShares(
  random: Stream,
  count: number,
  resolution: EarlyResolution | null,
): [from: number[], to: number[]] {
  const weights = Array.from({ length: count }, () => 100 + Math.floor(20_000 / random.between(10, 200)));
  const later = weights.map((weight) => Math.floor((weight * random.between(50, 190)) / 100));
  if (resolution !== null) later[resolution.position] = 0;
  const shared = FULL_PRICE - random.between(50, 500);
  return [shares(weights, shared), shares(later, shared)];
}

function shares(weights: readonly number[], shared: number): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.floor((weight * shared) / sum));
}

/** Falling prices of rising thresholds, before and after. */
function drawSteps(random: Stream, count: number): [from: number[], to: number[]] {
  const from = [random.between(4500, 9300)];
  const move = random.between(80, 118);
  for (let level = 1; level < count; level += 1) {
    from.push(Math.floor(((from[level - 1] as number) * random.between(45, 85)) / 100));
  }
  return [from, from.map((price) => Math.floor((price * Math.min(move, 100)) / 100) + gain(price, move))];
}

/** What a price gains when the chances against it shrink. */
function gain(price: number, move: number): number {
  return move <= 100 ? 0 : Math.floor(((FULL_PRICE - price) * price * (move - 100) * 2) / (FULL_PRICE * 100));
}

const bounded = (price: number): number => Math.min(HIGHEST, Math.max(LOWEST, price));
