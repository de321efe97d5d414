import { ASK, BID, type BookDirection } from "../core/book/book.ts";
import { type Random, seededRandom } from "../core/random.ts";
import { countWhile } from "../core/table.ts";
import type { Outcome } from "../core/terms.ts";
import { FULL_PRICE, price } from "../core/units.ts";
import { type FairPath, fairAt } from "./price-paths.ts";
import { SimulatedBook } from "./simulator.ts";
import type { WorldMarket } from "./world.ts";
import { type Activity, assignTraders, type Role, type TraderAssignment } from "./world-accounts.ts";
import type { WorldOrder } from "./world-orders.ts";

/** In milliseconds before the start (negative). */
interface MomentSetting {
  readonly count: number;
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
function drawPulses(random: Random): Pulses {
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
function drawMoments(random: Random, pulses: Pulses, setting: MomentSetting): Float64Array {
  const { count, from, to, activity } = setting;
  const opening = openingLength(count);
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
export function generateOpening(seed: string, markets: readonly OpeningMarket[], perMarket: number) {
  const pulses = drawPulses(seededRandom(seed, "pulses"));
  const orders: WorldOrder[] = [];
  markets.forEach(({ market, path, since, key, activity }, index) => {
    const random = seededRandom(seed, `${key}/flow`);
    const isMirrored = market.matching === "complementary";
    const length = drawLength(random, activity, perMarket, isMirrored);
    const setting = drawSetting(random, market, path, activity);
    const traders = assignTraders(random, isMirrored, activity, markets.length);
    const from = market.createdAt + random.between(500, 60_000);
    const to = (market.resolved?.at ?? 0) - 1;
    for (const outcome of isMirrored ? (["YES"] as const) : (["YES", "NO"] as const)) {
      const moments = drawMoments(random, pulses, { count: length, from, to, activity });
      const fairOf = (order: number): number => {
        const yes = fairAt(path, since, moments[order] ?? to);
        return outcome === "YES" ? yes : FULL_PRICE - yes;
      };
      const momentOf = (order: number): number => moments[Math.min(order, length - 1)] as number;
      const book = { ...setting, market: index, outcome, length, momentOf };
      for (const order of new BookHistory(random, traders, book).generate(fairOf)) orders.push(order);
    }
  });
  return orders.sort((a, b) => a.at - b.at || a.market - b.market);
}

function drawLength(random: Random, activity: Activity, perMarket: number, isMirrored: boolean): number {
  if (activity === "busy") return BUSY_ORDERS;
  const count = perMarket + random.between(-1, 1) * random.below(Math.floor(perMarket / 7) + 1);
  return Math.max(MIN_ORDERS, isMirrored ? count : Math.floor(count / 2));
}

/** Draws the parameters of a market's books. Finer ticks have narrower spreads in money. */
function drawSetting(random: Random, market: WorldMarket, path: FairPath, activity: Activity) {
  const tickSize = Math.round(market.tickSize * FULL_PRICE);
  const typical = random.pick(TYPICAL_SHARES[activity]);
  const { spread, gap } = drawSpacing(random, tickSize);
  const room = path.reduce((least, price) => Math.min(least, price, FULL_PRICE - price), FULL_PRICE);
  return {
    /** Price of one tick, in 0.0001 USDC. */
    tickSize,
    /** Typical spread, in ticks. */
    spread: Math.max(1, Math.min(spread, Math.floor(room / (4 * tickSize)))),
    /** Typical distance between levels, in ticks. */
    gap,
    /** Typical size of an order at the best price, in shares. */
    typicalShares: market.matching === "complementary" ? typical : Math.min(typical, MAX_INDEPENDENT_SHARES),
    /** In 0.01 share. */
    minimum: Math.round(market.minOrderSize * 100),
    ...HABITS[activity],
  };
}

function drawSpacing(random: Random, tickSize: number) {
  if (tickSize >= 100) return { spread: random.pick([1, 1, 1, 2, 2, 3]), gap: 1 };
  if (tickSize >= 10) return { spread: random.between(2, 8), gap: random.between(2, 4) };
  return { spread: random.between(8, 40), gap: random.between(6, 20) };
}

const ROUND_SHARES = [5, 10, 20, 25, 50, 100, 150, 200, 250, 500, 1000, 2000, 2500, 5000];

/** Draws a size in 0.01 share, heavy-tailed: mostly whole shares, often a round number, seldom many times the typical size. */
function drawSize(random: Random, typicalShares: number): number {
  const boost = random.oneIn(50) ? 6 : 1;
  const shares = Math.max(1, Math.floor((boost * typicalShares * 100) / random.between(25, 400)));
  const lot = random.below(10);
  if (lot < 4) return (ROUND_SHARES.find((round) => round >= shares) ?? shares) * 100;
  return lot === 9 ? shares * 100 + random.below(100) : shares * 100;
}

type BookSetting = ReturnType<typeof drawSetting> & {
  /** Index of the market in the world. */
  readonly market: number;
  readonly outcome: Outcome;
  readonly length: number;
  /** Returns the time of an order by its index in the history. */
  readonly momentOf: (order: number) => number;
};

/** Mean number of rounds between requotes and between deeper quotes, and the divisor of a taker's size. */
const HABITS = {
  usual: { requoteOneIn: 6, deepenOneIn: 3, takerPart: 1 },
  busy: { requoteOneIn: 48, deepenOneIn: 36, takerPart: 8 },
} as const;
const CLOSING_LEVELS = 6;
const DIRECTIONS = [BID, ASK] as const;

const openingLength = (length: number): number => (length < 50 ? 8 : 12);

/**
 * Generates a history of one book without cancels. Makers quote around the fair price, takers trade at the best price, and
 * takers sweep resting orders that the fair price has crossed. So quotes never cross, and old quotes become the depth.
 */
class BookHistory {
  readonly #orders: WorldOrder[] = [];
  readonly #random: Random;
  readonly #traders: TraderAssignment;
  readonly #setting: BookSetting;
  readonly #book: SimulatedBook;

  constructor(random: Random, traders: TraderAssignment, setting: BookSetting) {
    this.#random = random;
    this.#traders = traders;
    this.#setting = setting;
    this.#book = new SimulatedBook(setting.tickSize);
  }

  /** Generates the history. `fairAt` returns the fair price at an order, or at the end after the last one, in 0.0001 USDC. */
  generate(fairAt: (order: number) => number): readonly WorldOrder[] {
    const { length } = this.#setting;
    this.#open(fairAt(0));
    for (let turn = 0; turn < length && this.#orders.length + this.#missing() < length; turn += 1) {
      this.#round(fairAt(this.#orders.length));
    }
    this.#close(fairAt(length));
    for (let turn = 0; turn < length && this.#orders.length < length; turn += 1) this.#deepen();
    return this.#orders;
  }

  #open(fair: number): void {
    const touch = this.#touch(fair);
    for (const direction of DIRECTIONS) {
      let tick = touch[direction];
      for (let level = 0; level < openingLength(this.#setting.length) / 2; level += 1) {
        this.#quote(direction, tick, level);
        tick = outward(direction, tick, this.#step());
      }
    }
  }

  #round(fair: number): void {
    if (!this.#sweepWrongSide(fair)) this.#tradeAtTouch();
    this.#tighten(fair);
    if (this.#random.oneIn(this.#setting.deepenOneIn)) this.#deepen();
  }

  #close(fair: number): void {
    this.#sweepWrongSide(fair);
    this.#tighten(fair);
    this.#tradeAtTouch();
    this.#tighten(fair);
    for (const direction of DIRECTIONS) {
      let tick = this.#best(direction);
      for (let need = CLOSING_LEVELS - this.#book.occupiedLevels(direction); need > 0; ) {
        const room = direction === BID ? tick - 1 : this.#book.levels - tick;
        if (room < 1) break;
        tick = outward(direction, tick, Math.max(1, Math.min(this.#step(), Math.floor(room / need))));
        if (this.#book.isOccupied(tick)) continue;
        this.#quote(direction, tick, CLOSING_LEVELS - need + 1);
        need -= 1;
      }
    }
  }

  #touch(fair: number): readonly [bid: number, ask: number] {
    const { tickSize, spread } = this.#setting;
    const { levels } = this.#book;
    const below = Math.floor((2 * fair - spread * tickSize) / (2 * tickSize));
    const bid = Math.min(levels - 1, Math.max(1, below));
    return [bid, Math.min(levels, bid + spread)];
  }

  /** Sweeps orders that rest on the wrong side of the fair price; returns whether there were any. */
  #sweepWrongSide(fair: number): boolean {
    const [bid, ask] = this.#touch(fair);
    if (this.#book.bestAsk <= bid) this.#sweep(BID, bid);
    else if (this.#book.bestBid >= ask) this.#sweep(ASK, ask);
    else return false;
    return true;
  }

  #sweep(direction: BookDirection, limit: number): void {
    const large = this.#setting.typicalShares * 400;
    for (let order = 0; order < 3; order += 1) {
      const open = this.#book.fillable(direction, limit);
      if (open === 0) return;
      if (order < 2 && open > large) {
        const part = Math.floor((open * this.#random.between(30, 70)) / 10_000) * 100;
        this.#place("taker", direction, limit, part, "FAK");
      } else if (this.#traders.mayRest() && this.#random.oneIn(3)) {
        this.#place("taker", direction, limit, open + this.#size(0), "GTC");
      } else {
        this.#place("taker", direction, limit, open, this.#takerType(open));
      }
    }
  }

  #tradeAtTouch(): void {
    const direction = this.#random.oneIn(2) ? BID : ASK;
    const { levels } = this.#book;
    const best = this.#best(direction === BID ? ASK : BID);
    if (best < 1 || best > levels) return;
    const through = this.#random.oneIn(4) ? this.#setting.gap : 0;
    const limit = direction === BID ? Math.min(levels, best + through) : Math.max(1, best - through);
    const open = this.#book.fillable(direction, limit);
    const wanted = this.#size(0, this.#setting.takerPart);
    const rests = this.#traders.mayRest() && this.#random.oneIn(8);
    const type = rests || wanted <= open ? this.#takerType(open) : "FAK";
    this.#place("taker", direction, limit, wanted, type);
  }

  #tighten(fair: number): void {
    const { requoteOneIn } = this.#setting;
    const [bidTick, askTick] = this.#touch(fair);
    const bid = Math.min(bidTick, this.#book.bestAsk - 1);
    if (bid >= 1 && (this.#book.bestBid < bid || this.#random.oneIn(requoteOneIn))) this.#quote(BID, bid, 0);
    const ask = Math.max(askTick, this.#book.bestBid + 1);
    if (ask > this.#book.levels) return;
    if (this.#book.bestAsk > ask || this.#random.oneIn(requoteOneIn)) this.#quote(ASK, ask, 0);
  }

  #deepen(): void {
    const direction = this.#random.oneIn(2) ? BID : ASK;
    const level = 1 + Math.min(this.#random.below(10), this.#random.below(10));
    this.#quote(direction, outward(direction, this.#best(direction), level * this.#setting.gap), level);
  }

  /** Rests a maker's order; its size grows with the distance from the best price. */
  #quote(direction: BookDirection, tick: number, level: number): void {
    if (tick < 1 || tick > this.#book.levels) return;
    this.#place("maker", direction, tick, this.#size(level), "GTC");
  }

  #place(role: Role, direction: BookDirection, tick: number, wanted: number, orderType: "GTC" | "FAK"): void {
    const { market, outcome, minimum, tickSize } = this.#setting;
    const assigned = this.#traders.assign(role, direction, outcome, Math.max(wanted, minimum));
    if (assigned.size < minimum) return;
    const ofOutcome = price(tick * tickSize);
    const ownPrice = assigned.outcome === outcome ? ofOutcome : price(FULL_PRICE - ofOutcome);
    const { trader, side, outcome: own, size } = assigned;
    const at = this.#setting.momentOf(this.#orders.length);
    this.#orders.push({ at, trader, market, side, outcome: own, price: ownPrice, size, orderType });
    const left = this.#book.match(direction, tick, size);
    if (left === 0 || orderType === "FAK") return;
    this.#book.rest(direction, tick, left, this.#orders.length, trader);
    this.#traders.rests(trader);
  }

  #takerType(open: number): WorldOrder["orderType"] {
    return open < this.#setting.minimum || this.#random.below(10) < 6 ? "FAK" : "GTC";
  }

  #size(level: number, part = 1): number {
    const { typicalShares } = this.#setting;
    return drawSize(this.#random, Math.floor((typicalShares * (2 + Math.min(level, 10))) / (2 * part)));
  }

  #best(direction: BookDirection): number {
    return direction === BID ? this.#book.bestBid : this.#book.bestAsk;
  }

  #step(): number {
    return this.#random.between(1, 2 * this.#setting.gap - 1);
  }

  /** Returns the maximum number of orders that `#close` needs. */
  #missing(): number {
    const { bestBid, bestAsk, levels } = this.#book;
    const bids = Math.min(CLOSING_LEVELS, bestBid) - this.#book.occupiedLevels(BID);
    const asks = Math.min(CLOSING_LEVELS, levels + 1 - bestAsk) - this.#book.occupiedLevels(ASK);
    return Math.max(0, bids) + Math.max(0, asks) + 6;
  }
}

const outward = (direction: BookDirection, tick: number, distance: number): number =>
  direction === BID ? tick - distance : tick + distance;
