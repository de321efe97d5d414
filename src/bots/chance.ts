import { Digest, type DigestWords, sha256Hex } from "../core/hash.ts";

const TWO_32 = 4_294_967_296;
/** The step of Weyl's sequence by which SplitMix32 counts: 2^32 over the golden ratio. */
const GOLDEN = 0x9e3779b9;
/** Chances of 0, 1, 2, ... arrivals where one is expected: 1 / (e k!). Beyond that they are one in a million. */
const ARRIVALS = [
  0.36787944117144233, 0.36787944117144233, 0.18393972058572117, 0.06131324019524039, 0.015328310048810098,
  0.0030656620097620196, 0.0005109436682936699, 0.00007299195261338141, 0.000009123994076672677,
];

/** Numbers drawn one after another: SplitMix32. Integers and IEEE arithmetic alone, equal wherever it runs. */
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

  /** True so often, 0 to 1. */
  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  /** Near enough to a standard normal one: the sum of four uniform ones, so that no logarithm is needed. */
  normal(): number {
    const sum = this.uniform() + this.uniform() + this.uniform() + this.uniform();
    return (sum - 2) * Math.sqrt(3);
  }

  /** At least 1 and at most `most`, above x with a chance of 1 / x^2: a Pareto law of exponent 2. */
  pareto(most: number): number {
    return Math.min(most, 1 / Math.sqrt(1 - this.uniform()));
  }

  /** A Poisson number of mean 1. */
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

/** The first key of each kind of stream. */
export const STREAM = { walk: 1, news: 2, opening: 3, arrivals: 4, look: 5, stretch: 6 } as const;

/** Streams of one seed by whole numbers: what is drawn from one never shifts another, and each can be drawn again. */
export class Chance {
  readonly #words: DigestWords;

  constructor(seed: string) {
    const hex = sha256Hex(`clobsim bots\n${seed}`);
    const word = (index: number): number => Number.parseInt(hex.slice(index * 8, index * 8 + 8), 16);
    this.#words = [word(0), word(1), word(2), word(3)];
  }

  /** The stream of some integers, of any size and sign. */
  of(...keys: readonly number[]): Draws {
    const digest = new Digest(this.#words);
    for (const key of keys) digest.mixWide(key);
    digest.spread();
    const [a, b] = digest.words;
    return new Draws(a ^ b);
  }
}
