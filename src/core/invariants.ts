import { type Account, availableOf } from "./account.ts";
import { ASK, BID, type Book, type BookDirection } from "./book/book.ts";
import {
  bookFor,
  directionIn,
  isMirrored,
  levelsOf,
  type Market,
  type MarketBook,
  marketOfToken,
  outcomeOf,
  priceIn,
} from "./market.ts";
import { type Order, remainingOf, reservationOf } from "./order.ts";
import type { State } from "./state.ts";
import { FULL_PRICE, notional, size } from "./units.ts";

/** One rule about the state that must always hold, with the figures it was judged by. */
export interface Invariant {
  readonly name: string;
  readonly holds: boolean;
  /** How many things were compared. */
  readonly checked: number;
  /** The first few differences, in words. */
  readonly differences: readonly string[];
}

const SHOWN = 5;

class Judgement {
  readonly name: string;
  #checked = 0;
  readonly #differences: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  expect(isTrue: boolean, difference: () => string): void {
    this.#checked += 1;
    if (!isTrue && this.#differences.length < SHOWN) this.#differences.push(difference());
  }

  equal(what: string, found: number, expected: number): void {
    this.expect(found === expected, () => `${what}: ${found}, expected ${expected}`);
  }

  get result(): Invariant {
    const differences = this.#differences;
    return { name: this.name, holds: differences.length === 0, checked: this.#checked, differences };
  }
}

/** Judges every invariant over the whole state; its cost grows with the state. */
export function invariants(state: State): Invariant[] {
  return [
    collateralIsConserved(state),
    sharesAreBacked(state),
    noBalanceIsNegative(state),
    reservationsFollowOrders(state),
    booksHoldTheLiveOrders(state),
    noBookIsCrossed(state),
    queuesAreInOrderOfArrival(state),
    fillsAddUp(state),
    openOrdersAreListed(state),
  ];
}

/** The invariants that do not hold. */
export const violations = (state: State): Invariant[] => invariants(state).filter(({ holds }) => !holds);

function collateralIsConserved(state: State): Invariant {
  const judgement = new Judgement("USDC issued = balances + locked collateral");
  let total = 0;
  for (const account of state.accounts) total += account.collateral.balance;
  for (const market of state.markets) total += notional(FULL_PRICE, market.supply);
  judgement.equal("micro-USDC", total, state.issued);
  return judgement.result;
}

function sharesAreBacked(state: State): Invariant {
  const judgement = new Judgement("supply of YES = supply of NO = locked collateral");
  const yes = new Map<number, number>();
  const no = new Map<number, number>();
  for (const account of state.accounts) {
    for (const [market, holding] of account.holdings) {
      yes.set(market, (yes.get(market) ?? 0) + holding.yes.balance);
      no.set(market, (no.get(market) ?? 0) + holding.no.balance);
    }
  }
  for (const { number, supply } of state.markets) {
    judgement.equal(`YES of market ${number}`, yes.get(number) ?? 0, supply);
    judgement.equal(`NO of market ${number}`, no.get(number) ?? 0, supply);
  }
  return judgement.result;
}

function noBalanceIsNegative(state: State): Invariant {
  const judgement = new Judgement("no balance is negative or over-reserved");
  for (const account of state.accounts) {
    const check = (what: string, of: { balance: number; reserved: number }): void =>
      judgement.expect(
        of.reserved >= 0 && availableOf(of) >= 0 && Number.isSafeInteger(of.balance),
        () => `account ${account.number} ${what}: balance ${of.balance}, reserved ${of.reserved}`,
      );
    check("USDC", account.collateral);
    for (const [market, holding] of account.holdings) {
      check(`YES of market ${market}`, holding.yes);
      check(`NO of market ${market}`, holding.no);
    }
  }
  return judgement.result;
}

function reservationsFollowOrders(state: State): Invariant {
  const judgement = new Judgement("reserved = what live orders may cost");
  const expected = new Map<string, number>();
  for (const order of state.orders) {
    if (order.status !== "LIVE") continue;
    const { feeRateBps } = state.markets.get(marketOfToken(order.token));
    const key = `${order.account}/${order.side === "BUY" ? "USDC" : order.token}`;
    expected.set(key, (expected.get(key) ?? 0) + reservationOf(order, remainingOf(order), feeRateBps));
  }
  const check = (account: Account, asset: string | number, reserved: number): void => {
    const key = `${account.number}/${asset}`;
    judgement.equal(`account ${key}`, reserved, expected.get(key) ?? 0);
  };
  for (const account of state.accounts) {
    check(account, "USDC", account.collateral.reserved);
    for (const [market, { yes, no }] of account.holdings) {
      check(account, market * 2, yes.reserved);
      check(account, market * 2 + 1, no.reserved);
    }
  }
  return judgement.result;
}

/** Where a live order must be found: `market/book/direction/tick`. */
function placeOf(market: Market, order: Order): string {
  const outcome = outcomeOf(order.token);
  const mirrored = isMirrored(market, outcome);
  const tick = priceIn(mirrored, order.price) / market.tickSize;
  const book = bookFor(market, outcome) === market.books[0] ? 0 : 1;
  return `${market.number}/${book}/${directionIn(mirrored, order.side)}/${tick}`;
}

function booksHoldTheLiveOrders(state: State): Invariant {
  const judgement = new Judgement("book levels = sum of live orders");
  const totals = new Map<string, { open: number; orders: number }>();
  const liquidity = new Map<number, number>();
  for (const order of state.orders) {
    if (order.status !== "LIVE") continue;
    const market = state.markets.get(marketOfToken(order.token));
    const place = placeOf(market, order);
    const level = totals.get(place) ?? { open: 0, orders: 0 };
    totals.set(place, { open: level.open + remainingOf(order), orders: level.orders + 1 });
    const outcome = outcomeOf(order.token);
    if (bookFor(market, outcome) !== market.books[0]) continue;
    const value = notional(priceIn(isMirrored(market, outcome), order.price), remainingOf(order));
    liquidity.set(market.number, (liquidity.get(market.number) ?? 0) + value);
  }
  forEachSide(state, (market, index, _lane, book, direction) => {
    book.depth(direction, (tick, open, orders) => {
      const place = `${market.number}/${index}/${direction}/${tick}`;
      judgement.equal(`open at ${place}`, open, totals.get(place)?.open ?? 0);
      judgement.equal(`orders at ${place}`, orders, totals.get(place)?.orders ?? 0);
      totals.delete(place);
    });
  });
  for (const [place, { open }] of totals) judgement.equal(`open at ${place}`, 0, open);
  for (const market of state.markets) {
    judgement.equal(
      `liquidity of market ${market.number}`,
      market.liquidity,
      liquidity.get(market.number) ?? 0,
    );
  }
  return judgement.result;
}

function noBookIsCrossed(state: State): Invariant {
  const judgement = new Judgement("no book is crossed");
  for (const market of state.markets) {
    for (const { book } of market.books) {
      if (book === null) continue;
      const { bestBid, bestAsk } = book;
      judgement.expect(
        bestBid < bestAsk,
        () =>
          `market ${market.number}: best bid ${bestBid}, best ask ${bestAsk} of ${levelsOf(market)} levels`,
      );
    }
  }
  return judgement.result;
}

function queuesAreInOrderOfArrival(state: State): Invariant {
  const judgement = new Judgement("queues are in order of arrival");
  forEachSide(state, (market, _index, _lane, book, direction) => {
    let tick = 0;
    let previous = 0;
    book.queue(direction, (slot) => {
      const order = state.pool.orderIn(slot);
      if (book.tickOf(slot) === tick) {
        judgement.expect(
          previous < order,
          () => `market ${market.number}: order ${previous} before ${order}`,
        );
      }
      tick = book.tickOf(slot);
      previous = order;
    });
  });
  return judgement.result;
}

function fillsAddUp(state: State): Invariant {
  const judgement = new Judgement("an order's matched size = sum of its fills");
  const matched = new Map<number, number>();
  const add = (order: number, quantity: number): void => {
    matched.set(order, (matched.get(order) ?? 0) + quantity);
  };
  for (const trade of state.trades) {
    add(trade.taker, trade.size);
    add(trade.maker, trade.size);
  }
  for (const order of state.orders) {
    judgement.equal(`order ${order.number}`, order.matched, matched.get(order.number) ?? 0);
    judgement.expect(
      remainingOf(order) >= size(0) && (remainingOf(order) > 0 || order.status === "MATCHED"),
      () => `order ${order.number}: ${order.status} with ${remainingOf(order)} remaining`,
    );
  }
  return judgement.result;
}

function openOrdersAreListed(state: State): Invariant {
  const judgement = new Judgement("an account's open orders = its live orders");
  const live = new Map<number, number>();
  for (const order of state.orders) {
    if (order.status === "LIVE") live.set(order.account, (live.get(order.account) ?? 0) + 1);
  }
  for (const account of state.accounts) {
    let listed = 0;
    for (let next = account.firstOpen; next !== 0; next = state.orders.get(next).nextOpen) listed += 1;
    judgement.equal(`listed of account ${account.number}`, listed, live.get(account.number) ?? 0);
    judgement.equal(`count of account ${account.number}`, account.openCount, listed);
  }
  return judgement.result;
}

function forEachSide(
  state: State,
  visit: (market: Market, index: number, lane: MarketBook, book: Book, direction: BookDirection) => void,
): void {
  for (const market of state.markets) {
    for (const [index, lane] of market.books.entries()) {
      if (lane.book === null) continue;
      visit(market, index, lane, lane.book, BID);
      visit(market, index, lane, lane.book, ASK);
    }
  }
}
