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

export type LevelStanding = ReturnType<typeof levelsOf>[number];
export type MarketStanding = ReturnType<typeof marketStanding>;
export type OrderStanding = ReturnType<typeof orderStanding>;
export type AccountStanding = ReturnType<typeof accountStanding>;
export type AssetStanding = ReturnType<typeof assetStanding>;

/** Whose books, orders and balances are wanted. */
export interface Selection {
  readonly markets: readonly Market[];
  readonly accounts: readonly Account[];
}

/** Books, open orders and balances as they stand. */
export interface Standing {
  readonly markets: readonly MarketStanding[];
  readonly orders: readonly OrderStanding[];
  readonly accounts: readonly AccountStanding[];
}

export function standingOf(state: State, { markets, accounts }: Selection): Standing {
  const wanted = new Set(markets.map(({ number }) => number));
  return {
    markets: markets.map(marketStanding),
    orders: accounts
      .flatMap((account) => openOrders(state, account))
      .filter(({ token }) => wanted.has(marketOfToken(token)))
      .sort((a, b) => a.number - b.number)
      .map((order) => orderStanding(state, order)),
    accounts: accounts.map((account) => accountStanding(state, account, wanted)),
  };
}

function marketStanding(market: Market) {
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

function orderStanding(state: State, order: Order) {
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

function accountStanding(state: State, account: Account, wanted: ReadonlySet<number>) {
  const { address, collateral, holdings } = account;
  const money = (units: number) => NUMBERS.money(units as Money);
  const size = (units: number) => NUMBERS.size(units as Size);
  const assets = [assetStanding(state, "USDC", null, collateral, money)];
  for (const [market, { yes, no }] of [...holdings].sort(([a], [b]) => a - b)) {
    if (!wanted.has(market)) continue;
    const { slug } = state.markets.get(market);
    assets.push(assetStanding(state, "YES", slug, yes, size), assetStanding(state, "NO", slug, no, size));
  }
  return { account: address, assets };
}

function assetStanding<Unit extends number>(
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
