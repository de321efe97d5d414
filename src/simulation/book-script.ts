import type { Stream } from "../core/random.ts";
import type { Cast, Part, Role } from "./cast.ts";
import type { Pace } from "./flow-moments.ts";
import { drawSize } from "./order-size.ts";
import type { BookSide, RestingDepth } from "./resting-depth.ts";

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
