import * as z from "zod";
import { ROLES, type Role } from "../core/account.ts";
import { transactionHash } from "../core/chain/chain-hashes.ts";
import { blockOf, settledAt, settlementStatus } from "../core/chain/settlement.ts";
import type { CommandOf } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { idOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import { ORDER_STATUSES, type Order, remainingOf, reservationOf, type Trade } from "../core/order.ts";
import { decide } from "../core/rules/rules.ts";
import { findAccount } from "../core/state.ts";
import { type Address, CANCEL_REASONS, readAddress, SIDES } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import { type Millis, money, notional, size } from "../core/units.ts";
import { type BodySpec, endpoints, type JsonObject, oneOf, paged, text, unixSeconds } from "./endpoint.ts";
import { ApiError, describeValue, invalidFields, withPrefix } from "./errors.ts";
import {
  cancelBody,
  NOT_CANCELED,
  ORDER_ERRORS,
  ORDER_OF_CHECKS,
  orderBody,
  placeOrderCommand,
} from "./order-request.ts";
import { refusalError } from "./refusals.ts";
import * as field from "./schemas.ts";
import { exactly, named, page, type ReplyOf } from "./schemas.ts";
import { asHex, type Decimal, isoOrNull, type Numbers, type View } from "./view.ts";

const orderShape = {
  id: field.uuid,
  status: z.enum(ORDER_STATUSES),
  marketId: field.uuid,
  tokenId: field.tokenId,
  outcome: field.outcome,
  side: field.side,
  price: field.price,
  size: field.shares,
  sizeMatched: field.shares,
  sizeRemaining: field.shares,
  avgPrice: field.average.nullable(),
  fee: field.usdc,
  orderType: field.orderType,
  expiration: field.moment.nullable(),
  cancelReason: z.enum(CANCEL_REASONS).nullable(),
  createdAt: field.moment,
  updatedAt: field.moment,
};

export const orderSchema = exactly("Order", orderShape);

export const tradeSchema = exactly("Trade", {
  id: field.uuid,
  status: field.settlementStatus,
  marketId: field.uuid,
  tokenId: field.tokenId,
  outcome: field.outcome,
  side: field.side,
  price: field.price,
  size: field.shares,
  fee: field.usdc,
  role: z.enum(ROLES),
  orderId: field.uuid,
  counterOrderId: field.uuid,
  matchType: field.matchType,
  transactionHash: field.hash32.nullable(),
  blockNumber: z.int().min(0).nullable(),
  createdAt: field.moment,
  updatedAt: field.moment,
});

const cancelResultSchema = exactly("CancelResult", {
  canceled: z.array(field.uuid),
  notCanceled: z.record(field.uuid, z.enum(Object.values(NOT_CANCELED))),
});

/** /clob: signed endpoints (specification, "Trading"). */
export const tradingEndpoints = endpoints("signed", "Trading", {
  placeOrder: {
    route: "POST /clob/order",
    summary: "Place an order; it is matched at once",
    description: ORDER_OF_CHECKS,
    body: orderBody,
    reply: exactly("PlacedOrder", { ...orderShape, trades: z.array(tradeSchema) }),
    errors: ORDER_ERRORS,
  },
  cancelOrder: {
    route: "DELETE /clob/order",
    summary: "Cancel one order, named in the body or in the query",
    query: {
      orderId: text("Id of the order."),
      id: text("Alias of orderId."),
      orderID: text("Alias of orderId."),
    },
    body: cancelBody,
    reply: cancelResultSchema,
    errors: ["ORDER_ID_REQUIRED", "CONFLICTING_FIELDS", "ORDER_NOT_FOUND"],
  },
  cancelAllOrders: {
    route: "DELETE /clob/orders/all",
    summary: "Cancel all open orders of the caller, oldest first",
    reply: cancelResultSchema,
  },
  listOrders: {
    route: "GET /clob/orders",
    summary: "The caller's open orders, oldest first",
    query: {
      token_id: text("Only orders of this token."),
      market: text("Only orders of this market: id or slug."),
      side: oneOf(SIDES, "Only orders of this side."),
      ...paged(100, 500),
    },
    reply: page("OrderPage", orderSchema),
    errors: ["TOKEN_NOT_FOUND", "MARKET_NOT_FOUND", "TOKEN_NOT_IN_MARKET"],
  },
  listTrades: {
    route: "GET /clob/trades",
    summary: "The caller's fills, newest first",
    query: {
      token_id: text("Only fills of this token."),
      market: text("Only fills of this market: id or slug."),
      order: text("Only fills of this order."),
      after: unixSeconds("Only fills from this Unix second on, inclusive."),
      before: unixSeconds("Only fills before this Unix second, exclusive."),
      ...paged(100, 500),
    },
    reply: page("TradePage", tradeSchema),
    errors: ["TOKEN_NOT_FOUND", "MARKET_NOT_FOUND", "TOKEN_NOT_IN_MARKET", "ORDER_NOT_FOUND"],
  },
});

const AVERAGE_PLACES = 6;

/** Returns the average fill price, rounded to the nearest 0.000001 USDC; null before the first fill. */
function averageOf(numbers: Numbers, order: Pick<Order, "matched" | "notional">): Decimal | null {
  if (order.matched === 0) return null;
  return numbers.decimal(Math.round((order.notional * 100) / order.matched), AVERAGE_PLACES);
}

/** Builds an order for its owner (contract, section 5). */
export function orderReply(view: View, order: Order): ReplyOf<typeof orderSchema> {
  const { state, numbers } = view;
  const market = state.markets.get(marketOfToken(order.token));
  const outcome = outcomeOf(order.token);
  return {
    id: idOf(state.idPrefixes.order, order.number),
    status: order.status,
    marketId: market.id,
    tokenId: tokenIdIn(market, outcome),
    outcome,
    side: order.side,
    price: numbers.price(order.price),
    size: numbers.size(order.size),
    sizeMatched: numbers.size(order.matched),
    sizeRemaining: numbers.size(remainingOf(order)),
    avgPrice: averageOf(numbers, order),
    fee: numbers.money(order.fee),
    orderType: order.orderType,
    expiration: isoOrNull(order.expiration),
    cancelReason: order.cancelReason,
    createdAt: toIso(order.createdAt),
    updatedAt: toIso(order.updatedAt),
  };
}

/** Builds a fill from the side of its maker or taker. */
export function tradeReply(view: View, trade: Trade, role: Role): ReplyOf<typeof tradeSchema> {
  const { state, numbers } = view;
  const own = role === "TAKER" ? trade.taker : trade.maker;
  const other = role === "TAKER" ? trade.maker : trade.taker;
  const order = state.orders.get(own);
  const market = state.markets.get(marketOfToken(order.token));
  const outcome = outcomeOf(order.token);
  const transaction = state.chain.transactions.get(trade.transaction);
  const block = blockOf(state.chain, transaction);
  return {
    id: idOf(state.idPrefixes.trade, trade.number),
    status: settlementStatus(state, transaction),
    marketId: market.id,
    tokenId: tokenIdIn(market, outcome),
    outcome,
    side: order.side,
    price: numbers.price(role === "TAKER" ? trade.price : order.price),
    size: numbers.size(trade.size),
    fee: numbers.money(role === "TAKER" ? trade.fee : money(0)),
    role,
    orderId: idOf(state.idPrefixes.order, own),
    counterOrderId: idOf(state.idPrefixes.order, other),
    matchType: trade.matchType,
    transactionHash: block === null ? null : asHex(transactionHash(state, transaction)),
    blockNumber: block?.height ?? null,
    createdAt: toIso(trade.at),
    updatedAt: toIso(settledAt(state, trade)),
  };
}

/** Returns the fills of an order, oldest first; trades link them from the latest back. */
export function fillsOf({ state }: View, order: Order): { trade: Trade; role: Role }[] {
  const fills: { trade: Trade; role: Role }[] = [];
  for (let number = order.lastTrade; number !== 0; ) {
    const trade = state.trades.get(number);
    const role = trade.taker === order.number ? "TAKER" : "MAKER";
    fills.push({ trade, role });
    number = role === "TAKER" ? trade.takerPrevious : trade.makerPrevious;
  }
  return fills.reverse();
}

const orderToPreviewSchema = named(
  "OrderToPreview",
  orderBody.schema.extend({ address: z.string().describe("Owner of the order.") }),
);

/** The fields of the order are not parsed: invalid ones are reported in the reply, not as an error. */
export interface OrderToPreview {
  readonly address: Address;
  readonly order: JsonObject;
}

const previewBody: BodySpec<OrderToPreview, typeof orderToPreviewSchema> = {
  schema: orderToPreviewSchema,
  fields: [...orderBody.fields, "address"],
  required: true,
  read: ({ address: text, ...order }) => {
    const address = typeof text === "string" ? readAddress(text) : null;
    if (address !== null) return { address, order };
    const message = "address: expected the address of an account, 0x and 40 hex digits, found";
    throw invalidFields(`${message} ${describeValue(text)}`, ["address"]);
  },
};

const previewSchema = exactly("OrderPreview", {
  accepted: z
    .boolean()
    .describe(
      "Whether POST /clob/order would take it; one that is killed, as a FOK that cannot be filled, is taken.",
    ),
  refusal: exactly("PreviewedRefusal", {
    error: z.string(),
    code: z.string(),
    status: z.int(),
    hint: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }).nullable(),
  order: exactly("PreviewedOrder", {
    status: z.enum(ORDER_STATUSES),
    cancelReason: z.enum(CANCEL_REASONS).nullable(),
    sizeMatched: field.shares,
    sizeRemaining: field.shares,
    avgPrice: field.average.nullable(),
    fee: field.usdc,
    paid: field.usdc.describe("USDC that the fills of a BUY would take, fees included."),
    received: field.usdc.describe("USDC that the fills of a SELL would bring, after fees."),
    fills: z.array(
      exactly("PreviewedFill", {
        price: field.price,
        size: field.shares,
        fee: field.usdc,
        matchType: field.matchType,
        counterOrderId: field.uuid,
      }),
    ),
    reserved: exactly("PreviewedReservation", { asset: z.string(), amount: field.amount }).nullable(),
    cancels: z.array(field.uuid).describe("Orders of the same account that it would cancel."),
  }).nullable(),
});

type Preview = ReplyOf<typeof previewSchema>;

export const orderPreviewEndpoints = endpoints("control", "Control plane", {
  previewOrder: {
    route: "POST /sim/orders/preview",
    summary: "Preview of an order, without placing it",
    description:
      "The order's fields and its owner; no signature. The status is 200 also for a refused order: `refusal` has the error of `POST /clob/order`, else `order` has the fills, their cost, the resting size and the reservation. Nothing is changed or stored.",
    body: previewBody,
    reply: previewSchema,
  },
});

/** `prefix` is that of the exchange's paths, for hints. */
export function orderPreview(view: View, at: Millis, prefix: string, { address, order }: OrderToPreview) {
  try {
    const command = placeOrderCommand(view, address, orderBody.read(order, view.numbers));
    const decision = decide(view.state, { at, command });
    if (!decision.ok) throw refusalError(decision.refusal, view);
    return { accepted: true, refusal: null, order: previewedOrder(view, command, decision.events) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, status, message, help } = error;
    const isUnfunded = (findAccount(view.state, address)?.derivations ?? 0) === 0;
    const hint = code === "INSUFFICIENT_BALANCE" && isUnfunded ? UNFUNDED : help.hint;
    const prefixed = withPrefix(hint, prefix) ?? null;
    const refusal = { error: message, code, status, hint: prefixed, details: help.details ?? null };
    return { accepted: false, refusal, order: null };
  }
}

const UNFUNDED =
  "the account has not derived API keys yet, and is funded when it does: POST /sim/accounts/{address}/credentials";

function previewedOrder(
  { state, numbers }: View,
  command: CommandOf<"placeOrder">,
  events: readonly DomainEvent[],
): NonNullable<Preview["order"]> {
  const { side, price, tokenId } = command;
  const fills = events.flatMap((event) => (event.kind === "orderTraded" ? [event] : []));
  const canceled = events.flatMap((event) => (event.kind === "orderCanceled" ? [event] : []));
  const own = canceled.find(({ order }) => order === state.orders.next);
  const total = (of: (fill: (typeof fills)[number]) => number): number =>
    fills.reduce((sum, fill) => sum + of(fill), 0);
  const matched = size(total((fill) => fill.size));
  const worth = money(total((fill) => notional(fill.price, fill.size)));
  const fee = money(total((fill) => fill.fee));
  const remaining = size(command.size - matched);
  const rests = events.some(({ kind }) => kind === "orderRested");
  const { feeRateBps } = state.markets.get(marketOfToken(state.tokenById.get(tokenId) as number));
  const reserved = reservationOf({ side, price }, remaining, feeRateBps);
  return {
    // An order that never rested counts as matched with its filled size (contract, section 5).
    status: rests ? "LIVE" : matched > 0 ? "MATCHED" : "CANCELED",
    cancelReason: own?.reason ?? null,
    sizeMatched: numbers.size(matched),
    sizeRemaining: numbers.size(remaining),
    avgPrice: averageOf(numbers, { matched, notional: worth }),
    fee: numbers.money(fee),
    paid: numbers.money(money(side === "BUY" ? worth + fee : 0)),
    received: numbers.money(money(side === "SELL" ? worth - fee : 0)),
    fills: fills.map((fill) => ({
      price: numbers.price(fill.price),
      size: numbers.size(fill.size),
      fee: numbers.money(fill.fee),
      matchType: fill.matchType,
      counterOrderId: idOf(state.idPrefixes.order, fill.maker),
    })),
    reserved: !rests
      ? null
      : side === "BUY"
        ? { asset: "USDC", amount: numbers.money(money(reserved)) }
        : { asset: tokenId, amount: numbers.size(size(reserved)) },
    cancels: canceled
      .filter((event) => event !== own)
      .map(({ order }) => idOf(state.idPrefixes.order, order)),
  };
}
