import type { Account } from "../account.ts";
import { BID } from "../book/book.ts";
import { NO_SLOT } from "../book/order-pool.ts";
import type { CommandOf } from "../commands.ts";
import type { DomainEvent, EventOf } from "../events.ts";
import { numberOf } from "../ids.ts";
import {
  bookFor,
  directionIn,
  isMirrored,
  type Market,
  marketOfToken,
  outcomeOf,
  priceIn,
} from "../market.ts";
import { openOrdersOf } from "../open-orders.ts";
import { feeOf, reservationOf } from "../order.ts";
import { accepted, type Decision, type Refusal, type RefusalCode, refused } from "../refusals.ts";
import { findAccount, type State } from "../state.ts";
import type { CancelReason, OrderType } from "../terms.ts";
import {
  complement,
  FULL_PRICE,
  type Millis,
  notional,
  type Price,
  price,
  type Size,
  size,
} from "../units.ts";
import { addInstantBlock } from "./blocks.ts";
import { grantDue, issuanceLeft, shortfallOf } from "./ledger.ts";
import { STATUS_CHECKS, statusRefusal } from "./markets.ts";

/**
 * Decides an order: refused by the first rule it breaks, else placed and matched at once by price-time priority at the
 * makers' prices; its remainder rests or is canceled according to its type.
 */
function placeOrder(state: State, command: CommandOf<"placeOrder">, at: Millis): Decision<OrderRefusal> {
  const token = state.tokenById.get(command.tokenId);
  if (token === undefined) return refused({ code: "TOKEN_NOT_FOUND", tokenId: command.tokenId });
  const market = state.markets.get(marketOfToken(token));
  const account = findAccount(state, command.address);
  const refusal = refusalOf(state, at, command, market, account, token);
  if (refusal !== null) return refused(refusal);
  if (account === undefined) throw new Error("an order without an account passed the check of funds");

  const due = grantDue(account, market.number);
  const asked = notional(FULL_PRICE, due);
  const left = issuanceLeft(state);
  if (asked > left) return refused({ code: "ISSUANCE_EXCEEDED", asked, left });

  const order = state.orders.next;
  const events: DomainEvent[] = [];
  let transaction = state.chain.transactions.next;
  if (due > 0) {
    events.push({
      kind: "grantMinted",
      account: account.number,
      market: market.number,
      size: due,
      transaction,
    });
    transaction += 1;
  }
  const touch = planMatch(state, command, market, account, token);
  const { side, price, size, orderType, expiration } = command;
  const placed: EventOf<"orderPlaced"> = {
    kind: "orderPlaced",
    order,
    account: account.number,
    token,
    side,
    price,
    size,
    orderType,
    expiration,
    touch,
    fillableSize: state.plan.filled as Size,
    blockingOwnOrder: state.plan.ownSlot === NO_SLOT ? 0 : state.pool.orderIn(state.plan.ownSlot),
  };
  events.push(placed);
  const { filled, stopped } = state.plan;
  if (orderType === "FOK" && filled < size) {
    events.push({ kind: "orderCanceled", order, reason: "FOK_UNFILLED" });
    return accepted(events);
  }
  addFills(state, placed, market.feeRateBps, transaction, events);
  if (filled < size) {
    const reason = reasonToCancel(orderType, stopped, filled);
    events.push(reason === null ? { kind: "orderRested", order } : { kind: "orderCanceled", order, reason });
  }
  if (filled > 0) addInstantBlock(state, transaction, events);
  return accepted(events);
}

/** Refusals of an order of a known token in order of precedence, with a description of each check. */
export const ORDER_CHECKS = {
  INVALID_TICK_SIZE: "the tick size",
  SIZE_TOO_SMALL: "the minimum size",
  EXPIRATION_IN_PAST: "an expiration in the past",
  ...STATUS_CHECKS,
  INSUFFICIENT_BALANCE: "the funds",
} as const satisfies { readonly [Code in RefusalCode]?: string };

type OrderRefusal = Extract<
  Refusal,
  { readonly code: keyof typeof ORDER_CHECKS | "TOKEN_NOT_FOUND" | "ISSUANCE_EXCEEDED" }
>;

function refusalOf(
  state: State,
  at: Millis,
  command: CommandOf<"placeOrder">,
  market: Market,
  account: Account | undefined,
  token: number,
): OrderRefusal | null {
  const { price, size, expiration, side } = command;
  if (price % market.tickSize !== 0) return { code: "INVALID_TICK_SIZE", price, tickSize: market.tickSize };
  if (size < market.minOrderSize) return { code: "SIZE_TOO_SMALL", size, minOrderSize: market.minOrderSize };
  if (expiration !== null && expiration <= at)
    return { code: "EXPIRATION_IN_PAST", expiration, serverTime: at };
  const halted = statusRefusal(market);
  if (halted !== null) return halted;
  const required = reservationOf(command, size, market.feeRateBps);
  const { balances } = state.config;
  const shortfall = shortfallOf(account, market, { side, token }, required, balances);
  return shortfall === null ? null : { code: "INSUFFICIENT_BALANCE", ...shortfall };
}

/** Writes the matches of an order into `state.plan`; returns the best opposite price in terms of its own token, null if none. */
function planMatch(
  state: State,
  command: CommandOf<"placeOrder">,
  market: Market,
  account: Account,
  token: number,
): Price | null {
  const outcome = outcomeOf(token);
  const mirrored = isMirrored(market, outcome);
  const { book } = bookFor(market, outcome);
  state.plan.clear();
  if (book === null) return null;
  const direction = directionIn(mirrored, command.side);
  const limit = priceIn(mirrored, command.price) / market.tickSize;
  book.plan(direction, limit, command.size, account.number, market.selfTrade, state.plan);
  const best = direction === BID ? book.bestAsk : book.bestBid;
  return best === 0 || best > book.levels ? null : priceIn(mirrored, price(best * market.tickSize));
}

/** Adds the fills of the plan, and the cancels of own orders that a self-trade policy removes. */
function addFills(
  { plan, pool, orders, trades }: State,
  { order: taker, token, side }: EventOf<"orderPlaced">,
  feeRateBps: number,
  transaction: number,
  events: DomainEvent[],
): void {
  let trade = trades.next;
  for (let index = 0; index < plan.count; index += 1) {
    const number = pool.orderIn(plan.slots[index] as number);
    const quantity = size(plan.quantities[index] as number);
    if (quantity === 0) {
      events.push({ kind: "orderCanceled", order: number, reason: "SELF_TRADE" });
      continue;
    }
    const maker = orders.get(number);
    const sameToken = maker.token === token;
    const price = sameToken ? maker.price : complement(maker.price);
    events.push({
      kind: "orderTraded",
      trade,
      taker,
      maker: number,
      price,
      size: quantity,
      fee: feeOf(price, quantity, feeRateBps),
      matchType: sameToken ? "COMPLEMENTARY" : side === "BUY" ? "MINT" : "MERGE",
      transaction,
    });
    trade += 1;
  }
}

/** Returns why the remainder of a taker is canceled; null if it rests. */
function reasonToCancel(orderType: OrderType, stopped: boolean, filled: number): CancelReason | null {
  if (stopped) return "SELF_TRADE";
  if (orderType === "FAK") return filled === 0 ? "FAK_UNFILLED" : "FAK_REMAINDER";
  return null;
}

/** Cancels one live order of its owner; an order of another account is refused as not found. */
function cancelOrder(state: State, command: CommandOf<"cancelOrder">): Decision {
  const order = state.orders.find(numberOf(state.idPrefixes.order, command.orderId));
  const owner = state.accountByAddress.get(command.address);
  if (order === undefined || order.account !== owner) {
    return refused({ code: "ORDER_NOT_FOUND", orderId: command.orderId });
  }
  if (order.status !== "LIVE") return refused({ code: "ORDER_NOT_LIVE", order: order.number });
  return accepted([{ kind: "orderCanceled", order: order.number, reason: "USER" }]);
}

/** Cancels all live orders of an account, oldest first; succeeds if there is none. */
function cancelAllOrders(state: State, command: CommandOf<"cancelAllOrders">): Decision {
  const events: EventOf<"orderCanceled">[] = [];
  for (const { number } of openOrdersOf(state, findAccount(state, command.address)))
    events.push({ kind: "orderCanceled", order: number, reason: "USER" });
  return accepted(events);
}

/** Ends an order at its expiration. */
function expireOrder(state: State, command: CommandOf<"expireOrder">): Decision {
  const order = state.orders.find(command.order);
  if (order === undefined || order.status !== "LIVE") {
    return refused({ code: "ORDER_NOT_LIVE", order: command.order });
  }
  return accepted([{ kind: "orderExpired", order: order.number }]);
}

export const tradingDeciders = { placeOrder, cancelOrder, cancelAllOrders, expireOrder };
