import { roleOfFill, tradeOfFill } from "../../core/account.ts";
import type { Address } from "../../core/commands.ts";
import type { Decision } from "../../core/decision.ts";
import type { DomainEvent } from "../../core/events.ts";
import { idOf } from "../../core/ids.ts";
import { marketOfToken } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import { findAccount } from "../../core/state.ts";
import { ApiError } from "../../wire/errors.ts";
import type { OrderRequest } from "../../wire/order-request.ts";
import { marketOfTokenId, offTheGrid, refusalError } from "../../wire/refusals.ts";
import { openOrdersOf, orderReply, tradeReply } from "../../wire/replies/order-reply.ts";
import { pageOf, type View } from "../../wire/replies/view.ts";
import type { Handlers } from "../handler.ts";
import { type Service, viewOf } from "../service.ts";
import { fillsMatching } from "./fills.ts";
import { findMarket, outcomeIn } from "./lookup.ts";

/** The signed endpoints of /clob. */
export const tradingHandlers: Handlers<
  "placeOrder" | "cancelOrder" | "cancelAllOrders" | "listOrders" | "listTrades"
> = {
  placeOrder: ({ body, caller }, service) => placeOrder(service, caller, body),
  cancelOrder: ({ body, query, caller }, service) => {
    const orderId = oneId([body.orderId, body.id, body.orderID, query.orderId, query.id, query.orderID]);
    return cancelOne(service, caller, orderId);
  },
  cancelAllOrders: ({ caller }, service) => {
    const events = accept(service, service.exchange.submit({ kind: "cancelAllOrders", address: caller }));
    return { canceled: canceledIn(viewOf(service), events), notCanceled: {} };
  },
  listOrders: ({ query, caller }, service) => {
    const view = viewOf(service);
    const isWanted = orderFilter(view, query);
    const account = findAccount(view.state, caller);
    const orders = account === undefined ? [] : [...openOrdersOf(view, account)].filter(isWanted);
    return pageOf(orders.length, query, (index) => orderReply(view, orders[index] as Order));
  },
  listTrades: ({ query, caller }, service) => {
    const view = viewOf(service);
    const account = findAccount(view.state, caller);
    const fills = account === undefined ? { size: 0, get: () => 0 } : fillsMatching(view, account, query);
    return pageOf(fills.size, query, (index) => {
      const fill = fills.get(fills.size - index);
      return tradeReply(view, view.state.trades.get(tradeOfFill(fill)), roleOfFill(fill));
    });
  },
};

function placeOrder(service: Service, caller: Address, request: OrderRequest): object {
  const view = viewOf(service);
  const { market } = marketOfTokenId(view, request.tokenId);
  if (request.priceUnits === null) throw offTheGrid(request.price, market.tickSize, service.numbers);
  const firstTrade = view.state.trades.next;
  const number = view.state.orders.next;
  accept(
    service,
    service.exchange.submit({
      kind: "placeOrder",
      address: caller,
      tokenId: request.tokenId,
      side: request.side,
      price: request.priceUnits,
      size: request.size,
      orderType: request.orderType,
      expiration: request.expiration,
    }),
  );
  // Added to the reply itself: a copy with one property more is an object that is slow to write.
  const placed = orderReply(view, view.state.orders.get(number));
  const reply = Object.assign(placed, { trades: [] as object[] });
  for (let trade = firstTrade; trade < view.state.trades.next; trade += 1) {
    reply.trades.push(tradeReply(view, view.state.trades.get(trade), "TAKER"));
  }
  return reply;
}

/** The events of an accepted command. @throws ApiError with the reason of a refused one. */
export function accept(service: Service, decision: Decision): readonly DomainEvent[] {
  if (!decision.ok) throw refusalError(decision.refusal, viewOf(service));
  return decision.events;
}

const ENDED = {
  MATCHED: "already matched",
  CANCELED: "already canceled",
  EXPIRED: "already expired",
} as const;

function cancelOne(service: Service, caller: Address, orderId: string): object {
  const view = viewOf(service);
  const decision = service.exchange.submit({ kind: "cancelOrder", address: caller, orderId });
  if (!decision.ok && decision.refusal.code === "ORDER_NOT_LIVE") {
    const { number, status } = view.state.orders.get(decision.refusal.order);
    const id = idOf(view.state.idPrefixes.order, number);
    if (status !== "LIVE") return { canceled: [], notCanceled: { [id]: ENDED[status] } };
  }
  return { canceled: canceledIn(view, accept(service, decision)), notCanceled: {} };
}

const canceledIn = ({ state }: View, events: readonly DomainEvent[]): string[] =>
  events.flatMap((event) =>
    event.kind === "orderCanceled" ? [idOf(state.idPrefixes.order, event.order)] : [],
  );

/** The one id among those given. @throws ApiError when there is none, or two that differ in more than their case. */
function oneId(given: readonly (string | undefined)[]): string {
  const ids = given.filter((id): id is string => id !== undefined && id !== "");
  if (new Set(ids.map((id) => id.toLowerCase())).size > 1) {
    throw new ApiError(
      "CONFLICTING_FIELDS",
      `different order ids are given: ${[...new Set(ids)].join(", ").slice(0, 200)}`,
      {
        hint: "name one order, in the body or in the query",
      },
    );
  }
  const [id] = ids;
  if (id === undefined) {
    throw new ApiError(
      "ORDER_ID_REQUIRED",
      "no order id is given, expected orderId in the body or in the query",
      {
        hint: "DELETE /clob/orders/all cancels all of them",
      },
    );
  }
  return id;
}

interface OrderFilter {
  readonly token_id: string | undefined;
  readonly market: string | undefined;
  readonly side: "BUY" | "SELL" | undefined;
}

function orderFilter(
  view: View,
  { token_id: tokenId, market: idOrSlug, side }: OrderFilter,
): (order: Order) => boolean {
  const market = idOrSlug === undefined ? undefined : findMarket(view, idOrSlug);
  const token = tokenId === undefined ? undefined : marketOfTokenId(view, tokenId).token;
  if (market !== undefined && tokenId !== undefined) outcomeIn(view, market, tokenId);
  return (order) =>
    (token === undefined || order.token === token) &&
    (market === undefined || marketOfToken(order.token) === market.number) &&
    (side === undefined || order.side === side);
}
