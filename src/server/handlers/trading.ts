import { duplicateProblem } from "../../api/authentication.ts";
import type { Read } from "../../api/endpoint.ts";
import type { EndpointOf, Operation, ReplyTo } from "../../api/endpoints.ts";
import { ApiError } from "../../api/errors.ts";
import { cancelOrderCommand, NOT_CANCELED, placeOrderCommand } from "../../api/order-request.ts";
import { refusalError } from "../../api/refusals.ts";
import { fillsOf, orderReply, tradeReply } from "../../api/trading.ts";
import {
  findMarket,
  marketOfTokenId,
  outcomeIn,
  ownOrder,
  pageAt,
  pageOf,
  type View,
} from "../../api/view.ts";
import { verifyDerivation } from "../../api/wallet-signature.ts";
import { type Account, openOrdersOf, packFill, roleOfFill, tradeOfFill } from "../../core/account.ts";
import type { Command } from "../../core/commands.ts";
import type { DomainEvent } from "../../core/events.ts";
import { idOf } from "../../core/ids.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { Decision } from "../../core/refusals.ts";
import { findAccount } from "../../core/state.ts";
import { countWhile, Table } from "../../core/table.ts";
import type { Address } from "../../core/terms.ts";
import { type Handlers, type Service, viewOf } from "../service.ts";

export const tradingHandlers = {
  placeOrder: ({ body, caller }, service, view) => {
    const firstTrade = view.state.trades.next;
    const number = view.state.orders.next;
    submit(service, placeOrderCommand(view, caller, body));
    // Object.assign on the reply itself, because JSON.stringify is slow on a copy with one more property.
    const placed = orderReply(view, view.state.orders.get(number));
    const reply = Object.assign(placed, { trades: [] as ReplyTo<"placeOrder">["trades"][number][] });
    for (let trade = firstTrade; trade < view.state.trades.next; trade += 1) {
      reply.trades.push(tradeReply(view, view.state.trades.get(trade), "TAKER"));
    }
    return reply;
  },
  cancelOrder: ({ body, query, caller }, service, view) => {
    const command = cancelOrderCommand(caller, body, query);
    const decision = service.exchange.submit(command);
    if (!decision.ok && decision.refusal.code === "ORDER_NOT_LIVE") {
      const { number, status } = view.state.orders.get(decision.refusal.order);
      const id = idOf(view.state.idPrefixes.order, number);
      if (status !== "LIVE") return { canceled: [], notCanceled: { [id]: NOT_CANCELED[status] } };
    }
    return { canceled: canceledIn(view, accepted(service, command, decision)), notCanceled: {} };
  },
  cancelAllOrders: ({ caller }, service, view) => {
    const events = submit(service, { kind: "cancelAllOrders", address: caller });
    return { canceled: canceledIn(view, events), notCanceled: {} };
  },
  listOrders: ({ query, caller }, _service, view) => {
    const isWanted = orderFilter(view, query);
    const account = findAccount(view.state, caller);
    const orders = [...openOrdersOf(view.state, account)].filter(isWanted);
    return pageOf(orders, query, (order) => orderReply(view, order));
  },
  listTrades: ({ query, caller }, _service, view) => {
    const { trades } = view.state;
    const account = findAccount(view.state, caller);
    const fills = (account && fillsIn(view, account, query)) ?? Table.of<number>([]);
    const countBefore = (second: number): number =>
      countWhile(fills.size, (index) => trades.get(tradeOfFill(fills.get(index + 1))).at < second * 1000);
    const start = query.after === undefined ? 0 : countBefore(query.after);
    const end = query.before === undefined ? fills.size : countBefore(query.before);
    return pageAt(Math.max(0, end - start), query, (index) => {
      const fill = fills.get(end - index);
      return tradeReply(view, trades.get(tradeOfFill(fill)), roleOfFill(fill));
    });
  },
  deriveApiKey: async ({ body, headers, rawHeaders }, service) => {
    const duplicate = duplicateProblem(rawHeaders);
    if (duplicate !== undefined) throw new ApiError("DUPLICATE_AUTH_HEADER", duplicate.message, duplicate);
    const sent: Partial<Record<(typeof FIELDS)[number], Field>> = {};
    for (const field of FIELDS) sent[field] = fieldOf(field, body[field], headers[`poly_${field}`]);
    const serverTime = Math.floor(service.exchange.now / 1000);
    return deriveFor(service, await verifyDerivation(sent, serverTime, service.options));
  },
} satisfies Partial<Handlers<Operation>>;

/** Submits a command and returns its events. @throws ApiError with the reason if it is refused. */
export const submit = (service: Service, command: Command): readonly DomainEvent[] =>
  accepted(service, command, service.exchange.submit(command));

function accepted(service: Service, command: Command, decision: Decision): readonly DomainEvent[] {
  if (decision.ok) return decision.events;
  const error = refusalError(decision.refusal, viewOf(service));
  error.command = command;
  throw error;
}

const canceledIn = ({ state }: View, events: readonly DomainEvent[]): string[] =>
  events.flatMap((event) =>
    event.kind === "orderCanceled" ? [idOf(state.idPrefixes.order, event.order)] : [],
  );

function orderFilter(
  view: View,
  { token_id: tokenId, market: idOrSlug, side }: Partial<Read<EndpointOf<"listOrders">["query"]>>,
): (order: Order) => boolean {
  const market = idOrSlug === undefined ? undefined : findMarket(view, idOrSlug);
  const token = tokenId === undefined ? undefined : marketOfTokenId(view, tokenId).token;
  if (market !== undefined && tokenId !== undefined) outcomeIn(view, market, tokenId);
  return (order) =>
    (token === undefined || order.token === token) &&
    (market === undefined || marketOfToken(order.token) === market.number) &&
    (side === undefined || order.side === side);
}

type FillFilter = Read<EndpointOf<"listTrades">["query"]>;

/** Returns an account's fills of an order, a token or a market, in order of time; null if there are none. */
function fillsIn(view: View, account: Account, filter: FillFilter): Table<number> | null {
  const isWanted = orderFilter(view, filter);
  if (filter.order !== undefined) {
    const order = ownOrder(view, account, filter.order);
    if (!isWanted(order)) return null;
    return Table.of(fillsOf(view, order).map(({ trade, role }) => packFill(trade.number, role)));
  }
  const token = filter.token_id === undefined ? undefined : marketOfTokenId(view, filter.token_id);
  const scope = token?.market ?? (filter.market === undefined ? undefined : findMarket(view, filter.market));
  if (scope === undefined) return account.fills;
  const { yesFills = null, noFills = null } = account.holdings.get(scope.number) ?? {};
  if (token !== undefined) return outcomeOf(token.token) === "YES" ? yesFills : noFills;
  if (yesFills === null || noFills === null) return yesFills ?? noFills;
  // In the order of the account's list: by trade, and the maker's side of a self-trade first.
  return Table.of([...yesFills, ...noFills].sort((a, b) => tradeOfFill(a) - tradeOfFill(b) || b - a));
}

type Field = string | number | undefined;

const FIELDS = ["address", "signature", "timestamp", "nonce"] as const;

/** Derives new credentials for an address without checking a signature. @throws ApiError if the command is refused. */
export function deriveFor(service: Service, address: Address): ReplyTo<"deriveApiKey"> {
  submit(service, { kind: "deriveCredentials", address });
  const { apiKey, secret, passphrase } = service.keyring.latest(address);
  return { apiKey, secret, passphrase };
}

/** Returns a field from the body or its header. @throws ApiError `CONFLICTING_FIELDS` if both are given and differ. */
function fieldOf(field: string, inBody: Field, header: string | string[] | undefined): Field {
  const inHeader = Array.isArray(header) ? header.join(", ") : header;
  if (inBody === undefined) return inHeader;
  if (inHeader !== undefined && String(inBody).toLowerCase() !== inHeader.toLowerCase()) {
    throw new ApiError("CONFLICTING_FIELDS", `${field} in the body differs from the header poly_${field}`, {
      details: { fields: [field, `poly_${field}`] },
    });
  }
  return inBody;
}
