import type { Stream } from "../core/random.ts";
import type { WorldTrader } from "./world.ts";

const ROUND_SHARES = [5, 10, 20, 25, 50, 100, 150, 200, 250, 500, 1000, 2000, 2500, 5000];

/**
 * A heavy-tailed order size in 0.01 share: mostly whole shares and often a round number, now and then with cents,
 * seldom many times the typical size.
 */
function drawSize(random: Stream, typicalShares: number): number {
  const boost = random.oneIn(50) ? 6 : 1;
  const shares = Math.max(1, Math.floor((boost * typicalShares * 100) / random.between(25, 400)));
  const lot = random.below(10);
  if (lot < 4) return roundShares(shares) * 100;
  return lot === 9 ? shares * 100 + random.below(100) : shares * 100;
}

function roundShares(shares: number): number {
  return ROUND_SHARES.find((round) => round >= shares) ?? shares;
}

/** How much goes on in a market. */
export type Pace = "usual" | "busy";

/** The side of a book that an order rests on: bids buy, asks sell. */
type BookSide = "bid" | "ask";

const MOST_LEVELS = 9999;

/**
 * What rests in one book, added up per tick: enough for the author of an order flow to know which prices the next
 * order meets. It keeps no orders and no queues; matching is the exchange's business.
 */
export class RestingDepth {
  readonly #open = new Float64Array(MOST_LEVELS + 2);
  #ticks = MOST_LEVELS;
  #bestBid = 0;
  #bestAsk = MOST_LEVELS + 1;
  readonly #occupied = { bid: 0, ask: 0 };

  /** Empties the book and sets its number of ticks between 0 and 1. */
  reset(ticks: number): void {
    this.#open.fill(0, 0, Math.max(ticks, this.#ticks) + 2);
    this.#ticks = ticks;
    this.#bestBid = 0;
    this.#bestAsk = ticks + 1;
    this.#occupied.bid = 0;
    this.#occupied.ask = 0;
  }

  /** Highest tick bid, 0 when nobody bids. */
  get bestBid(): number {
    return this.#bestBid;
  }

  /** Lowest tick asked, one above the last tick when nobody asks. */
  get bestAsk(): number {
    return this.#bestAsk;
  }

  /** Size at a tick. */
  at(tick: number): number {
    return this.#open[tick] as number;
  }

  /** Number of prices with something on them. */
  levels(side: BookSide): number {
    return this.#occupied[side];
  }

  /** What an order of this side would meet up to its limit. */
  crossing(side: BookSide, limit: number): number {
    let sum = 0;
    if (side === "bid") for (let tick = this.#bestAsk; tick <= limit; tick += 1) sum += this.at(tick);
    else for (let tick = this.#bestBid; tick >= limit; tick -= 1) sum += this.at(tick);
    return sum;
  }

  /** Takes what an order of this side meets; answers what is left of the order. */
  take(side: BookSide, limit: number, size: number): number {
    let left = size;
    while (left > 0 && (side === "bid" ? this.#bestAsk <= limit : this.#bestBid >= limit)) {
      const best = side === "bid" ? this.#bestAsk : this.#bestBid;
      const taken = Math.min(left, this.at(best));
      if (taken === 0) break;
      left -= taken;
      this.#open[best] = this.at(best) - taken;
      if (this.at(best) === 0) this.#leave(side === "bid" ? "ask" : "bid");
    }
    return left;
  }

  /** Adds what rests. */
  rest(side: BookSide, tick: number, size: number): void {
    if (this.at(tick) === 0) this.#occupied[side] += 1;
    this.#open[tick] = this.at(tick) + size;
    if (side === "bid") this.#bestBid = Math.max(this.#bestBid, tick);
    else this.#bestAsk = Math.min(this.#bestAsk, tick);
  }

  /** Moves on from a best price that was just emptied. */
  #leave(side: BookSide): void {
    this.#occupied[side] -= 1;
    if (side === "ask") {
      do this.#bestAsk += 1;
      while (this.#bestAsk <= this.#ticks && this.at(this.#bestAsk) === 0);
    } else {
      do this.#bestBid -= 1;
      while (this.#bestBid > 0 && this.at(this.#bestBid) === 0);
    }
  }
}

/** The two kinds of traders: makers quote and never cross, takers cross. */
type Role = "maker" | "taker";

/** Who places an order, and in what words. */
interface Part {
  readonly trader: number;
  readonly side: "BUY" | "SELL";
  readonly outcome: "YES" | "NO";
  /** In 0.01 share. */
  readonly size: number;
}

const MAKERS = 12;
const TAKERS = 28;
const MAKER_SHARES = 20_000;
const TAKER_SHARES = 5000;
/** In a world of more markets traders have a tenth of the shares, so that a billion USDC is enough for all of them. */
const MOST_MARKETS_WITH_ALL = 1000;
/** So many traders make the opening history of every world. */
export const TRADERS = MAKERS + TAKERS;

/** Shares of both outcomes that a trader of the history has in every market of a world of so many. */
export const sharesOf = (trader: number, markets: number): WorldTrader["shares"] =>
  (trader < MAKERS ? MAKER_SHARES : TAKER_SHARES) / (markets > MOST_MARKETS_WITH_ALL ? 10 : 1);

/**
 * Gives the orders of one market to traders, so that nobody sells more than the shares of a new holder and nobody
 * meets an order of their own.
 */
export class Cast {
  readonly #random: Stream;
  readonly #isMirrored: boolean;
  readonly #markets: number;
  readonly #firstMaker: number;
  readonly #makers: number;
  readonly #firstTaker: number;
  readonly #takers: number;
  readonly #sold = { YES: new Float64Array(TRADERS), NO: new Float64Array(TRADERS) };
  readonly #resting = new Set<number>();

  /**
   * `isMirrored`: one book serves both outcomes, so that whoever would sell one can buy the other. `markets`: how many
   * the world has.
   */
  constructor(random: Stream, isMirrored: boolean, pace: Pace, markets: number) {
    this.#random = random;
    this.#isMirrored = isMirrored;
    this.#markets = markets;
    this.#firstMaker = random.below(MAKERS);
    this.#makers = isMirrored ? random.between(3, 6) : MAKERS;
    this.#firstTaker = random.below(TAKERS);
    this.#takers = isMirrored && pace === "usual" ? random.between(8, 12) : TAKERS;
  }

  /** Whether one more taker may leave a remainder in the book. */
  get mayRest(): boolean {
    return this.#resting.size < this.#takers / 2;
  }

  /** Remembers that an order of this trader stays in the book. */
  rests(trader: number): void {
    if (trader >= MAKERS) this.#resting.add(trader);
  }

  /** Casts an order of the book of `outcome`; its size shrinks when only a sale is possible and shares run out. */
  assign(role: Role, side: BookSide, outcome: "YES" | "NO", size: number): Part {
    const trader = this.#pick(role);
    const other = outcome === "YES" ? "NO" : "YES";
    const sold = side === "ask" ? outcome : other;
    const bought = side === "ask" ? other : outcome;
    if (!this.#isMirrored) {
      if (side === "bid") return { trader, side: "BUY", outcome, size };
      const seller = this.#room(trader, outcome) >= size ? trader : this.#roomiest(role, outcome);
      return this.#selling(seller, outcome, Math.min(size, this.#room(seller, outcome)));
    }
    const prefersSale = this.#random.below(100) < (side === "ask" ? 60 : 25);
    if (prefersSale && this.#room(trader, sold) >= size) return this.#selling(trader, sold, size);
    return { trader, side: "BUY", outcome: bought, size };
  }

  #selling(trader: number, outcome: "YES" | "NO", size: number): Part {
    this.#sold[outcome][trader] = (this.#sold[outcome][trader] as number) + size;
    return { trader, side: "SELL", outcome, size };
  }

  #room(trader: number, outcome: "YES" | "NO"): number {
    return sharesOf(trader, this.#markets) * 100 - (this.#sold[outcome][trader] as number);
  }

  #pick(role: Role): number {
    if (role === "maker") return (this.#firstMaker + this.#random.below(this.#makers)) % MAKERS;
    for (;;) {
      const trader = MAKERS + ((this.#firstTaker + this.#random.below(this.#takers)) % TAKERS);
      if (!this.#resting.has(trader)) return trader;
    }
  }

  #roomiest(role: Role, outcome: "YES" | "NO"): number {
    let best = -1;
    const [first, end] = role === "maker" ? [0, MAKERS] : [MAKERS, TRADERS];
    for (let trader = first; trader < end; trader += 1) {
      if (this.#resting.has(trader)) continue;
      if (best < 0 || this.#room(trader, outcome) > this.#room(best, outcome)) best = trader;
    }
    return best;
  }
}

/** One order of a book's history, before it has a moment. */
export interface ScriptLine {
  readonly part: Part;
  /** Price in ticks of the outcome that is traded. */
  readonly tick: number;
  readonly orderType: "GTC" | "FAK";
}

/** How one book looks and how long its history is. */
export interface BookSetting {
  readonly outcome: "YES" | "NO";
  /** Price of one tick, in 0.0001 USDC. */
  readonly tickUnits: number;
  /** Usual distance of the best bid and the best ask, in ticks. */
  readonly spread: number;
  /** Usual distance of neighbouring levels, in ticks. */
  readonly gap: number;
  /** Usual size of an order at the touch, in shares. */
  readonly typicalShares: number;
  /** In 0.01 share. */
  readonly minimum: number;
  /** Lines to write. */
  readonly lines: number;
  readonly pace: Pace;
}

/**
 * How often makers add to the touch and to the levels behind it, once in so many rounds, and what part of a maker's
 * size a taker trades: in a busy market many small takers come to each maker.
 */
const HABITS = {
  usual: { requoteOneIn: 6, deepenOneIn: 3, takerPart: 1 },
  busy: { requoteOneIn: 48, deepenOneIn: 36, takerPart: 8 },
} as const;

const CLOSING_LEVELS = 6;

/** Number of lines that open a book. */
export const openingLines = (lines: number): number => (lines < 50 ? 8 : 12);

/**
 * Writes the history of one book without cancels: makers quote round the fair price, takers nibble at the touch, and
 * whenever the fair price has moved through resting orders, takers sweep them. So quotes never cross, and what is left
 * behind becomes the depth of the book.
 */
export class BookScript {
  readonly #lines: ScriptLine[] = [];
  readonly #random: Stream;
  readonly #cast: Cast;
  readonly #depth: RestingDepth;
  readonly #setting: BookSetting;
  readonly #ticks: number;
  readonly #habits: (typeof HABITS)[Pace];

  /** `depth` is emptied first and written to: one instance serves any number of scripts in turn. */
  constructor(random: Stream, cast: Cast, depth: RestingDepth, setting: BookSetting) {
    this.#random = random;
    this.#cast = cast;
    this.#depth = depth;
    this.#setting = setting;
    this.#habits = HABITS[setting.pace];
    this.#ticks = 10_000 / setting.tickUnits - 1;
    depth.reset(this.#ticks);
  }

  /** The whole history along fair prices, in 0.0001 USDC: `fairAt` answers that of each line and, past the last, of the end. */
  write(fairAt: (line: number) => number): readonly ScriptLine[] {
    const { lines } = this.#setting;
    this.#open(fairAt(0));
    for (let turn = 0; turn < lines && this.#lines.length + this.#missing() < lines; turn += 1) {
      this.#round(fairAt(this.#lines.length));
    }
    this.#close(fairAt(lines));
    for (let turn = 0; turn < lines && this.#lines.length < lines; turn += 1) this.#deepen();
    return this.#lines;
  }

  #open(fair: number): void {
    const touch = this.#touch(fair);
    for (const side of ["bid", "ask"] as const) {
      let tick = touch[side];
      for (let level = 0; level < openingLines(this.#setting.lines) / 2; level += 1) {
        this.#quote(side, tick, level);
        tick = outward(side, tick, this.#step());
      }
    }
  }

  #round(fair: number): void {
    if (!this.#follow(fair)) this.#nibble();
    this.#tighten(fair);
    if (this.#random.oneIn(this.#habits.deepenOneIn)) this.#deepen();
  }

  #close(fair: number): void {
    this.#follow(fair);
    this.#tighten(fair);
    this.#nibble();
    this.#tighten(fair);
    for (const side of ["bid", "ask"] as const) {
      let tick = this.#best(side);
      for (let need = CLOSING_LEVELS - this.#depth.levels(side); need > 0; ) {
        const room = side === "bid" ? tick - 1 : this.#ticks - tick;
        if (room < 1) break;
        tick = outward(side, tick, Math.max(1, Math.min(this.#step(), Math.floor(room / need))));
        if (this.#depth.at(tick) > 0) continue;
        this.#quote(side, tick, CLOSING_LEVELS - need + 1);
        need -= 1;
      }
    }
  }

  /** Where the best bid and the best ask belong. */
  #touch(fair: number): Record<BookSide, number> {
    const { tickUnits, spread } = this.#setting;
    const below = Math.floor((2 * fair - spread * tickUnits) / (2 * tickUnits));
    const bid = Math.min(this.#ticks - 1, Math.max(1, below));
    return { bid, ask: Math.min(this.#ticks, bid + spread) };
  }

  /** Sweeps what rests on the wrong side of the fair price; answers whether anything did. */
  #follow(fair: number): boolean {
    const touch = this.#touch(fair);
    if (this.#depth.bestAsk <= touch.bid) this.#sweep("bid", touch.bid);
    else if (this.#depth.bestBid >= touch.ask) this.#sweep("ask", touch.ask);
    else return false;
    return true;
  }

  #sweep(side: BookSide, limit: number): void {
    const large = this.#setting.typicalShares * 400;
    for (let order = 0; order < 3; order += 1) {
      const open = this.#depth.crossing(side, limit);
      if (open === 0) return;
      if (order < 2 && open > large) {
        const part = Math.floor((open * this.#random.between(30, 70)) / 10_000) * 100;
        this.#place("taker", side, limit, part, "FAK");
      } else if (this.#cast.mayRest && this.#random.oneIn(3)) {
        this.#place("taker", side, limit, open + this.#size(0), "GTC");
      } else {
        this.#place("taker", side, limit, open, this.#takerType(open));
      }
    }
  }

  /** Trades at the touch, or a little through it. */
  #nibble(): void {
    const side = this.#random.oneIn(2) ? "bid" : "ask";
    const best = this.#best(side === "bid" ? "ask" : "bid");
    if (best < 1 || best > this.#ticks) return;
    const through = this.#random.oneIn(4) ? this.#setting.gap : 0;
    const limit = side === "bid" ? Math.min(this.#ticks, best + through) : Math.max(1, best - through);
    const open = this.#depth.crossing(side, limit);
    const wanted = this.#size(0, this.#habits.takerPart);
    const rests = this.#cast.mayRest && this.#random.oneIn(8);
    if (rests || wanted <= open) this.#place("taker", side, limit, wanted, this.#takerType(open));
    else this.#place("taker", side, limit, wanted, "FAK");
  }

  /** Brings the quotes back to where they belong. */
  #tighten(fair: number): void {
    const { requoteOneIn } = this.#habits;
    const touch = this.#touch(fair);
    const bid = Math.min(touch.bid, this.#depth.bestAsk - 1);
    if (bid >= 1 && (this.#depth.bestBid < bid || this.#random.oneIn(requoteOneIn)))
      this.#quote("bid", bid, 0);
    const ask = Math.max(touch.ask, this.#depth.bestBid + 1);
    if (ask <= this.#ticks && (this.#depth.bestAsk > ask || this.#random.oneIn(requoteOneIn)))
      this.#quote("ask", ask, 0);
  }

  /** Adds to one of the levels behind the touch. */
  #deepen(): void {
    const side = this.#random.oneIn(2) ? "bid" : "ask";
    const level = 1 + Math.min(this.#random.below(10), this.#random.below(10));
    this.#quote(side, outward(side, this.#best(side), level * this.#setting.gap), level);
  }

  /** Rests an order of a maker, larger the further it is from the touch. */
  #quote(side: BookSide, tick: number, level: number): void {
    if (tick < 1 || tick > this.#ticks) return;
    this.#place("maker", side, tick, this.#size(level), "GTC");
  }

  #place(role: Role, side: BookSide, tick: number, size: number, orderType: "GTC" | "FAK"): void {
    const { outcome, minimum } = this.#setting;
    const part = this.#cast.assign(role, side, outcome, Math.max(size, minimum));
    if (part.size < minimum) return;
    this.#lines.push({ part, tick: part.outcome === outcome ? tick : this.#ticks + 1 - tick, orderType });
    const left = this.#depth.take(side, tick, part.size);
    if (left === 0 || orderType === "FAK") return;
    this.#depth.rest(side, tick, left);
    this.#cast.rests(part.trader);
  }

  #takerType(open: number): "GTC" | "FAK" {
    return open < this.#setting.minimum || this.#random.below(10) < 6 ? "FAK" : "GTC";
  }

  #size(level: number, part = 1): number {
    const { typicalShares } = this.#setting;
    return drawSize(this.#random, Math.floor((typicalShares * (2 + Math.min(level, 10))) / (2 * part)));
  }

  #best(side: BookSide): number {
    return side === "bid" ? this.#depth.bestBid : this.#depth.bestAsk;
  }

  #step(): number {
    return this.#random.between(1, 2 * this.#setting.gap - 1);
  }

  /** Lines that the end needs at most. */
  #missing(): number {
    const { bestBid, bestAsk } = this.#depth;
    const bids = Math.min(CLOSING_LEVELS, bestBid) - this.#depth.levels("bid");
    const asks = Math.min(CLOSING_LEVELS, this.#ticks + 1 - bestAsk) - this.#depth.levels("ask");
    return Math.max(0, bids) + Math.max(0, asks) + 6;
  }
}

const outward = (side: BookSide, tick: number, distance: number): number =>
  side === "bid" ? tick - distance : tick + distance;
