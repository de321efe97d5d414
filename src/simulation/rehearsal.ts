import { availableOf, type Balance, emptyBalance } from "../core/account.ts";
import { Book } from "../core/book/book.ts";
import { OrderPool } from "../core/book/order-pool.ts";
import { Plan } from "../core/book/plan.ts";
import { ExpiryQueue } from "../core/expiry-queue.ts";
import { directionIn, priceIn } from "../core/market.ts";
import { feeOf, reservationOf } from "../core/order.ts";
import { credit, reserve } from "../core/rules/ledger.ts";
import type { OrderType, Outcome, Side } from "../core/terms.ts";
import {
  complement,
  FULL_PRICE,
  type Money,
  millis,
  notional,
  type Price,
  type Size,
  size,
} from "../core/units.ts";

/** The highest taker fee with which a rehearsed flow can be played. */
export const HIGHEST_FEE_BPS = 200;

/** An order of the flow. */
export interface RehearsedOrder {
  /** From 1, in the order in which they come. */
  readonly number: number;
  /** From 0. */
  readonly account: number;
  readonly side: Side;
  readonly outcome: Outcome;
  readonly price: Price;
  readonly size: Size;
  readonly type: OrderType;
  /** When it expires, in milliseconds since the start; null for all types but GTD. */
  readonly expiresAt: number | null;
}

/** An order that rests. */
export interface RestingOrder {
  readonly order: RehearsedOrder;
  readonly slot: number;
  open: Size;
  /** Its place among those that rest. */
  place: number;
}

interface Purse {
  readonly usdc: Balance<Money>;
  readonly YES: Balance<Size>;
  readonly NO: Balance<Size>;
}

/**
 * Plays the orders of a flow as an exchange will play them in an empty complementary market, so that whoever writes the
 * flow knows which orders rest and what each account can pay. Fees are the highest there may be: with lower ones every
 * account has at least as much.
 */
export class Rehearsal {
  readonly #tickSize: Price;
  readonly #book: Book;
  readonly #plan = new Plan();
  readonly #purses: readonly Purse[];
  readonly #resting: RestingOrder[] = [];
  readonly #byNumber = new Map<number, RestingOrder>();
  readonly #expiries = new ExpiryQueue();

  /** Every account starts with so many shares of each outcome, and as many USDC. */
  constructor(accounts: number, shares: Size, tickSize: Price) {
    this.#tickSize = tickSize;
    this.#book = new Book(new OrderPool(), FULL_PRICE / tickSize - 1);
    this.#purses = Array.from({ length: accounts }, () => ({
      usdc: { ...emptyBalance(), balance: notional(FULL_PRICE, shares) },
      YES: { ...emptyBalance(), balance: shares },
      NO: { ...emptyBalance(), balance: shares },
    }));
  }

  /** The orders that rest, in no particular order. */
  get resting(): readonly RestingOrder[] {
    return this.#resting;
  }

  /** The best bid for YES, in ticks; 0 when there is none. */
  get bestBid(): number {
    return this.#book.bestBid;
  }

  /** The best ask for YES, in ticks; one above the highest when there is none. */
  get bestAsk(): number {
    return this.#book.bestAsk;
  }

  /** The order of a number, when it rests. */
  find(number: number): RestingOrder | undefined {
    return this.#byNumber.get(number);
  }

  /** Whether its account can pay for an order. */
  canPay(order: RehearsedOrder): boolean {
    return (
      reservationOf(order, order.size, HIGHEST_FEE_BPS) <= availableOf(this.#paysWith(order), "optimistic")
    );
  }

  /** Lets time pass: orders expire. */
  advanceTo(at: number): void {
    for (let due = this.#firstDue(at); due !== undefined; due = this.#firstDue(at)) this.cancel(due);
  }

  /** Matches an order and rests what is left of it, as its type says. */
  place(order: RehearsedOrder): void {
    const isMirrored = order.outcome === "NO";
    const direction = directionIn(isMirrored, order.side);
    const tick = priceIn(isMirrored, order.price) / this.#tickSize;
    this.#book.plan(direction, tick, order.size, order.account, "allow", this.#plan);
    const { count, filled, slots, quantities } = this.#plan;
    if (order.type === "FOK" && filled < order.size) return;
    this.#reserve(order, reservationOf(order, order.size, HIGHEST_FEE_BPS));
    let open = order.size;
    for (let index = 0; index < count; index += 1) {
      const quantity = size(quantities[index] as number);
      this.#trade(order, open, this.#makerIn(slots[index] as number), quantity);
      open = size(open - quantity);
    }
    if (open === 0) return;
    if (order.type === "FAK") {
      this.#reserve(order, -reservationOf(order, open, HIGHEST_FEE_BPS));
      return;
    }
    const slot = this.#book.rest(direction, tick, open, order.number, order.account);
    const resting = { order, slot, open, place: this.#resting.length };
    this.#resting.push(resting);
    this.#byNumber.set(order.number, resting);
    if (order.expiresAt !== null) this.#expiries.add(millis(order.expiresAt), order.number);
  }

  /** Takes an order that rests out of the book. */
  cancel(resting: RestingOrder): void {
    this.#reserve(resting.order, -reservationOf(resting.order, resting.open, HIGHEST_FEE_BPS));
    this.#book.remove(resting.slot);
    this.#leave(resting);
  }

  #trade(taker: RehearsedOrder, takerOpen: Size, maker: RestingOrder, quantity: Size): void {
    const { order, open, slot } = maker;
    const price = order.outcome === taker.outcome ? order.price : complement(order.price);
    this.#settle(order, order.price, open, quantity);
    this.#settle(taker, price, takerOpen, quantity);
    credit(this.#purseOf(taker).usdc, -feeOf(price, quantity, HIGHEST_FEE_BPS));
    this.#book.fill(slot, quantity);
    maker.open = size(open - quantity);
    if (maker.open === 0) this.#leave(maker);
  }

  /** Moves shares and USDC of one party to a fill, of which `open` was open before. */
  #settle(order: RehearsedOrder, price: Price, open: Size, quantity: Size): void {
    const after = reservationOf(order, size(open - quantity), HIGHEST_FEE_BPS);
    this.#reserve(order, after - reservationOf(order, open, HIGHEST_FEE_BPS));
    const purse = this.#purseOf(order);
    const bought = order.side === "BUY" ? 1 : -1;
    credit(purse.usdc, -bought * notional(price, quantity));
    credit(purse[order.outcome], bought * quantity);
  }

  #reserve(order: RehearsedOrder, amount: number): void {
    reserve(this.#paysWith(order), amount);
  }

  #leave(resting: RestingOrder): void {
    const last = this.#resting.pop() as RestingOrder;
    if (last !== resting) {
      this.#resting[resting.place] = last;
      last.place = resting.place;
    }
    this.#byNumber.delete(resting.order.number);
    if (resting.order.expiresAt !== null) this.#expiries.ended((number) => this.#byNumber.has(number));
  }

  /** The order that expires first, when that is no later than `at`. */
  #firstDue(at: number): RestingOrder | undefined {
    const first = this.#byNumber.get(this.#expiries.first());
    return first !== undefined && (first.order.expiresAt as number) <= at ? first : undefined;
  }

  #makerIn(slot: number): RestingOrder {
    return this.#byNumber.get(this.#book.pool.orderIn(slot)) as RestingOrder;
  }

  #purseOf({ account }: RehearsedOrder): Purse {
    return this.#purses[account] as Purse;
  }

  #paysWith(order: RehearsedOrder): Balance<Money | Size> {
    const purse = this.#purseOf(order);
    return order.side === "BUY" ? purse.usdc : purse[order.outcome];
  }
}
