import {
  endpoint,
  flag,
  integer,
  limit,
  NO_QUERY,
  offset,
  oneOf,
  searchWords,
  text,
  unixSeconds,
} from "../endpoint.ts";
import * as schema from "../schemas/market-data.ts";

const open = { method: "GET", access: "public", tag: "Market data", body: null } as const;
const active = flag("true: only what is open; false: only what is not.");
const tag = text("Only what carries this category or tag slug.");

/** GET /api: public market data (specification, "Market data"). */
export const marketData = [
  endpoint({
    ...open,
    operation: "listMarkets",
    path: "/api/markets",
    summary: "Markets; volume, liquidity and createdAt highest first, endDate soonest first",
    query: {
      limit: limit(50, 100),
      offset,
      active,
      sort: oneOf(["volume", "liquidity", "createdAt", "endDate"], "What to sort by; default createdAt."),
      tag,
    },
    reply: schema.marketPage,
    errors: [],
  }),
  endpoint({
    ...open,
    operation: "getMarket",
    path: "/api/markets/{idOrSlug}",
    summary: "One market with its outcome tokens and parent event",
    query: NO_QUERY,
    reply: schema.marketDetail,
    errors: ["MARKET_NOT_FOUND"],
  }),
  endpoint({
    ...open,
    operation: "getPricesHistory",
    path: "/api/markets/{idOrSlug}/prices-history",
    summary: "Traded prices of one token over time, oldest first",
    query: {
      tokenId: text("One of the market's tokens; default the YES token."),
      fidelity: integer(1, 10_000, "At most this many points, sampled uniformly over the range."),
      startTs: unixSeconds("Lower bound in Unix seconds, inclusive."),
      endTs: unixSeconds("Upper bound in Unix seconds, inclusive."),
    },
    reply: schema.pricesHistory,
    errors: ["MARKET_NOT_FOUND", "TOKEN_NOT_FOUND", "TOKEN_NOT_IN_MARKET"],
  }),
  endpoint({
    ...open,
    operation: "listMarketTrades",
    path: "/api/markets/{idOrSlug}/trades",
    summary: "Latest trades of a market as their takers saw them",
    query: {
      limit: limit(50, 500),
      offset,
      all: flag("true: takers of both outcomes; default only of YES."),
    },
    reply: schema.marketTradePage,
    errors: ["MARKET_NOT_FOUND"],
  }),
  endpoint({
    ...open,
    operation: "listEvents",
    path: "/api/events",
    summary: "Events, newest first",
    query: { limit: limit(50, 100), offset, active, tag },
    reply: schema.eventPage,
    errors: [],
  }),
  endpoint({
    ...open,
    operation: "getEvent",
    path: "/api/events/{idOrSlug}",
    summary: "One event with all its markets",
    query: NO_QUERY,
    reply: schema.eventDetail,
    errors: ["EVENT_NOT_FOUND"],
  }),
  endpoint({
    ...open,
    operation: "search",
    path: "/api/search",
    summary: "Full-text search across markets and events, best first",
    query: { q: searchWords, limit: limit(20, 100), offset },
    reply: schema.searchPage,
    errors: ["QUERY_REQUIRED"],
  }),
] as const;
