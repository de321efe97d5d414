import { type Account, type Role, roleOfFill, tradeOfFill } from "../../core/account.ts";
import { transactionHash } from "../../core/chain/chain-hashes.ts";
import { blockOf, settledAt, settlementStatus } from "../../core/chain/settlement.ts";
import { idOf } from "../../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../../core/market.ts";
import { type Order, remainingOf, type Trade } from "../../core/order.ts";
import { toIso } from "../../core/time.ts";
import type { Decimal, Numbers } from "../decimals.ts";
import { isoOrNull, marketIdOf, type View } from "./view.ts";

const AVERAGE_PLACES = 6;

/** What the fills of an order cost per share, rounded to the nearest 0.000001 USDC; null before the first. */
function averageOf(numbers: Numbers, order: Order): Decimal | null {
  if (order.matched === 0) return null;
  return numbers.decimal(Math.round((order.notional * 100) / order.matched), AVERAGE_PLACES);
}

/** An order as its owner sees it (contract, section 5). */
export function orderReply(view: View, order: Order) {
  const { state, numbers } = view;
  const market = state.markets.get(marketOfToken(order.token));
  const outcome = outcomeOf(order.token);
  return {
    id: idOf(state.idPrefixes.order, order.number),
    status: order.status,
    marketId: marketIdOf(view, market),
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

/** One fill, from one party's side. */
export function tradeReply(view: View, trade: Trade, role: Role) {
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
    marketId: marketIdOf(view, market),
    tokenId: tokenIdIn(market, outcome),
    outcome,
    side: order.side,
    price: numbers.price(role === "TAKER" ? trade.price : order.price),
    size: numbers.size(trade.size),
    fee: numbers.decimal(role === "TAKER" ? trade.fee : 0, AVERAGE_PLACES),
    role,
    orderId: idOf(state.idPrefixes.order, own),
    counterOrderId: idOf(state.idPrefixes.order, other),
    matchType: trade.matchType,
    transactionHash: block === null ? null : transactionHash(state, transaction),
    blockNumber: block?.height ?? null,
    createdAt: toIso(trade.at),
    updatedAt: toIso(settledAt(state, trade)),
  };
}

/** A packed fill as its account sees it. */
export const fillReply = (view: View, fill: number) =>
  tradeReply(view, view.state.trades.get(tradeOfFill(fill)), roleOfFill(fill));

/** The fills of one order, oldest first: the trades hold them as a chain from the latest back. */
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

/** The open orders of an account, oldest first. */
export function* openOrdersOf({ state }: View, account: Account): Generator<Order> {
  for (let number = account.firstOpen; number !== 0; ) {
    const order = state.orders.get(number);
    number = order.nextOpen;
    yield order;
  }
}

/** A trade of a market as its taker saw it, without the parties. */
export function marketTradeReply(view: View, trade: Trade) {
  const { id, tokenId, outcome, side, price, size, matchType, status, transactionHash, createdAt } =
    tradeReply(view, trade, "TAKER");
  return { id, tokenId, outcome, side, price, size, matchType, status, transactionHash, createdAt };
}
