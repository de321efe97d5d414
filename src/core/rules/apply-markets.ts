import type { EventCreated, MarketClosed, MarketCreated, MarketResolved } from "../events.ts";
import { conditionIdOf, tokenIdOf } from "../ids.ts";
import { type Market, type MarketBook, tokenOf } from "../market.ts";
import { Numbered } from "../numbered.ts";
import { PriceHistory } from "../price-history.ts";
import type { State } from "../state.ts";
import { emptySum } from "../sum.ts";
import { type Millis, size } from "../units.ts";

/** Adds an event. */
export function addEvent(state: State, { kind: _, event, ...facts }: EventCreated, at: Millis): void {
  const number = state.events.add({ ...facts, number: event, createdAt: at, markets: [] });
  if (number !== event) throw new Error(`event ${event} created as number ${number}`);
  state.eventBySlug.set(facts.slug, number);
}

/** Adds a market with its two tokens. */
export function addMarket(
  state: State,
  { kind: _, market: number, ...facts }: MarketCreated,
  at: Millis,
): void {
  const { seed } = state.config;
  const book = emptyBook(at);
  const market: Market = {
    ...facts,
    number,
    conditionId: conditionIdOf(seed, number),
    tokenIds: [tokenIdOf(seed, number, "YES"), tokenIdOf(seed, number, "NO")],
    createdAt: at,
    status: "ACTIVE",
    resolvedAt: null,
    winningOutcome: null,
    books: facts.matching === "complementary" ? [book] : [book, emptyBook(at)],
    supply: size(0),
    volume: emptySum(),
    liquidity: emptySum(),
    trades: new Numbered(),
    yesTrades: new Numbered(),
  };
  if (state.markets.add(market) !== number) throw new Error(`market ${number} is out of turn`);
  state.events.get(facts.event).markets.push(number);
  state.marketBySlug.set(facts.slug, number);
  state.marketByConditionId.set(market.conditionId, number);
  state.tokenById.set(market.tokenIds[0], tokenOf(number, "YES"));
  state.tokenById.set(market.tokenIds[1], tokenOf(number, "NO"));
}

/** Closes a market, or resolves it with its winner. */
export function endMarket(state: State, event: MarketClosed | MarketResolved, at: Millis): void {
  const market = state.markets.get(event.market);
  if (event.kind === "marketClosed") {
    market.status = "CLOSED";
    return;
  }
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
