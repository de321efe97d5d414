import type { CancelReason, MatchType, OrderType, Side } from "./terms.ts";
import { complement, type Millis, type Money, notional, type Price, type Size } from "./units.ts";

export const ORDER_STATUSES = ["LIVE", "MATCHED", "CANCELED", "EXPIRED"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface Order {
  readonly number: number;
  readonly account: number;
  readonly token: number;
  readonly side: Side;
  readonly price: Price;
  readonly size: Size;
  readonly orderType: OrderType;
  readonly expiration: Millis | null;
  readonly createdAt: Millis;
  /** The best opposite price when it came, in terms of its own token; null when nobody stood there. */
  readonly touch: Price | null;
  /** How much it could have filled at its limit when it came. */
  readonly crossable: Size;
  /** The first order of its own account that stood in its way under a self-trade policy; 0 for none. */
  readonly ownInWay: number;
  /** Whether it ever rested, and what stood before it in the queue of its level when it did. */
  rested: boolean;
  ordersAhead: number;
  sizeAhead: Size;
  status: OrderStatus;
  cancelReason: CancelReason | null;
  matched: Size;
  /** What the fills were worth together, in the order's own terms. */
  notional: Money;
  fee: Money;
  updatedAt: Millis;
  /** Where the order rests in the pool; NO_SLOT when it does not. */
  slot: number;
  /** The latest fill; earlier ones follow through the trades. 0 when there is none. */
  lastTrade: number;
  /** The account's neighbouring open orders, by number; 0 at the ends. */
  nextOpen: number;
  previousOpen: number;
}

export interface Trade {
  readonly number: number;
  readonly taker: number;
  readonly maker: number;
  /** In terms of the taker's token. */
  readonly price: Price;
  readonly size: Size;
  /** Paid by the taker. */
  readonly fee: Money;
  readonly matchType: MatchType;
  readonly at: Millis;
  /** The transaction that settles it. */
  readonly transaction: number;
  /** The trade before this one of the taker's order, and of the maker's; 0 at the start. */
  readonly takerPrevious: number;
  readonly makerPrevious: number;
}

/** What of the order has not been filled. */
export const remainingOf = (order: Order): Size => (order.size - order.matched) as Size;

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
