import { tradeOfFill } from "../core/account.ts";
import { countWhile } from "../core/count-while.ts";
import { type Market, outcomeOf } from "../core/market.ts";
import type { Trade } from "../core/order.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { complement, FULL_PRICE, type Millis, type Price } from "../core/units.ts";
import { type Chance, STREAM } from "./chance.ts";
import type { FairTerms } from "./profiles.ts";

/** Price of a market before bots traded there: in 0.0001 USDC for YES, and its moment. */
interface Anchor {
  readonly price: number;
  readonly at: Millis;
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

/**
 * Fair value of YES: a function of seed, market and time, computable for any moment. It starts at the last price before
 * bots traded, and moves by a random walk and by news. The walk is a sum of interpolations between random knots, at
 * distances of a minute to 45 days, so that no moment depends on earlier ones. News takes effect at once, until the next.
 */
export class FairValue {
  readonly #chance: Chance;
  readonly #terms: FairTerms;
  readonly #bots: readonly Address[];
  readonly #anchors = new Map<number, Anchor>();

  /** `bots`: addresses of the bots of all profiles. */
  constructor(chance: Chance, terms: FairTerms, bots: readonly Address[]) {
    this.#chance = chance;
    this.#terms = terms;
    this.#bots = bots;
  }

  /** Returns the fair value in 0.0001 USDC, not rounded. */
  at(state: State, market: Market, at: number): number {
    const anchor = this.#anchors.get(market.number) ?? this.#anchorOf(state, market);
    const move = this.#walkAt(market.number, at) - this.#walkAt(market.number, anchor.at);
    return priceAt(stretched(anchor.price) + move);
  }

  /** Called when the state is replaced; discards the anchors. */
  invalidate(): void {
    this.#anchors.clear();
  }

  /** Returns the last trade before the first one of a bot; a random price if there is none. */
  #anchorOf(state: State, market: Market): Anchor {
    const first = this.#firstTradeOfBots(state, market.number);
    const before =
      first === null
        ? market.trades.size
        : countWhile(market.trades.size, (index) => market.trades.get(index + 1) < first);
    const last = before === 0 ? undefined : state.trades.get(market.trades.get(before));
    const anchor =
      last === undefined ? this.#openingOf(market) : { price: yesPrice(state, last), at: last.at };
    if (first !== null) this.#anchors.set(market.number, anchor);
    return anchor;
  }

  #openingOf({ number, createdAt }: Market): Anchor {
    const price = OPENING_RANGE.low + this.#chance.of(STREAM.opening, number).uniform() * OPENING_RANGE.width;
    return { price, at: createdAt };
  }

  #firstTradeOfBots(state: State, market: number): number | null {
    const fills = this.#bots.flatMap((address) => {
      const holding = findAccount(state, address)?.holdings.get(market);
      return [holding?.yesFills, holding?.noFills].flatMap((own) => own?.find(1) ?? []);
    });
    return fills.length === 0 ? null : tradeOfFill(Math.min(...fills));
  }

  #walkAt(market: number, at: number): number {
    let sum = this.#newsAt(market, at);
    for (let level = 0, distance = FINEST_MS; level < LEVELS; level += 1, distance *= 4) {
      const knot = Math.floor(at / distance);
      const part = at / distance - knot;
      const value = this.#knot(market, level, knot) * (1 - part) + this.#knot(market, level, knot + 1) * part;
      sum += value * this.#terms.volatility * SCALE * Math.sqrt(distance / HOUR_MS);
    }
    return sum;
  }

  #knot(market: number, level: number, knot: number): number {
    return this.#chance.of(STREAM.walk, market, level, knot).normal();
  }

  /** Returns the effect of the latest news; one comes in each interval, at a random moment. */
  #newsAt(market: number, at: number): number {
    const { newsEveryMs, news } = this.#terms;
    const interval = Math.floor(at / newsEveryMs);
    const isOut = at / newsEveryMs - interval >= this.#chance.of(STREAM.news, market, interval).uniform();
    return this.#chance.of(STREAM.news, market, isOut ? interval : interval - 1, 1).normal() * news;
  }
}

const yesPrice = (state: State, { taker, price }: Trade): Price =>
  outcomeOf(state.orders.get(taker).token) === "YES" ? price : complement(price);
