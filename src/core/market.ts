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
export const MarketBook = record(
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
      /** Traded prices: one point per second with trades, from `addToHistory`. */
      history: () => new Table<number>(),
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

export const emptySupply = (): Supply => Supply.make({});

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

// Points of a price history: a Unix second with trades, and its last price.

export const secondOf = (point: number): number => Math.floor(point / FULL_PRICE);
export const priceAtPoint = (point: number): Price => (point % FULL_PRICE) as Price;

/** Returns the point as a number by which points are in order of time. */
const pointOf = (second: number, price: number): number => second * FULL_PRICE + price;

/** Adds a trade to the price history of its book; trades come in order of time. */
export function addToHistory(history: Table<number>, at: Millis, price: Price): void {
  const second = Math.floor(at / 1000);
  const { size } = history;
  if (size > 0 && secondOf(history.get(size)) === second) history.replace(size, pointOf(second, price));
  else history.add(pointOf(second, price));
}

/** Returns the number of points before a Unix second. */
export const pointsBefore = (history: Table<number>, second: number): number =>
  countWhile(history.size, (index) => history.get(index + 1) < pointOf(second, 0));

/** Returns the points of a history with all moments shifted by `by` ms, a multiple of 1,000. */
export const shiftedPoints = (points: Float64Array, by: number): Float64Array =>
  points.map((point) => point + pointOf(by / 1000, 0));
