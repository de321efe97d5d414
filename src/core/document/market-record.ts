import type { SelfTradePolicy } from "../book/book.ts";
import type { EventRecord, LastTrade, Market, MarketBook, MarketStatus, Supply } from "../market.ts";
import { Numbered } from "../numbered.ts";
import { PriceHistory } from "../price-history.ts";
import type { Matching, Side, WinningOutcome } from "../terms.ts";
import type { Sum } from "../units.ts";
import { FULL_PRICE, MAX_SIZE, type Money, type Price, type Size } from "../units.ts";
import type { Where } from "./document-error.ts";
import { Fields } from "./fields.ts";

const EVENT_KEYS = [
  "title",
  "slug",
  "description",
  "category",
  "tags",
  "endDate",
  "number",
  "createdAt",
  "markets",
  "id",
] as const;

const MARKET_KEYS = [
  "number",
  "id",
  "event",
  "question",
  "slug",
  "description",
  "category",
  "tags",
  "tickSize",
  "minOrderSize",
  "feeRateBps",
  "matching",
  "selfTrade",
  "endDate",
  "conditionId",
  "tokenIds",
  "createdAt",
  "status",
  "resolvedAt",
  "winningOutcome",
  "supply",
  "onChain",
  "report",
  "volume",
  "liquidity",
  "books",
] as const;

const BOOK_KEYS = ["sequence", "updatedAt", "last"] as const;
const LAST_KEYS = ["price", "side", "at"] as const;
const SUPPLY_KEYS = ["yes", "no", "collateral"] as const;
const SUM_KEYS = ["usdc", "micro"] as const;
const MATCHINGS: readonly Matching[] = ["complementary", "independent"];
const POLICIES: readonly SelfTradePolicy[] = ["allow", "cancel-taker", "cancel-maker", "cancel-both"];
const STATUSES: readonly MarketStatus[] = ["ACTIVE", "CLOSED", "RESOLVED"];
const WINNERS: readonly WinningOutcome[] = ["YES", "NO", "SPLIT"];
const SIDES: readonly Side[] = ["BUY", "SELL"];
const TOKEN = /^[1-9][0-9]{0,77}$/;
const HIGHEST_FEE = 10_000;
const MOST_MICRO = 999_999;

/** A record with the id that it is shown by. */
export interface Identified<Record> {
  readonly record: Record;
  readonly id: string;
}

/** An event as its record tells it. @throws DocumentError where it is none. */
export function readEvent(value: unknown, where: Where, number: number): Identified<EventRecord> {
  const fields = new Fields(value, where, "", EVENT_KEYS);
  const record: EventRecord = {
    title: fields.text("title"),
    slug: fields.text("slug"),
    description: fields.text("description"),
    category: fields.text("category"),
    tags: fields.texts("tags"),
    endDate: fields.millisOrNull("endDate"),
    number: fields.integer("number", number, number),
    createdAt: fields.millis("createdAt"),
    markets: fields.integers("markets", 1),
  };
  return { record, id: fields.text("id") };
}

/** A market as its record tells it, without books, trades and history. @throws DocumentError where it is none. */
export function readMarket(value: unknown, where: Where, number: number): Identified<Market> {
  const fields = new Fields(value, where, "", MARKET_KEYS);
  const tickSize = fields.integer("tickSize", 1, FULL_PRICE / 2) as Price;
  fields.demand(FULL_PRICE % tickSize === 0, "tickSize", "a divisor of 10000");
  const matching = fields.oneOf("matching", MATCHINGS);
  const record: Market = {
    event: fields.integer("event", 1),
    question: fields.text("question"),
    slug: fields.text("slug"),
    description: fields.text("description"),
    category: fields.text("category"),
    tags: fields.texts("tags"),
    tickSize,
    minOrderSize: fields.integer("minOrderSize", 0, MAX_SIZE) as Size,
    feeRateBps: fields.integer("feeRateBps", 0, HIGHEST_FEE),
    matching,
    selfTrade: fields.oneOf("selfTrade", POLICIES),
    endDate: fields.millisOrNull("endDate"),
    number: fields.integer("number", number, number),
    conditionId: fields.word("conditionId"),
    tokenIds: readTokenIds(fields),
    createdAt: fields.millis("createdAt"),
    status: fields.oneOf("status", STATUSES),
    resolvedAt: fields.millisOrNull("resolvedAt"),
    winningOutcome: fields.oneOfOrNull("winningOutcome", WINNERS),
    books: readBooks(fields, matching),
    supply: readSupply(fields.fields("supply", SUPPLY_KEYS)),
    onChain: readSupply(fields.fields("onChain", SUPPLY_KEYS)),
    report: fields.integer("report"),
    volume: readSum(fields.fields("volume", SUM_KEYS)),
    liquidity: readSum(fields.fields("liquidity", SUM_KEYS)),
    trades: new Numbered(),
    yesTrades: new Numbered(),
  };
  const isResolved = record.status === "RESOLVED";
  fields.demand((record.resolvedAt !== null) === isResolved, "resolvedAt", momentIf(isResolved));
  fields.demand((record.winningOutcome !== null) === isResolved, "winningOutcome", winnerIf(isResolved));
  fields.demand(record.report > 0 === isResolved, "report", isResolved ? "a transaction" : "0");
  return { record, id: fields.text("id") };
}

const momentIf = (isResolved: boolean): string => (isResolved ? "a moment" : "null");
const winnerIf = (isResolved: boolean): string => (isResolved ? WINNERS.join(" or ") : "null");

function readTokenIds(fields: Fields<"tokenIds">): Market["tokenIds"] {
  const [yes, no, ...others] = fields.texts("tokenIds", TOKEN, "an integer in quotes");
  if (yes === undefined || no === undefined || others.length > 0)
    throw fields.wrong("tokenIds", "the ids of two tokens");
  return [yes, no];
}

function readBooks(fields: Fields<"books">, matching: Matching): Market["books"] {
  const [first, second, ...others] = fields.list("books", (item, path) => readBook(item, fields.where, path));
  const isRight = matching === "complementary" ? second === undefined : second !== undefined;
  if (first === undefined || !isRight || others.length > 0) {
    throw fields.wrong("books", matching === "complementary" ? "one book" : "two books");
  }
  return second === undefined ? [first] : [first, second];
}

function readBook(value: unknown, where: Where, path: string): MarketBook {
  const fields = new Fields(value, where, path, BOOK_KEYS);
  return {
    book: null,
    sequence: fields.integer("sequence"),
    updatedAt: fields.millis("updatedAt"),
    last: fields.isNull("last") ? null : readLast(fields.fields("last", LAST_KEYS)),
    history: new PriceHistory(),
  };
}

const readLast = (fields: Fields<keyof LastTrade>): LastTrade => ({
  price: fields.integer("price", 1, FULL_PRICE - 1) as Price,
  side: fields.oneOf("side", SIDES),
  at: fields.millis("at"),
});

const readSupply = (fields: Fields<keyof Supply>): Supply => ({
  yes: fields.integer("yes") as Size,
  no: fields.integer("no") as Size,
  collateral: fields.integer("collateral") as Money,
});

const readSum = (fields: Fields<keyof Sum>): Sum => ({
  usdc: fields.integer("usdc"),
  micro: fields.integer("micro", 0, MOST_MICRO),
});
