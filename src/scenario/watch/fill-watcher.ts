import { ASK, BID } from "../../core/book/book.ts";
import { NO_SLOT } from "../../core/book/order-pool.ts";
import type { DomainEvent } from "../../core/events.ts";
import { moneyText, priceText, sizeText } from "../../core/format.ts";
import { bookFor, type Market, marketOfToken, outcomeOf, tokenOf } from "../../core/market.ts";
import { ORDER_PACKING, type Order, remainingOf, reservationOf } from "../../core/order.ts";
import { FULL_PRICE, type Millis, type Size } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { type BookOrder, inBook, type LastEvent, type Match, NaiveBook } from "./naive-book.ts";

/** A rule that does not hold, with what was expected and what was found. */
interface BrokenRule {
  readonly name: string;
  readonly text: string;
}

/** A live order; its side and tick are those in its book. */
interface WatchedOrder extends BookOrder {
  readonly terms: Pick<Order, "account" | "token" | "side" | "price" | "size" | "orderType" | "expiration">;
  readonly market: Market;
  readonly book: NaiveBook<WatchedOrder>;
}

/** The incoming order of the current command, and what must still happen to it. */
interface Incoming {
  readonly order: WatchedOrder;
  /** Its open size after the matches so far. */
  open: number;
  readonly matches: Match<WatchedOrder>[];
  last: LastEvent;
}

const PRIORITY = "orders trade by price, then by arrival";
const FILLS = "a fill is at the maker's price, of all that both have open";
const SELF_TRADES = "the self-trade policy holds";
const ENDINGS = "an order rests or ends as its type says";
const LIVE_ORDERS = "only a resting order is canceled, expires or is matched";
// Names of the invariants that check the same for the whole state.
const MATCHED = "an order's matched size = sum of its fills";
const LEVELS = "book levels = sum of live orders";
const RESERVED = "reserved = what live orders may cost";

/** What is compared with a watched order. */
const progressOf = ORDER_PACKING.part("status", "matched", "slot");

type Fill = Pick<DomainEvent<"orderTraded">, "price" | "size" | "matchType">;

function fillOf({ terms: { token, side } }: WatchedOrder, { maker, quantity }: Match<WatchedOrder>) {
  const size = quantity;
  const { price } = maker.terms;
  if (maker.terms.token === token) return { size, price, matchType: "COMPLEMENTARY" };
  return { size, price: FULL_PRICE - price, matchType: side === "BUY" ? "MINT" : "MERGE" };
}

const fillText = ({ size, price, matchType }: Fill | ReturnType<typeof fillOf>): string =>
  `${sizeText(size)} @ ${priceText(price)} ${matchType}`;

/**
 * Checks each fill as it happens, and keeps the first rule that is broken. It builds its own books from domain events, so
 * that an error in the exchange's books cannot hide a broken rule: each incoming order is first matched in them. After each
 * command it compares the changed orders, their levels and the reserved amounts of their accounts with the exchange's records.
 */
export class FillWatcher {
  readonly #exchange: Exchange;
  readonly #nameOf: (account: number) => string;
  /** Null if the current command has none. */
  #incoming: Incoming | null = null;
  /** By token; the book of YES also has the orders for NO if both outcomes share it. */
  readonly #books = new Map<number, NaiveBook<WatchedOrder>>();
  /** Reserved amounts by account: micro-USDC at token 0, size units at each token. */
  readonly #reserved = new Map<number, number[]>();
  /** Resting orders of all books. */
  readonly #resting = new Map<number, WatchedOrder>();
  /** Orders that the current command has changed. */
  #changed: WatchedOrder[] = [];
  /** The first broken rule; nothing is checked after it. */
  broken: BrokenRule | null = null;

  constructor(exchange: Exchange, nameOf: (account: number) => string) {
    this.#exchange = exchange;
    this.#nameOf = nameOf;
    this.#reset();
    exchange.watch((_sequence, at, events) => this.#take(at, events));
    exchange.watchRewind(() => this.#reset());
  }

  /** Rebuilds the books from the exchange's live orders, in order of arrival. */
  #reset(): void {
    for (const map of [this.#books, this.#reserved, this.#resting]) map.clear();
    this.broken = null;
    for (const record of this.#exchange.state.orders) {
      if (record.status !== "LIVE") continue;
      const order = this.#add(record.number, record);
      order.open = remainingOf(record);
      order.book.rest(order);
      this.#reserve(order, 0, order.open);
    }
    this.#changed = [];
  }

  #take(at: Millis, events: readonly DomainEvent[]): void {
    if (this.broken !== null) return;
    for (const event of events) {
      this.broken = this.#ruleBrokenBy(event, at);
      if (this.broken !== null) return;
    }
    if (this.#changed.length === 0) return;
    if (this.#incoming !== null) this.broken = this.#end(this.#incoming.order.id, "nothing more");
    this.#incoming = null;
    for (const changed of this.#changed) this.broken ??= this.#difference(changed);
    this.#changed = [];
  }

  #ruleBrokenBy(event: DomainEvent, at: Millis): BrokenRule | null {
    switch (event.kind) {
      case "orderPlaced":
        this.#place(this.#add(event.order, event));
        return null;
      case "orderTraded":
        return this.#wrongFill(event, at);
      case "orderRested":
        return this.#end(event.order, "rests");
      case "orderCanceled": {
        const { order, reason } = event;
        if (order === this.#incoming?.order.id) return this.#end(order, reason);
        return reason === "SELF_TRADE" ? this.#wrongSelfCancel(order) : this.#leave(order, "is canceled");
      }
      case "orderExpired":
        return this.#leave(event.order, "expires", at);
      default:
        return null;
    }
  }

  /** Matches an incoming order in its book, which gives what is expected of the exchange. */
  #place(order: WatchedOrder): void {
    const { size, book, market, terms } = order;
    const { matches, last } = book.place(order, terms.orderType, market.selfTrade);
    this.#incoming = { order, open: size, matches, last };
    this.#reserve(order, 0, last === "rests" ? order.open : 0);
    this.#changed.push(order);
    for (const { maker, open, quantity } of matches) {
      this.#reserve(maker, open, quantity === 0 ? 0 : maker.open);
      this.#changed.push(maker);
    }
  }

  /** Removes a resting order that was not filled completely; with `expiredAt`, one that is due then. */
  #leave(number: number, how: string, expiredAt?: Millis): BrokenRule | null {
    const order = this.#resting.get(number);
    if (order === undefined || (expiredAt !== undefined && !isDue(order, expiredAt)))
      return notLive(number, how);
    order.book.cancel(number);
    this.#reserve(order, order.open, 0);
    this.#changed.push(order);
    return null;
  }

  /** Returns the rule that a fill of the incoming order breaks; null if none. */
  #wrongFill(fill: DomainEvent<"orderTraded">, at: Millis): BrokenRule | null {
    const incoming = this.#incoming;
    if (incoming?.order.id !== fill.taker) return notLive(fill.taker, "trades");
    const broke = (name: string, why = ""): BrokenRule =>
      this.#broke(name, incoming, `takes ${fillText(fill)} from order ${fill.maker}${why}`);
    const [match] = incoming.matches;
    if (match === undefined) return broke(ruleOf(incoming.last));
    if (match.quantity === 0) return broke(SELF_TRADES);
    if (match.maker.id !== fill.maker) return broke(PRIORITY);
    if (isDue(match.maker, at)) return broke(FILLS, ", which has expired");
    const { size, price, matchType } = fillOf(incoming.order, match);
    if (fill.price !== price || fill.size !== size || fill.matchType !== matchType) return broke(FILLS);
    incoming.matches.shift();
    incoming.open -= match.quantity;
    return null;
  }

  /** Returns the rule broken by a cancel of a resting order with SELF_TRADE; null if none. */
  #wrongSelfCancel(number: number): BrokenRule | null {
    const incoming = this.#incoming;
    const [match] = incoming?.matches ?? [];
    const isNext = match?.maker.id === number;
    if (isNext && match.quantity === 0) {
      incoming?.matches.shift();
      return null;
    }
    const order = isNext ? match.maker : this.#resting.get(number);
    if (order === undefined) return notLive(number, "is canceled");
    const text = `${this.#orderText(order)} is canceled`;
    if (incoming !== null) return this.#broke(SELF_TRADES, incoming, text);
    return { name: SELF_TRADES, text: `${text} with SELF_TRADE, and no order was placed` };
  }

  /** Ends the incoming order: it rests or is canceled, or the command has no more events. */
  #end(number: number, found: LastEvent): BrokenRule | null {
    const incoming = this.#incoming;
    if (incoming?.order.id !== number) return notLive(number, "rests");
    const expected = incoming.matches.length === 0 ? incoming.last : "more matches";
    const rule = ruleOf(found === "SELF_TRADE" ? found : expected);
    const wrong = found === expected ? null : this.#broke(rule, incoming, found);
    incoming.last = "nothing more";
    return wrong;
  }

  #broke(name: string, incoming: Incoming, found: string): BrokenRule {
    const { order, open, matches, last } = incoming;
    const [match] = matches;
    const end = last === "rests" ? "it to rest" : last;
    const expected = match === undefined ? end : this.#matchText(order, match);
    const which = `${this.#orderText(order)} ${order.terms.orderType} with ${sizeText(open)} open`;
    return { name, text: `${which}: ${found}, expected ${expected}` };
  }

  #matchText(order: WatchedOrder, match: Match<WatchedOrder>): string {
    const text = `${this.#orderText(match.maker)}, which has ${sizeText(match.open)} open`;
    return match.quantity === 0 ? `the cancel of ${text}` : `${fillText(fillOf(order, match))} from ${text}`;
  }

  /** `order 812 of alice (BUY 30 YES @ 0.55)`. */
  #orderText({ id, terms: { account, side, size, token, price } }: WatchedOrder): string {
    const words = `${side} ${sizeText(size)} ${outcomeOf(token)} @ ${priceText(price)}`;
    return `order ${id} of ${this.#nameOf(account)} (${words})`;
  }

  #add(id: number, terms: WatchedOrder["terms"]): WatchedOrder {
    const { account: owner, token, side, price, size } = terms;
    const market = this.#exchange.state.markets.get(marketOfToken(token));
    const isMirrored = market.matching === "complementary" && outcomeOf(token) === "NO";
    const own = isMirrored ? tokenOf(market.number, "YES") : token;
    const book = this.#books.get(own) ?? new NaiveBook(this.#resting);
    this.#books.set(own, book);
    const placed = inBook(side, price, market.tickSize, isMirrored);
    return { id, owner, side: placed.side, tick: placed.tick, size, open: size, terms, market, book };
  }

  /** Compares a changed order, its level and its account with the exchange's records; null if they agree. */
  #difference(order: WatchedOrder): BrokenRule | null {
    const { state } = this.#exchange;
    const { id, open, book: own } = order;
    const { token, size } = order.terms;
    const { status, matched, slot } = state.orders.part(id, progressOf);
    if (matched !== size - open) {
      const found = `${this.#orderText(order)} has matched ${sizeText(matched)}`;
      return { name: MATCHED, text: `${found}, expected ${sizeText(size - open)}` };
    }
    const { pool } = state;
    const isResting = this.#resting.has(id);
    const isInBook = slot !== NO_SLOT && pool.orderIn(slot) === id && pool.openIn(slot) === open;
    if ((status === "LIVE") !== isResting || isInBook !== isResting) {
      const found = `${status}, ${isInBook ? "in" : "not in"} the book with ${sizeText(open)} open`;
      const text = `${this.#orderText(order)} is ${found}, expected it ${isResting ? "there" : "to have left"}`;
      return { name: LEVELS, text };
    }
    const { book } = bookFor(state.markets.get(marketOfToken(token)), outcomeOf(token));
    const direction = order.side === "BUY" ? BID : ASK;
    const total = book?.totalAt(direction, order.tick) ?? 0;
    const count = book?.countAt(direction, order.tick) ?? 0;
    const expected = own.levelOf(order);
    if (total !== expected.open || count !== expected.orders) {
      const found = `the level of ${this.#orderText(order)} has ${sizeText(total)} (${count})`;
      return { name: LEVELS, text: `${found}, expected ${sizeText(expected.open)} (${expected.orders})` };
    }
    return this.#reservedDifference(order.terms);
  }

  #reservedDifference({ account, side, token }: WatchedOrder["terms"]): BrokenRule | null {
    const { collateral, holdings } = this.#exchange.state.accounts.get(account);
    const holding = holdings.get(marketOfToken(token));
    const shares = outcomeOf(token) === "YES" ? holding?.yes : holding?.no;
    const found = side === "BUY" ? collateral.reserved : (shares?.reserved ?? 0);
    const expected = this.#reservedIn(side === "BUY" ? 0 : token)[account] ?? 0;
    if (found === expected) return null;
    const [has, wanted] = [found, expected].map((units) =>
      side === "BUY" ? `${moneyText(units)} USDC` : `${sizeText(units)} ${outcomeOf(token)}`,
    );
    return { name: RESERVED, text: `${this.#nameOf(account)} has ${has} reserved, expected ${wanted}` };
  }

  /** Adjusts the reserved amount of an order's account to a change of the order's open size. */
  #reserve({ terms, market }: WatchedOrder, before: number, after: number): void {
    const { account, side, token } = terms;
    const costOf = (open: number): number =>
      side === "SELL" ? open : reservationOf(terms, open as Size, market.feeRateBps);
    const reserved = this.#reservedIn(side === "BUY" ? 0 : token);
    reserved[account] = (reserved[account] ?? 0) + costOf(after) - costOf(before);
  }

  #reservedIn(token: number): number[] {
    const reserved = this.#reserved.get(token) ?? [];
    this.#reserved.set(token, reserved);
    return reserved;
  }
}

const isDue = ({ terms: { expiration } }: WatchedOrder, at: Millis): boolean =>
  expiration !== null && expiration <= at;

/** Returns the name of the rule that requires an end. */
const ruleOf = (last: LastEvent | "more matches"): string => (last === "SELF_TRADE" ? SELF_TRADES : ENDINGS);

const notLive = (order: number, what: string): BrokenRule => ({
  name: LIVE_ORDERS,
  text: `order ${order} ${what}, and no such order rests or has just been placed`,
});
