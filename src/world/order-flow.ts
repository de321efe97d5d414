import { type Stream, stream } from "../core/random.ts";
import { FULL_PRICE } from "../core/units.ts";
import { BookScript, type BookSetting, type ScriptLine } from "./book-script.ts";
import { Cast } from "./cast.ts";
import { fairPath } from "./fair-path.ts";
import type { FairPrices } from "./fair-prices.ts";
import { RestingDepth } from "./resting-depth.ts";
import type { FlowRow, WorldMarket } from "./world.ts";

/** A market whose history is to be written. */
export interface FlowSubject {
  readonly market: WorldMarket;
  readonly prices: FairPrices;
  /** Begins the names of the streams that its history is drawn from. */
  readonly key: string;
}

const TYPICAL_SHARES = [20, 40, 60, 80, 100, 150, 200, 300, 500, 1000];
const MOST_INDEPENDENT_SHARES = 60;
const LEAST_LINES = 24;

/**
 * The opening history of all markets, oldest first; at one moment markets come in order, and a market's rows in the
 * order they were written. Each market has about `rowsPerMarket` rows, a seventh more or less, and two books when its
 * outcomes do not meet.
 */
export function orderFlow(
  seed: string,
  subjects: readonly FlowSubject[],
  rowsPerMarket: number,
): readonly FlowRow[] {
  const depth = new RestingDepth();
  const rows: FlowRow[] = [];
  subjects.forEach((subject, index) => {
    writeMarket(seed, subject, index, rowsPerMarket, depth, rows);
  });
  return rows.sort((a, b) => a[0] - b[0] || a[2] - b[2]);
}

function writeMarket(
  seed: string,
  { market, prices, key }: FlowSubject,
  index: number,
  rowsPerMarket: number,
  depth: RestingDepth,
  rows: FlowRow[],
): void {
  const random = stream(seed, `${key}/flow`);
  const isMirrored = market.matching === "complementary";
  const count = rowsPerMarket + random.between(-1, 1) * random.below(Math.floor(rowsPerMarket / 7) + 1);
  const lines = Math.max(LEAST_LINES, isMirrored ? count : Math.floor(count / 2));
  const setting = drawSetting(random, market, prices, lines);
  const cast = new Cast(random, isMirrored);
  const path = fairPath(stream(seed, `${key}/path`), {
    ...prices,
    steps: lines,
    volatility: volatilityOf(random, setting),
    isLate: market.resolved !== null,
  });
  const from = market.createdAt + random.between(500, 60_000);
  const to = (market.resolved?.at ?? 0) - 1;
  for (const outcome of isMirrored ? (["YES"] as const) : (["YES", "NO"] as const)) {
    const script = new BookScript(random, cast, depth, { ...setting, outcome });
    const written = script.write(outcome === "YES" ? path : path.map((price) => FULL_PRICE - price));
    const moments = drawMoments(random, written.length, script.openingLines, from, to);
    written.forEach((line, position) => {
      rows.push(rowOf(line, moments[position] as number, index, setting.tickUnits));
    });
  }
}

function rowOf(
  { part, tick, orderType }: ScriptLine,
  at: number,
  market: number,
  tickUnits: number,
): FlowRow {
  const price = (tick * tickUnits) / FULL_PRICE;
  return [at, part.trader, market, part.side, part.outcome, price, part.size / 100, orderType];
}

/** Finer ticks come with narrower books, measured in money. */
function drawSetting(
  random: Stream,
  market: WorldMarket,
  { from, to }: FairPrices,
  lines: number,
): BookSetting {
  const tickUnits = Math.round(market.tickSize * 10_000);
  const typical = random.pick(TYPICAL_SHARES);
  const isMirrored = market.matching === "complementary";
  const { spread, gap } = drawSpacing(random, tickUnits);
  const room = Math.min(from, to, FULL_PRICE - from, FULL_PRICE - to);
  return {
    outcome: "YES",
    tickUnits,
    spread: Math.max(1, Math.min(spread, Math.floor(room / (4 * tickUnits)))),
    gap,
    typicalShares: isMirrored ? typical : Math.min(typical, MOST_INDEPENDENT_SHARES),
    minimum: Math.round(market.minOrderSize * 100),
    lines,
  };
}

function drawSpacing(random: Stream, tickUnits: number): Pick<BookSetting, "spread" | "gap"> {
  if (tickUnits >= 100) return { spread: random.pick([1, 1, 1, 2, 2, 3]), gap: 1 };
  if (tickUnits >= 10) return { spread: random.between(2, 8), gap: random.between(2, 4) };
  return { spread: random.between(8, 40), gap: random.between(6, 20) };
}

/** Short histories take larger steps, so that every price has some way to go. */
function volatilityOf(random: Stream, { tickUnits, lines }: BookSetting): number {
  const usual = random.between(30, 80) * (lines < 50 ? 2 : 1);
  return tickUnits >= 100 ? usual : Math.floor(usual / (tickUnits >= 10 ? 2 : 4));
}

/** When each line is sent: the opening within minutes, the rest the denser the nearer the end. */
function drawMoments(random: Stream, count: number, opening: number, from: number, to: number): Float64Array {
  const moments = new Float64Array(count);
  let at = from;
  for (let line = 0; line < count; line += 1) {
    if (line < opening) {
      moments[line] = at;
      at += random.between(200, 20_000);
    } else {
      const back = random.below(65_536);
      moments[line] = to - Math.floor(((to - at) * (back * back)) / 4_294_967_296);
    }
  }
  return moments.sort();
}
