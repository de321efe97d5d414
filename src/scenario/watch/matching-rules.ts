import type { EventOf } from "../../core/events.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { outcomeOf } from "../../core/market.ts";
import type { CancelReason, MatchType } from "../../core/terms.ts";
import { FULL_PRICE, type Millis } from "../../core/units.ts";
import type { WatchedOrder } from "./watched-book.ts";

/** A rule that does not hold, with what was expected and what was found. */
export interface BrokenRule {
  readonly name: string;
  readonly text: string;
}

/** What an account is called. */
export type NameOf = (account: number) => string;

/** `order 812 of alice (BUY 30 YES @ 0.55)`. */
export function orderText(order: WatchedOrder, nameOf: NameOf): string {
  const { number, account, side, size, token, price } = order;
  return `order ${number} of ${nameOf(account)} (${side} ${sizeText(size)} ${outcomeOf(token)} @ ${priceText(price)})`;
}

const PRIORITY = "orders trade by price, then by arrival";
const FILLS = "a fill is at the maker's price, of all that both have open";
const SELF_TRADES = "the self-trade policy holds";
const ENDINGS = "an order rests or ends as its type says";

/** What can become of an order that comes, in the words of a sentence. */
type Ending = CancelReason | "rests" | "nothing more";
type Fill = Pick<EventOf<"orderTraded">, "maker" | "price" | "size" | "matchType">;

/** The order of a command on its way through the book, and what must happen to it next. */
export class Incoming {
  readonly #nameOf: NameOf;
  /** Null while none comes. */
  order: WatchedOrder | null = null;
  /** Whether it met an order of its own account that must end it. */
  #isStopped = false;
  /** Whether it rests or is canceled. */
  #hasEnded = false;
  #isFillable = true;

  constructor(nameOf: NameOf) {
    this.#nameOf = nameOf;
  }

  come(order: WatchedOrder): void {
    this.order = order;
    this.#isStopped = false;
    this.#hasEnded = false;
    this.#isFillable = order.orderType !== "FOK" || order.opposite.fillable(order) === order.size;
  }

  /** What is wrong with a fill of the order; null when nothing is. */
  wrongFill(order: WatchedOrder, fill: Fill, at: Millis): BrokenRule | null {
    const maker = this.#nextMaker(order);
    const isOwn = maker !== null && this.#isOwn(order, maker);
    if (isOwn || this.#isStopped) return this.#broken(SELF_TRADES, order, fillText(fill));
    if (maker === null) return this.#broken(ENDINGS, order, fillText(fill));
    if (maker.number !== fill.maker) return this.#broken(PRIORITY, order, fillText(fill));
    const isAlive = maker.expiration === null || maker.expiration > at;
    const isRight =
      fill.price === priceOf(order, maker) &&
      fill.size === Math.min(order.open, maker.open) &&
      fill.matchType === matchTypeOf(order, maker);
    if (isRight && isAlive) return null;
    return this.#broken(FILLS, order, `${fillText(fill)}${isAlive ? "" : ", which has expired"}`);
  }

  /** What is wrong with the cancel of a resting order for being in the way of one of its own account. */
  wrongSelfCancel(canceled: WatchedOrder): BrokenRule | null {
    const { order } = this;
    const text = orderText(canceled, this.#nameOf);
    if (order === null)
      return { name: SELF_TRADES, text: `${text} is canceled with SELF_TRADE, and no order came` };
    const isNext = this.#nextMaker(order) === canceled && this.#isOwn(order, canceled);
    if (!isNext || order.selfTrade === "cancel-taker")
      return this.#broken(SELF_TRADES, order, `${text} is canceled`);
    this.#isStopped = order.selfTrade === "cancel-both";
    return null;
  }

  /** What is wrong with how the order ends, or with what is left of it when all is said that is to come of it. */
  wrongEnd(order: WatchedOrder, found: Ending): BrokenRule | null {
    const expected = this.#ending(order);
    if (found === expected) {
      this.#hasEnded = true;
      return null;
    }
    const isSelfTrade = found === "SELF_TRADE" || expected === "SELF_TRADE";
    return this.#broken(isSelfTrade ? SELF_TRADES : ENDINGS, order, found, expected);
  }

  #isOwn({ account, selfTrade }: WatchedOrder, maker: WatchedOrder): boolean {
    return selfTrade !== "allow" && maker.account === account;
  }

  /** The order that it meets next, be it one of its own account. */
  #nextMaker(order: WatchedOrder): WatchedOrder | null {
    const goesOn = this.#isFillable && !this.#isStopped && !this.#hasEnded && order.open > 0;
    return goesOn ? order.opposite.next(order.limit) : null;
  }

  /** How it must end now; null where something must happen to it before. */
  #ending(order: WatchedOrder): Ending | null {
    const { orderType, open, size, selfTrade } = order;
    if (this.#hasEnded || open === 0) return "nothing more";
    if (!this.#isFillable) return "FOK_UNFILLED";
    if (this.#isStopped) return "SELF_TRADE";
    const maker = this.#nextMaker(order);
    if (maker !== null)
      return selfTrade === "cancel-taker" && this.#isOwn(order, maker) ? "SELF_TRADE" : null;
    if (orderType === "FAK") return open === size ? "FAK_UNFILLED" : "FAK_REMAINDER";
    return "rests";
  }

  #broken(name: string, order: WatchedOrder, found: string, ending = this.#ending(order)): BrokenRule {
    const { orderType, open } = order;
    const expected = ending === "rests" ? "it to rest" : (ending ?? this.#meetingText(order));
    const which = `${orderText(order, this.#nameOf)} ${orderType} with ${sizeText(open)} open`;
    return { name, text: `${which}: ${found}, expected ${expected}` };
  }

  #meetingText(order: WatchedOrder): string {
    const maker = this.#nextMaker(order);
    if (maker === null) return "nothing";
    const text = `${orderText(maker, this.#nameOf)}, which has ${sizeText(maker.open)} open`;
    if (this.#isOwn(order, maker)) return `the cancel of ${text}`;
    const size = Math.min(order.open, maker.open);
    const fill = { price: priceOf(order, maker), size, matchType: matchTypeOf(order, maker) };
    return `${termsText(fill)} from ${text}`;
  }
}

const priceOf = ({ token }: WatchedOrder, maker: WatchedOrder): number =>
  maker.token === token ? maker.price : FULL_PRICE - maker.price;

function matchTypeOf({ token, side }: WatchedOrder, maker: WatchedOrder): MatchType {
  if (maker.token === token) return "COMPLEMENTARY";
  return side === "BUY" ? "MINT" : "MERGE";
}

interface FillTerms {
  readonly size: number;
  readonly price: number;
  readonly matchType: MatchType;
}

const termsText = ({ size, price, matchType }: FillTerms): string =>
  `${sizeText(size)} @ ${priceText(price)} ${matchType}`;

const fillText = (fill: Fill): string => `takes ${termsText(fill)} from order ${fill.maker}`;
