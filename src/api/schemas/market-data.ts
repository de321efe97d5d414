import * as z from "zod";
import {
  count,
  hash32,
  moment,
  outcome,
  page,
  price,
  shares,
  side,
  slug,
  spread,
  tokenId,
  unixSeconds,
  usdc,
  uuid,
  winningOutcome,
} from "./quantities.ts";
import { exactly, named } from "./registry.ts";

const eventShape = {
  id: uuid,
  slug,
  title: z.string(),
  description: z.string(),
  category: z.string(),
  tags: z.array(slug),
  active: z.boolean(),
  volume: usdc,
  liquidity: usdc,
  marketCount: count,
  createdAt: moment,
  endDate: moment.nullable(),
};

const token = exactly("Token", {
  tokenId,
  outcome,
  price: price.nullable(),
  winner: z.boolean().nullable(),
});

const marketShape = {
  id: uuid,
  slug,
  question: z.string(),
  description: z.string(),
  category: z.string(),
  tags: z.array(slug),
  conditionId: hash32,
  eventId: uuid,
  status: z.enum(["ACTIVE", "CLOSED", "RESOLVED"]),
  active: z.boolean(),
  tokens: z.array(token).length(2),
  tickSize: price,
  minOrderSize: shares,
  feeRateBps: count,
  matching: z.enum(["complementary", "independent"]),
  bestBid: price.nullable(),
  bestAsk: price.nullable(),
  lastTradePrice: price.nullable(),
  volume: usdc,
  liquidity: usdc,
  createdAt: moment,
  endDate: moment.nullable(),
  resolvedAt: moment.nullable(),
  winningOutcome: winningOutcome.nullable(),
};

export const event = exactly("Event", eventShape);
export const market = exactly("Market", marketShape, "Quotes are the YES token's.");
export const marketDetail = exactly("MarketDetail", { ...marketShape, event });
export const eventDetail = exactly("EventDetail", { ...eventShape, markets: z.array(market) });
export const marketPage = page("MarketPage", market);
export const eventPage = page("EventPage", event);

export const pricesHistory = exactly("PricesHistory", {
  data: z.array(exactly("PricePoint", { t: unixSeconds, p: price })),
  tokenId,
});

export const matchType = named("MatchType", z.enum(["COMPLEMENTARY", "MINT", "MERGE"]));
export const settlementStatus = named(
  "SettlementStatus",
  z.enum(["MATCHED", "MINED", "CONFIRMED", "RETRYING", "FAILED"]),
);

export const marketTradePage = page(
  "MarketTradePage",
  exactly("MarketTrade", {
    id: uuid,
    tokenId,
    outcome,
    side,
    price,
    size: shares,
    matchType,
    status: settlementStatus,
    transactionHash: hash32.nullable(),
    createdAt: moment,
  }),
);

export const searchPage = page(
  "SearchPage",
  named(
    "SearchResult",
    z.union([
      exactly("EventResult", { type: z.literal("event"), event }),
      exactly("MarketResult", { type: z.literal("market"), market }),
    ]),
  ),
);

const level = exactly("Level", { price, size: shares, orders: z.int().min(1) });

export const time = exactly("Time", { time: unixSeconds });
export const book = exactly("Book", {
  tokenId,
  marketId: uuid,
  outcome,
  bids: z.array(level),
  asks: z.array(level),
  tickSize: price,
  lastTradePrice: price.nullable(),
  sequence: count,
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  updatedAt: moment,
});
export const quote = exactly("Quote", { tokenId, bestBid: price.nullable(), bestAsk: price.nullable() });
export const midpoint = exactly("Midpoint", { tokenId, mid: price.nullable() });
export const spreadReply = exactly("SpreadReply", { tokenId, spread: spread.nullable() });
export const lastTrade = exactly("LastTrade", {
  tokenId,
  lastTradePrice: price.nullable(),
  side: side.nullable(),
  tradedAt: moment.nullable(),
});
export const tickSize = exactly("TickSize", { tokenId, tickSize: price });
export const feeRate = exactly("FeeRate", { tokenId, feeRateBps: count });
