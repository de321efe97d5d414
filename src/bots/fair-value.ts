import { tradeOfFill } from "../core/account.ts";
import { type Market, outcomeOf } from "../core/market.ts";
import type { Trade } from "../core/order.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { complement, FULL_PRICE, type Millis, type Price } from "../core/units.ts";
import { type Chance, STREAM } from "./chance.ts";
import type { FairTerms } from "./profiles.ts";

/** What was known of a market's price before bots came: a price in 0.0001 USDC for YES, and since when. */
interface Anchor {
  readonly price: number;
  readonly at: Millis;
}

const HOUR_MS = 3_600_000;
/** The walk has knots a minute apart, four minutes, 16 and so on, up to 45 days. */
const FINEST_MS = 60_000;
const LEVELS = 9;
/** With it, values an hour apart differ by a standard deviation of `volatility`. */
const SCALE = 0.7;
/** A market that never traded begins somewhere in here. */
const ANYWHERE = { low: 2_500, width: 5_000 };

/**
 * A price in 0.0001 USDC on the scale on which the fair value moves, and back. x / sqrt(1 + x^2) does what the logistic
 * function does for log-odds, with IEEE arithmetic alone, whose results are equal on every machine.
 */
const stretched = (price: number): number => {
  const y = (2 * price) / FULL_PRICE - 1;
  return y / Math.sqrt(1 - y * y);
};
const priceAt = (place: number): number => (FULL_PRICE / 2) * (1 + place / Math.sqrt(1 + place * place));

/**
 * What YES is worth, a function of seed, market and time that can be asked for at any moment. It begins at what the market
 * traded at before bots came, and moves by a random walk (the sum of values between random knots, at distances of a minute
 * to 45 days, so that no moment needs those before it) and by news, which comes at once and lasts until the next.
 */
export class FairValue {
  readonly #chance: Chance;
  readonly #terms: FairTerms;
  readonly #bots: readonly Address[];
  readonly #anchors = new Map<number, Anchor>();

  /** `bots`: the addresses of all that there may ever be. */
  constructor(chance: Chance, terms: FairTerms, bots: readonly Address[]) {
    this.#chance = chance;
    this.#terms = terms;
    this.#bots = bots;
  }

  /** In 0.0001 USDC, not rounded. */
  at(state: State, market: Market, at: number): number {
    const anchor = this.#anchors.get(market.number) ?? this.#anchorOf(state, market);
    const way = this.#wayOf(market.number, at) - this.#wayOf(market.number, anchor.at);
    return priceAt(stretched(anchor.price) + way);
  }

  /** Forgets where prices began: the state is another. */
  forget(): void {
    this.#anchors.clear();
  }

  /** The last trade before the first in which a bot took part; in a market without one, any price. */
  #anchorOf(state: State, market: Market): Anchor {
    const first = this.#firstTradeOfBots(state, market.number);
    const before = first === null ? market.trades.size : countBefore(market, first);
    const last = before === 0 ? undefined : state.trades.get(market.trades.get(before));
    const anchor =
      last === undefined ? this.#openingOf(market) : { price: yesPrice(state, last), at: last.at };
    if (first !== null) this.#anchors.set(market.number, anchor);
    return anchor;
  }

  #openingOf({ number, createdAt }: Market): Anchor {
    const price = ANYWHERE.low + this.#chance.of(STREAM.opening, number).uniform() * ANYWHERE.width;
    return { price, at: createdAt };
  }

  #firstTradeOfBots(state: State, market: number): number | null {
    const fills = this.#bots.flatMap((address) => {
      const holding = findAccount(state, address)?.holdings.get(market);
      return [holding?.yesFills, holding?.noFills].flatMap((own) => own?.find(1) ?? []);
    });
    return fills.length === 0 ? null : tradeOfFill(Math.min(...fills));
  }

  #wayOf(market: number, at: number): number {
    let way = this.#newsAt(market, at);
    for (let level = 0, apart = FINEST_MS; level < LEVELS; level += 1, apart *= 4) {
      const knot = Math.floor(at / apart);
      const part = at / apart - knot;
      const value = this.#knot(market, level, knot) * (1 - part) + this.#knot(market, level, knot + 1) * part;
      way += value * this.#terms.volatility * SCALE * Math.sqrt(apart / HOUR_MS);
    }
    return way;
  }

  #knot(market: number, level: number, knot: number): number {
    return this.#chance.of(STREAM.walk, market, level, knot).normal();
  }

  /** One piece of news comes in each stretch, at any moment of it. */
  #newsAt(market: number, at: number): number {
    const { newsEveryMs, news } = this.#terms;
    const stretch = Math.floor(at / newsEveryMs);
    const isOut = at / newsEveryMs - stretch >= this.#chance.of(STREAM.news, market, stretch).uniform();
    return this.#chance.of(STREAM.news, market, isOut ? stretch : stretch - 1, 1).normal() * news;
  }
}

const yesPrice = (state: State, { taker, price }: Trade): Price =>
  outcomeOf(state.orders.get(taker).token) === "YES" ? price : complement(price);

/** How many trades of a market came before one. */
function countBefore({ trades }: Market, trade: number): number {
  let low = 0;
  let high = trades.size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (trades.get(middle + 1) < trade) low = middle + 1;
    else high = middle;
  }
  return low;
}
