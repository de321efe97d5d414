import { ASK, BID } from "../book/book.ts";
import { conditionIdOf, tokenIdOf } from "../chain/contracts.ts";
import type { Command, CommandOf } from "../commands.ts";
import type { DomainEvent, EventOf } from "../events.ts";
import { idOf } from "../ids.ts";
import { emptySupply, type Market, type MarketBook, PriceHistory, tokenOf } from "../market.ts";
import { accepted, type Decision, type RefusalOf, refused } from "../refusals.ts";
import type { State } from "../state.ts";
import { Table } from "../table.ts";
import { emptySum, type Millis } from "../units.ts";
import { addInstantBlock } from "./blocks.ts";
import { addContent } from "./transactions.ts";

/** Creates an event that markets can belong to. */
function createEvent(state: State, { kind: _, ...facts }: CommandOf<"createEvent">): Decision {
  if (state.eventBySlug.has(facts.slug)) return refused({ code: "SLUG_TAKEN", slug: facts.slug });
  return accepted([{ kind: "eventCreated", event: state.events.next, ...facts }]);
}

/** Creates a market of an event, immediately active. */
function createMarket(state: State, { kind: _, ...facts }: CommandOf<"createMarket">): Decision {
  if (state.events.find(facts.event) === undefined) {
    return refused({ code: "EVENT_NOT_FOUND", event: facts.event });
  }
  if (state.marketBySlug.has(facts.slug)) return refused({ code: "SLUG_TAKEN", slug: facts.slug });
  return accepted([
    {
      kind: "marketCreated",
      market: state.markets.next,
      ...facts,
      transaction: state.chain.transactions.next,
    },
  ]);
}

/** Refusals by market status in order of precedence, with a description of each check. */
export const STATUS_CHECKS = { MARKET_CLOSED: "whether the market is open" } as const;

/** Returns why a market accepts no orders; null if it does. */
export const statusRefusal = ({ status, number }: Market): RefusalOf<keyof typeof STATUS_CHECKS> | null =>
  status === "ACTIVE" ? null : { code: "MARKET_CLOSED", market: number };

/** Ends trading and cancels resting orders. */
function closeMarket(state: State, command: CommandOf<"closeMarket">): Decision {
  const market = state.markets.find(command.market);
  if (market === undefined) return refused({ code: "MARKET_NOT_FOUND", market: command.market });
  if (market.status !== "ACTIVE") return refused({ code: "MARKET_CLOSED", market: market.number });
  const events = cancelAllEvents(state, market);
  events.push({ kind: "marketClosed", market: market.number });
  return accepted(events);
}

/** Resolves an active or closed market and cancels resting orders. */
function resolveMarket(state: State, command: CommandOf<"resolveMarket">): Decision {
  const market = state.markets.find(command.market);
  if (market === undefined) return refused({ code: "MARKET_NOT_FOUND", market: command.market });
  if (market.status === "RESOLVED") return refused({ code: "MARKET_CLOSED", market: market.number });
  const transaction = state.chain.transactions.next;
  const { winningOutcome } = command;
  const events = cancelAllEvents(state, market);
  events.push({ kind: "marketResolved", market: market.number, winningOutcome, transaction });
  addInstantBlock(state, transaction, events);
  return accepted(events);
}

type MarketCommand = Extract<Command, { readonly market: number }>;

/** Returns the command that gives a new market the status of this one; null if it is still active. */
export function closingCommandOf({ number: market, status, winningOutcome }: Market): MarketCommand | null {
  switch (status) {
    case "ACTIVE":
      return null;
    case "CLOSED":
      return { kind: "closeMarket", market };
    case "RESOLVED":
      return winningOutcome === null ? null : { kind: "resolveMarket", market, winningOutcome };
  }
}

/** Returns events that cancel all resting orders of a market, oldest first. */
function cancelAllEvents(state: State, market: Market): DomainEvent[] {
  const orders: number[] = [];
  for (const { book } of market.books) {
    const collect = (slot: number): void => void orders.push(state.pool.orderIn(slot));
    book?.queue(BID, collect);
    book?.queue(ASK, collect);
  }
  orders.sort((a, b) => a - b);
  return orders.map((order) => ({ kind: "orderCanceled", order, reason: "MARKET_CLOSED" }));
}

function addEvent(state: State, { kind: _, event, ...terms }: EventOf<"eventCreated">, at: Millis): void {
  const id = idOf(state.idPrefixes.event, event);
  state.events.addAs(event, { ...terms, number: event, createdAt: at, markets: [], id });
  state.eventBySlug.set(terms.slug, event);
}

function addMarket(
  state: State,
  { kind: _, market: number, transaction, ...terms }: EventOf<"marketCreated">,
  at: Millis,
): void {
  const conditionId = conditionIdOf(state.config.seed, number);
  const market: Market = {
    number,
    id: idOf(state.idPrefixes.market, number),
    ...terms,
    conditionId,
    tokenIds: [tokenIdOf(conditionId, "YES"), tokenIdOf(conditionId, "NO")],
    createdAt: at,
    status: "ACTIVE",
    resolvedAt: null,
    winningOutcome: null,
    supply: emptySupply(),
    onChain: emptySupply(),
    report: 0,
    volume: emptySum(),
    liquidity: emptySum(),
    books: terms.matching === "complementary" ? [emptyBook(at)] : [emptyBook(at), emptyBook(at)],
    trades: new Table(),
    yesTrades: new Table(),
  };
  state.markets.addAs(number, market);
  state.events.get(market.event).markets.push(number);
  indexMarket(state, market);
  addContent(state, transaction, { kind: "prepare", at, market: number });
}

/** Adds a market to the indexes. */
export function indexMarket(state: State, { number, slug, conditionId, tokenIds }: Market): void {
  state.marketBySlug.set(slug, number);
  state.marketByConditionId.set(conditionId, number);
  state.tokenById.set(tokenIds[0], tokenOf(number, "YES"));
  state.tokenById.set(tokenIds[1], tokenOf(number, "NO"));
}

function endTrading(state: State, { market }: EventOf<"marketClosed">): void {
  state.markets.get(market).status = "CLOSED";
}

function applyResolution(state: State, event: EventOf<"marketResolved">, at: Millis): void {
  const market = state.markets.get(event.market);
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

export const marketDeciders = { createEvent, createMarket, closeMarket, resolveMarket };

export const marketAppliers = {
  eventCreated: addEvent,
  marketCreated: addMarket,
  marketClosed: endTrading,
  marketResolved: applyResolution,
};
