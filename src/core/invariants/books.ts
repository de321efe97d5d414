import { openOrdersOf } from "../account.ts";
import { ASK, BID, type BookDirection } from "../book/book.ts";
import { sumText } from "../format.ts";
import { levelsOf, marketOfToken, placeOf, priceIn } from "../market.ts";
import { ORDER_PACKING, type Order, remainingOf } from "../order.ts";
import type { State } from "../state.ts";
import type { Steps } from "../steps.ts";
import { add, compareSums, emptySum, FULL_PRICE, notional, type Sum } from "../units.ts";
import type { InvariantCheck } from "./check.ts";

/** Key of a price level as one number. A string would double the cost. */
const levelKey = (market: number, book: number, direction: BookDirection, tick: number): number =>
  ((market * 2 + book) * 2 + direction) * FULL_PRICE + tick;

function levelName(key: number): string {
  const [side, tick] = [Math.floor(key / FULL_PRICE), key % FULL_PRICE];
  return `${side >> 2}/${(side >> 1) & 1}/${side & 1}/${tick}`;
}

const NO_LIQUIDITY: Readonly<Sum> = emptySum();

export function* booksHoldTheLiveOrders(
  rule: InvariantCheck,
  state: State,
  live: readonly Order[],
): Steps<void> {
  const totals = new Map<number, { open: number; orders: number }>();
  const liquidity = new Map<number, Sum>();
  for (const order of live) {
    if (rule.isStep()) yield;
    const market = state.markets.get(marketOfToken(order.token));
    const { bookState, mirrored, direction, tick } = placeOf(market, order);
    const isYesBook = bookState === market.books[0];
    const place = levelKey(market.number, isYesBook ? 0 : 1, direction, tick);
    rule.compared(1);
    if (
      state.pool.orderIn(order.slot) !== order.number ||
      state.pool.openIn(order.slot) !== remainingOf(order)
    )
      rule.differs(`order ${order.number} is not in its slot with its open size`);
    const level = totals.get(place) ?? { open: 0, orders: 0 };
    level.open += remainingOf(order);
    level.orders += 1;
    totals.set(place, level);
    if (!isYesBook) continue;
    const value = notional(priceIn(mirrored, order.price), remainingOf(order));
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
        rule.differs(`open at ${levelName(place)}: ${open}, expected ${expected.open}`);
      if (orders !== expected.orders)
        rule.differs(`orders at ${levelName(place)}: ${orders}, expected ${expected.orders}`);
      levels += 1;
    });
    rule.compared(2 * levels);
    if (rule.isStep(1 + levels)) yield;
  }
  if (found < totals.size)
    rule.differs(`levels of live orders: ${found} in the books, expected ${totals.size}`);
  for (const market of state.markets) {
    const expected = liquidity.get(market.number) ?? NO_LIQUIDITY;
    rule.compared(1);
    if (compareSums(market.liquidity, expected) === 0) continue;
    const [is, wanted] = [market.liquidity, expected].map(sumText);
    rule.differs(`liquidity of market ${market.number}: ${is} USDC, expected ${wanted}`);
  }
}

export function noBookIsCrossed(rule: InvariantCheck, state: State): void {
  for (const market of state.markets) {
    for (const { book } of market.books) {
      if (book === null) continue;
      const { bestBid, bestAsk } = book;
      rule.compared(1);
      if (bestBid >= bestAsk)
        rule.differs(
          `market ${market.number}: best bid ${bestBid}, best ask ${bestAsk} of ${levelsOf(market)} levels`,
        );
    }
  }
}

export function* queuesAreInOrderOfArrival(rule: InvariantCheck, state: State): Steps<void> {
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
    if (rule.isStep(1 + orders)) yield;
  }
}

/** Yields the sides of the books in which orders have rested. */
function* sidesOf({ markets }: State) {
  for (const market of markets) {
    for (const [index, { book }] of market.books.entries()) {
      if (book === null) continue;
      yield { market, index, book, direction: BID } as const;
      yield { market, index, book, direction: ASK } as const;
    }
  }
}

const filledOf = ORDER_PACKING.part("size", "matched", "notional", "fee", "status");

export function* fillsAddUp(rule: InvariantCheck, state: State): Steps<void> {
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
    if (rule.isStep()) yield;
    const { taker, maker, price, size, fee, matchType } = trades.get(number);
    const makerPrice = matchType === "COMPLEMENTARY" ? price : FULL_PRICE - price;
    count(taker, size, price * size, fee);
    count(maker, size, makerPrice * size, 0);
  }
  for (let number = 1; number <= orders.size; number += 1) {
    if (rule.isStep()) yield;
    const order = orders.part(number, filledOf);
    const at = 3 * number;
    if (order.matched !== sums[at]) rule.differs(`order ${number}: ${order.matched}, expected ${sums[at]}`);
    if (order.notional !== sums[at + 1])
      rule.differs(`notional of order ${number}: ${order.notional}, expected ${sums[at + 1]}`);
    if (order.fee !== sums[at + 2])
      rule.differs(`fee of order ${number}: ${order.fee}, expected ${sums[at + 2]}`);
    const remaining = remainingOf(order);
    const isWrong = remaining < 0 || (remaining === 0 && order.status !== "MATCHED");
    // An order that may still be filled is kept as an object.
    if (isWrong || (order.status === "LIVE" && !orders.isOpen(number)))
      rule.differs(`order ${number}: ${order.status} with ${remaining} remaining`);
  }
  rule.compared(4 * orders.size);
}

export function* openOrdersAreListed(
  rule: InvariantCheck,
  state: State,
  orders: readonly Order[],
): Steps<void> {
  const live = new Map<number, number>();
  for (const { account } of orders) live.set(account, (live.get(account) ?? 0) + 1);
  for (const account of state.accounts) {
    let listed = 0;
    for (const order of openOrdersOf(state, account)) {
      if (rule.isStep()) yield;
      listed += 1;
      rule.compared(1);
      if (order.account !== account.number || order.status !== "LIVE")
        rule.differs(
          `order ${order.number}: ${order.status} of account ${order.account}, listed by ${account.number}`,
        );
    }
    rule.equal(() => `listed of account ${account.number}`, listed, live.get(account.number) ?? 0);
    rule.equal(() => `count of account ${account.number}`, account.openCount, listed);
  }
}
