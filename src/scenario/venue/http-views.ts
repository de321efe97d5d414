import { unitsOf } from "../../api/decimals.ts";
import type {
  Account,
  Book,
  Market,
  MarketSupply,
  Order,
  PricesHistory,
  Quotes,
  Trade,
} from "../../client/messages.ts";
import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES } from "../../core/format.ts";
import { parseIso } from "../../core/time.ts";
import { type Price, price, type Size, size } from "../../core/units.ts";
import type { MarketMap } from "./market-map.ts";
import type { BookView, Fill, Grid, HoldingView, OrderView, QuoteView, SharesView } from "./venue.ts";
import { VenueError } from "./venue.ts";

/** A decimal of the API in units of 10^-places. @throws VenueError when it is none. */
function exact(value: number | string, places: number): number {
  const units = unitsOf(value, places);
  if (units === null)
    throw new VenueError(
      `the server answers ${JSON.stringify(value)}, which has more than ${places} decimals`,
    );
  return units;
}

const priceOf = (value: number | string): Price => price(exact(value, PRICE_PLACES));
/** Shares of the API in the core's units. @throws VenueError */
export const sizeOf = (value: number | string): Size => size(exact(value, SIZE_PLACES));
const priceOrNull = (value: number | null): Price | null => (value === null ? null : priceOf(value));

/** An order as a reply tells it. */
export const orderView = (order: Order): OrderView => ({
  key: order.id,
  orderType: order.orderType,
  status: order.status,
  matched: sizeOf(order.sizeMatched),
  size: sizeOf(order.size),
  reason: order.cancelReason,
  expiration: order.expiration === null ? null : parseIso(order.expiration),
});

/** A fill as its taker's reply tells it. */
export const fillOf = (trade: Trade, taker: string, maker: string, markets: MarketMap): Fill => ({
  trade: trade.id,
  order: trade.orderId,
  market: markets.nameOf(trade.marketId),
  outcome: trade.outcome,
  side: trade.side,
  price: priceOf(trade.price),
  size: sizeOf(trade.size),
  taker,
  maker,
  makerOrder: trade.counterOrderId,
  matchType: trade.matchType,
});

export function bookView({ bids, asks }: Book): BookView {
  const level = (of: Book["bids"][number]) => ({
    price: priceOf(of.price),
    size: sizeOf(of.size),
    orders: of.orders,
  });
  return { bids: bids.map(level), asks: asks.map(level) };
}

/** USDC first, then both tokens of each market in the markets' order. */
export function holdingsView({ collateral, tokens }: Account, markets: MarketMap): HoldingView[] {
  const shares = tokens.map((token) => ({
    asset: { market: markets.nameOf(token.marketId), outcome: token.outcome },
    ...amounts(token, SIZE_PLACES),
  }));
  return [{ asset: "USDC", ...amounts(collateral, MONEY_PLACES) }, ...shares];
}

const amounts = (of: Account["collateral"], places: number) => ({
  balance: exact(of.balance, places),
  available: exact(of.available, places),
  reserved: exact(of.reserved, places),
  onChain: exact(of.onChain, places),
});

/** The shares that a market has issued. */
export const sharesView = ({ YES, NO }: MarketSupply["onChain"]): SharesView => ({
  YES: sizeOf(YES),
  NO: sizeOf(NO),
});

/** The grid of a market. */
export const gridView = ({ tickSize, minOrderSize }: Pick<Market, "tickSize" | "minOrderSize">): Grid => ({
  tickSize: priceOf(tickSize),
  minOrderSize: sizeOf(minOrderSize),
});

const MID_PLACES = 5;

export const quoteView = ({ bestBid, bestAsk, mid, spread, lastTradePrice }: Quotes): QuoteView => ({
  bid: priceOrNull(bestBid),
  ask: priceOrNull(bestAsk),
  mid: mid === null ? null : exact(mid, MID_PLACES),
  spread: priceOrNull(spread),
  last: priceOrNull(lastTradePrice),
});

export const historyView = ({ data }: PricesHistory) => data.map(({ t, p }) => ({ t, price: priceOf(p) }));
