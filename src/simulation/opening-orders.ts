import { type Stream, stream } from "../core/random.ts";
import { FULL_PRICE, price, size } from "../core/units.ts";
import {
  BookScript,
  type BookSetting,
  Cast,
  openingLines,
  type Pace,
  RestingDepth,
  type ScriptLine,
} from "./book-script.ts";
import { type FairPath, fairAt } from "./price-paths.ts";
import type { FlowOrder, WorldMarket } from "./world.ts";

/** What the moments of a history are drawn from, in milliseconds before the start (negative). */
interface MomentSetting {
  /** How many, the opening included. */
  readonly count: number;
  /** How many open the book, within minutes. */
  readonly opening: number;
  readonly from: number;
  readonly to: number;
  readonly pace: Pace;
}

/** When the exchange is active, in milliseconds before the start (negative), oldest first. */
type Pulses = Float64Array;

const DAY = 86_400_000;
const WEEK = 7 * DAY;
const PULSES = 900;
/** How many orders come at one pulse in one market, and within how many milliseconds. */
const BURST = { usual: 1, busy: 6 } as const;
const BURST_LENGTH = 500;

/**
 * Draws when the exchange is active during its week: more by day than at night. What moves one market moves others,
 * so all of them share these moments, and the settlement chain has fewer blocks for it.
 */
function drawPulses(random: Stream): Pulses {
  const pulses = new Float64Array(PULSES);
  for (let drawn = 0; drawn < PULSES; ) {
    const at = -random.below(WEEK);
    if (random.below(100) >= activityAt(at)) continue;
    pulses[drawn] = at;
    drawn += 1;
  }
  return pulses.sort();
}

/**
 * When each order of a history is sent: the opening within minutes, the rest at pulses: one by one in a usual market, the more
 * the nearer the end, and several together in a busy one, all the time alike.
 */
function drawMoments(random: Stream, pulses: Pulses, setting: MomentSetting): Float64Array {
  const { count, opening, from, to, pace } = setting;
  const moments = new Float64Array(count);
  let at = from;
  for (let line = 0; line < opening; line += 1) {
    moments[line] = at;
    at += random.between(200, 20_000);
  }
  const first = countBefore(pulses, at);
  const last = countBefore(pulses, to - BURST_LENGTH) - 1;
  let pulse = at;
  for (let line = opening; line < count; line += 1) {
    if ((line - opening) % BURST[pace] === 0) {
      const back = random.below(65_536) / 65_536;
      const share = pace === "busy" ? back : back * back;
      pulse = pulses[last - Math.floor((last - first + 1) * share)] as number;
    }
    moments[line] = pulse + random.below(BURST_LENGTH);
  }
  return moments.sort();
}

/** How many pulses are earlier than a moment. */
function countBefore(pulses: Pulses, at: number): number {
  let low = 0;
  let high = pulses.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pulses[middle] as number) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** 100 at the start and whole days before it, 8 half a day away from that. */
function activityAt(at: number): number {
  const away = Math.abs((-at % DAY) / DAY - 0.5);
  return 8 + 184 * away;
}

/** A market whose history is to be written. */
export interface FlowSubject {
  readonly market: WorldMarket;
  readonly path: FairPath;
  /** When the path begins, in milliseconds before the start (negative). */
  readonly since: number;
  /** Begins the names of the streams that its history is drawn from. */
  readonly key: string;
  readonly pace: Pace;
}

/** What all markets of a world have in common. */
interface Stage {
  readonly seed: string;
  readonly markets: number;
  readonly rowsPerMarket: number;
  readonly depth: RestingDepth;
  readonly pulses: Pulses;
}

const TYPICAL_SHARES = [20, 40, 60, 80, 100, 150, 200, 300, 500, 1000];
const BUSY_TYPICAL_SHARES = [600, 800, 1000];
const MOST_INDEPENDENT_SHARES = 60;
const LEAST_LINES = 24;
/** Enough for more than 2,000 trades. */
const BUSY_LINES = 2280;

/**
 * The opening history of all markets, oldest first; at one moment markets come in order, and a market's rows in the
 * order they were written. Each usual market has about `rowsPerMarket` rows, a seventh more or less, and two books when
 * its outcomes do not meet.
 */
export function orderFlow(
  seed: string,
  subjects: readonly FlowSubject[],
  rowsPerMarket: number,
): readonly FlowOrder[] {
  const stage: Stage = {
    seed,
    markets: subjects.length,
    rowsPerMarket,
    depth: new RestingDepth(),
    pulses: drawPulses(stream(seed, "pulses")),
  };
  const orders: FlowOrder[] = [];
  subjects.forEach((subject, index) => {
    writeMarket(stage, subject, index, orders);
  });
  return orders.sort((a, b) => a.at - b.at || a.market - b.market);
}

function writeMarket(
  { seed, markets, rowsPerMarket, depth, pulses }: Stage,
  { market, path, since, key, pace }: FlowSubject,
  index: number,
  orders: FlowOrder[],
): void {
  const random = stream(seed, `${key}/flow`);
  const isMirrored = market.matching === "complementary";
  const lines = drawLines(random, pace, rowsPerMarket, isMirrored);
  const setting = drawSetting(random, market, path, lines, pace);
  const cast = new Cast(random, isMirrored, pace, markets);
  const from = market.createdAt + random.between(500, 60_000);
  const to = (market.resolved?.at ?? 0) - 1;
  for (const outcome of isMirrored ? (["YES"] as const) : (["YES", "NO"] as const)) {
    const moments = drawMoments(random, pulses, {
      count: lines,
      opening: openingLines(lines),
      from,
      to,
      pace,
    });
    const fairOf = (line: number): number => {
      const yes = fairAt(path, since, moments[line] ?? to);
      return outcome === "YES" ? yes : FULL_PRICE - yes;
    };
    const written = new BookScript(random, cast, depth, { ...setting, outcome }).write(fairOf);
    written.forEach((line, position) => {
      const at = moments[Math.min(position, lines - 1)] as number;
      orders.push(orderOf(line, at, index, setting.tickUnits));
    });
  }
}

function drawLines(random: Stream, pace: Pace, rowsPerMarket: number, isMirrored: boolean): number {
  if (pace === "busy") return BUSY_LINES;
  const count = rowsPerMarket + random.between(-1, 1) * random.below(Math.floor(rowsPerMarket / 7) + 1);
  return Math.max(LEAST_LINES, isMirrored ? count : Math.floor(count / 2));
}

function orderOf(
  { part, tick, orderType }: ScriptLine,
  at: number,
  market: number,
  tickUnits: number,
): FlowOrder {
  return {
    at,
    trader: part.trader,
    market,
    side: part.side,
    outcome: part.outcome,
    price: price(tick * tickUnits),
    size: size(part.size),
    orderType,
  };
}

/** Finer ticks come with narrower books, measured in money. */
function drawSetting(
  random: Stream,
  market: WorldMarket,
  path: FairPath,
  lines: number,
  pace: Pace,
): BookSetting {
  const tickUnits = Math.round(market.tickSize * 10_000);
  const typical = random.pick(pace === "busy" ? BUSY_TYPICAL_SHARES : TYPICAL_SHARES);
  const isMirrored = market.matching === "complementary";
  const { spread, gap } = drawSpacing(random, tickUnits);
  const room = path.reduce((least, price) => Math.min(least, price, FULL_PRICE - price), FULL_PRICE);
  return {
    outcome: "YES",
    tickUnits,
    spread: Math.max(1, Math.min(spread, Math.floor(room / (4 * tickUnits)))),
    gap,
    typicalShares: isMirrored ? typical : Math.min(typical, MOST_INDEPENDENT_SHARES),
    minimum: Math.round(market.minOrderSize * 100),
    lines,
    pace,
  };
}

function drawSpacing(random: Stream, tickUnits: number): Pick<BookSetting, "spread" | "gap"> {
  if (tickUnits >= 100) return { spread: random.pick([1, 1, 1, 2, 2, 3]), gap: 1 };
  if (tickUnits >= 10) return { spread: random.between(2, 8), gap: random.between(2, 4) };
  return { spread: random.between(8, 40), gap: random.between(6, 20) };
}
