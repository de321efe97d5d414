import type { SelfTradePolicy } from "../../core/book/book.ts";
import type { OrderType, Side } from "../../core/commands.ts";
import type { Market } from "../../core/market.ts";
import { FULL_PRICE, type Millis, type Price, type Size } from "../../core/units.ts";
import { type WatchedOrder, type WatchedOrders, WatchedSide } from "./watched-book.ts";

/** What an order asks for. */
export interface OrderTerms {
  readonly account: number;
  readonly token: number;
  readonly side: Side;
  readonly price: Price;
  readonly size: Size;
  readonly orderType: OrderType;
  readonly expiration: Millis | null;
}

interface Sides {
  readonly bids: WatchedSide;
  readonly asks: WatchedSide;
}

const emptySides = (orders: WatchedOrders): Sides => ({
  bids: new WatchedSide(orders, true),
  asks: new WatchedSide(orders, false),
});

/** The books of a market as the events of the exchange describe them: one in YES terms, or one for each outcome. */
export class WatchedMarket {
  readonly #orders: WatchedOrders;
  readonly #selfTrade: SelfTradePolicy;
  readonly #feeRateBps: number;
  readonly #yes: Sides;
  /** Null where NO is the mirror of YES. */
  readonly #no: Sides | null;
  readonly #tickSize: number;
  /** One more than there are price levels: a price of this many ticks is 1 USDC. */
  readonly #ticks: number;

  constructor({ tickSize, selfTrade, feeRateBps, matching }: Market, orders: WatchedOrders) {
    this.#orders = orders;
    this.#selfTrade = selfTrade;
    this.#feeRateBps = feeRateBps;
    this.#yes = emptySides(orders);
    this.#no = matching === "complementary" ? null : emptySides(orders);
    this.#tickSize = tickSize;
    this.#ticks = FULL_PRICE / tickSize;
  }

  /** An order that comes to this market, in no queue yet. */
  order(number: number, terms: OrderTerms): WatchedOrder {
    const { token, side, price, size } = terms;
    const isNo = (token & 1) === 1;
    const isMirror = isNo && this.#no === null;
    const { bids, asks } = (isNo ? this.#no : null) ?? this.#yes;
    const isBid = (side === "BUY") !== isMirror;
    const ticks = price / this.#tickSize;
    const rank = isBid === isMirror ? ticks : this.#ticks - ticks;
    const order = this.#orders.unused() ?? ({} as WatchedOrder);
    order.number = number;
    order.account = terms.account;
    order.token = token;
    order.side = side;
    order.price = price;
    order.size = size;
    order.open = size;
    order.orderType = terms.orderType;
    order.expiration = terms.expiration;
    order.selfTrade = this.#selfTrade;
    order.feeRateBps = this.#feeRateBps;
    order.own = isBid ? bids : asks;
    order.opposite = isBid ? asks : bids;
    order.rank = rank;
    order.limit = this.#ticks - rank;
    order.isResting = false;
    this.#orders.add(order);
    return order;
  }

  /** The price of an order's level in ticks, in the book's own terms. */
  tickOf({ own, rank }: WatchedOrder): number {
    return own.isBid ? this.#ticks - rank : rank;
  }
}
