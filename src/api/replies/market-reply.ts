import { idOf } from "../../core/ids.ts";
import type { EventRecord, Market } from "../../core/market.ts";
import { tokenIdIn } from "../../core/market.ts";
import type { Outcome } from "../../core/terms.ts";
import { toIso } from "../../core/time.ts";
import { addSum, emptySum, type Sum } from "../../core/units.ts";
import { lastTradeOf, priceOrNull, quotesOf, tokenPriceOf } from "./quotes.ts";
import { isoOrNull, marketIdOf, type View } from "./view.ts";

/** A market as lists show it (contract, section 6). */
export function marketReply(view: View, market: Market): object {
  const { state, numbers } = view;
  const { bid, ask } = quotesOf(market, "YES");
  return {
    id: marketIdOf(view, market),
    slug: market.slug,
    question: market.question,
    description: market.description,
    category: market.category,
    tags: market.tags,
    conditionId: market.conditionId,
    eventId: idOf(state.idPrefixes.event, market.event),
    status: market.status,
    active: market.status === "ACTIVE",
    tokens: [tokenReply(view, market, "YES"), tokenReply(view, market, "NO")],
    tickSize: numbers.price(market.tickSize),
    minOrderSize: numbers.size(market.minOrderSize),
    feeRateBps: market.feeRateBps,
    matching: market.matching,
    bestBid: priceOrNull(numbers, bid),
    bestAsk: priceOrNull(numbers, ask),
    lastTradePrice: priceOrNull(numbers, lastTradeOf(market, "YES")?.price ?? null),
    volume: numbers.total(market.volume),
    liquidity: numbers.total(market.liquidity),
    createdAt: toIso(market.createdAt),
    endDate: isoOrNull(market.endDate),
    resolvedAt: isoOrNull(market.resolvedAt),
    winningOutcome: market.winningOutcome,
  };
}

/** A market with its parent event. */
export function marketDetail(view: View, market: Market): object {
  return { ...marketReply(view, market), event: eventReply(view, view.state.events.get(market.event)) };
}

/** An event as lists show it; its quantities are the sums of its markets. */
export function eventReply(view: View, event: EventRecord): object {
  const { state, numbers } = view;
  const markets = event.markets.map((number) => state.markets.get(number));
  const sum = (of: (market: Market) => Sum): Sum => {
    const total = emptySum();
    for (const market of markets) addSum(total, of(market));
    return total;
  };
  return {
    id: idOf(state.idPrefixes.event, event.number),
    slug: event.slug,
    title: event.title,
    description: event.description,
    category: event.category,
    tags: event.tags,
    active: isActive(view, event),
    volume: numbers.total(sum(({ volume }) => volume)),
    liquidity: numbers.total(sum(({ liquidity }) => liquidity)),
    marketCount: markets.length,
    createdAt: toIso(event.createdAt),
    endDate: isoOrNull(event.endDate),
  };
}

/** An event with all its markets. */
export function eventDetail(view: View, event: EventRecord): object {
  const markets = event.markets.map((number) => marketReply(view, view.state.markets.get(number)));
  return { ...eventReply(view, event), markets };
}

/** Whether one of the event's markets is open. */
export const isActive = ({ state }: View, event: EventRecord): boolean =>
  event.markets.some((number) => state.markets.get(number).status === "ACTIVE");

function tokenReply({ numbers }: View, market: Market, outcome: Outcome): object {
  return {
    tokenId: tokenIdIn(market, outcome),
    outcome,
    price: tokenPriceOf(numbers, market, outcome),
    winner: market.winningOutcome === null ? null : market.winningOutcome === outcome,
  };
}
