import { NO_SLOT } from "./book/order-pool.ts";
import { check } from "./document-error.ts";
import { packingOf } from "./packed-table.ts";
import {
  boolean,
  type Infer,
  id,
  integer,
  moment,
  onDisk,
  oneOf,
  orNull,
  price,
  record,
  reference,
  size,
} from "./schema.ts";
import { CANCEL_REASONS, MATCH_TYPES, ORDER_TYPES, SIDES } from "./terms.ts";
import { complement, type Millis, type Money, notional, type Price, type Size } from "./units.ts";

export const ORDER_STATUSES = ["LIVE", "MATCHED", "CANCELED", "EXPIRED"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Tokens start at 2 because markets start at 1. */
const FIRST_TOKEN = 2;
const zero = (): number => 0;

/** Fields of an order in a command, a record or a journal line, without account and token. */
export const ORDER_TERMS = {
  side: oneOf(...SIDES),
  price: price(),
  size: size(1),
  orderType: oneOf(...ORDER_TYPES),
} as const;

/** Requires an expiration of a GTD order, which is live while now < expiration, and of no other. @throws DocumentError */
export function requireExpiration({ orderType, expiration = null }: Partial<Order>): void {
  const isGtd = orderType === "GTD";
  const expected = isGtd ? "the moment at which it expires" : "none, because the order is not GTD";
  check(isGtd === (expiration !== null), expected, expiration, "expiration");
}

/** Order as requested, then its progress. */
export const Order = record(
  {
    number: id(),
    account: reference(),
    token: reference(FIRST_TOKEN),
    ...ORDER_TERMS,
    expiration: orNull(moment()),
    createdAt: moment(),
    /** Best opposite price on arrival, in terms of its own token; null if the other side was empty. */
    touch: orNull(price()),
    /** Size that could have filled at its limit on arrival. */
    fillableSize: onDisk("crossable", size()),
    /** First order of the same account that blocked it under a self-trade policy; 0 if none. */
    blockingOwnOrder: onDisk("ownInWay", reference(0)),
  },
  {
    changing: {
      /** Whether it ever rested; then the orders and size ahead of it in the queue of its level when it began to rest. */
      rested: boolean(),
      ordersAhead: reference(0),
      sizeAhead: integer<Size>(),
      status: oneOf(...ORDER_STATUSES),
      cancelReason: orNull(oneOf(...CANCEL_REASONS)),
      matched: size(),
      /** Total value of the fills, in the order's own terms. */
      notional: integer<Money>(),
      fee: integer<Money>(),
      updatedAt: moment(),
    },
    derived: {
      /** Slot in the order pool; NO_SLOT if the order does not rest. */
      slot: () => NO_SLOT as number,
      /** Latest fill, from which the trades link to earlier ones; 0 if none. */
      lastTrade: zero,
    },
  },
);
export type Order = Infer<typeof Order>;
export const ORDER_PACKING = packingOf(Order);

export const Trade = record(
  {
    number: id(),
    taker: reference(),
    maker: reference(),
    /** In terms of the taker's token; the maker's limit price. */
    price: price(),
    size: size(1),
    /** Paid by the taker, in USDC. */
    fee: integer<Money>(),
    matchType: oneOf(...MATCH_TYPES),
    at: moment(),
    transaction: reference(),
  },
  {
    derived: {
      /** Previous trade of the taker's order, and of the maker's; 0 if none. */
      takerPrevious: zero,
      makerPrevious: zero,
    },
  },
);
export type Trade = Infer<typeof Trade>;
export const TRADE_PACKING = packingOf(Trade);

export const remainingOf = (order: Pick<Order, "size" | "matched">): Size =>
  (order.size - order.matched) as Size;

/**
 * Returns the reservation of an order with `remaining` unfilled: for a BUY price x remaining plus the fee at its limit,
 * in micro-USDC; for a SELL the remaining shares, in size units. A fill at a lower price never costs a BUY more, because
 * the fee grows by less than the price falls.
 */
export function reservationOf(
  order: Pick<Order, "side" | "price">,
  remaining: Size,
  feeRateBps: number,
): number {
  return order.side === "BUY"
    ? notional(order.price, remaining) + feeOf(order.price, remaining, feeRateBps)
    : remaining;
}

const BPS = 10_000;

/**
 * Taker fee in micro-USDC: floor(feeRateBps x min(price, 1 - price) x size / 10,000). The product is split before it is
 * multiplied, so that it stays below 2^53 for every price, size and rate.
 */
export function feeOf(price: Price, size: Size, feeRateBps: number): Money {
  if (feeRateBps === 0) return 0 as Money;
  const base = Math.min(price, complement(price)) * size;
  const whole = Math.floor(base / BPS);
  return (whole * feeRateBps + Math.floor(((base - whole * BPS) * feeRateBps) / BPS)) as Money;
}

interface Expiry {
  readonly at: Millis;
  readonly order: number;
}

const isBefore = (a: Expiry, b: Expiry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/**
 * Binary heap of orders by expiration, then by number. An order that ends in another way remains as a stale entry until
 * it reaches the top or stale entries outnumber the live ones.
 */
export class ExpiryQueue {
  #heap: Expiry[] = [];
  #stale = 0;

  add(at: Millis, order: number): void {
    const heap = this.#heap;
    const added = { at, order };
    let place = heap.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Expiry;
      if (!isBefore(added, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = added;
  }

  /** Returns the order that expires first, or 0. */
  first(): number {
    return this.#heap[0]?.order ?? 0;
  }

  /** Returns at most `count` orders, soonest first; `isWaiting` tells whether an order is still open. */
  soonest(count: number, isWaiting: (order: number) => boolean): number[] {
    const found: number[] = [];
    const queue = this.copy();
    while (found.length < count && queue.first() !== 0) {
      if (isWaiting(queue.first())) found.push(queue.first());
      queue.#pop();
    }
    return found;
  }

  /** Called after an order in the queue has ended; removes stale entries. */
  ended(isWaiting: (order: number) => boolean): void {
    this.#stale += 1;
    while (this.#heap.length > 0 && !isWaiting(this.first())) {
      this.#pop();
      this.#stale -= 1;
    }
    if (this.#stale * 2 <= this.#heap.length || this.#stale <= 64) return;
    // A sorted list is a heap.
    this.#heap = this.#heap
      .filter(({ order }) => isWaiting(order))
      .sort((a, b) => a.at - b.at || a.order - b.order);
    this.#stale = 0;
  }

  copy(): ExpiryQueue {
    const copy = new ExpiryQueue();
    copy.#heap = this.#heap.slice();
    copy.#stale = this.#stale;
    return copy;
  }

  /** Removes the first entry and moves the last one to where it belongs. */
  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Expiry;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = place * 2 + 1;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Expiry, heap[child] as Expiry)) child += 1;
      if (child >= heap.length || !isBefore(heap[child] as Expiry, last)) break;
      heap[place] = heap[child] as Expiry;
      place = child;
    }
    heap[place] = last;
  }
}
