import { tradeOfFill } from "../core/account.ts";
import { Digest, type DigestWords, sha256Hex } from "../core/hash.ts";
import { type Market, outcomeOf } from "../core/market.ts";
import type { Trade } from "../core/order.ts";
import { findAccount, type State } from "../core/state.ts";
import { countWhile } from "../core/table.ts";
import type { Address } from "../core/terms.ts";
import { complement, FULL_PRICE, type Price } from "../core/units.ts";
import type { FairTerms } from "./profiles.ts";

/** Price of YES before bots traded in a market, on the stretched scale, and the walk at its moment. */
interface Anchor {
  readonly place: number;
  readonly walk: number;
}

const HOUR_MS = 3_600_000;
/** Distance of the knots of the finest level; each further level is four times as wide, up to 45 days. */
const FINEST_MS = 60_000;
const LEVELS = 9;
/** Factor by which values an hour apart differ with a standard deviation of `volatility`. */
const SCALE = 0.7;
/** Range of the initial price of a market that never traded. */
const OPENING_RANGE = { low: 2_500, width: 5_000 };

/**
 * Converts a price in 0.0001 USDC to the scale on which the fair value moves; `priceAt` converts back. x / sqrt(1 + x^2)
 * replaces the logistic function, because IEEE arithmetic gives equal results on every machine.
 */
const stretched = (price: number): number => {
  const y = (2 * price) / FULL_PRICE - 1;
  return y / Math.sqrt(1 - y * y);
};
const priceAt = (place: number): number => (FULL_PRICE / 2) * (1 + place / Math.sqrt(1 + place * place));

export type FairValue = ReturnType<typeof fairValue>;

/**
 * Fair value of YES: a function of seed, market and time, computable for any moment. It starts at the last price before
 * bots traded, and moves by a random walk and by news. The walk is a sum of interpolations between random knots, at
 * distances of a minute to 45 days, so that no moment depends on earlier ones. News takes effect at once, until the next.
 * `bots`: addresses of the bots of all profiles.
 */
export function fairValue(streams: RandomStreams, terms: FairTerms, bots: readonly Address[]) {
  const anchors = new Map<number, Anchor>();

  const openingOf = ({ number, createdAt }: Market) => {
    const price = OPENING_RANGE.low + streams.of(STREAM.opening, number).uniform() * OPENING_RANGE.width;
    return { price, at: createdAt };
  };
  const firstTradeOfBots = (state: State, market: number): number | null => {
    const fills = bots.flatMap((address) => {
      const holding = findAccount(state, address)?.holdings.get(market);
      return [holding?.yesFills, holding?.noFills].flatMap((own) => own?.find(1) ?? []);
    });
    return fills.length === 0 ? null : tradeOfFill(Math.min(...fills));
  };
  /** Returns the last trade before the first one of a bot; a random price if there is none. */
  const anchorOf = (state: State, market: Market): Anchor => {
    const first = firstTradeOfBots(state, market.number);
    const before =
      first === null
        ? market.trades.size
        : countWhile(market.trades.size, (index) => market.trades.get(index + 1) < first);
    const last = before === 0 ? undefined : state.trades.get(market.trades.get(before));
    const { price, at } =
      last === undefined ? openingOf(market) : { price: yesPrice(state, last), at: last.at };
    const anchor = { place: stretched(price), walk: walkAt(market.number, at) };
    if (first !== null) anchors.set(market.number, anchor);
    return anchor;
  };
  const knotAt = (market: number, level: number, knot: number): number =>
    streams.of(STREAM.walk, market, level, knot).normal();
  /** Returns the effect of the latest news; one comes in each interval, at a random moment. */
  const newsAt = (market: number, at: number): number => {
    const { newsEveryMs, news } = terms;
    const interval = Math.floor(at / newsEveryMs);
    const isOut = at / newsEveryMs - interval >= streams.of(STREAM.news, market, interval).uniform();
    return streams.of(STREAM.news, market, isOut ? interval : interval - 1, 1).normal() * news;
  };
  const walkAt = (market: number, at: number): number => {
    let sum = newsAt(market, at);
    for (let level = 0, distance = FINEST_MS; level < LEVELS; level += 1, distance *= 4) {
      const knot = Math.floor(at / distance);
      const part = at / distance - knot;
      const value = knotAt(market, level, knot) * (1 - part) + knotAt(market, level, knot + 1) * part;
      sum += value * terms.volatility * SCALE * Math.sqrt(distance / HOUR_MS);
    }
    return sum;
  };
  return {
    /** Returns the fair value in 0.0001 USDC, not rounded. */
    at: (state: State, market: Market, at: number): number => {
      const { place, walk } = anchors.get(market.number) ?? anchorOf(state, market);
      return priceAt(place + (walkAt(market.number, at) - walk));
    },
    /** Called when the state is replaced; discards the anchors. */
    invalidate: (): void => anchors.clear(),
  };
}

const yesPrice = (state: State, { taker, price }: Trade): Price =>
  outcomeOf(state.orders.get(taker).token) === "YES" ? price : complement(price);

const TWO_32 = 4_294_967_296;
/** Increment of the Weyl sequence of SplitMix32: 2^32 over the golden ratio. */
const GOLDEN = 0x9e3779b9;
/** Poisson probabilities of 0, 1, 2, ... arrivals with mean 1: 1 / (e k!). The remainder is about one in a million. */
const ARRIVALS = [
  0.36787944117144233, 0.36787944117144233, 0.18393972058572117, 0.06131324019524039, 0.015328310048810098,
  0.0030656620097620196, 0.0005109436682936699, 0.00007299195261338141, 0.000009123994076672677,
];

/** Random numbers by SplitMix32. Integer and IEEE arithmetic only, so that results are equal on every machine. */
export class RandomStream {
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

  /** Whether an event of a probability of 0 to 1 happens. */
  bernoulli(probability: number): boolean {
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
    for (const probability of ARRIVALS) {
      left -= probability;
      if (left < 0) break;
      count += 1;
    }
    return count;
  }
}

/** First key of each kind of stream. */
export const STREAM = { walk: 1, news: 2, opening: 3, arrivals: 4, turn: 5, interval: 6 } as const;

/** Streams of one seed, by integer keys. A draw from one never shifts another, and each stream can be repeated. */
export class RandomStreams {
  readonly #words: DigestWords;

  constructor(seed: string) {
    const hex = sha256Hex(`clobsim bots\n${seed}`);
    const word = (index: number): number => Number.parseInt(hex.slice(index * 8, index * 8 + 8), 16);
    this.#words = [word(0), word(1), word(2), word(3)];
  }

  /** Returns the stream of some integers, of any size and sign. */
  of(...keys: readonly number[]): RandomStream {
    const digest = new Digest(this.#words);
    for (const key of keys) digest.mixWide(key);
    digest.spread();
    const [a, b] = digest.words;
    return new RandomStream(a ^ b);
  }
}
