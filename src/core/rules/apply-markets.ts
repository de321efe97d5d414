import { conditionIdOf, tokenIdOf } from "../chain/position-ids.ts";
import type { EventCreated, MarketClosed, MarketCreated, MarketResolved } from "../events.ts";
import { emptySupply, type Market, type MarketBook, tokenOf } from "../market.ts";
import { Numbered } from "../numbered.ts";
import { PriceHistory } from "../price-history.ts";
import type { State } from "../state.ts";
import { emptySum } from "../sum.ts";
import type { Millis } from "../units.ts";
import { addContent } from "./chain/apply-transactions.ts";

// Each record is written out: the order of its facts, which the state's hash sees, is that of no command.

/** Adds an event. */
export function addEvent(state: State, event: EventCreated, at: Millis): void {
  const number = state.events.add({
    title: event.title,
    slug: event.slug,
    description: event.description,
    category: event.category,
    tags: event.tags,
    endDate: event.endDate,
    number: event.event,
    createdAt: at,
    markets: [],
  });
  if (number !== event.event) throw new Error(`event ${event.event} created as number ${number}`);
  state.eventBySlug.set(event.slug, number);
}

/** Adds a market with its two tokens. */
export function addMarket(state: State, event: MarketCreated, at: Millis): void {
  const { seed } = state.config;
  const { market: number } = event;
  const book = emptyBook(at);
  const conditionId = conditionIdOf(seed, number);
  const market: Market = {
    event: event.event,
    question: event.question,
    slug: event.slug,
    description: event.description,
    category: event.category,
    tags: event.tags,
    tickSize: event.tickSize,
    minOrderSize: event.minOrderSize,
    feeRateBps: event.feeRateBps,
    matching: event.matching,
    selfTrade: event.selfTrade,
    endDate: event.endDate,
    number,
    conditionId,
    tokenIds: [tokenIdOf(conditionId, "YES"), tokenIdOf(conditionId, "NO")],
    createdAt: at,
    status: "ACTIVE",
    resolvedAt: null,
    winningOutcome: null,
    books: event.matching === "complementary" ? [book] : [book, emptyBook(at)],
    supply: emptySupply(),
    onChain: emptySupply(),
    report: 0,
    volume: emptySum(),
    liquidity: emptySum(),
    trades: new Numbered(),
    yesTrades: new Numbered(),
  };
  if (state.markets.add(market) !== number) throw new Error(`market ${number} is out of turn`);
  state.events.get(event.event).markets.push(number);
  state.marketBySlug.set(event.slug, number);
  state.marketByConditionId.set(market.conditionId, number);
  state.tokenById.set(market.tokenIds[0], tokenOf(number, "YES"));
  state.tokenById.set(market.tokenIds[1], tokenOf(number, "NO"));
  addContent(state, event.transaction, { kind: "prepare", at, market: number });
}

/** Closes a market, or resolves it with its winner. */
export function endMarket(state: State, event: MarketClosed | MarketResolved, at: Millis): void {
  const market = state.markets.get(event.market);
  if (event.kind === "marketClosed") {
    market.status = "CLOSED";
    return;
  }
  addContent(state, event.transaction, { kind: "report", at, market: market.number });
  market.report = event.transaction;
  market.status = "RESOLVED";
  market.winningOutcome = event.winningOutcome;
  market.resolvedAt = at;
}

const emptyBook = (at: Millis): MarketBook => ({
  book: null,
  sequence: 0,
  updatedAt: at,
  last: null,
  history: new PriceHistory(),
});
