import { openOrdersOf } from "../account.ts";
import { ASK, BID, type Book, type BookDirection } from "../book/book.ts";
import {
  bookFor,
  directionIn,
  isMirrored,
  levelsOf,
  type Market,
  marketOfToken,
  outcomeOf,
  priceIn,
} from "../market.ts";
import { type Order, remainingOf } from "../order.ts";
import type { State } from "../state.ts";
import { StepCounter, type Steps } from "../steps.ts";
import { add, compareSums, emptySum, FULL_PRICE, notional, type Sum } from "../units.ts";
import { type Invariant, InvariantCheck } from "./check.ts";

/** Key of a price level as one number. A string would double the cost. */
const levelKey = (market: number, book: number, direction: BookDirection, tick: number): number =>
  ((market * 2 + book) * 2 + direction) * FULL_PRICE + tick;

function levelText(key: number): string {
  const [side, tick] = [Math.floor(key / FULL_PRICE), key % FULL_PRICE];
  return `${side >> 2}/${(side >> 1) & 1}/${side & 1}/${tick}`;
}

/** Returns the key of the level at which a live order must rest. */
function placeOf(market: Market, order: Order): number {
  const outcome = outcomeOf(order.token);
  const mirrored = isMirrored(market, outcome);
  const tick = priceIn(mirrored, order.price) / market.tickSize;
  const book = bookFor(market, outcome) === market.books[0] ? 0 : 1;
  return levelKey(market.number, book, directionIn(mirrored, order.side), tick);
}

const NO_LIQUIDITY: Readonly<Sum> = emptySum();

/** Checks that levels and liquidity equal the sums of live orders. */
export function* booksHoldTheLiveOrders(state: State, live: readonly Order[]): Steps<Invariant> {
  const counter = new StepCounter();
  const rule = new InvariantCheck("book levels = sum of live orders");
  const totals = new Map<number, { open: number; orders: number }>();
  const liquidity = new Map<number, Sum>();
  for (const order of live) {
    if (counter.isStep()) yield;
    const market = state.markets.get(marketOfToken(order.token));
    const place = placeOf(market, order);
    rule.compared(1);
    if (
      state.pool.orderIn(order.slot) !== order.number ||
      state.pool.openIn(order.slot) !== remainingOf(order)
    )
      rule.differs(`order ${order.number} is not in its slot with its open size`);
    const level = totals.get(place);
    if (level === undefined) totals.set(place, { open: remainingOf(order), orders: 1 });
    else {
      level.open += remainingOf(order);
      level.orders += 1;
    }
    const outcome = outcomeOf(order.token);
    if (bookFor(market, outcome) !== market.books[0]) continue;
    const value = notional(priceIn(isMirrored(market, outcome), order.price), remainingOf(order));
    const sum = liquidity.get(market.number) ?? emptySum();
    add(sum, value);
    liquidity.set(market.number, sum);
  }
  let found = 0;
  for (const { market, index, book, direction } of sidesOf(state)) {
    let levels = 0;
    book.depth(direction, (tick, open, orders) => {
      const place = levelKey(market.number, index, direction, tick);
      const total = totals.get(place);
      if (total !== undefined) found += 1;
      const expected = total ?? { open: 0, orders: 0 };
      if (open !== expected.open)
        rule.differs(`open at ${levelText(place)}: ${open}, expected ${expected.open}`);
      if (orders !== expected.orders)
        rule.differs(`orders at ${levelText(place)}: ${orders}, expected ${expected.orders}`);
      levels += 1;
    });
    rule.compared(2 * levels);
    if (counter.isStep(1 + levels)) yield;
  }
  if (found < totals.size)
    rule.differs(`levels of live orders: ${found} in the books, expected ${totals.size}`);
  for (const market of state.markets) {
    const expected = liquidity.get(market.number) ?? NO_LIQUIDITY;
    rule.compared(1);
    if (compareSums(market.liquidity, expected) === 0) continue;
    const [is, wanted] = [market.liquidity, expected].map((sum) => JSON.stringify(sum));
    rule.differs(`liquidity of market ${market.number}: ${is}, expected ${wanted}`);
  }
  return rule.result;
}

/** Checks that the best bid is below the best ask. */
export function noBookIsCrossed(state: State): Invariant {
  const rule = new InvariantCheck("no book is crossed");
  for (const market of state.markets) {
    for (const { book } of market.books) {
      if (book === null) continue;
      const { bestBid, bestAsk } = book;
      rule.expect(
        bestBid < bestAsk,
        () =>
          `market ${market.number}: best bid ${bestBid}, best ask ${bestAsk} of ${levelsOf(market)} levels`,
      );
    }
  }
  return rule.result;
}

/** Checks that the queue of each level is in order of arrival. */
export function* queuesAreInOrderOfArrival(state: State): Steps<Invariant> {
  const counter = new StepCounter();
  const rule = new InvariantCheck("queues are in order of arrival");
  for (const { market, book, direction } of sidesOf(state)) {
    let tick = 0;
    let previous = 0;
    let orders = 0;
    book.queue(direction, (slot) => {
      const order = state.pool.orderIn(slot);
      orders += 1;
      if (book.tickOf(slot) === tick) {
        rule.compared(1);
        if (previous >= order) rule.differs(`market ${market.number}: order ${previous} before ${order}`);
      }
      tick = book.tickOf(slot);
      previous = order;
    });
    if (counter.isStep(1 + orders)) yield;
  }
  return rule.result;
}

/** Side of a book in which orders have rested. */
interface MarketSide {
  readonly market: Market;
  readonly index: number;
  readonly book: Book;
  readonly direction: BookDirection;
}

function sidesOf(state: State): MarketSide[] {
  const sides: MarketSide[] = [];
  for (const market of state.markets) {
    market.books.forEach(({ book }, index) => {
      if (book === null) return;
      sides.push({ market, index, book, direction: BID }, { market, index, book, direction: ASK });
    });
  }
  return sides;
}

/** Checks that matched size, value and fee of each order equal the sums of its fills. */
export function* fillsAddUp(state: State): Steps<Invariant> {
  const counter = new StepCounter();
  const rule = new InvariantCheck("an order's matched size = sum of its fills");
  const { orders, trades } = state;
  // Matched size, value and fee by order number. A map would cost ten times as much.
  const sums = new Float64Array(3 * orders.next);
  const count = (order: number, size: number, value: number, fee: number): void => {
    const at = 3 * order;
    sums[at] = (sums[at] as number) + size;
    sums[at + 1] = (sums[at + 1] as number) + value;
    sums[at + 2] = (sums[at + 2] as number) + fee;
  };
  for (let number = 1; number <= trades.size; number += 1) {
    if (counter.isStep()) yield;
    const { taker, maker, price, size, fee, matchType } = trades.get(number);
    const makerPrice = matchType === "COMPLEMENTARY" ? price : FULL_PRICE - price;
    count(taker, size, price * size, fee);
    count(maker, size, makerPrice * size, 0);
  }
  for (let number = 1; number <= orders.size; number += 1) {
    if (counter.isStep()) yield;
    const order = orders.get(number);
    const at = 3 * number;
    if (order.matched !== sums[at]) rule.differs(`order ${number}: ${order.matched}, expected ${sums[at]}`);
    if (order.notional !== sums[at + 1])
      rule.differs(`notional of order ${number}: ${order.notional}, expected ${sums[at + 1]}`);
    if (order.fee !== sums[at + 2])
      rule.differs(`fee of order ${number}: ${order.fee}, expected ${sums[at + 2]}`);
    const remaining = remainingOf(order);
    if (remaining < 0 || (remaining === 0 && order.status !== "MATCHED"))
      rule.differs(`order ${number}: ${order.status} with ${remaining} remaining`);
  }
  rule.compared(4 * orders.size);
  return rule.result;
}

/** Checks that each account's list of open orders contains exactly its live orders. */
export function* openOrdersAreListed(state: State, orders: readonly Order[]): Steps<Invariant> {
  const counter = new StepCounter();
  const rule = new InvariantCheck("an account's open orders = its live orders");
  const live = new Map<number, number>();
  for (const { account } of orders) live.set(account, (live.get(account) ?? 0) + 1);
  for (const account of state.accounts) {
    let listed = 0;
    for (const order of openOrdersOf(state, account)) {
      if (counter.isStep()) yield;
      listed += 1;
      rule.expect(
        order.account === account.number && order.status === "LIVE",
        () =>
          `order ${order.number}: ${order.status} of account ${order.account}, listed by ${account.number}`,
      );
    }
    rule.equal(() => `listed of account ${account.number}`, listed, live.get(account.number) ?? 0);
    rule.equal(() => `count of account ${account.number}`, account.openCount, listed);
  }
  return rule.result;
}
