import type { EventOf } from "../../core/events.ts";
import { priceText, sizeText } from "../../core/format.ts";
import { outcomeOf } from "../../core/market.ts";
import type { CancelReason } from "../../core/terms.ts";
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

/** The order of a command on its way through the book. */
export class Incoming {
  readonly nameOf: NameOf;
  /** Null while none comes. */
  order: WatchedOrder | null = null;
  /** Whether it met an order of its own account that must end it. */
  isStopped = false;
  /** Whether it rests or is canceled. */
  hasEnded = false;

  constructor(nameOf: NameOf) {
    this.nameOf = nameOf;
  }

  come(order: WatchedOrder): void {
    this.order = order;
    this.isStopped = false;
    this.hasEnded = false;
  }
}

const PRIORITY = "orders trade by price, then by arrival";
const FILLS = "a fill is at the maker's price, of all that both have open";
const SELF_TRADES = "the self-trade policy holds";
const ENDINGS = "an order rests or ends as its type says";

const broken = (name: string, text: string): BrokenRule => ({ name, text });

/** What is wrong with a fill; null when nothing is. */
export function wrongFill(
  incoming: Incoming,
  taker: WatchedOrder,
  fill: EventOf<"orderTraded">,
  at: Millis,
): BrokenRule | null {
  const next = taker.opposite.next(taker.limit);
  if (next === null || next.number !== fill.maker || taker.number !== fill.taker) {
    return wrongMaker(incoming, taker, fill, next);
  }
  if (incoming.isStopped || (taker.selfTrade !== "allow" && next.account === taker.account)) {
    return ownFilled(incoming, taker, next);
  }
  const isSame = next.token === taker.token;
  const price = isSame ? next.price : FULL_PRICE - next.price;
  const size = Math.min(taker.open, next.open);
  const matchType = isSame ? "COMPLEMENTARY" : taker.side === "BUY" ? "MINT" : "MERGE";
  const isAlive = next.expiration === null || next.expiration > at;
  if (fill.price === price && fill.size === size && fill.matchType === matchType && isAlive) return null;
  const wanted = isAlive
    ? `${sizeText(size)} @ ${priceText(price)} ${matchType}`
    : "nothing: that has expired";
  return wrongTerms(incoming, taker, next, fill, wanted);
}

function ownFilled({ nameOf }: Incoming, taker: WatchedOrder, next: WatchedOrder): BrokenRule {
  const what = `${orderText(taker, nameOf)} trades with ${orderText(next, nameOf)}`;
  return broken(SELF_TRADES, `${what}, expected ${taker.selfTrade}`);
}

function wrongTerms(
  { nameOf }: Incoming,
  taker: WatchedOrder,
  next: WatchedOrder,
  { size, price, matchType }: EventOf<"orderTraded">,
  wanted: string,
): BrokenRule {
  const found = `${sizeText(size)} @ ${priceText(price)} ${matchType}`;
  const what = `${orderText(taker, nameOf)} takes ${found} from ${orderText(next, nameOf)}`;
  return broken(FILLS, `${what}, expected ${wanted}`);
}

function wrongMaker(
  { nameOf }: Incoming,
  taker: WatchedOrder,
  fill: EventOf<"orderTraded">,
  next: WatchedOrder | null,
): BrokenRule {
  const what = `order ${fill.taker} takes ${sizeText(fill.size)} @ ${priceText(fill.price)} from order ${fill.maker}`;
  if (taker.number !== fill.taker) {
    return broken(PRIORITY, `${what}, while ${orderText(taker, nameOf)} is the one that came`);
  }
  if (next === null) {
    return broken(PRIORITY, `${what}, expected none: no order rests at a price that it reaches`);
  }
  const found = [...taker.opposite.reached(taker.limit)].find(({ number }) => number === fill.maker);
  const than = found === undefined ? "" : `than ${orderText(found, nameOf)}`;
  const why =
    found === undefined
      ? `order ${fill.maker} does not rest at a price that it reaches`
      : `${found.rank > next.rank ? "its price is better" : "it came earlier at this price"} ${than}`;
  const expected = `${orderText(next, nameOf)}, which has ${sizeText(next.open)} open`;
  return broken(PRIORITY, `${what}, expected ${expected}: ${why}`);
}

/** What is wrong with the cancel of a resting order for being in the way of one of its own account. */
export function wrongSelfCancel(incoming: Incoming, order: WatchedOrder): BrokenRule | null {
  const { order: taker, isStopped, nameOf } = incoming;
  if (taker === null) {
    return broken(SELF_TRADES, `${orderText(order, nameOf)} is canceled with SELF_TRADE, and no order came`);
  }
  const { selfTrade } = taker;
  const isMeant = selfTrade === "cancel-maker" || selfTrade === "cancel-both";
  const isInWay = taker.open > 0 && taker.opposite.next(taker.limit) === order;
  if (selfTrade === "cancel-both") incoming.isStopped = true;
  if (isMeant && isInWay && !isStopped && order.account === taker.account) return null;
  const why = !isMeant
    ? `the policy is ${selfTrade}`
    : isInWay
      ? "it is not of the same account"
      : "it is not the next to trade";
  const what = `${orderText(order, nameOf)} is canceled for ${orderText(taker, nameOf)}`;
  return broken(SELF_TRADES, `${what}, expected not: ${why}`);
}

/** What is wrong with how an order that just came ends, by the reason of its cancel; null where it rests. */
export function wrongEnd(
  incoming: Incoming,
  order: WatchedOrder,
  reason: CancelReason | null,
): BrokenRule | null {
  if (isRightEnd(incoming, order, reason)) return null;
  const { nameOf, isStopped } = incoming;
  const found = reason ?? "rests";
  const text = `${openText(order, nameOf)}: ${found}, expected ${expectedOf(incoming, order)}`;
  const isAboutSelfTrade = reason === "SELF_TRADE" || isStopped;
  return broken(isAboutSelfTrade ? SELF_TRADES : ENDINGS, text);
}

function isRightEnd(incoming: Incoming, order: WatchedOrder, reason: CancelReason | null): boolean {
  const { isStopped, hasEnded } = incoming;
  const { orderType, selfTrade, open, size } = order;
  if (hasEnded || open === 0) return false;
  if (reason === "FOK_UNFILLED") return orderType === "FOK" && open === size && fillable(order) < size;
  const next = order.opposite.next(order.limit);
  if (reason === "SELF_TRADE") {
    return selfTrade === "cancel-taker" ? next?.account === order.account : isStopped;
  }
  if (isStopped || next !== null) return false;
  if (reason === null) return orderType === "GTC" || orderType === "GTD";
  return orderType === "FAK" && reason === (open === size ? "FAK_UNFILLED" : "FAK_REMAINDER");
}

/** What is wrong with an order of which all is said that is to come of it. */
export function leftOver(incoming: Incoming): BrokenRule | null {
  const { order, hasEnded, nameOf } = incoming;
  if (order === null || hasEnded || order.open === 0) return null;
  const what = `${openText(order, nameOf)}: neither rests nor ends`;
  return broken(ENDINGS, `${what}, expected ${expectedOf(incoming, order)}`);
}

/** What should become of an order next. */
function expectedOf({ isStopped, hasEnded, nameOf }: Incoming, order: WatchedOrder): string {
  const { orderType, open, size } = order;
  const next = order.opposite.next(order.limit);
  if (hasEnded) return "nothing: it has rested or ended already";
  if (isStopped) return "SELF_TRADE";
  if (open === 0) return "MATCHED";
  if (orderType === "FOK" && open < size) return "all of it to be filled, or nothing";
  if (next !== null) return `it to meet ${orderText(next, nameOf)}, which has ${sizeText(next.open)} open`;
  if (orderType === "FOK") return "FOK_UNFILLED";
  if (orderType === "FAK") return open === size ? "FAK_UNFILLED" : "FAK_REMAINDER";
  return "it to rest";
}

/** How much an order could fill when it came, at most its size. */
function fillable(order: WatchedOrder): number {
  let sum = 0;
  for (const maker of order.opposite.reached(order.limit)) {
    if (order.selfTrade !== "allow" && maker.account === order.account) {
      if (order.selfTrade === "cancel-maker") continue;
      break;
    }
    sum += maker.open;
    if (sum >= order.size) return order.size;
  }
  return sum;
}

const openText = (order: WatchedOrder, nameOf: NameOf): string =>
  `${orderText(order, nameOf)} ${order.orderType} with ${sizeText(order.open)} open`;
