import { numbersAs } from "../api/decimals.ts";
import { type Account, availableOf, type Balance } from "../core/account.ts";
import { ASK, BID, type BookDirection } from "../core/book/book.ts";
import { idOf } from "../core/ids.ts";
import { bookFor, type Market, marketOfToken, outcomeOf } from "../core/market.ts";
import type { Order } from "../core/order.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import { type Money, price, type Size } from "../core/units.ts";

/** Prices, shares and USDC are decimals, as the API sends them. */
const NUMBERS = numbersAs("number");

export type LevelView = ReturnType<typeof levelsOf>[number];
export type MarketView = ReturnType<typeof marketView>;
export type OrderView = ReturnType<typeof orderView>;
export type AccountView = ReturnType<typeof accountView>;

/** Whose books, orders and balances are wanted. */
export interface Selection {
  readonly markets: readonly Market[];
  readonly accounts: readonly Account[];
}

/** Books, open orders and balances as they stand. */
export interface StateView {
  readonly markets: readonly MarketView[];
  readonly orders: readonly OrderView[];
  readonly accounts: readonly AccountView[];
}

export function stateView(state: State, { markets, accounts }: Selection): StateView {
  const wanted = new Set(markets.map(({ number }) => number));
  return {
    markets: markets.map(marketView),
    orders: accounts
      .flatMap((account) => openOrders(state, account))
      .filter(({ token }) => wanted.has(marketOfToken(token)))
      .sort((a, b) => a.number - b.number)
      .map((order) => orderView(state, order)),
    accounts: accounts.map((account) => accountView(state, account, wanted)),
  };
}

function marketView(market: Market) {
  const outcomes = market.matching === "complementary" ? (["YES"] as const) : (["YES", "NO"] as const);
  return {
    market: market.slug,
    status: market.status,
    winningOutcome: market.winningOutcome,
    books: outcomes.map((outcome) => ({
      outcome,
      bids: levelsOf(market, outcome, BID),
      asks: levelsOf(market, outcome, ASK),
    })),
  };
}

function levelsOf(market: Market, outcome: "YES" | "NO", direction: BookDirection) {
  const levels: { price: unknown; size: unknown; orders: number }[] = [];
  bookFor(market, outcome).book?.depth(direction, (tick, total, orders) => {
    levels.push({
      price: NUMBERS.price(price(tick * market.tickSize)),
      size: NUMBERS.size(total as Size),
      orders,
    });
  });
  return levels;
}

function openOrders(state: State, account: Account): Order[] {
  const orders: Order[] = [];
  for (let number = account.firstOpen; number !== 0; ) {
    const order = state.orders.get(number);
    orders.push(order);
    number = order.nextOpen;
  }
  return orders;
}

function orderView(state: State, order: Order) {
  return {
    order: order.number,
    id: idOf(state.idPrefixes.order, order.number),
    account: state.accounts.get(order.account).address,
    side: order.side,
    outcome: outcomeOf(order.token),
    market: state.markets.get(marketOfToken(order.token)).slug,
    price: NUMBERS.price(order.price),
    size: NUMBERS.size(order.size),
    matched: NUMBERS.size(order.matched),
    orderType: order.orderType,
    createdAt: toIso(order.createdAt),
    expiration: order.expiration === null ? null : toIso(order.expiration),
  };
}

function accountView(state: State, account: Account, wanted: ReadonlySet<number>) {
  const { address, collateral, holdings } = account;
  const money = (units: number) => NUMBERS.money(units as Money);
  const size = (units: number) => NUMBERS.size(units as Size);
  const assets = [assetView(state, "USDC", null, collateral, money)];
  for (const [market, { yes, no }] of [...holdings].sort(([a], [b]) => a - b)) {
    if (!wanted.has(market)) continue;
    const { slug } = state.markets.get(market);
    assets.push(assetView(state, "YES", slug, yes, size), assetView(state, "NO", slug, no, size));
  }
  return { account: address, assets };
}

function assetView<Unit extends number>(
  { config }: State,
  asset: "USDC" | "YES" | "NO",
  market: string | null,
  of: Balance<Unit>,
  decimal: (units: number) => unknown,
) {
  return {
    asset,
    market,
    balance: decimal(of.balance),
    available: decimal(availableOf(of, config.balances)),
    reserved: decimal(of.reserved),
  };
}
