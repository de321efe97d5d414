import { endpoint, NO_QUERY, tokenId } from "../endpoint.ts";
import * as schema from "../schemas/market-data.ts";

const ofToken = {
  method: "GET",
  access: "public",
  tag: "Order book",
  query: { token_id: tokenId },
  body: null,
  errors: ["TOKEN_ID_REQUIRED", "TOKEN_NOT_FOUND"],
} as const;

/** GET /clob: what anybody may read about a token's book (specification, "Public order-book reads"). */
export const orderBook = [
  endpoint({
    ...ofToken,
    operation: "getBook",
    path: "/clob/book",
    summary: "Aggregated bids and asks of a token, best first",
    reply: schema.book,
  }),
  endpoint({
    ...ofToken,
    operation: "getPrice",
    path: "/clob/price",
    summary: "Best bid and best ask of a token",
    reply: schema.quote,
  }),
  endpoint({
    ...ofToken,
    operation: "getMidpoint",
    path: "/clob/midpoint",
    summary: "Halfway between best bid and best ask",
    reply: schema.midpoint,
  }),
  endpoint({
    ...ofToken,
    operation: "getSpread",
    path: "/clob/spread",
    summary: "Best ask less best bid",
    reply: schema.spreadReply,
  }),
  endpoint({
    ...ofToken,
    operation: "getLastTradePrice",
    path: "/clob/last-trade-price",
    summary: "Price, taker side and time of the last trade",
    reply: schema.lastTrade,
  }),
  endpoint({
    ...ofToken,
    operation: "getTickSize",
    path: "/clob/tick-size",
    summary: "Price step of a token",
    reply: schema.tickSize,
  }),
  endpoint({
    ...ofToken,
    operation: "getFeeRate",
    path: "/clob/fee-rate",
    summary: "Taker fee of a token in basis points",
    reply: schema.feeRate,
  }),
  endpoint({
    operation: "getTime",
    method: "GET",
    path: "/clob/time",
    access: "public",
    tag: "Order book",
    summary: "Server time in Unix seconds, to synchronise signatures",
    query: NO_QUERY,
    body: null,
    reply: schema.time,
    errors: [],
  }),
] as const;
