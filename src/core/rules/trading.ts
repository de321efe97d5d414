import {
  type Account,
  type Holding,
  linkOpen,
  openOrdersOf,
  packFill,
  type Role,
  unlinkOpen,
} from "../account.ts";
import { BID, Book } from "../book/book.ts";
import { NO_SLOT } from "../book/order-pool.ts";
import { setsOf } from "../chain/settlement.ts";
import type { CommandOf } from "../commands.ts";
import type { DomainEvent } from "../events.ts";
import { numberOf } from "../ids.ts";
import {
  addToHistory,
  bookFor,
  isMirrored,
  levelsOf,
  type Market,
  type MarketBook,
  marketOfToken,
  type OrderPlace,
  outcomeOf,
  placeOf,
  priceIn,
} from "../market.ts";
import { feeOf, type Order, type OrderStatus, remainingOf, reservationOf, type Trade } from "../order.ts";
import { accepted, type Refusal, type RefusalCode, refused } from "../refusals.ts";
import { FEES, findAccount, type State } from "../state.ts";
import { Table } from "../table.ts";
import type { CancelReason, OrderType, Outcome } from "../terms.ts";
import {
  add,
  complement,
  FULL_PRICE,
  type Millis,
  type Money,
  money,
  notional,
  type Price,
  price,
  type Size,
  size,
} from "../units.ts";
import { addInstantBlock } from "./blocks.ts";
import {
  addPendingFee,
  addPendingFill,
  changeSupply,
  credit,
  ensureHolding,
  grantDue,
  issuanceLeft,
  listPendingBalances,
  reserve,
  settlesInstantly,
  sharesIn,
  shortfallOf,
} from "./ledger.ts";
import { STATUS_CHECKS, statusRefusal } from "./markets.ts";
import type { Appliers, Deciders } from "./rule-set.ts";
import { addMatch } from "./transactions.ts";

/** Refusals of an order of a known token in order of precedence, with a description of each check. */
export const ORDER_CHECKS = {
  INVALID_TICK_SIZE: "the tick size",
  SIZE_TOO_SMALL: "the minimum size",
  EXPIRATION_IN_PAST: "an expiration in the past",
  ...STATUS_CHECKS,
  INSUFFICIENT_BALANCE: "the funds",
} as const satisfies { readonly [Code in RefusalCode]?: string };

type OrderRefusal = Extract<Refusal, { readonly code: keyof typeof ORDER_CHECKS }>;

function refusalOf(
  state: State,
  at: Millis,
  command: CommandOf<"placeOrder">,
  market: Market,
  account: Account | undefined,
  token: number,
): OrderRefusal | null {
  const { price, size, expiration, side } = command;
  if (price % market.tickSize !== 0) return { code: "INVALID_TICK_SIZE", price, tickSize: market.tickSize };
  if (size < market.minOrderSize) return { code: "SIZE_TOO_SMALL", size, minOrderSize: market.minOrderSize };
  if (expiration !== null && expiration <= at)
    return { code: "EXPIRATION_IN_PAST", expiration, serverTime: at };
  const closed = statusRefusal(market);
  if (closed !== null) return closed;
  const required = reservationOf(command, size, market.feeRateBps);
  const { balances } = state.config;
  const shortfall = shortfallOf(account, market, { side, token }, required, balances);
  return shortfall === null ? null : { code: "INSUFFICIENT_BALANCE", ...shortfall };
}

/** Writes the matches of an order into `state.plan`; returns the best opposite price in terms of its own token, null if none. */
function planMatch(
  state: State,
  { side, price: limit, size }: CommandOf<"placeOrder">,
  market: Market,
  account: number,
  token: number,
): Price | null {
  const { bookState, direction, tick, mirrored } = placeOf(market, { token, side, price: limit });
  const { book } = bookState;
  state.plan.clear();
  if (book === null) return null;
  book.plan(direction, tick, size, account, market.selfTrade, state.plan);
  const best = direction === BID ? book.bestAsk : book.bestBid;
  return best === 0 || best > book.levels ? null : priceIn(mirrored, price(best * market.tickSize));
}

/** Adds the fills of the plan, and the cancels of own orders that a self-trade policy removes. */
function addFills(
  { plan, pool, orders, trades }: State,
  { order: taker, token, side }: DomainEvent<"orderPlaced">,
  feeRateBps: number,
  transaction: number,
  events: DomainEvent[],
): void {
  let trade = trades.next;
  for (let index = 0; index < plan.count; index += 1) {
    const number = pool.orderIn(plan.slots[index] as number);
    const quantity = size(plan.quantities[index] as number);
    if (quantity === 0) {
      events.push({ kind: "orderCanceled", order: number, reason: "SELF_TRADE" });
      continue;
    }
    const maker = orders.get(number);
    const sameToken = maker.token === token;
    const price = sameToken ? maker.price : complement(maker.price);
    events.push({
      kind: "orderTraded",
      trade,
      taker,
      maker: number,
      price,
      size: quantity,
      fee: feeOf(price, quantity, feeRateBps),
      matchType: sameToken ? "COMPLEMENTARY" : side === "BUY" ? "MINT" : "MERGE",
      transaction,
    });
    trade += 1;
  }
}

/** Returns why the remainder of a taker is canceled; null if it rests. */
function reasonToCancel(orderType: OrderType, stopped: boolean, filled: number): CancelReason | null {
  if (stopped) return "SELF_TRADE";
  if (orderType === "FAK") return filled === 0 ? "FAK_UNFILLED" : "FAK_REMAINDER";
  return null;
}

export const tradingDeciders = {
  /**
   * Decides an order: refused by the first rule it breaks, else placed and matched at once by price-time priority at the
   * makers' prices; its remainder rests or is canceled according to its type.
   */
  placeOrder(state, command, _rules, at) {
    const token = state.tokenById.get(command.tokenId);
    if (token === undefined) return refused({ code: "TOKEN_NOT_FOUND", tokenId: command.tokenId });
    const market = state.markets.get(marketOfToken(token));
    const account = findAccount(state, command.address);
    const refusal = refusalOf(state, at, command, market, account, token);
    if (refusal !== null) return refused(refusal);
    if (account === undefined) throw new Error("an order without an account passed the check of funds");

    const due = grantDue(account, market.number);
    const asked = notional(FULL_PRICE, due);
    const left = issuanceLeft(state);
    if (asked > left) return refused({ code: "ISSUANCE_EXCEEDED", asked, left });

    const order = state.orders.next;
    const events: DomainEvent[] = [];
    let transaction = state.chain.transactions.next;
    if (due > 0) {
      events.push({
        kind: "grantMinted",
        account: account.number,
        market: market.number,
        size: due,
        transaction,
      });
      transaction += 1;
    }
    const touch = planMatch(state, command, market, account.number, token);
    const { side, price, size, orderType, expiration } = command;
    const placed: DomainEvent<"orderPlaced"> = {
      kind: "orderPlaced",
      order,
      account: account.number,
      token,
      side,
      price,
      size,
      orderType,
      expiration,
      touch,
      fillableSize: state.plan.filled as Size,
      blockingOwnOrder: state.plan.ownSlot === NO_SLOT ? 0 : state.pool.orderIn(state.plan.ownSlot),
    };
    events.push(placed);
    const { filled, stopped } = state.plan;
    if (orderType === "FOK" && filled < size) {
      events.push({ kind: "orderCanceled", order, reason: "FOK_UNFILLED" });
      return accepted(events);
    }
    addFills(state, placed, market.feeRateBps, transaction, events);
    if (filled < size) {
      const reason = reasonToCancel(orderType, stopped, filled);
      events.push(
        reason === null ? { kind: "orderRested", order } : { kind: "orderCanceled", order, reason },
      );
    }
    if (filled > 0) addInstantBlock(state, transaction, events);
    return accepted(events);
  },
  /** Cancels one live order of its owner; an order of another account is refused as not found. */
  cancelOrder(state, { address, orderId }) {
    const order = state.orders.find(numberOf(state.idPrefixes.order, orderId));
    if (order === undefined || order.account !== state.accountByAddress.get(address))
      return refused({ code: "ORDER_NOT_FOUND", orderId });
    return order.status === "LIVE"
      ? accepted([{ kind: "orderCanceled", order: order.number, reason: "USER" }])
      : refused({ code: "ORDER_NOT_LIVE", order: order.number });
  },
  /** Cancels all live orders of an account, oldest first; succeeds if there is none. */
  cancelAllOrders(state, { address }) {
    const live = [...openOrdersOf(state, findAccount(state, address))];
    return accepted(live.map(({ number }) => ({ kind: "orderCanceled", order: number, reason: "USER" })));
  },
  expireOrder(state, { order }) {
    return state.orders.find(order)?.status === "LIVE"
      ? accepted([{ kind: "orderExpired", order }])
      : refused({ code: "ORDER_NOT_LIVE", order });
  },
} satisfies Partial<Deciders>;

/** Appends an order to its level's queue and to its account's list of open orders. */
export function putInBook(
  state: State,
  market: Market,
  order: Order,
  { bookState, direction, tick }: OrderPlace,
): void {
  bookState.book ??= new Book(state.pool, levelsOf(market));
  order.slot = bookState.book.rest(direction, tick, remainingOf(order), order.number, order.account);
  linkOpen(state.pool, state.accounts.get(order.account), order.slot);
  if (order.expiration !== null) state.expiries.add(order.expiration, order.number);
}

/** Ends an order that is not completely filled: removes it from the book and releases its reservation. */
function endOrder(state: State, event: DomainEvent<"orderCanceled" | "orderExpired">, at: Millis): void {
  const order = state.orders.get(event.order);
  const market = state.markets.get(marketOfToken(order.token));
  const remaining = remainingOf(order);
  changeReservation(state.accounts.get(order.account), market, order, remaining, size(0));
  const status = event.kind === "orderExpired" ? "EXPIRED" : "CANCELED";
  order.cancelReason = event.kind === "orderExpired" ? null : event.reason;
  order.updatedAt = at;
  if (order.slot === NO_SLOT) {
    order.status = order.matched > 0 ? "MATCHED" : status;
    state.orders.close(order);
    return;
  }
  const bookState = bookFor(market, outcomeOf(order.token));
  const { slot } = order;
  closeOrder(state, order, status);
  bookState.book?.remove(slot);
  recordBookChange(market, bookState, order, size(-remaining), at);
  state.orders.close(order);
}

/** Called before an order leaves the book; removes it from the lists of open orders. */
function closeOrder(state: State, order: Order, status: OrderStatus): void {
  unlinkOpen(state.pool, state.accounts.get(order.account), order.slot);
  order.slot = NO_SLOT;
  order.status = status;
  if (order.expiration !== null) {
    state.expiries.ended((other) => state.orders.get(other).slot !== NO_SLOT);
  }
}

/** Changes what an order reserves as its unfilled size changes: micro-USDC of a buyer, shares of a seller. */
function changeReservation(account: Account, market: Market, order: Order, before: Size, after: Size): void {
  const rate = market.feeRateBps;
  const amount = reservationOf(order, after, rate) - reservationOf(order, before, rate);
  if (order.side === "BUY") reserve<Money>(account.collateral, amount);
  else reserve<Size>(sharesIn(ensureHolding(account, market.number), outcomeOf(order.token)), amount);
}

/** Records a change of resting size in the book's sequence and time and in the market's liquidity. */
function recordBookChange(market: Market, book: MarketBook, order: Order, change: Size, at: Millis): void {
  book.sequence += 1;
  book.updatedAt = at;
  if (book === market.books[0]) {
    const price = priceIn(isMirrored(market, outcomeOf(order.token)), order.price);
    add(market.liquidity, notional(price, change));
  }
}

/** Moves shares and USDC of one party; `price` is in terms of its own token. */
function fill(
  state: State,
  market: Market,
  order: Order,
  price: Price,
  event: DomainEvent<"orderTraded">,
  role: Role,
  isPending: boolean,
  at: Millis,
): void {
  const account = state.accounts.get(order.account);
  const before = remainingOf(order);
  changeReservation(account, market, order, before, size(before - event.size));
  const value = notional(price, event.size);
  const holding = ensureHolding(account, market.number);
  const outcome = outcomeOf(order.token);
  const bought = order.side === "BUY" ? 1 : -1;
  const shares = sharesIn(holding, outcome);
  credit(account.collateral, -bought * value);
  credit(shares, bought * event.size);
  if (isPending) {
    const fee = role === "TAKER" ? event.fee : 0;
    listPendingBalances(state.chain, account, market.number, shares);
    addPendingFill(account.collateral, shares, order.side === "BUY", value, event.size, fee);
  }
  order.matched = size(order.matched + event.size);
  order.notional = money(order.notional + value);
  order.lastTrade = event.trade;
  order.updatedAt = at;
  addToFillLists(account, holding, outcome, packFill(event.trade, role));
}

/** Adds a packed fill to the lists of the account and of its holding. */
export function addToFillLists(account: Account, holding: Holding, outcome: Outcome, packed: number): void {
  account.fills.add(packed);
  if (outcome === "YES") {
    holding.yesFills ??= new Table();
    holding.yesFills.add(packed);
  } else {
    holding.noFills ??= new Table();
    holding.noFills.add(packed);
  }
}

/** Records a fill in the market: last price, history, volume, lists of trades. */
export function recordTrade(
  market: Market,
  bookState: MarketBook,
  taker: Order,
  fill: Pick<Trade, "price" | "size">,
  number: number,
  at: Millis,
): void {
  const outcome = outcomeOf(taker.token);
  const mirrored = isMirrored(market, outcome);
  const price = priceIn(mirrored, fill.price);
  const side = (taker.side === "BUY") === mirrored ? "SELL" : "BUY";
  bookState.last = { price, side, at };
  addToHistory(bookState.history, at, price);
  add(market.volume, notional(fill.price, fill.size));
  market.trades.add(number);
  if (outcome === "YES") market.yesTrades.add(number);
}

export const tradingAppliers = {
  orderPlaced(state, event, at) {
    const order: Order = {
      number: event.order,
      account: event.account,
      token: event.token,
      side: event.side,
      price: event.price,
      size: event.size,
      orderType: event.orderType,
      expiration: event.expiration,
      createdAt: at,
      touch: event.touch,
      fillableSize: event.fillableSize,
      blockingOwnOrder: event.blockingOwnOrder,
      rested: false,
      ordersAhead: 0,
      sizeAhead: size(0),
      status: "LIVE",
      cancelReason: null,
      matched: size(0),
      notional: money(0),
      fee: money(0),
      updatedAt: at,
      slot: NO_SLOT,
      lastTrade: 0,
    };
    state.orders.add(order);
    const market = state.markets.get(marketOfToken(order.token));
    changeReservation(state.accounts.get(order.account), market, order, size(0), order.size);
  },
  orderTraded(state, event, at) {
    const taker = state.orders.get(event.taker);
    const maker = state.orders.get(event.maker);
    const market = state.markets.get(marketOfToken(taker.token));
    const bookState = bookFor(market, outcomeOf(taker.token));
    state.trades.addClosed({
      number: event.trade,
      taker: event.taker,
      maker: event.maker,
      price: event.price,
      size: event.size,
      fee: event.fee,
      matchType: event.matchType,
      at,
      transaction: event.transaction,
      takerPrevious: taker.lastTrade,
      makerPrevious: maker.lastTrade,
    });
    const isPending = !settlesInstantly(state);
    addMatch(state, event, taker, maker, at);
    fill(state, market, maker, maker.price, event, "MAKER", isPending, at);
    fill(state, market, taker, event.price, event, "TAKER", isPending, at);
    if (event.fee > 0) {
      taker.fee = money(taker.fee + event.fee);
      credit(state.accounts.get(taker.account).collateral, -event.fee);
      credit(state.accounts.get(FEES).collateral, event.fee);
      if (isPending) addPendingFee(state, event.fee);
    }
    if (event.matchType !== "COMPLEMENTARY") {
      const change = setsOf(market.number, event.matchType === "MINT" ? event.size : -event.size);
      changeSupply(market.supply, change);
      if (!isPending) changeSupply(market.onChain, change);
    }

    const { slot } = maker;
    if (remainingOf(maker) === 0) closeOrder(state, maker, "MATCHED");
    bookState.book?.fill(slot, event.size);
    recordBookChange(market, bookState, maker, size(-event.size), at);
    if (remainingOf(maker) === 0) state.orders.close(maker);
    if (remainingOf(taker) === 0) {
      taker.status = "MATCHED";
      state.orders.close(taker);
    }
    recordTrade(market, bookState, taker, event, event.trade, at);
  },
  /** Rests the remainder of an order at the end of its level's queue. */
  orderRested(state, event, at) {
    const order = state.orders.get(event.order);
    const market = state.markets.get(marketOfToken(order.token));
    const place = placeOf(market, order);
    const { bookState, direction, tick } = place;
    order.rested = true;
    order.ordersAhead = bookState.book?.countAt(direction, tick) ?? 0;
    order.sizeAhead = size(bookState.book?.totalAt(direction, tick) ?? 0);
    recordBookChange(market, bookState, order, remainingOf(order), at);
    putInBook(state, market, order, place);
  },
  orderCanceled: endOrder,
  orderExpired: endOrder,
} satisfies Partial<Appliers>;
