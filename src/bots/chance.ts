import { Digest, type DigestWords, sha256Hex } from "../core/hash.ts";

const TWO_32 = 4_294_967_296;
/** Increment of the Weyl sequence of SplitMix32: 2^32 over the golden ratio. */
const GOLDEN = 0x9e3779b9;
/** Poisson probabilities of 0, 1, 2, ... arrivals with mean 1: 1 / (e k!). The remainder is about one in a million. */
const ARRIVALS = [
  0.36787944117144233, 0.36787944117144233, 0.18393972058572117, 0.06131324019524039, 0.015328310048810098,
  0.0030656620097620196, 0.0005109436682936699, 0.00007299195261338141, 0.000009123994076672677,
];

/** Random numbers by SplitMix32. Integer and IEEE arithmetic only, so that results are equal on every machine. */
export class Draws {
  #state: number;

  constructor(state: number) {
    this.#state = state;
  }

  /** 0 <= u < 1. */
  uniform(): number {
    this.#state = (this.#state + GOLDEN) | 0;
    let word = this.#state;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return ((word ^ (word >>> 15)) >>> 0) / TWO_32;
  }

  /** Returns true with a probability of 0 to 1. */
  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  /** Returns an approximately standard normal number: a sum of four uniform ones, which needs no logarithm. */
  normal(): number {
    const sum = this.uniform() + this.uniform() + this.uniform() + this.uniform();
    return (sum - 2) * Math.sqrt(3);
  }

  /** Returns a Pareto number of exponent 2 (above x with probability 1 / x^2), from 1 to `max`. */
  pareto(max: number): number {
    return Math.min(max, 1 / Math.sqrt(1 - this.uniform()));
  }

  /** Returns a Poisson number of mean 1. */
  arrivals(): number {
    let left = this.uniform();
    let count = 0;
    for (const chance of ARRIVALS) {
      left -= chance;
      if (left < 0) break;
      count += 1;
    }
    return count;
  }
}

/** First key of each kind of stream. */
export const STREAM = { walk: 1, news: 2, opening: 3, arrivals: 4, turn: 5, interval: 6 } as const;

/** Streams of one seed, by integer keys. A draw from one never shifts another, and each stream can be repeated. */
export class Chance {
  readonly #words: DigestWords;

  constructor(seed: string) {
    const hex = sha256Hex(`clobsim bots\n${seed}`);
    const word = (index: number): number => Number.parseInt(hex.slice(index * 8, index * 8 + 8), 16);
    this.#words = [word(0), word(1), word(2), word(3)];
  }

  /** Returns the stream of some integers, of any size and sign. */
  of(...keys: readonly number[]): Draws {
    const digest = new Digest(this.#words);
    for (const key of keys) digest.mixWide(key);
    digest.spread();
    const [a, b] = digest.words;
    return new Draws(a ^ b);
  }
}
