import { lastTradeOf, quotesOf } from "../../api/order-book.ts";
import { orderStory } from "../../api/order-story.ts";
import type { View } from "../../api/view.ts";
import { type Account, availableOf, type Balance, emptyBalance, onChainOf } from "../../core/account.ts";
import { ASK, BID, type BookDirection } from "../../core/book/book.ts";
import { bookFor, isMirrored, type Market, marketOfToken, outcomeOf, priceIn } from "../../core/market.ts";
import type { Order } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import type { BalancePolicy, Outcome } from "../../core/terms.ts";
import { type Price, price, size } from "../../core/units.ts";
import { storyWords } from "./story-words.ts";
import type { BookView, Fill, HoldingView, Level, OrderView, QuoteView } from "./venue.ts";

/** An order as a scenario sees it. */
export const orderView = (order: Order): OrderView => ({
  key: order.number,
  orderType: order.orderType,
  status: order.status,
  matched: order.matched,
  size: order.size,
  reason: order.cancelReason,
  expiration: order.expiration,
});

/** Why an order is where it is, a sentence a line. */
export function storyLines(view: View, order: Order): readonly string[] {
  const { summary, story, queue } = orderStory(view, order);
  return storyWords(order.status === "LIVE", story, summary, queue);
}

/** A trade by its number, as its taker sees it. */
export function fill(state: State, number: number, nameOf: (account: number) => string): Fill {
  const trade = state.trades.get(number);
  const taker = state.orders.get(trade.taker);
  const maker = state.orders.get(trade.maker);
  return {
    trade: number,
    order: trade.taker,
    market: state.markets.get(marketOfToken(taker.token)).slug,
    outcome: outcomeOf(taker.token),
    side: taker.side,
    price: trade.price,
    size: trade.size,
    taker: nameOf(taker.account),
    maker: nameOf(maker.account),
    makerOrder: trade.maker,
    matchType: trade.matchType,
  };
}

/** Both sides of an outcome's book, best first, in its own terms. */
export function book(market: Market, outcome: Outcome): BookView {
  const mirrored = isMirrored(market, outcome);
  const lane = bookFor(market, outcome);
  const side = (direction: BookDirection): Level[] => {
    const levels: Level[] = [];
    lane.book?.depth(direction, (tick, open, orders) => {
      levels.push({ price: priceIn(mirrored, price(tick * market.tickSize)), size: size(open), orders });
    });
    return levels;
  };
  return { bids: side(mirrored ? ASK : BID), asks: side(mirrored ? BID : ASK) };
}

/** What an account has; one that never came has no USDC. */
export function holdings(state: State, account: Account | undefined): HoldingView[] {
  const { balances } = state.config;
  if (account === undefined) return [holding("USDC", emptyBalance(), balances)];
  const seen: HoldingView[] = [holding("USDC", account.collateral, balances)];
  for (const [number, { yes, no }] of [...account.holdings].sort(([a], [b]) => a - b)) {
    const { slug: market } = state.markets.get(number);
    seen.push(
      holding({ market, outcome: "YES" }, yes, balances),
      holding({ market, outcome: "NO" }, no, balances),
    );
  }
  return seen;
}

const holding = (asset: HoldingView["asset"], of: Balance<number>, policy: BalancePolicy): HoldingView => ({
  asset,
  balance: of.balance,
  available: availableOf(of, policy),
  reserved: of.reserved,
  onChain: onChainOf(of),
});

export function quote(market: Market, outcome: Outcome): QuoteView {
  const { bid, ask } = quotesOf(market, outcome);
  const hasBoth = bid !== null && ask !== null;
  return {
    bid,
    ask,
    mid: hasBoth ? (bid + ask) * 5 : null,
    spread: hasBoth ? price(ask - bid) : null,
    last: lastTradeOf(market, outcome)?.price ?? null,
  };
}

/** The traded prices of an outcome, one point per second that traded. */
export function history(
  market: Market,
  outcome: Outcome,
): readonly { readonly t: number; readonly price: Price }[] {
  const { history: points } = bookFor(market, outcome);
  const mirrored = isMirrored(market, outcome);
  return Array.from({ length: points.size }, (_, index) => ({
    t: points.secondAt(index),
    price: priceIn(mirrored, points.priceAt(index)),
  }));
}
