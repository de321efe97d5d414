import { endpoint, NO_QUERY } from "../endpoint.ts";
import { objectBody } from "../object-body.ts";
import { ORDER_OF_CHECKS, orderBody } from "../order-request.ts";
import { limit, offset, oneOf, text, unixSeconds } from "../params.ts";
import * as schema from "../schemas/trading.ts";
import { cancelBody } from "../trading-commands.ts";

const signed = { access: "signed", tag: "Trading" } as const;

/** Signed endpoints, and the one that gives the keys (specification, "Trading" and "Key derivation"). */
export const trading = [
  endpoint({
    ...signed,
    operation: "placeOrder",
    method: "POST",
    path: "/clob/order",
    summary: "Place an order; it is matched at once",
    description: ORDER_OF_CHECKS,
    query: NO_QUERY,
    body: orderBody,
    reply: schema.placedOrder,
    errors: [
      "INVALID_ORDER",
      "INVALID_SIDE",
      "INVALID_ORDER_TYPE",
      "PRICE_OUT_OF_RANGE",
      "INVALID_SIZE",
      "EXPIRATION_REQUIRED",
      "INVALID_EXPIRATION",
      "EXPIRATION_NOT_ALLOWED",
      "TOKEN_NOT_FOUND",
      "INVALID_TICK_SIZE",
      "SIZE_TOO_SMALL",
      "EXPIRATION_IN_PAST",
      "MARKET_CLOSED",
      "INSUFFICIENT_BALANCE",
    ],
  }),
  endpoint({
    ...signed,
    operation: "cancelOrder",
    method: "DELETE",
    path: "/clob/order",
    summary: "Cancel one order, named in the body or in the query",
    query: {
      orderId: text("Id of the order."),
      id: text("The same under another name."),
      orderID: text("The same under another name."),
    },
    body: cancelBody,
    reply: schema.cancelResult,
    errors: ["ORDER_ID_REQUIRED", "CONFLICTING_FIELDS", "INVALID_PARAMETER", "ORDER_NOT_FOUND"],
  }),
  endpoint({
    ...signed,
    operation: "cancelAllOrders",
    method: "DELETE",
    path: "/clob/orders/all",
    summary: "Cancel all open orders of the caller, oldest first",
    query: NO_QUERY,
    body: null,
    reply: schema.cancelResult,
    errors: [],
  }),
  endpoint({
    ...signed,
    operation: "listOrders",
    method: "GET",
    path: "/clob/orders",
    summary: "The caller's open orders, oldest first",
    query: {
      token_id: text("Only orders of this token."),
      market: text("Only orders of this market: id or slug."),
      side: oneOf(["BUY", "SELL"], "Only orders of this side."),
      limit: limit(100, 500),
      offset,
    },
    body: null,
    reply: schema.orderPage,
    errors: ["TOKEN_NOT_FOUND", "MARKET_NOT_FOUND", "TOKEN_NOT_IN_MARKET"],
  }),
  endpoint({
    ...signed,
    operation: "listTrades",
    method: "GET",
    path: "/clob/trades",
    summary: "The caller's fills, newest first",
    query: {
      token_id: text("Only fills of this token."),
      market: text("Only fills of this market: id or slug."),
      order: text("Only fills of this order."),
      after: unixSeconds("Only fills from this Unix second on, inclusive."),
      before: unixSeconds("Only fills before this Unix second, exclusive."),
      limit: limit(100, 500),
      offset,
    },
    body: null,
    reply: schema.tradePage,
    errors: ["TOKEN_NOT_FOUND", "MARKET_NOT_FOUND", "TOKEN_NOT_IN_MARKET", "ORDER_NOT_FOUND"],
  }),
  endpoint({
    operation: "deriveApiKey",
    method: "POST",
    path: "/clob/auth/derive-api-key",
    access: "public",
    tag: "Credentials",
    summary: "Derive API credentials from a wallet signature; the secret is shown once",
    query: NO_QUERY,
    body: objectBody(schema.derivation, { required: false, code: "INVALID_AUTH_PAYLOAD" }),
    reply: schema.credentials,
    errors: [
      "INVALID_AUTH_PAYLOAD",
      "CONFLICTING_FIELDS",
      "TIMESTAMP_OUT_OF_WINDOW",
      "INVALID_WALLET_SIGNATURE",
      "CREDENTIALS_ALREADY_DERIVED",
    ],
  }),
] as const;
