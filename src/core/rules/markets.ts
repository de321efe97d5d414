import { ASK, BID } from "../book/book.ts";
import { conditionIdOf, tokenIdOf } from "../chain/contracts.ts";
import type { Command } from "../commands.ts";
import type { DomainEvent } from "../events.ts";
import { idOf } from "../ids.ts";
import { Market, MarketBook, tokenOf } from "../market.ts";
import { accepted, type RefusalOf, refused } from "../refusals.ts";
import type { State } from "../state.ts";
import { addInstantBlock } from "./blocks.ts";
import type { Appliers, Deciders } from "./rule-set.ts";
import { addContent } from "./transactions.ts";

/** Refusals of an order by the status of its market, in order of precedence, with a description of each check. */
export const STATUS_CHECKS = { MARKET_CLOSED: "whether the market is open" } as const;

type Status = Market["status"];
interface StatusRow {
  /** The statuses that can follow. */
  readonly next: readonly Status[];
  /** Why the market accepts no orders; null if it does. */
  readonly refusal: keyof typeof STATUS_CHECKS | null;
  /** Returns the command that gives a new market this status; null if it has it. */
  readonly commandTo: (market: Market) => Extract<Command, { readonly market: number }> | null;
}

/** All that depends on the status of a market. */
export const STATUSES: Readonly<Record<Status, StatusRow>> = {
  ACTIVE: { next: ["CLOSED", "RESOLVED"], refusal: null, commandTo: () => null },
  CLOSED: {
    next: ["RESOLVED"],
    refusal: "MARKET_CLOSED",
    commandTo: ({ number }) => ({ kind: "closeMarket", market: number }),
  },
  RESOLVED: {
    next: [],
    refusal: "MARKET_CLOSED",
    commandTo: ({ number: market, winningOutcome }) =>
      winningOutcome && { kind: "resolveMarket", market, winningOutcome },
  },
};

/** Returns why a market accepts no orders; null if it does. */
export function statusRefusal({ status, number }: Market): RefusalOf<keyof typeof STATUS_CHECKS> | null {
  const code = STATUSES[status].refusal;
  return code === null ? null : { code, market: number };
}

const canBecome = ({ status }: Market, next: Status): boolean => STATUSES[status].next.includes(next);

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

export const marketDeciders = {
  createEvent(state, { kind: _, ...facts }) {
    if (state.eventBySlug.has(facts.slug)) return refused({ code: "SLUG_TAKEN", slug: facts.slug });
    return accepted([{ kind: "eventCreated", event: state.events.next, ...facts }]);
  },
  createMarket(state, { kind: _, ...facts }) {
    const { event, slug } = facts;
    if (state.events.find(event) === undefined) return refused({ code: "EVENT_NOT_FOUND", event });
    if (state.marketBySlug.has(slug)) return refused({ code: "SLUG_TAKEN", slug });
    const transaction = state.chain.transactions.next;
    return accepted([{ kind: "marketCreated", market: state.markets.next, ...facts, transaction }]);
  },
  closeMarket(state, { market: number }) {
    const market = state.markets.find(number);
    if (market === undefined) return refused({ code: "MARKET_NOT_FOUND", market: number });
    if (!canBecome(market, "CLOSED")) return refused({ code: "MARKET_CLOSED", market: number });
    return accepted([...cancelAllEvents(state, market), { kind: "marketClosed", market: number }]);
  },
  /** Resolves an active or closed market and cancels resting orders. */
  resolveMarket(state, { market: number, winningOutcome }) {
    const market = state.markets.find(number);
    if (market === undefined) return refused({ code: "MARKET_NOT_FOUND", market: number });
    if (!canBecome(market, "RESOLVED")) return refused({ code: "MARKET_CLOSED", market: number });
    const transaction = state.chain.transactions.next;
    const events = cancelAllEvents(state, market);
    events.push({ kind: "marketResolved", market: number, winningOutcome, transaction });
    addInstantBlock(state, transaction, events);
    return accepted(events);
  },
} satisfies Partial<Deciders>;

export function indexMarket(state: State, { number, slug, conditionId, tokenIds }: Market): void {
  state.marketBySlug.set(slug, number);
  state.marketByConditionId.set(conditionId, number);
  state.tokenById.set(tokenIds[0], tokenOf(number, "YES"));
  state.tokenById.set(tokenIds[1], tokenOf(number, "NO"));
}

export const marketAppliers = {
  eventCreated(state, { kind: _, event, ...terms }, at) {
    const id = idOf(state.idPrefixes.event, event);
    state.events.addAs(event, { ...terms, number: event, createdAt: at, markets: [], id });
    state.eventBySlug.set(terms.slug, event);
  },
  marketCreated(state, { kind: _, market: number, transaction, ...terms }, at) {
    const conditionId = conditionIdOf(state.config.seed, number);
    const newBook = () => MarketBook.make({ updatedAt: at });
    const market = Market.make({
      number,
      id: idOf(state.idPrefixes.market, number),
      ...terms,
      conditionId,
      tokenIds: [tokenIdOf(conditionId, "YES"), tokenIdOf(conditionId, "NO")],
      createdAt: at,
      books: terms.matching === "complementary" ? [newBook()] : [newBook(), newBook()],
    });
    state.markets.addAs(number, market);
    state.events.get(market.event).markets.push(number);
    indexMarket(state, market);
    addContent(state, transaction, { kind: "prepare", at, market: number });
  },
  marketClosed(state, { market }) {
    state.markets.get(market).status = "CLOSED";
  },
  marketResolved(state, { market: number, winningOutcome, transaction }, at) {
    const market = state.markets.get(number);
    addContent(state, transaction, { kind: "report", at, market: number });
    market.report = transaction;
    market.status = "RESOLVED";
    market.winningOutcome = winningOutcome;
    market.resolvedAt = at;
  },
} satisfies Partial<Appliers>;
