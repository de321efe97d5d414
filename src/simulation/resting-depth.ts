/** The side of a book that an order rests on: bids buy, asks sell. */
export type BookSide = "bid" | "ask";

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
