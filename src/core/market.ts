import type { Book, BookDirection, SelfTradePolicy } from "./book/book.ts";
import { ASK, BID } from "./book/book.ts";
import type { Numbered } from "./numbered.ts";
import type { PriceHistory } from "./price-history.ts";
import type { Matching, Outcome, Side, WinningOutcome } from "./terms.ts";
import type { Millis, Money, Price, Size, Sum } from "./units.ts";
import { complement, FULL_PRICE } from "./units.ts";

export interface EventRecord {
  readonly number: number;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly createdAt: Millis;
  readonly endDate: Millis | null;
  /** Numbers of its markets, in order of creation. */
  readonly markets: number[];
}

export type MarketStatus = "ACTIVE" | "CLOSED" | "RESOLVED";

/** What a market has issued: shares of both outcomes, and the USDC locked behind them. */
export interface Supply {
  yes: Size;
  no: Size;
  collateral: Money;
}

export interface LastTrade {
  readonly price: Price;
  /** The taker's side. */
  readonly side: Side;
  readonly at: Millis;
}

/** One order book of a market with what traded on it, in the book's own terms. */
export interface MarketBook {
  /** Made when the first order rests: a market that never trades costs almost nothing. */
  book: Book | null;
  /** One more with each change of the book. */
  sequence: number;
  updatedAt: Millis;
  last: LastTrade | null;
  readonly history: PriceHistory;
}

export interface Market {
  readonly number: number;
  readonly event: number;
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly conditionId: string;
  readonly tokenIds: readonly [yes: string, no: string];
  readonly tickSize: Price;
  readonly minOrderSize: Size;
  readonly feeRateBps: number;
  readonly matching: Matching;
  readonly selfTrade: SelfTradePolicy;
  readonly createdAt: Millis;
  readonly endDate: Millis | null;
  status: MarketStatus;
  resolvedAt: Millis | null;
  winningOutcome: WinningOutcome | null;
  /** One book in YES terms when complementary, one for YES and one for NO when independent. */
  readonly books: readonly [MarketBook] | readonly [yes: MarketBook, no: MarketBook];
  /** What the ledger counts as issued, and what of it the settlement chain has. */
  readonly supply: Supply;
  readonly onChain: Supply;
  /** The transaction that reports how it ended; 0 before. */
  report: number;
  /** USDC traded, once per fill, as the taker paid or received it. */
  readonly volume: Sum;
  /** Price x open size of all that rests in the YES book. */
  readonly liquidity: Sum;
  /** Numbers of the market's trades, oldest first, and of those whose taker traded YES. */
  readonly trades: Numbered<number>;
  readonly yesTrades: Numbered<number>;
}

/** Nothing issued. */
export const emptySupply = (): Supply => ({ yes: 0 as Size, no: 0 as Size, collateral: 0 as Money });

/** A token is a market and an outcome in one integer. */
export const tokenOf = (market: number, outcome: Outcome): number => market * 2 + (outcome === "YES" ? 0 : 1);
/** The market of a token. */
export const marketOfToken = (token: number): number => token >> 1;
/** The outcome a token stands for. */
export const outcomeOf = (token: number): Outcome => ((token & 1) === 0 ? "YES" : "NO");
/** The id of a token of this market. */
export const tokenIdIn = (market: Market, outcome: Outcome): string =>
  market.tokenIds[outcome === "YES" ? 0 : 1];

/** Whether orders of this outcome live in the book of the other one, as its mirror. */
export const isMirrored = (market: Market, outcome: Outcome): boolean =>
  outcome === "NO" && market.matching === "complementary";

/** The book that orders of this outcome live in. */
export const bookFor = (market: Market, outcome: Outcome): MarketBook =>
  (outcome === "NO" ? market.books[1] : undefined) ?? market.books[0];

/** The direction of an order in the book's own terms: buying NO is selling YES. */
export const directionIn = (mirrored: boolean, side: Side): BookDirection =>
  (side === "BUY") === mirrored ? ASK : BID;

/** A price in the book's own terms, and back. */
export const priceIn = (mirrored: boolean, price: Price): Price => (mirrored ? complement(price) : price);

/** How many price levels a book of this market has: the multiples of the tick strictly between 0 and 1. */
export const levelsOf = (market: Market): number => FULL_PRICE / market.tickSize - 1;
