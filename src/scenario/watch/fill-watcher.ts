import { ASK, BID } from "../../core/book/book.ts";
import { NO_SLOT } from "../../core/book/order-pool.ts";
import type { DomainEvent, EventOf } from "../../core/events.ts";
import { moneyText, priceText, sizeText } from "../../core/format.ts";
import { bookFor, marketOfToken, outcomeOf } from "../../core/market.ts";
import { remainingOf, reservationOf } from "../../core/order.ts";
import type { CancelReason, MatchType } from "../../core/terms.ts";
import { FULL_PRICE, type Millis, type Size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import {
  type OrderTerms,
  type WatchedMarket,
  type WatchedOrder,
  watchedMarket,
  watchedOrder,
} from "./watched-book.ts";

/** A rule that does not hold, with what was expected and what was found. */
interface BrokenRule {
  readonly name: string;
  readonly text: string;
}

type NameOf = (account: number) => string;

/** `order 812 of alice (BUY 30 YES @ 0.55)`. */
function orderTermsText(order: WatchedOrder, nameOf: NameOf): string {
  const { number, account, side, size, token, price } = order;
  return `order ${number} of ${nameOf(account)} (${side} ${sizeText(size)} ${outcomeOf(token)} @ ${priceText(price)})`;
}

const PRIORITY = "orders trade by price, then by arrival";
const FILLS = "a fill is at the maker's price, of all that both have open";
const SELF_TRADES = "the self-trade policy holds";
const ENDINGS = "an order rests or ends as its type says";

/** What happens to an incoming order after its last fill, in the words of a message. */
type Ending = CancelReason | "rests" | "nothing more";
type Fill = Pick<EventOf<"orderTraded">, "maker" | "price" | "size" | "matchType">;

/** Returns the name of the rule that requires a match or an end. */
const ruleOf = (expected: WatchedOrder | Ending): string =>
  expected === "SELF_TRADE" ? SELF_TRADES : ENDINGS;

const isOwn = ({ account, selfTrade }: WatchedOrder, maker: WatchedOrder): boolean =>
  selfTrade !== "allow" && maker.account === account;

type FillTerms = Readonly<Record<"size" | "price", number>> & { readonly matchType: MatchType };

function termsOf({ token, side, open }: WatchedOrder, maker: WatchedOrder): FillTerms {
  const size = Math.min(open, maker.open);
  if (maker.token === token) return { size, price: maker.price, matchType: "COMPLEMENTARY" };
  return { size, price: FULL_PRICE - maker.price, matchType: side === "BUY" ? "MINT" : "MERGE" };
}

const termsText = ({ size, price, matchType }: FillTerms): string =>
  `${sizeText(size)} @ ${priceText(price)} ${matchType}`;

const fillText = (fill: Fill): string => `takes ${termsText(fill)} from order ${fill.maker}`;

const LIVE_ORDERS = "only a resting order is canceled, expires or is matched";
// Names of the invariants that check the same for the whole state.
const MATCHED = "an order's matched size = sum of its fills";
const LEVELS = "book levels = sum of live orders";
const RESERVED = "reserved = what live orders may cost";

/**
 * Checks each fill as it happens, and keeps the first rule that is broken. It builds its own queues from domain events, so
 * that an error in the exchange's books cannot hide a broken rule. After each command it compares the changed orders, their
 * levels and the reserved amounts of their accounts with the exchange's records.
 */
export class FillWatcher {
  readonly #exchange: Exchange;
  readonly #nameOf: NameOf;
  /** The incoming order of the current command; null if it has none. */
  #incoming: WatchedOrder | null = null;
  /** How the incoming order must end now; null if that depends on the book. */
  #ending: Ending | null = null;
  #markets: (WatchedMarket | undefined)[] = [];
  /** Reserved amounts, built from events: micro-USDC at index 0, size units at each token; then by account. */
  #reserved: number[][] = [];
  /** Live orders by number. */
  readonly #orders: (WatchedOrder | undefined)[] = [];
  /** Orders that the current command has changed. */
  readonly #changed: WatchedOrder[] = [];
  /** The first broken rule; nothing is checked after it. */
  #broken: BrokenRule | null = null;

  constructor(exchange: Exchange, nameOf: NameOf) {
    this.#exchange = exchange;
    this.#nameOf = nameOf;
    this.#reset();
    exchange.watch((_sequence, at, events) => this.#take(at, events));
    exchange.watchRewind(() => this.#reset());
  }

  get broken(): BrokenRule | null {
    return this.#broken;
  }

  /** Rebuilds the queues from the exchange's live orders, in order of arrival. */
  #reset(): void {
    this.#markets = [];
    this.#reserved = [];
    this.#orders.length = 0;
    this.#broken = null;
    for (const record of this.#exchange.state.orders) {
      if (record.status !== "LIVE") continue;
      const order = this.#add(record.number, record);
      this.#reduce(order, order.size - remainingOf(record));
      order.own.add(order);
    }
    this.#changed.length = 0;
  }

  #take(at: Millis, events: readonly DomainEvent[]): void {
    if (this.#broken !== null) return;
    for (const event of events) {
      this.#broken = this.#ruleBrokenBy(event, at);
      if (this.#broken !== null) return;
    }
    if (this.#changed.length === 0) return;
    if (this.#incoming !== null) this.#broken = this.#wrongEnd(this.#incoming, "nothing more");
    this.#incoming = null;
    for (const changed of this.#changed) {
      this.#broken ??= this.#difference(changed);
      if (!changed.isResting) this.#orders[changed.number] = undefined;
    }
    this.#changed.length = 0;
  }

  #ruleBrokenBy(event: DomainEvent, at: Millis): BrokenRule | null {
    switch (event.kind) {
      case "orderPlaced":
        this.#begin(this.#add(event.order, event));
        return null;
      case "orderTraded":
        return this.#trade(event, at);
      case "orderRested":
        return this.#end(event.order, "rests");
      case "orderCanceled":
        return event.order === this.#incoming?.number
          ? this.#end(event.order, event.reason)
          : this.#leave(event.order, "is canceled", event.reason === "SELF_TRADE");
      case "orderExpired": {
        const { expiration = null } = this.#orders[event.order] ?? {};
        const isDue = expiration !== null && expiration <= at;
        return isDue ? this.#leave(event.order, "expires") : notLive(event.order, "expires");
      }
      default:
        return null;
    }
  }

  #trade(event: EventOf<"orderTraded">, at: Millis): BrokenRule | null {
    const taker = this.#incoming;
    if (taker === null || taker.number !== event.taker) return notLive(event.taker, "trades");
    const wrong = this.#wrongFill(taker, event, at);
    if (wrong !== null) return wrong;
    const maker = this.#orders[event.maker];
    if (maker === undefined) return notLive(event.maker, "is matched");
    this.#reduce(taker, event.size);
    this.#reduce(maker, event.size);
    this.#changed.push(maker);
    return null;
  }

  /** Ends the incoming order: it rests or is canceled. */
  #end(number: number, found: CancelReason | "rests"): BrokenRule | null {
    const order = this.#incoming;
    if (order === null || order.number !== number) return notLive(number, "rests");
    const wrong = this.#wrongEnd(order, found);
    if (wrong !== null) return wrong;
    if (found === "rests") order.own.add(order);
    else this.#reserve(order, 0);
    return null;
  }

  /** Removes a resting order that was not filled completely. */
  #leave(number: number, how: string, isSelfTrade = false): BrokenRule | null {
    const order = this.#orders[number];
    if (order?.isResting !== true) return notLive(number, how);
    const wrong = isSelfTrade ? this.#wrongSelfCancel(order) : null;
    order.own.remove(order);
    this.#reserve(order, 0);
    this.#changed.push(order);
    return wrong;
  }

  #begin(order: WatchedOrder): void {
    this.#incoming = order;
    const isKilled = order.orderType === "FOK" && order.opposite.fillable(order) < order.size;
    this.#ending = isKilled ? "FOK_UNFILLED" : null;
  }

  /** Returns the rule that a fill of the incoming order breaks; null if none. */
  #wrongFill(order: WatchedOrder, fill: Fill, at: Millis): BrokenRule | null {
    const next = this.#next(order);
    if (typeof next === "string") return this.#broke(ruleOf(next), order, fillText(fill));
    if (isOwn(order, next)) return this.#broke(SELF_TRADES, order, fillText(fill));
    if (next.number !== fill.maker) return this.#broke(PRIORITY, order, fillText(fill));
    const { size, price, matchType } = termsOf(order, next);
    const isAlive = next.expiration === null || next.expiration > at;
    const isRight = fill.price === price && fill.size === size && fill.matchType === matchType;
    if (isRight && isAlive) return null;
    return this.#broke(FILLS, order, `${fillText(fill)}${isAlive ? "" : ", which has expired"}`);
  }

  /** Returns the rule broken by a cancel of a resting order with SELF_TRADE; null if none. */
  #wrongSelfCancel(canceled: WatchedOrder): BrokenRule | null {
    const order = this.#incoming;
    const text = orderTermsText(canceled, this.#nameOf);
    if (order === null)
      return { name: SELF_TRADES, text: `${text} is canceled with SELF_TRADE, and no order was placed` };
    if (this.#next(order) !== canceled || !isOwn(order, canceled))
      return this.#broke(SELF_TRADES, order, `${text} is canceled`);
    if (order.selfTrade === "cancel-both") this.#ending = "SELF_TRADE";
    return null;
  }

  /** Returns the rule broken by the end of the incoming order; null if none. */
  #wrongEnd(order: WatchedOrder, found: Ending): BrokenRule | null {
    const expected = this.#next(order);
    if (found !== expected)
      return this.#broke(found === "SELF_TRADE" ? SELF_TRADES : ruleOf(expected), order, found);
    this.#ending = "nothing more";
    return null;
  }

  /** Returns the resting order that an order must match next, which may be one of its own account, or how it must end. */
  #next(order: WatchedOrder): WatchedOrder | Ending {
    const { orderType, open, size, selfTrade } = order;
    if (this.#ending !== null) return this.#ending;
    if (open === 0) return "nothing more";
    const maker = order.opposite.next(order.limit);
    if (maker !== null) return selfTrade === "cancel-taker" && isOwn(order, maker) ? "SELF_TRADE" : maker;
    if (orderType === "FAK") return open === size ? "FAK_UNFILLED" : "FAK_REMAINDER";
    return "rests";
  }

  #broke(name: string, order: WatchedOrder, found: string): BrokenRule {
    const next = this.#next(order);
    const expected = typeof next === "string" ? next : this.#meetingText(order, next);
    const which = `${orderTermsText(order, this.#nameOf)} ${order.orderType} with ${sizeText(order.open)} open`;
    return { name, text: `${which}: ${found}, expected ${expected === "rests" ? "it to rest" : expected}` };
  }

  #meetingText(order: WatchedOrder, maker: WatchedOrder): string {
    const text = `${orderTermsText(maker, this.#nameOf)}, which has ${sizeText(maker.open)} open`;
    return isOwn(order, maker) ? `the cancel of ${text}` : `${termsText(termsOf(order, maker))} from ${text}`;
  }

  #add(number: number, terms: OrderTerms): WatchedOrder {
    const market = marketOfToken(terms.token);
    this.#markets[market] ??= watchedMarket();
    const record = this.#exchange.state.markets.get(market);
    const order = watchedOrder(record, this.#markets[market], number, terms);
    while (this.#orders.length < number) this.#orders.push(undefined);
    this.#orders[number] = order;
    this.#reserve(order, order.open, 0);
    this.#changed.push(order);
    return order;
  }

  #reduce(order: WatchedOrder, by: number): void {
    this.#reserve(order, order.open - by);
    if (order.isResting) order.own.reduce(order, by);
    else order.open -= by;
  }

  /** Compares a changed order, its level and its account with the exchange's records; null if they agree. */
  #difference(order: WatchedOrder): BrokenRule | null {
    const { state } = this.#exchange;
    const { number, open, own, rank, token, isResting } = order;
    const record = state.orders.get(number);
    const which = (): string => orderTermsText(order, this.#nameOf);
    const matched = order.size - open;
    if (record.matched !== matched) {
      const text = `${which()} has matched ${sizeText(record.matched)}, expected ${sizeText(matched)}`;
      return { name: MATCHED, text };
    }
    const { pool } = state;
    const { slot } = record;
    const isInBook = slot !== NO_SLOT && pool.orderIn(slot) === number && pool.openIn(slot) === open;
    if ((record.status === "LIVE") !== isResting || isInBook !== isResting) {
      const found = `${record.status}, ${isInBook ? "in" : "not in"} the book with ${sizeText(open)} open`;
      const text = `${which()} is ${found}, expected it ${isResting ? "there" : "to have left"}`;
      return { name: LEVELS, text };
    }
    const { book } = bookFor(state.markets.get(marketOfToken(token)), outcomeOf(token));
    const direction = own.isBid ? BID : ASK;
    const size = book?.totalAt(direction, order.tick) ?? 0;
    const count = book?.countAt(direction, order.tick) ?? 0;
    const expected = own.at(rank);
    if (size !== expected.open || count !== expected.count) {
      const found = `the level of ${which()} has ${sizeText(size)} (${count})`;
      return { name: LEVELS, text: `${found}, expected ${sizeText(expected.open)} (${expected.count})` };
    }
    return this.#reservedDifference(order);
  }

  #reservedDifference(order: WatchedOrder): BrokenRule | null {
    const { account, side, token } = order;
    const { collateral, holdings } = this.#exchange.state.accounts.get(account);
    const holding = holdings.get(marketOfToken(token));
    const shares = outcomeOf(token) === "YES" ? holding?.yes : holding?.no;
    const found = side === "BUY" ? collateral.reserved : (shares?.reserved ?? 0);
    const expected = this.#reservedOf(order)[account] ?? 0;
    if (found === expected) return null;
    const amount = (units: number): string =>
      side === "BUY" ? `${moneyText(units)} USDC` : `${sizeText(units)} ${outcomeOf(token)}`;
    const name = this.#nameOf(account);
    return { name: RESERVED, text: `${name} has ${amount(found)} reserved, expected ${amount(expected)}` };
  }

  /** Adjusts the reserved amount of an order's account to a new open size. */
  #reserve(order: WatchedOrder, after: number, before = order.open): void {
    const { account, side, feeRateBps } = order;
    const costOf = (open: number): number =>
      side === "SELL" ? open : reservationOf(order, open as Size, feeRateBps);
    const reserved = this.#reservedOf(order);
    while (reserved.length <= account) reserved.push(0);
    reserved[account] = (reserved[account] as number) + costOf(after) - costOf(before);
  }

  #reservedOf({ side, token }: WatchedOrder): number[] {
    const asset = side === "BUY" ? 0 : token;
    this.#reserved[asset] ??= [];
    return this.#reserved[asset];
  }
}

const notLive = (order: number, what: string): BrokenRule => ({
  name: LIVE_ORDERS,
  text: `order ${order} ${what}, and no such order rests or has just been placed`,
});
