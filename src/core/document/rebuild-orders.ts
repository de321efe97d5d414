import { Book } from "../book/book.ts";
import { NO_SLOT } from "../book/order-pool.ts";
import { directionIn, isMirrored, levelsOf, marketOfToken, outcomeOf, priceIn } from "../market.ts";
import { type Order, remainingOf, reservationOf } from "../order.ts";
import { linkOpen } from "../rules/apply-trading.ts";
import type { State } from "../state.ts";
import { add, notional } from "../units.ts";
import type { Records } from "./records.ts";
import type { AccountTally, MarketTally, Tallies } from "./tallies.ts";

/**
 * Lists all orders and rests those that are open. A queue follows from the numbers: an order rests when it comes, if
 * ever, and keeps its place until it leaves the book.
 */
export function rebuildOrders(records: Records, state: State, tallies: Tallies): void {
  let latest = 0;
  for (const order of records.orders) {
    state.orders.add(order);
    const account = tallies.accounts[order.account - 1];
    const market = tallies.markets[marketOfToken(order.token) - 1];
    if (
      account === undefined ||
      market === undefined ||
      order.createdAt < latest ||
      !isPlaceable(order, market)
    ) {
      throw wrongTerms(records, order, account, market, latest);
    }
    latest = order.createdAt;
    const expected = wrongEnd(order);
    if (expected !== null) throw records.wrong("orders", order.number - 1, ".status", expected, order.status);
    if (order.rested) rest(state, tallies, order, account, market);
  }
}

/** Whether its market takes such an order. */
const isPlaceable = (
  { price, size, orderType, expiration, createdAt }: Order,
  { market }: MarketTally,
): boolean =>
  price % market.tickSize === 0 &&
  size >= market.minOrderSize &&
  createdAt >= market.createdAt &&
  (expiration === null ? orderType !== "GTD" : orderType === "GTD" && expiration > createdAt);

function wrongTerms(
  records: Records,
  order: Order,
  account: AccountTally | undefined,
  market: MarketTally | undefined,
  latest: number,
): Error {
  const wrong = (path: keyof Order, expected: string): Error =>
    records.wrong("orders", order.number - 1, `.${path}`, expected, order[path]);
  if (account === undefined) return wrong("account", "the number of an account");
  if (market === undefined) return wrong("token", "a token, twice the number of a market, plus 1 for NO");
  const { tickSize, minOrderSize, createdAt } = market.market;
  if (order.price % tickSize !== 0) return wrong("price", `a multiple of the tick size ${tickSize}`);
  if (order.size < minOrderSize) return wrong("size", `at least the smallest size ${minOrderSize}`);
  if (order.createdAt < Math.max(latest, createdAt))
    return wrong("createdAt", `a moment from ${Math.max(latest, createdAt)}`);
  return wrong("expiration", order.orderType === "GTD" ? `a moment after ${order.createdAt}` : "null");
}

/** What the status of an order must be instead, for how it was filled and why it ended; null when it is right. */
function wrongEnd({ status, matched, size, rested, cancelReason, orderType }: Order): string | null {
  if (!rested && matched < size && cancelReason === null)
    return "an order that rested, was filled or canceled";
  if (matched === size)
    return status === "MATCHED" && cancelReason === null ? null : "MATCHED, without a reason";
  switch (status) {
    case "LIVE":
      return rested && cancelReason === null ? null : "an end, for it has a reason";
    case "MATCHED":
      return !rested && matched > 0 ? null : "LIVE, CANCELED or EXPIRED, for it is not filled";
    case "CANCELED":
      return cancelReason !== null && (rested || matched === 0) ? null : "another end than CANCELED";
    case "EXPIRED":
      return rested && cancelReason === null && orderType === "GTD" ? null : "another end than EXPIRED";
  }
}

/** Notes that an order rested, and rests it if it still does. */
function rest(
  state: State,
  tallies: Tallies,
  order: Order,
  account: AccountTally,
  { market, lanes, liquidity }: MarketTally,
): void {
  const outcome = outcomeOf(order.token);
  const index = outcome === "NO" && lanes.length > 1 ? 1 : 0;
  const lane = market.books[index] ?? market.books[0];
  const tally = lanes[index];
  if (tally === undefined) throw new Error(`market ${market.number} has no book ${index}`);
  lane.book ??= new Book(state.pool, levelsOf(market));
  const isLeft = order.status === "CANCELED" || order.status === "EXPIRED";
  tally.sequence += isLeft ? 2 : 1;
  const changedAt = isLeft ? order.updatedAt : order.createdAt;
  if (changedAt > tally.updatedAt) tally.updatedAt = changedAt;
  if (order.status !== "LIVE") return;
  const remaining = remainingOf(order);
  const mirrored = isMirrored(market, outcome);
  const price = priceIn(mirrored, order.price);
  const direction = directionIn(mirrored, order.side);
  order.slot = lane.book.rest(direction, price / market.tickSize, remaining, order.number, order.account);
  if (index === 0) add(liquidity, notional(price, remaining));
  const reserved = reservationOf(order, remaining, market.feeRateBps);
  if (order.side === "BUY") account.collateral.reserved += reserved;
  else tallies.holding(account, market.number)[outcome === "YES" ? "yes" : "no"].reserved += reserved;
  linkOpen(state, account.account, order);
  if (order.expiration !== null) state.expiries.add(order.expiration, order.number);
}

/** Whether orders say of themselves what their fills, noted by now, come to. @throws DocumentError for the first that does not. */
export function checkOrders(records: Records, state: State): void {
  for (const { number, lastTrade, createdAt, updatedAt, status, matched, size, rested } of state.orders) {
    const lastAt = lastTrade === 0 ? createdAt : state.trades.get(lastTrade).at;
    const isExact = !rested || status === "LIVE" || matched === size;
    if (isExact ? updatedAt === lastAt : updatedAt >= lastAt) continue;
    const expected = isExact ? `${lastAt}, when it last changed` : `a moment from ${lastAt}`;
    throw records.wrong("orders", number - 1, ".updatedAt", expected, updatedAt);
  }
  for (const market of state.markets) {
    if (market.status === "ACTIVE") continue;
    for (const { book } of market.books) {
      const open = book === null ? NO_SLOT : Math.max(book.bestBid, book.levels + 1 - book.bestAsk);
      if (open !== 0)
        throw records.wrong(
          "markets",
          market.number - 1,
          ".status",
          "ACTIVE, for orders rest there",
          market.status,
        );
    }
  }
}
