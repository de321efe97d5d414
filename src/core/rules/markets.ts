import { ASK, BID } from "../book/book.ts";
import type { CloseMarket, CreateEvent, CreateMarket, ResolveMarket } from "../commands.ts";
import { accepted, type Decision, refused } from "../decision.ts";
import type { DomainEvent } from "../events.ts";
import type { Market } from "../market.ts";
import type { State } from "../state.ts";
import { settleAtOnce } from "./chain/produce-block.ts";

/** Creates an event that markets can belong to. */
export function createEvent(state: State, { kind: _, ...facts }: CreateEvent): Decision {
  if (state.eventBySlug.has(facts.slug)) return refused({ code: "SLUG_TAKEN", slug: facts.slug });
  return accepted([{ kind: "eventCreated", event: state.events.next, ...facts }]);
}

/** Creates a market of an event, open at once. */
export function createMarket(state: State, { kind: _, ...facts }: CreateMarket): Decision {
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

/** Ends trading; what rests is canceled. */
export function closeMarket(state: State, command: CloseMarket): Decision {
  const market = state.markets.find(command.market);
  if (market === undefined) return refused({ code: "MARKET_NOT_FOUND", market: command.market });
  if (market.status !== "ACTIVE") return refused({ code: "MARKET_CLOSED", market: market.number });
  const events = cancelingAll(state, market);
  events.push({ kind: "marketClosed", market: market.number });
  return accepted(events);
}

/** Names the winner of an open or closed market; what rests is canceled. */
export function resolveMarket(state: State, command: ResolveMarket): Decision {
  const market = state.markets.find(command.market);
  if (market === undefined) return refused({ code: "MARKET_NOT_FOUND", market: command.market });
  if (market.status === "RESOLVED") return refused({ code: "MARKET_CLOSED", market: market.number });
  const transaction = state.chain.transactions.next;
  const { winningOutcome } = command;
  const events = cancelingAll(state, market);
  events.push({ kind: "marketResolved", market: market.number, winningOutcome, transaction });
  settleAtOnce(state, transaction, events);
  return accepted(events);
}

/** Cancels everything that rests in a market, oldest first. */
function cancelingAll(state: State, market: Market): DomainEvent[] {
  const orders: number[] = [];
  for (const { book } of market.books) {
    const note = (slot: number): void => void orders.push(state.pool.orderIn(slot));
    book?.queue(BID, note);
    book?.queue(ASK, note);
  }
  orders.sort((a, b) => a - b);
  return orders.map((order) => ({ kind: "orderCanceled", order, reason: "MARKET_CLOSED" }));
}
