import { availableOf, type Balance, emptyBalance } from "../core/account.ts";
import { ASK, BID, Book, type BookDirection, MatchPlan } from "../core/book/book.ts";
import { OrderPool } from "../core/book/order-pool.ts";
import { directionIn, priceIn } from "../core/market.ts";
import { ExpiryQueue, feeOf, reservationOf } from "../core/order.ts";
import { credit, reserve } from "../core/rules/ledger.ts";
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
import type { PlaceRow } from "./flow.ts";

/** Initial capacity of a book's order pool. */
const INITIAL_ORDERS = 64;

/** The exchange's book, in which a generator executes its orders to know the state before the next one. */
export class SimulatedBook extends Book {
  readonly #plan = new MatchPlan();

  /** `tickSize` in 0.0001 USDC. */
  constructor(tickSize: number) {
    super(new OrderPool(INITIAL_ORDERS), FULL_PRICE / tickSize - 1);
  }

  /** Returns how much of an order of some size would be filled up to its limit, in 0.01 share. */
  fillable(direction: BookDirection, limit: number, size: number = Number.MAX_SAFE_INTEGER): number {
    this.plan(direction, limit, size, 0, "allow", this.#plan);
    return this.#plan.filled;
  }

  /** Fills an order as far as possible and returns its open size; calls `filled` before each fill. */
  match(
    direction: BookDirection,
    limit: number,
    size: number,
    filled: (slot: number, quantity: number) => void = () => {},
  ): number {
    const left = size - this.fillable(direction, limit, size);
    const { count, slots, quantities } = this.#plan;
    for (let index = 0; index < count; index += 1) {
      const [slot, quantity] = [slots[index] as number, quantities[index] as number];
      filled(slot, quantity);
      this.fill(slot, quantity);
    }
    return left;
  }

  isOccupied(tick: number): boolean {
    return this.countAt(BID, tick) + this.countAt(ASK, tick) > 0;
  }

  /** Returns the number of price levels of a side. */
  occupiedLevels(direction: BookDirection): number {
    let levels = 0;
    this.depth(direction, () => {
      levels += 1;
    });
    return levels;
  }
}

/** Maximum taker fee of a market in which a generated flow can be played. */
export const MAX_FEE_BPS = 200;

export interface SimulatedOrder extends Pick<PlaceRow, "side" | "outcome" | "price" | "size" | "type"> {
  /** From 1, in order of arrival. */
  readonly number: number;
  readonly account: number;
  /** Milliseconds since the start; null for all types but GTD. */
  readonly expiresAt: number | null;
}

export interface RestingOrder {
  readonly order: SimulatedOrder;
  readonly slot: number;
  /** Index in the list of resting orders. */
  index: number;
}

interface Balances {
  readonly usdc: Balance<Money>;
  readonly YES: Balance<Size>;
  readonly NO: Balance<Size>;
}

/**
 * Executes orders as an exchange would in an empty complementary market, to know which orders rest and what each account
 * can pay. It charges the maximum fee, because lower fees leave every account at least as much.
 */
export class SimulatedMarket {
  readonly #tickSize: Price;
  readonly book: SimulatedBook;
  readonly #balances: readonly Balances[];
  /** In no particular order. */
  readonly resting: RestingOrder[] = [];
  readonly #byNumber = new Map<number, RestingOrder>();
  readonly #expiries = new ExpiryQueue();

  /** Every account starts with `shares` of each outcome, and as many USDC. */
  constructor(accounts: number, shares: Size, tickSize: Price) {
    this.#tickSize = tickSize;
    this.book = new SimulatedBook(tickSize);
    this.#balances = Array.from({ length: accounts }, () => ({
      usdc: { ...emptyBalance(), balance: notional(FULL_PRICE, shares) },
      YES: { ...emptyBalance(), balance: shares },
      NO: { ...emptyBalance(), balance: shares },
    }));
  }

  find(number: number): RestingOrder | undefined {
    return this.#byNumber.get(number);
  }

  canPay(order: SimulatedOrder): boolean {
    return reservationOf(order, order.size, MAX_FEE_BPS) <= availableOf(this.#paysWith(order), "optimistic");
  }

  advanceTo(at: number): void {
    for (let due = this.#firstDue(at); due !== undefined; due = this.#firstDue(at)) this.cancel(due);
  }

  /** Matches an order, and rests or cancels its remainder by its type. */
  place(order: SimulatedOrder): void {
    const isMirrored = order.outcome === "NO";
    const direction = directionIn(isMirrored, order.side);
    const tick = priceIn(isMirrored, order.price) / this.#tickSize;
    if (order.type === "FOK" && this.book.fillable(direction, tick, order.size) < order.size) return;
    this.#reserve(order, reservationOf(order, order.size, MAX_FEE_BPS));
    let open = order.size;
    this.book.match(direction, tick, order.size, (slot, quantity) => {
      this.#trade(order, open, slot, size(quantity));
      open = size(open - quantity);
    });
    if (open === 0) return;
    if (order.type === "FAK") {
      this.#reserve(order, -reservationOf(order, open, MAX_FEE_BPS));
      return;
    }
    const slot = this.book.rest(direction, tick, open, order.number, order.account);
    const resting = { order, slot, index: this.resting.length };
    this.resting.push(resting);
    this.#byNumber.set(order.number, resting);
    if (order.expiresAt !== null) this.#expiries.add(millis(order.expiresAt), order.number);
  }

  cancel(resting: RestingOrder): void {
    const { order, slot } = resting;
    this.#reserve(order, -reservationOf(order, this.#openIn(slot), MAX_FEE_BPS));
    this.book.remove(slot);
    this.#remove(resting);
  }

  /** Applies a fill of the order in a slot, before the book has it. */
  #trade(taker: SimulatedOrder, takerOpen: Size, slot: number, quantity: Size): void {
    const maker = this.#byNumber.get(this.book.pool.orderIn(slot)) as RestingOrder;
    const { order } = maker;
    const open = this.#openIn(slot);
    const price = order.outcome === taker.outcome ? order.price : complement(order.price);
    this.#transfer(order, order.price, open, quantity);
    this.#transfer(taker, price, takerOpen, quantity);
    credit(this.#balancesOf(taker).usdc, -feeOf(price, quantity, MAX_FEE_BPS));
    if (open === quantity) this.#remove(maker);
  }

  /** Moves shares and USDC of one party to a fill; `open` is the open size before. */
  #transfer(order: SimulatedOrder, price: Price, open: Size, quantity: Size): void {
    const after = reservationOf(order, size(open - quantity), MAX_FEE_BPS);
    this.#reserve(order, after - reservationOf(order, open, MAX_FEE_BPS));
    const balances = this.#balancesOf(order);
    const bought = order.side === "BUY" ? 1 : -1;
    credit(balances.usdc, -bought * notional(price, quantity));
    credit(balances[order.outcome], bought * quantity);
  }

  #reserve(order: SimulatedOrder, amount: number): void {
    reserve(this.#paysWith(order), amount);
  }

  #remove(resting: RestingOrder): void {
    const last = this.resting.pop() as RestingOrder;
    if (last !== resting) {
      this.resting[resting.index] = last;
      last.index = resting.index;
    }
    this.#byNumber.delete(resting.order.number);
    if (resting.order.expiresAt !== null) this.#expiries.ended((number) => this.#byNumber.has(number));
  }

  /** Returns the order that expires first, if it expires by `at`. */
  #firstDue(at: number): RestingOrder | undefined {
    const first = this.#byNumber.get(this.#expiries.first());
    return first !== undefined && (first.order.expiresAt as number) <= at ? first : undefined;
  }

  #openIn(slot: number): Size {
    return size(this.book.pool.openIn(slot));
  }

  #balancesOf({ account }: SimulatedOrder): Balances {
    return this.#balances[account] as Balances;
  }

  #paysWith(order: SimulatedOrder): Balance<Money | Size> {
    const balances = this.#balancesOf(order);
    return order.side === "BUY" ? balances.usdc : balances[order.outcome];
  }
}
