import { NO_SLOT } from "./book/order-pool.ts";
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
  size,
} from "./schema.ts";
import { CANCEL_REASONS, type MatchType, type OrderType, type Side } from "./terms.ts";
import { complement, type Money, notional, type Price, type Size } from "./units.ts";

export const ORDER_STATUSES = ["LIVE", "MATCHED", "CANCELED", "EXPIRED"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Tokens count from 2, for markets count from 1. */
const FIRST_TOKEN = 2;
const zero = (): number => 0;

/** What was asked for, then what has come of it. */
export const Order = record(
  {
    number: id(),
    account: id(),
    token: integer(FIRST_TOKEN),
    side: oneOf<Side>("BUY", "SELL"),
    price: price(),
    size: size(1),
    orderType: oneOf<OrderType>("GTC", "GTD", "FOK", "FAK"),
    expiration: orNull(moment()),
    createdAt: moment(),
    /** The best opposite price when it came, in terms of its own token; null when nobody stood there. */
    touch: orNull(price()),
    /** How much it could have filled at its limit when it came. */
    fillableSize: onDisk("crossable", size()),
    /** The first order of its own account that stood in its way under a self-trade policy; 0 for none. */
    blockingOwnOrder: onDisk("ownInWay", integer()),
  },
  {
    changing: {
      /** Whether it ever rested, and what stood before it in the queue of its level when it did. */
      rested: boolean(),
      ordersAhead: integer(),
      sizeAhead: integer<Size>(),
      status: oneOf(...ORDER_STATUSES),
      cancelReason: orNull(oneOf(...CANCEL_REASONS)),
      matched: size(),
      /** What the fills were worth together, in the order's own terms. */
      notional: integer<Money>(),
      fee: integer<Money>(),
      updatedAt: moment(),
    },
    derived: {
      /** Where the order rests in the pool; NO_SLOT when it does not. */
      slot: () => NO_SLOT as number,
      /** The latest fill; earlier ones follow through the trades. 0 when there is none. */
      lastTrade: zero,
      /** The account's neighbouring open orders, by number; 0 at the ends. */
      nextOpen: zero,
      previousOpen: zero,
    },
  },
);
export type Order = Infer<typeof Order>;

export const Trade = record(
  {
    number: id(),
    taker: id(),
    maker: id(),
    /** In terms of the taker's token. */
    price: price(),
    size: size(1),
    /** Paid by the taker. */
    fee: integer<Money>(),
    matchType: oneOf<MatchType>("COMPLEMENTARY", "MINT", "MERGE"),
    at: moment(),
    /** The transaction that settles it. */
    transaction: id(),
  },
  {
    derived: {
      /** The trade before this one of the taker's order, and of the maker's; 0 at the start. */
      takerPrevious: zero,
      makerPrevious: zero,
    },
  },
);
export type Trade = Infer<typeof Trade>;

/** What of the order has not been filled. */
export const remainingOf = (order: Pick<Order, "size" | "matched">): Size =>
  (order.size - order.matched) as Size;

/**
 * What an order with `remaining` unfilled keeps reserved: a BUY price x remaining plus its worst fee in micro-USDC, a
 * SELL the remaining shares in size units. No cheaper fill can cost a BUY more, because a fee grows by less than
 * the price falls.
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
 * Taker fee in micro-USDC: floor(feeRateBps x min(price, 1 - price) x size / 10,000), rounded down; the product is
 * split before it is multiplied, so that it stays below 2^53 for every price, size and rate.
 */
export function feeOf(price: Price, size: Size, feeRateBps: number): Money {
  if (feeRateBps === 0) return 0 as Money;
  const base = Math.min(price, complement(price)) * size;
  const whole = Math.floor(base / BPS);
  return (whole * feeRateBps + Math.floor(((base - whole * BPS) * feeRateBps) / BPS)) as Money;
}
