import type { OrderRequest } from "../../api/order-request.ts";
import { marketOfTokenId, refusalError } from "../../api/refusals.ts";
import { openOrdersOf, orderReply, tradeReply } from "../../api/replies/order-reply.ts";
import { pageOf, type View } from "../../api/replies/view.ts";
import { cancelOrderCommand, NOT_CANCELED, placeOrderCommand } from "../../api/trading-commands.ts";
import { roleOfFill, tradeOfFill } from "../../core/account.ts";
import type { CancelOrder, Command } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import { idOf } from "../../core/ids.ts";
import { marketOfToken } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { Decision } from "../../core/refusals.ts";
import { findAccount } from "../../core/state.ts";
import type { Address } from "../../core/terms.ts";
import type { Handlers } from "../handler.ts";
import { type Service, viewOf } from "../service.ts";
import { fillsMatching } from "./fills.ts";
import { findMarket, outcomeIn } from "./lookup.ts";

/** The signed endpoints of /clob. */
export const tradingHandlers: Handlers<
  "placeOrder" | "cancelOrder" | "cancelAllOrders" | "listOrders" | "listTrades"
> = {
  placeOrder: ({ body, caller }, service) => placeOrder(service, caller, body),
  cancelOrder: ({ body, query, caller }, service) =>
    cancelOne(service, cancelOrderCommand(caller, body, query)),
  cancelAllOrders: ({ caller }, service) => {
    const events = submit(service, { kind: "cancelAllOrders", address: caller });
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
  const firstTrade = view.state.trades.next;
  const number = view.state.orders.next;
  submit(service, placeOrderCommand(view, caller, request));
  // Added to the reply itself: a copy with one property more is an object that is slow to write.
  const placed = orderReply(view, view.state.orders.get(number));
  const reply = Object.assign(placed, { trades: [] as object[] });
  for (let trade = firstTrade; trade < view.state.trades.next; trade += 1) {
    reply.trades.push(tradeReply(view, view.state.trades.get(trade), "TAKER"));
  }
  return reply;
}

/** Submits a command, and answers the events that it causes. @throws ApiError with the reason of a refused one. */
export const submit = (service: Service, command: Command): readonly DomainEvent[] =>
  accepted(service, command, service.exchange.submit(command));

function accepted(service: Service, command: Command, decision: Decision): readonly DomainEvent[] {
  if (decision.ok) return decision.events;
  const error = refusalError(decision.refusal, viewOf(service));
  error.command = command;
  throw error;
}

function cancelOne(service: Service, command: CancelOrder): object {
  const view = viewOf(service);
  const decision = service.exchange.submit(command);
  if (!decision.ok && decision.refusal.code === "ORDER_NOT_LIVE") {
    const { number, status } = view.state.orders.get(decision.refusal.order);
    const id = idOf(view.state.idPrefixes.order, number);
    if (status !== "LIVE") return { canceled: [], notCanceled: { [id]: NOT_CANCELED[status] } };
  }
  return { canceled: canceledIn(view, accepted(service, command, decision)), notCanceled: {} };
}

const canceledIn = ({ state }: View, events: readonly DomainEvent[]): string[] =>
  events.flatMap((event) =>
    event.kind === "orderCanceled" ? [idOf(state.idPrefixes.order, event.order)] : [],
  );

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
