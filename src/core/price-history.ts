import { countWhile } from "./count-while.ts";
import type { Millis, Price } from "./units.ts";

/** Unix seconds with trades, and the last price of each. */
interface PricePoints {
  readonly seconds: Float64Array<ArrayBuffer>;
  readonly prices: Uint16Array<ArrayBuffer>;
}

/** Traded prices of one book: one point per second with trades, with the last price of that second. */
export class PriceHistory {
  #seconds = new Float64Array(0);
  #prices = new Uint16Array(0);
  #size = 0;

  /** Makes a history of points as returned by `points`. */
  static of({ seconds, prices }: PricePoints): PriceHistory {
    const history = new PriceHistory();
    history.#seconds = seconds;
    history.#prices = prices;
    history.#size = seconds.length;
    return history;
  }

  /** All points, oldest first. */
  get points(): PricePoints {
    return {
      seconds: this.#seconds.slice(0, this.#size),
      prices: this.#prices.slice(0, this.#size),
    };
  }

  /** Number of points. */
  get size(): number {
    return this.#size;
  }

  /** Adds a trade; trades come in order of time. */
  add(at: Millis, price: Price): void {
    const second = Math.floor(at / 1000);
    if (this.#size > 0 && this.#seconds[this.#size - 1] === second) {
      this.#prices[this.#size - 1] = price;
      return;
    }
    if (this.#size === this.#seconds.length) this.#grow();
    this.#seconds[this.#size] = second;
    this.#prices[this.#size] = price;
    this.#size += 1;
  }

  /** Returns the Unix second of a point; indexes start at 0. */
  secondAt(index: number): number {
    return this.#seconds[index] as number;
  }

  /** Returns the price of a point; indexes start at 0. */
  priceAt(index: number): Price {
    return this.#prices[index] as Price;
  }

  /** Returns the number of points before the Unix second, which is the index of the first at or after it. */
  countBefore(second: number): number {
    return countWhile(this.#size, (index) => (this.#seconds[index] as number) < second);
  }

  copy(): PriceHistory {
    const copy = new PriceHistory();
    copy.#seconds = this.#seconds.slice(0, this.#size);
    copy.#prices = this.#prices.slice(0, this.#size);
    copy.#size = this.#size;
    return copy;
  }

  #grow(): void {
    const capacity = Math.max(16, this.#size * 2);
    const seconds = new Float64Array(capacity);
    const prices = new Uint16Array(capacity);
    seconds.set(this.#seconds);
    prices.set(this.#prices);
    this.#seconds = seconds;
    this.#prices = prices;
  }
}
