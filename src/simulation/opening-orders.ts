import { type Stream, stream } from "../core/random.ts";
import { countWhile } from "../core/table.ts";
import { FULL_PRICE } from "../core/units.ts";
import {
  type Activity,
  BookHistory,
  type BookSetting,
  openingLength,
  TraderAssignment,
} from "./opening-book.ts";
import { type FairPath, fairAt } from "./price-paths.ts";
import type { WorldMarket } from "./world.ts";
import type { WorldOrder } from "./world-orders.ts";

/** In milliseconds before the start (negative). */
interface MomentSetting {
  readonly count: number;
  /** Number of orders that open the book, within minutes. */
  readonly opening: number;
  readonly from: number;
  readonly to: number;
  readonly activity: Activity;
}

/** Times of activity, in milliseconds before the start (negative), oldest first. */
type Pulses = Float64Array;

const DAY = 86_400_000;
const WEEK = 7 * DAY;
const PULSES = 900;
/** Orders of a market at one pulse. */
const BURST = { usual: 1, busy: 6 } as const;
/** Milliseconds. */
const BURST_LENGTH = 500;

/** Draws pulses, more by day than at night. All markets share them, so that the chain has fewer blocks. */
function drawPulses(random: Stream): Pulses {
  const pulses = new Float64Array(PULSES);
  for (let drawn = 0; drawn < PULSES; ) {
    const at = -random.below(WEEK);
    if (random.below(100) >= shareAt(at)) continue;
    pulses[drawn] = at;
    drawn += 1;
  }
  return pulses.sort();
}

/**
 * Draws the times of orders: the opening within minutes, the rest at pulses. A usual market has one order at a pulse, and
 * more near the end; a busy market has several, evenly distributed.
 */
function drawMoments(random: Stream, pulses: Pulses, setting: MomentSetting): Float64Array {
  const { count, opening, from, to, activity } = setting;
  const moments = new Float64Array(count);
  let at = from;
  for (let order = 0; order < opening; order += 1) {
    moments[order] = at;
    at += random.between(200, 20_000);
  }
  const first = countBefore(pulses, at);
  const last = countBefore(pulses, to - BURST_LENGTH) - 1;
  let pulse = at;
  for (let order = opening; order < count; order += 1) {
    if ((order - opening) % BURST[activity] === 0) {
      const back = random.below(65_536) / 65_536;
      const share = activity === "busy" ? back : back * back;
      pulse = pulses[last - Math.floor((last - first + 1) * share)] as number;
    }
    moments[order] = pulse + random.below(BURST_LENGTH);
  }
  return moments.sort();
}

const countBefore = (pulses: Pulses, at: number): number =>
  countWhile(pulses.length, (index) => (pulses[index] as number) < at);

/** Returns 100 at the start and whole days before it, 8 half a day from that. */
function shareAt(at: number): number {
  const away = Math.abs((-at % DAY) / DAY - 0.5);
  return 8 + 184 * away;
}

export interface OpeningMarket {
  readonly market: WorldMarket;
  readonly path: FairPath;
  /** Start of the path, in milliseconds before the start (negative). */
  readonly since: number;
  /** Prefix of the names of its random streams. */
  readonly key: string;
  readonly activity: Activity;
}

const TYPICAL_SHARES = { usual: [20, 40, 60, 80, 100, 150, 200, 300, 500, 1000], busy: [600, 800, 1000] };
const MAX_INDEPENDENT_SHARES = 60;
const MIN_ORDERS = 24;
/** Enough for more than 2,000 trades. */
const BUSY_ORDERS = 2280;

/**
 * Generates the orders of all markets, oldest first; at one moment by market, then in the order of generation. A usual
 * market has about `perMarket` orders; an independent one has two books.
 */
export function generateOpening(
  seed: string,
  markets: readonly OpeningMarket[],
  perMarket: number,
): readonly WorldOrder[] {
  const pulses = drawPulses(stream(seed, "pulses"));
  const orders: WorldOrder[] = [];
  markets.forEach(({ market, path, since, key, activity }, index) => {
    const random = stream(seed, `${key}/flow`);
    const isMirrored = market.matching === "complementary";
    const length = drawLength(random, activity, perMarket, isMirrored);
    const setting = drawSetting(random, market, path, activity);
    const traders = new TraderAssignment(random, isMirrored, activity, markets.length);
    const from = market.createdAt + random.between(500, 60_000);
    const to = (market.resolved?.at ?? 0) - 1;
    for (const outcome of isMirrored ? (["YES"] as const) : (["YES", "NO"] as const)) {
      const opening = openingLength(length);
      const moments = drawMoments(random, pulses, { count: length, opening, from, to, activity });
      const fairOf = (order: number): number => {
        const yes = fairAt(path, since, moments[order] ?? to);
        return outcome === "YES" ? yes : FULL_PRICE - yes;
      };
      const momentOf = (order: number): number => moments[Math.min(order, length - 1)] as number;
      const book = { ...setting, market: index, outcome, length, activity };
      for (const order of new BookHistory(random, traders, book, momentOf).generate(fairOf))
        orders.push(order);
    }
  });
  return orders.sort((a, b) => a.at - b.at || a.market - b.market);
}

function drawLength(random: Stream, activity: Activity, perMarket: number, isMirrored: boolean): number {
  if (activity === "busy") return BUSY_ORDERS;
  const count = perMarket + random.between(-1, 1) * random.below(Math.floor(perMarket / 7) + 1);
  return Math.max(MIN_ORDERS, isMirrored ? count : Math.floor(count / 2));
}

/** Draws the parameters of a book. Finer ticks have narrower spreads in money. */
function drawSetting(
  random: Stream,
  market: WorldMarket,
  path: FairPath,
  activity: Activity,
): Omit<BookSetting, "market" | "outcome" | "length" | "activity"> {
  const tickSize = Math.round(market.tickSize * FULL_PRICE);
  const typical = random.pick(TYPICAL_SHARES[activity]);
  const { spread, gap } = drawSpacing(random, tickSize);
  const room = path.reduce((least, price) => Math.min(least, price, FULL_PRICE - price), FULL_PRICE);
  return {
    tickSize,
    spread: Math.max(1, Math.min(spread, Math.floor(room / (4 * tickSize)))),
    gap,
    typicalShares: market.matching === "complementary" ? typical : Math.min(typical, MAX_INDEPENDENT_SHARES),
    minimum: Math.round(market.minOrderSize * 100),
  };
}

function drawSpacing(random: Stream, tickSize: number): Pick<BookSetting, "spread" | "gap"> {
  if (tickSize >= 100) return { spread: random.pick([1, 1, 1, 2, 2, 3]), gap: 1 };
  if (tickSize >= 10) return { spread: random.between(2, 8), gap: random.between(2, 4) };
  return { spread: random.between(8, 40), gap: random.between(6, 20) };
}
