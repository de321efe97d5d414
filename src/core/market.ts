import { ASK, BID, type Book, type BookDirection } from "./book/book.ts";
import { check } from "./document-error.ts";
import {
  array,
  type Infer,
  id,
  integer,
  list,
  moment,
  mutableRecord,
  oneOf,
  orNull,
  price,
  record,
  refined,
  size,
  type Type,
  text,
  textLike,
  tuple,
  word,
} from "./schema.ts";
import { countWhile, Table } from "./table.ts";
import {
  MARKET_STATUSES,
  MATCHINGS,
  type Outcome,
  SELF_TRADE_POLICIES,
  SIDES,
  type Side,
  WINNING_OUTCOMES,
} from "./terms.ts";
import { complement, FULL_PRICE, type Millis, type Money, type Price, type Size, type Sum } from "./units.ts";

export const EVENT_TERMS = {
  title: text(),
  slug: text(),
  description: text(),
  category: text(),
  tags: list(text()),
  endDate: orNull(moment()),
} as const;

export const EventRecord = record({
  ...EVENT_TERMS,
  number: id(),
  createdAt: moment(),
  /** Numbers of its markets, in order of creation. */
  markets: array(id()),
  id: text(),
});
export type EventRecord = Infer<typeof EventRecord>;

/** Issued shares of both outcomes of a market, and the USDC that backs them. */
export const Supply = mutableRecord({
  yes: integer<Size>(),
  no: integer<Size>(),
  collateral: integer<Money>(),
});
export type Supply = Infer<typeof Supply>;

/** One order book of a market with what traded on it, in the book's own terms. */
const MarketBook = record(
  {},
  {
    changing: {
      /** Incremented with each change of the book. */
      sequence: integer(),
      updatedAt: moment(),
      /** The last trade with the side of its taker. */
      last: orNull(record({ price: price(), side: oneOf(...SIDES), at: moment() })),
    },
    derived: {
      /** Allocated when the first order rests, so that a market without orders costs almost nothing. */
      book: () => null as Book | null,
      history: () => new PriceHistory(),
    },
  },
);
export type MarketBook = Infer<typeof MarketBook>;

/** One book in YES terms when complementary, one for YES and one for NO when independent. */
type MarketBooks = readonly [MarketBook] | readonly [yes: MarketBook, no: MarketBook];

const tickSize = (): Type<Price> =>
  refined(integer<Price>(1, FULL_PRICE / 2), (ticks) =>
    check(FULL_PRICE % ticks === 0, `a divisor of ${FULL_PRICE}`, ticks),
  );
const tokenId = (): Type<string> => textLike(/^[1-9][0-9]{0,77}$/, "an integer in quotes");
const sum = (): Type<Sum> => mutableRecord({ usdc: integer(), micro: integer(0, 999_999) });

export const MARKET_TERMS = {
  event: id(),
  question: text(),
  slug: text(),
  description: text(),
  category: text(),
  tags: list(text()),
  /** A divisor of 10,000, so that every level has a mirror. */
  tickSize: tickSize(),
  minOrderSize: size(),
  feeRateBps: integer(0, 10_000),
  matching: oneOf(...MATCHINGS),
  selfTrade: oneOf(...SELF_TRADE_POLICIES),
  endDate: orNull(moment()),
} as const;

export const Market = refined(
  record(
    {
      number: id(),
      id: text(),
      ...MARKET_TERMS,
      conditionId: word(),
      tokenIds: tuple<readonly [yes: string, no: string]>("the ids of two tokens", tokenId(), tokenId()),
      createdAt: moment(),
    },
    {
      changing: {
        status: oneOf(...MARKET_STATUSES),
        resolvedAt: orNull(moment()),
        winningOutcome: orNull(oneOf(...WINNING_OUTCOMES)),
        /** Supply in the ledger, and the settled part on chain. */
        supply: Supply,
        onChain: Supply,
        /** Transaction that reports the resolution; 0 before. */
        report: integer(),
        /** USDC traded, once per fill, as the taker paid or received it. */
        volume: sum(),
        /** Sum of price x open size over the resting orders of the YES book. */
        liquidity: sum(),
        books: array(MarketBook) as Type<unknown> as Type<MarketBooks>,
      },
      derived: {
        /** Numbers of the market's trades, and of the trades whose taker traded YES; oldest first. */
        trades: () => new Table<number>(),
        yesTrades: () => new Table<number>(),
      },
    },
  ),
  ({ status, resolvedAt, winningOutcome, report, books, matching }) => {
    const isResolved = status === "RESOLVED";
    check((resolvedAt !== null) === isResolved, isResolved ? "a moment" : "null", resolvedAt, "resolvedAt");
    const winner = isResolved ? "YES or NO or SPLIT" : "null";
    check((winningOutcome !== null) === isResolved, winner, winningOutcome, "winningOutcome");
    check(report > 0 === isResolved, isResolved ? "a transaction" : "0", report, "report");
    const count = matching === "complementary" ? 1 : 2;
    check(books.length === count, count === 1 ? "one book" : "two books", books.length, "books");
  },
);
export type Market = Infer<typeof Market>;

export const emptySupply = (): Supply => ({ yes: 0 as Size, no: 0 as Size, collateral: 0 as Money });

export const tokenOf = (market: number, outcome: Outcome): number => market * 2 + (outcome === "YES" ? 0 : 1);
export const marketOfToken = (token: number): number => token >> 1;
export const outcomeOf = (token: number): Outcome => ((token & 1) === 0 ? "YES" : "NO");
export const tokenIdIn = (market: Market, outcome: Outcome): string =>
  market.tokenIds[outcome === "YES" ? 0 : 1];

/** Whether orders of this outcome rest mirrored in the book of the other outcome. */
export const isMirrored = (market: Market, outcome: Outcome): boolean =>
  outcome === "NO" && market.matching === "complementary";

/** Returns the book in which orders of this outcome rest. */
export const bookFor = (market: Market, outcome: Outcome): MarketBook =>
  (outcome === "NO" ? market.books[1] : undefined) ?? market.books[0];

/** Returns the direction of an order in the book's own terms: buying NO is selling YES. */
export const directionIn = (mirrored: boolean, side: Side): BookDirection =>
  (side === "BUY") === mirrored ? ASK : BID;

/** Converts a price to the book's own terms, or back. */
export const priceIn = (mirrored: boolean, price: Price): Price => (mirrored ? complement(price) : price);

/** Returns where an order rests: its book, and its direction and price level in the book's own terms. */
export function placeOf(
  market: Market,
  { token, side, price }: { readonly token: number; readonly side: Side; readonly price: Price },
) {
  const outcome = outcomeOf(token);
  const mirrored = isMirrored(market, outcome);
  const direction = directionIn(mirrored, side);
  const tick = priceIn(mirrored, price) / market.tickSize;
  return { bookState: bookFor(market, outcome), mirrored, direction, tick };
}
export type OrderPlace = ReturnType<typeof placeOf>;

/** Returns the number of price levels of a book: the multiples of the tick strictly between 0 and 1. */
export const levelsOf = (market: Market): number => FULL_PRICE / market.tickSize - 1;

/** Traded prices of one book: one point per second with trades, with the last price of that second. */
export class PriceHistory {
  #seconds = new Float64Array(0);
  #prices = new Uint16Array(0);
  #size = 0;

  static of({ seconds, prices }: PriceHistory["points"]): PriceHistory {
    const history = new PriceHistory();
    history.#seconds = seconds;
    history.#prices = prices;
    history.#size = seconds.length;
    return history;
  }

  /** Unix seconds with trades, and the last price of each. */
  get points() {
    return { seconds: this.#seconds.slice(0, this.#size), prices: this.#prices.slice(0, this.#size) };
  }

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
    return PriceHistory.of(this.points);
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
