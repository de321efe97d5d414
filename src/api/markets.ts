import * as z from "zod";
import {
  bookFor,
  type EventRecord,
  type Market,
  pointsBefore,
  priceAtPoint,
  secondOf,
  tokenIdIn,
} from "../core/market.ts";
import type { Trade } from "../core/order.ts";
import {
  MARKET_STATUSES,
  MATCHINGS,
  type Outcome,
  SELF_TRADE_POLICIES,
  SLUG,
  TICK_SIZES,
} from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import { addSum, emptySum, MAX_SHARES, type Sum } from "../core/units.ts";
import {
  endpoints,
  flag,
  integer,
  oneOf,
  paged,
  type Read,
  searchWords,
  text,
  unixSeconds,
} from "./endpoint.ts";
import { lastTradeOf, priceFor, priceOrNull, quotesOf, tokenPriceOf } from "./order-book.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, named, page, type ReplyOf } from "./schemas.ts";
import { tradeReply } from "./trading.ts";
import { asHex, isoOrNull, type View } from "./view.ts";

const eventShape = {
  id: field.uuid,
  slug: field.slug,
  title: z.string(),
  description: z.string(),
  category: z.string(),
  tags: z.array(field.slug),
  active: z.boolean(),
  volume: field.usdc,
  liquidity: field.usdc,
  marketCount: field.count,
  createdAt: field.moment,
  endDate: field.moment.nullable(),
};

const token = exactly("Token", {
  tokenId: field.tokenId,
  outcome: field.outcome,
  price: field.price.nullable(),
  winner: z.boolean().nullable(),
});

const marketShape = {
  id: field.uuid,
  slug: field.slug,
  question: z.string(),
  description: z.string(),
  category: z.string(),
  tags: z.array(field.slug),
  conditionId: field.hash32,
  eventId: field.uuid,
  status: z.enum(MARKET_STATUSES),
  active: z.boolean(),
  tokens: z.array(token).length(2),
  tickSize: field.price,
  minOrderSize: field.shares,
  feeRateBps: field.count,
  matching: z.enum(MATCHINGS),
  bestBid: field.price.nullable(),
  bestAsk: field.price.nullable(),
  lastTradePrice: field.price.nullable(),
  volume: field.usdc,
  liquidity: field.usdc,
  createdAt: field.moment,
  endDate: field.moment.nullable(),
  resolvedAt: field.moment.nullable(),
  winningOutcome: field.winningOutcome.nullable(),
};

const eventSchema = exactly("Event", eventShape);

const marketSchema = exactly("Market", marketShape, "Quotes are the YES token's.");

const marketDetailSchema = exactly("MarketDetail", { ...marketShape, event: eventSchema });

const eventDetailSchema = exactly("EventDetail", { ...eventShape, markets: z.array(marketSchema) });

const pricesHistorySchema = exactly("PricesHistory", {
  data: z.array(exactly("PricePoint", { t: field.unixSeconds, p: field.price })),
  tokenId: field.tokenId,
});

const marketTradeSchema = exactly("MarketTrade", {
  id: field.uuid,
  tokenId: field.tokenId,
  outcome: field.outcome,
  side: field.side,
  price: field.price,
  size: field.shares,
  matchType: field.matchType,
  status: field.settlementStatus,
  transactionHash: field.hash32.nullable(),
  createdAt: field.moment,
});

const slugText = z.string().max(128).regex(SLUG, "expected lower-case words and digits joined by hyphens");

const tags = z.array(slugText).max(32).optional();

const prose = z.string().max(4_000).optional();

const title = z.string().trim().min(1, "expected a text that is not blank").max(300);

const endDate = z.string(field.TIME).nullish().describe("ISO-8601 with a zone.");

const active = flag("true: only open ones; false: only others.");

const tag = text("Only those with this category or tag slug.");

/** GET /api: public market data (specification, "Market data"). */
export const marketDataEndpoints = endpoints("public", "Market data", {
  listMarkets: {
    route: "GET /api/markets",
    summary: "Markets; volume, liquidity and createdAt highest first, endDate soonest first",
    query: {
      ...paged(50, 100),
      active,
      sort: oneOf(["volume", "liquidity", "createdAt", "endDate"], "Sort key; default createdAt."),
      tag,
    },
    reply: page("MarketPage", marketSchema),
  },
  getMarket: {
    route: "GET /api/markets/{idOrSlug}",
    summary: "One market with its outcome tokens and parent event",
    reply: marketDetailSchema,
    errors: ["MARKET_NOT_FOUND"],
  },
  getPricesHistory: {
    route: "GET /api/markets/{idOrSlug}/prices-history",
    summary: "Traded prices of one token over time, oldest first",
    query: {
      tokenId: text("One of the market's tokens; default the YES token."),
      fidelity: integer(1, 10_000, "At most this many points, sampled uniformly over the range."),
      startTs: unixSeconds("Lower bound in Unix seconds, inclusive."),
      endTs: unixSeconds("Upper bound in Unix seconds, inclusive."),
    },
    reply: pricesHistorySchema,
    errors: ["MARKET_NOT_FOUND", "TOKEN_NOT_FOUND", "TOKEN_NOT_IN_MARKET"],
  },
  listMarketTrades: {
    route: "GET /api/markets/{idOrSlug}/trades",
    summary: "Latest trades of a market, from the taker's side",
    query: {
      ...paged(50, 500),
      all: flag("true: takers of both outcomes; default only of YES."),
    },
    reply: page("MarketTradePage", marketTradeSchema),
    errors: ["MARKET_NOT_FOUND"],
  },
  listEvents: {
    route: "GET /api/events",
    summary: "Events, newest first",
    query: { ...paged(50, 100), active, tag },
    reply: page("EventPage", eventSchema),
  },
  getEvent: {
    route: "GET /api/events/{idOrSlug}",
    summary: "One event with all its markets",
    reply: eventDetailSchema,
    errors: ["EVENT_NOT_FOUND"],
  },
  search: {
    route: "GET /api/search",
    summary: "Full-text search across markets and events, best first",
    query: { q: searchWords, ...paged(20, 100) },
    reply: page(
      "SearchPage",
      named(
        "SearchResult",
        z.union([
          exactly("EventResult", { type: z.literal("event"), event: eventSchema }),
          exactly("MarketResult", { type: z.literal("market"), market: marketSchema }),
        ]),
      ),
    ),
    errors: ["QUERY_REQUIRED"],
  },
});

/** /sim/events and /sim/markets: create events; create, close and resolve markets (contract, section 7). */
export const marketControlEndpoints = endpoints("control", "Control plane", {
  createEvent: {
    route: "POST /sim/events",
    summary: "Create an event",
    body: objectBody("NewEvent", {
      title,
      slug: slugText.optional(),
      description: prose,
      category: slugText.optional(),
      tags,
      endDate,
    }),
    reply: eventSchema,
  },
  createMarket: {
    route: "POST /sim/markets",
    summary: "Create a market, open at once",
    body: objectBody("NewMarket", {
      question: title,
      eventId: z.string().optional().describe("Default: a new event of the same name."),
      slug: slugText.optional(),
      description: prose,
      category: slugText.optional(),
      tickSize: z.literal(TICK_SIZES).default(0.01),
      minOrderSize: z.number().gt(0).max(MAX_SHARES).default(1),
      feeRateBps: z.int().min(0).max(10_000).default(0),
      matching: z.enum(MATCHINGS).default("complementary"),
      selfTrade: z.enum(SELF_TRADE_POLICIES).default("allow"),
      endDate,
      tags,
    }),
    reply: marketSchema,
    errors: ["EVENT_NOT_FOUND"],
  },
  closeMarket: {
    route: "POST /sim/markets/{idOrSlug}/close",
    summary: "End trading; resting orders are canceled",
    reply: marketSchema,
    errors: ["MARKET_NOT_FOUND", "MARKET_CLOSED"],
  },
  resolveMarket: {
    route: "POST /sim/markets/{idOrSlug}/resolve",
    summary: "Set the winning outcome; resting orders are canceled",
    body: objectBody("Resolution", { winningOutcome: field.winningOutcome }),
    reply: marketSchema,
    errors: ["MARKET_NOT_FOUND", "MARKET_CLOSED"],
  },
});

/** Builds a market as in lists (contract, section 6). */
export function marketReply(view: View, market: Market): ReplyOf<typeof marketSchema> {
  const { state, numbers } = view;
  const { bid, ask } = quotesOf(market, "YES");
  return {
    id: market.id,
    slug: market.slug,
    question: market.question,
    description: market.description,
    category: market.category,
    tags: market.tags,
    conditionId: asHex(market.conditionId),
    eventId: state.events.get(market.event).id,
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

export function marketDetail(view: View, market: Market): ReplyOf<typeof marketDetailSchema> {
  return { ...marketReply(view, market), event: eventReply(view, view.state.events.get(market.event)) };
}

/** Builds an event as in lists; its quantities are the sums of its markets. */
export function eventReply(view: View, event: EventRecord): ReplyOf<typeof eventSchema> {
  const { state, numbers } = view;
  const markets = event.markets.map((number) => state.markets.get(number));
  const sum = (of: (market: Market) => Sum): Sum => {
    const total = emptySum();
    for (const market of markets) addSum(total, of(market));
    return total;
  };
  return {
    id: event.id,
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

export function eventDetail(view: View, event: EventRecord): ReplyOf<typeof eventDetailSchema> {
  const markets = event.markets.map((number) => marketReply(view, view.state.markets.get(number)));
  return { ...eventReply(view, event), markets };
}

export const isActive = ({ state }: View, event: EventRecord): boolean =>
  event.markets.some((number) => state.markets.get(number).status === "ACTIVE");

function tokenReply({ numbers }: View, market: Market, outcome: Outcome): ReplyOf<typeof token> {
  return {
    tokenId: tokenIdIn(market, outcome),
    outcome,
    price: tokenPriceOf(numbers, market, outcome),
    winner: market.winningOutcome === null ? null : market.winningOutcome === outcome,
  };
}

/** Builds a trade from the taker's side, without the parties. */
export function marketTradeReply(view: View, trade: Trade): ReplyOf<typeof marketTradeSchema> {
  const { id, tokenId, outcome, side, price, size, matchType, status, transactionHash, createdAt } =
    tradeReply(view, trade, "TAKER");
  return { id, tokenId, outcome, side, price, size, matchType, status, transactionHash, createdAt };
}

/**
 * Returns the traded prices of an outcome, oldest first. If there are more points than `fidelity`, returns that many
 * samples at equal steps from first to last, each the latest price then; the cost depends on the points returned only.
 */
export function historyReply(
  view: View,
  market: Market,
  outcome: Outcome,
  { startTs, endTs, fidelity: max }: Read<(typeof marketDataEndpoints)["getPricesHistory"]["query"]>,
): ReplyOf<typeof pricesHistorySchema> {
  const { history } = bookFor(market, outcome);
  const tokenId = tokenIdIn(market, outcome);
  const first = startTs === undefined ? 0 : pointsBefore(history, startTs);
  const end = endTs === undefined ? history.size : pointsBefore(history, endTs + 1);
  const count = Math.max(0, end - first);
  const reply = (t: number, point: number) => ({
    t,
    p: view.numbers.price(priceFor(market, outcome, priceAtPoint(point))),
  });
  if (max === undefined || count <= max) {
    const all = Array.from({ length: count }, (_, at) => history.get(first + at + 1));
    return { data: all.map((point) => reply(secondOf(point), point)), tokenId };
  }
  const from = secondOf(history.get(first + 1));
  const span = secondOf(history.get(end)) - from;
  const samples = Array.from({ length: max }, (_, sample) => {
    const t = max === 1 ? from + span : from + Math.floor((span * sample) / (max - 1));
    return reply(t, history.get(pointsBefore(history, t + 1)));
  });
  return { data: samples, tokenId };
}
