import { type Account, fillOf, type Holding, type Role } from "../account.ts";
import { Book, type BookDirection } from "../book/book.ts";
import { NO_SLOT } from "../book/order-pool.ts";
import { setsOf } from "../chain/moves.ts";
import type { EventOf } from "../events.ts";
import {
  bookFor,
  directionIn,
  isMirrored,
  levelsOf,
  type Market,
  type MarketBook,
  marketOfToken,
  outcomeOf,
  priceIn,
} from "../market.ts";
import { linkOpen, unlinkOpen } from "../open-orders.ts";
import { type Order, type OrderStatus, remainingOf, reservationOf, type Trade } from "../order.ts";
import { FEES, type State } from "../state.ts";
import { Table } from "../table.ts";
import type { Outcome } from "../terms.ts";
import { add, type Millis, type Money, money, notional, type Price, type Size, size } from "../units.ts";
import {
  addPendingFee,
  addPendingFill,
  changeSupply,
  credit,
  holdingIn,
  markTouched,
  reserve,
  settlesInstantly,
  sharesIn,
} from "./ledger.ts";
import { addMatch } from "./transactions.ts";

/** Adds a new order and makes its reservation. */
function openOrder(state: State, event: EventOf<"orderPlaced">, at: Millis): void {
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
  state.orders.addAs(event.order, order);
  const market = state.markets.get(marketOfToken(order.token));
  const account = state.accounts.get(order.account);
  changeReservation(account, market, order, reservationOf(order, order.size, market.feeRateBps));
}

/** Rests the remainder of an order at the end of its level's queue. */
function restOrder(state: State, event: EventOf<"orderRested">, at: Millis): void {
  const order = state.orders.get(event.order);
  const market = state.markets.get(marketOfToken(order.token));
  const outcome = outcomeOf(order.token);
  const mirrored = isMirrored(market, outcome);
  const bookState = bookFor(market, outcome);
  const direction = directionIn(mirrored, order.side);
  const tick = priceIn(mirrored, order.price) / market.tickSize;
  order.rested = true;
  order.ordersAhead = bookState.book?.countAt(direction, tick) ?? 0;
  order.sizeAhead = size(bookState.book?.totalAt(direction, tick) ?? 0);
  recordBookChange(market, bookState, order, remainingOf(order), at);
  putInBook(state, market, bookState, direction, tick, order);
}

/** Appends an order to its level's queue and to its account's list of open orders. */
export function putInBook(
  state: State,
  market: Market,
  bookState: MarketBook,
  direction: BookDirection,
  tick: number,
  order: Order,
): void {
  bookState.book ??= new Book(state.pool, levelsOf(market));
  order.slot = bookState.book.rest(direction, tick, remainingOf(order), order.number, order.account);
  linkOpen(state.pool, state.accounts.get(order.account), order.slot);
  if (order.expiration !== null) state.expiries.add(order.expiration, order.number);
}

/** Ends an order that is not completely filled: removes it from the book and releases its reservation. */
function endOrder(state: State, event: EventOf<"orderCanceled"> | EventOf<"orderExpired">, at: Millis): void {
  const order = state.orders.get(event.order);
  const market = state.markets.get(marketOfToken(order.token));
  const remaining = remainingOf(order);
  changeReservation(
    state.accounts.get(order.account),
    market,
    order,
    -reservationOf(order, remaining, market.feeRateBps),
  );
  const status = event.kind === "orderExpired" ? "EXPIRED" : "CANCELED";
  order.cancelReason = event.kind === "orderExpired" ? null : event.reason;
  order.updatedAt = at;
  if (order.slot === NO_SLOT) {
    order.status = order.matched > 0 ? "MATCHED" : status;
    return;
  }
  const bookState = bookFor(market, outcomeOf(order.token));
  const { slot } = order;
  closeOrder(state, order, status);
  bookState.book?.remove(slot);
  recordBookChange(market, bookState, order, size(-remaining), at);
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

/** Reserves funds of an order, or releases them if negative: micro-USDC of a buyer, shares of a seller. */
function changeReservation(account: Account, market: Market, order: Order, amount: number): void {
  if (order.side === "BUY") reserve<Money>(account.collateral, amount);
  else reserve<Size>(sharesIn(holdingIn(account, market.number), outcomeOf(order.token)), amount);
}

/** Records a change of resting size in the book's sequence and time and in the market's liquidity. */
function recordBookChange(
  market: Market,
  bookState: MarketBook,
  order: Order,
  change: Size,
  at: Millis,
): void {
  bookState.sequence += 1;
  bookState.updatedAt = at;
  if (bookState === market.books[0]) {
    const price = priceIn(isMirrored(market, outcomeOf(order.token)), order.price);
    add(market.liquidity, notional(price, change));
  }
}

/** Applies one fill to the ledger, the book and the lists of trades. */
function applyTrade(state: State, event: EventOf<"orderTraded">, at: Millis): void {
  const taker = state.orders.get(event.taker);
  const maker = state.orders.get(event.maker);
  const market = state.markets.get(marketOfToken(taker.token));
  const bookState = bookFor(market, outcomeOf(taker.token));
  state.trades.addAs(event.trade, {
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
  if (remainingOf(taker) === 0) taker.status = "MATCHED";
  recordTrade(market, bookState, taker, event, event.trade, at);
}

/** Moves shares and USDC of one party; `price` is in terms of its own token. */
function fill(
  state: State,
  market: Market,
  order: Order,
  price: Price,
  event: EventOf<"orderTraded">,
  role: Role,
  isPending: boolean,
  at: Millis,
): void {
  const account = state.accounts.get(order.account);
  const before = remainingOf(order);
  const after = (before - event.size) as Size;
  const rate = market.feeRateBps;
  changeReservation(
    account,
    market,
    order,
    reservationOf(order, after, rate) - reservationOf(order, before, rate),
  );
  const value = notional(price, event.size);
  const holding = holdingIn(account, market.number);
  const outcome = outcomeOf(order.token);
  const bought = order.side === "BUY" ? 1 : -1;
  const shares = sharesIn(holding, outcome);
  credit(account.collateral, -bought * value);
  credit(shares, bought * event.size);
  if (isPending) {
    const fee = role === "TAKER" ? event.fee : 0;
    markTouched(state.chain, account, market.number, shares);
    addPendingFill(account.collateral, shares, order.side === "BUY", value, event.size, fee);
  }
  order.matched = size(order.matched + event.size);
  order.notional = money(order.notional + value);
  order.lastTrade = event.trade;
  order.updatedAt = at;
  addToFillLists(account, holding, outcome, fillOf(event.trade, role));
}

/** Adds a fill, packed by `fillOf`, to the lists of the account and of its holding. */
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
  bookState.history.add(at, price);
  add(market.volume, notional(fill.price, fill.size));
  market.trades.add(number);
  if (outcome === "YES") market.yesTrades.add(number);
}

export const tradingAppliers = {
  orderPlaced: openOrder,
  orderTraded: applyTrade,
  orderRested: restOrder,
  orderCanceled: endOrder,
  orderExpired: endOrder,
};
