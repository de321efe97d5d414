import { ASK, BID, type BookDirection } from "../core/book/book.ts";
import type { Stream } from "../core/random.ts";
import type { Outcome } from "../core/terms.ts";
import { FULL_PRICE, price, size } from "../core/units.ts";
import { SimulatedBook } from "./simulator.ts";
import type { WorldTrader } from "./world.ts";
import type { WorldOrder } from "./world-orders.ts";

const ROUND_SHARES = [5, 10, 20, 25, 50, 100, 150, 200, 250, 500, 1000, 2000, 2500, 5000];

/** Draws a size in 0.01 share, heavy-tailed: mostly whole shares, often a round number, seldom many times the typical size. */
function drawSize(random: Stream, typicalShares: number): number {
  const boost = random.oneIn(50) ? 6 : 1;
  const shares = Math.max(1, Math.floor((boost * typicalShares * 100) / random.between(25, 400)));
  const lot = random.below(10);
  if (lot < 4) return (ROUND_SHARES.find((round) => round >= shares) ?? shares) * 100;
  return lot === 9 ? shares * 100 + random.below(100) : shares * 100;
}

export type Activity = "usual" | "busy";

/** Makers quote and never cross the spread; takers cross it. */
type Role = "maker" | "taker";

type Assignment = Pick<WorldOrder, "trader" | "side" | "outcome" | "size">;

const MAKERS = 12;
const TAKERS = 28;
const MAKER_SHARES = 20_000;
const TAKER_SHARES = 5000;
/** In a world of more markets, traders have a tenth of the shares, so that a billion USDC is enough. */
const MAX_MARKETS_WITH_FULL_SHARES = 1000;
export const TRADERS = MAKERS + TAKERS;

/** Returns the shares of both outcomes that a trader has in every market; `markets` is their number. */
export const sharesOf = (trader: number, markets: number): WorldTrader["shares"] =>
  (trader < MAKERS ? MAKER_SHARES : TAKER_SHARES) / (markets > MAX_MARKETS_WITH_FULL_SHARES ? 10 : 1);

/** Assigns orders to traders, so that no trader sells more shares than it has, or trades with itself. */
export class TraderAssignment {
  readonly #random: Stream;
  readonly #isMirrored: boolean;
  readonly #markets: number;
  readonly #firstMaker: number;
  readonly #makers: number;
  readonly #firstTaker: number;
  readonly #takers: number;
  readonly #sold = { YES: new Float64Array(TRADERS), NO: new Float64Array(TRADERS) };
  readonly #resting = new Set<number>();

  /** `isMirrored`: one book serves both outcomes, so that a sale of one can be a purchase of the other. */
  constructor(random: Stream, isMirrored: boolean, activity: Activity, markets: number) {
    this.#random = random;
    this.#isMirrored = isMirrored;
    this.#markets = markets;
    this.#firstMaker = random.below(MAKERS);
    this.#makers = isMirrored ? random.between(3, 6) : MAKERS;
    this.#firstTaker = random.below(TAKERS);
    this.#takers = isMirrored && activity === "usual" ? random.between(8, 12) : TAKERS;
  }

  /** Whether another taker's remainder may rest. */
  get mayRest(): boolean {
    return this.#resting.size < this.#takers / 2;
  }

  rests(trader: number): void {
    if (trader >= MAKERS) this.#resting.add(trader);
  }

  /** Assigns an order in the book of `outcome`. Its size is reduced if it must be a sale and shares run out. */
  assign(role: Role, direction: BookDirection, outcome: Outcome, wanted: number): Assignment {
    const trader = this.#pick(role);
    const other = outcome === "YES" ? "NO" : "YES";
    const [sold, bought]: readonly [Outcome, Outcome] =
      direction === ASK ? [outcome, other] : [other, outcome];
    if (!this.#isMirrored && direction === ASK) {
      const seller = this.#sellable(trader, outcome) >= wanted ? trader : this.#bestSeller(role, outcome);
      return this.#selling(seller, outcome, Math.min(wanted, this.#sellable(seller, outcome)));
    }
    const prefersSale = this.#isMirrored && this.#random.below(100) < (direction === ASK ? 60 : 25);
    if (prefersSale && this.#sellable(trader, sold) >= wanted) return this.#selling(trader, sold, wanted);
    return { trader, side: "BUY", outcome: bought, size: size(wanted) };
  }

  #selling(trader: number, outcome: Outcome, shares: number): Assignment {
    this.#sold[outcome][trader] = (this.#sold[outcome][trader] as number) + shares;
    return { trader, side: "SELL", outcome, size: size(shares) };
  }

  #sellable(trader: number, outcome: Outcome): number {
    return sharesOf(trader, this.#markets) * 100 - (this.#sold[outcome][trader] as number);
  }

  #pick(role: Role): number {
    if (role === "maker") return (this.#firstMaker + this.#random.below(this.#makers)) % MAKERS;
    for (;;) {
      const trader = MAKERS + ((this.#firstTaker + this.#random.below(this.#takers)) % TAKERS);
      if (!this.#resting.has(trader)) return trader;
    }
  }

  #bestSeller(role: Role, outcome: Outcome): number {
    let best = -1;
    const [first, end] = role === "maker" ? [0, MAKERS] : [MAKERS, TRADERS];
    for (let trader = first; trader < end; trader += 1) {
      if (this.#resting.has(trader)) continue;
      if (best < 0 || this.#sellable(trader, outcome) > this.#sellable(best, outcome)) best = trader;
    }
    return best;
  }
}

export interface BookSetting {
  /** Index of the market in the world. */
  readonly market: number;
  readonly outcome: Outcome;
  /** Price of one tick, in 0.0001 USDC. */
  readonly tickSize: number;
  /** Typical spread, in ticks. */
  readonly spread: number;
  /** Typical distance between levels, in ticks. */
  readonly gap: number;
  /** Typical size of an order at the best price, in shares. */
  readonly typicalShares: number;
  /** In 0.01 share. */
  readonly minimum: number;
  readonly length: number;
  readonly activity: Activity;
}

/** Mean number of rounds between requotes and between deeper quotes, and the divisor of a taker's size. */
const HABITS = {
  usual: { requoteOneIn: 6, deepenOneIn: 3, takerPart: 1 },
  busy: { requoteOneIn: 48, deepenOneIn: 36, takerPart: 8 },
} as const;
const CLOSING_LEVELS = 6;
const DIRECTIONS = [BID, ASK] as const;

export const openingLength = (length: number): number => (length < 50 ? 8 : 12);

/**
 * Generates a history of one book without cancels. Makers quote around the fair price, takers trade at the best price, and
 * takers sweep resting orders that the fair price has crossed. So quotes never cross, and old quotes become the depth.
 */
export class BookHistory {
  readonly #orders: WorldOrder[] = [];
  readonly #random: Stream;
  readonly #traders: TraderAssignment;
  readonly #setting: BookSetting;
  readonly #book: SimulatedBook;
  readonly #momentOf: (order: number) => number;

  /** `momentOf` returns the time of an order by its index in the history. */
  constructor(
    random: Stream,
    traders: TraderAssignment,
    setting: BookSetting,
    momentOf: (order: number) => number,
  ) {
    this.#momentOf = momentOf;
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
    if (this.#random.oneIn(this.#habits.deepenOneIn)) this.#deepen();
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
      } else if (this.#traders.mayRest && this.#random.oneIn(3)) {
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
    const wanted = this.#size(0, this.#habits.takerPart);
    const rests = this.#traders.mayRest && this.#random.oneIn(8);
    const type = rests || wanted <= open ? this.#takerType(open) : "FAK";
    this.#place("taker", direction, limit, wanted, type);
  }

  #tighten(fair: number): void {
    const { requoteOneIn } = this.#habits;
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

  #place(
    role: Role,
    direction: BookDirection,
    tick: number,
    wanted: number,
    orderType: WorldOrder["orderType"],
  ): void {
    const { market, outcome, minimum, tickSize } = this.#setting;
    const assigned = this.#traders.assign(role, direction, outcome, Math.max(wanted, minimum));
    if (assigned.size < minimum) return;
    const ofOutcome = price(tick * tickSize);
    const ownPrice = assigned.outcome === outcome ? ofOutcome : price(FULL_PRICE - ofOutcome);
    const { trader, side, outcome: own, size } = assigned;
    const at = this.#momentOf(this.#orders.length);
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

  get #habits(): (typeof HABITS)[Activity] {
    return HABITS[this.#setting.activity];
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
