import type { Stream } from "../core/random.ts";
import type { Pace } from "./flow-moments.ts";
import type { BookSide } from "./resting-depth.ts";
import type { WorldTrader } from "./world.ts";

/** The two kinds of traders: makers quote and never cross, takers cross. */
export type Role = "maker" | "taker";

/** Who places an order, and in what words. */
export interface Part {
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
