import { type Account, fillOf, type Holding, type Role } from "../account.ts";
import { setsOf } from "../chain/moves.ts";
import type { Outcome } from "../commands.ts";
import type { OrderTraded } from "../events.ts";
import {
  bookFor,
  isMirrored,
  type Market,
  type MarketBook,
  marketOfToken,
  outcomeOf,
  priceIn,
} from "../market.ts";
import { Numbered } from "../numbered.ts";
import { type Order, remainingOf, reservationOf } from "../order.ts";
import { FEES, type State } from "../state.ts";
import { add } from "../sum.ts";
import { type Millis, money, notional, type Price, type Size, size } from "../units.ts";
import { changeReservation, leave, noteChange } from "./apply-orders.ts";
import { addMatch } from "./chain/apply-transactions.ts";
import { noteFee, noteParty, settlesAtOnce, touch } from "./chain/pending.ts";
import { changeSupply } from "./chain/supply.ts";
import { credit, holdingIn, sharesIn } from "./ledger.ts";

/** Settles one fill in the ledger, takes it off the maker in the book, and notes it in every list it belongs to. */
export function settleTrade(state: State, event: OrderTraded, at: Millis): void {
  const taker = state.orders.get(event.taker);
  const maker = state.orders.get(event.maker);
  const market = state.markets.get(marketOfToken(taker.token));
  const lane = bookFor(market, outcomeOf(taker.token));
  const number = state.trades.add({
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
  if (number !== event.trade) throw new Error(`trade ${event.trade} made as number ${number}`);
  const isPending = !settlesAtOnce(state);
  addMatch(state, event, taker, maker, at);
  fill(state, market, maker, maker.price, event, "MAKER", isPending, at);
  fill(state, market, taker, event.price, event, "TAKER", isPending, at);
  if (event.fee > 0) {
    taker.fee = money(taker.fee + event.fee);
    credit(state.accounts.get(taker.account).collateral, -event.fee);
    credit(state.accounts.get(FEES).collateral, event.fee);
    if (isPending) noteFee(state, event.fee, 1);
  }
  if (event.matchType !== "COMPLEMENTARY") {
    const change = setsOf(market.number, event.matchType === "MINT" ? event.size : -event.size);
    changeSupply(market.supply, change);
    if (!isPending) changeSupply(market.onChain, change);
  }

  lane.book?.fill(maker.slot, event.size);
  noteChange(market, lane, maker, size(-event.size), at);
  if (remainingOf(maker) === 0) leave(state, maker, "MATCHED");
  if (remainingOf(taker) === 0) taker.status = "MATCHED";
  noteTrade(market, lane, taker, event, at);
}

/** Moves shares and USDC of one party, at the price in terms of its own token. */
function fill(
  state: State,
  market: Market,
  order: Order,
  price: Price,
  event: OrderTraded,
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
    touch(state.chain, account, market.number, shares);
    noteParty(account.collateral, shares, order.side === "BUY", value, event.size, fee, 1);
  }
  order.matched = size(order.matched + event.size);
  order.notional = money(order.notional + value);
  order.lastTrade = event.trade;
  order.updatedAt = at;
  listFill(account, holding, outcome, fillOf(event.trade, role));
}

/** Adds a fill, packed as `fillOf` does, to the lists of the account and of its holding. */
export function listFill(account: Account, holding: Holding, outcome: Outcome, packed: number): void {
  account.fills.add(packed);
  if (outcome === "YES") {
    holding.yesFills ??= new Numbered();
    holding.yesFills.add(packed);
  } else {
    holding.noFills ??= new Numbered();
    holding.noFills.add(packed);
  }
}

/** Notes a fill on the market's tape: last price, history, volume, lists of trades. */
function noteTrade(market: Market, lane: MarketBook, taker: Order, event: OrderTraded, at: Millis): void {
  const outcome = outcomeOf(taker.token);
  const mirrored = isMirrored(market, outcome);
  const price = priceIn(mirrored, event.price);
  const side = (taker.side === "BUY") === mirrored ? "SELL" : "BUY";
  lane.last = { price, side, at };
  lane.history.add(at, price);
  add(market.volume, notional(event.price, event.size));
  market.trades.add(event.trade);
  if (outcome === "YES") market.yesTrades.add(event.trade);
}
