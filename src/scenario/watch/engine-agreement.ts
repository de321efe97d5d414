import { ASK, BID } from "../../core/book/book.ts";
import { NO_SLOT } from "../../core/book/order-pool.ts";
import { bookFor, marketOfToken, outcomeOf } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import { moneyText, sizeText } from "../run/words.ts";
import { type BrokenRule, type NameOf, orderText } from "./watch-words.ts";
import type { WatchedAccounts } from "./watched-accounts.ts";
import type { WatchedOrder } from "./watched-book.ts";

// The names of the invariants that say the same of the whole state.
const FILLS = "an order's matched size = sum of its fills";
const LEVELS = "book levels = sum of live orders";
const RESERVED = "reserved = what live orders may cost";

/**
 * What the exchange says of an order that a command has changed, and of its level and account, where that is something
 * else than the events say; null when it is the same.
 */
export function disagreement(
  state: State,
  order: WatchedOrder,
  tick: number,
  accounts: WatchedAccounts,
  nameOf: NameOf,
): BrokenRule | null {
  const { number, open, own, rank, token, isResting } = order;
  const record = state.orders.get(number);
  const matched = order.size - open;
  if (record.matched !== matched) {
    const text = `${orderText(order, nameOf)} has matched ${sizeText(record.matched)}, expected ${sizeText(matched)}`;
    return { name: FILLS, text };
  }
  const { pool } = state;
  const { slot } = record;
  const isInBook = slot !== NO_SLOT && pool.orderIn(slot) === number && pool.openIn(slot) === open;
  if ((record.status === "LIVE") !== isResting || isInBook !== isResting) {
    const found = `${record.status}, ${isInBook ? "in the book" : "not in the book"} with ${sizeText(open)} open`;
    const text = `${orderText(order, nameOf)} is ${found}, expected it ${isResting ? "there" : "to have left"}`;
    return { name: LEVELS, text };
  }
  const { book } = bookFor(state.markets.get(marketOfToken(token)), outcomeOf(token));
  const direction = own.isBid ? BID : ASK;
  const size = book === null ? 0 : book.totalAt(direction, tick);
  const count = book === null ? 0 : book.countAt(direction, tick);
  if (size !== own.openAt(rank) || count !== own.countAt(rank)) {
    const level = `the level of ${orderText(order, nameOf)}`;
    const text = `${level} has ${sizeText(size)} (${count}), expected ${sizeText(own.openAt(rank))} (${own.countAt(rank)})`;
    return { name: LEVELS, text };
  }
  return otherReserved(state, order, accounts, nameOf);
}

function otherReserved(
  state: State,
  order: WatchedOrder,
  accounts: WatchedAccounts,
  nameOf: NameOf,
): BrokenRule | null {
  const { account, side, token } = order;
  const record = state.accounts.get(account);
  const holding = record.holdings.get(marketOfToken(token));
  const shares = outcomeOf(token) === "YES" ? holding?.yes : holding?.no;
  const found = side === "BUY" ? record.collateral.reserved : (shares?.reserved ?? 0);
  const expected = accounts.reservedFor(order);
  if (found === expected) return null;
  const amount = (units: number): string =>
    side === "BUY" ? `${moneyText(units)} USDC` : `${sizeText(units)} ${outcomeOf(token)}`;
  return {
    name: RESERVED,
    text: `${nameOf(account)} has ${amount(found)} reserved, expected ${amount(expected)}`,
  };
}
