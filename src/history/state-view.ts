import { numbersAs } from "../api/decimals.ts";
import { sidesOf } from "../api/order-book.ts";
import { type Account, availableOf, type Balance, openOrdersOf } from "../core/account.ts";
import { idOf } from "../core/ids.ts";
import { type Market, marketOfToken, outcomeOf } from "../core/market.ts";
import type { Order } from "../core/order.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import type { Money, Size } from "../core/units.ts";
import type { Level } from "../scenario/venue/views.ts";

/** Prices, sizes and USDC are decimals, as in the API. */
const NUMBERS = numbersAs("number");

export type LevelView = ReturnType<typeof levelView>;
export type MarketView = ReturnType<typeof marketView>;
export type OrderView = ReturnType<typeof orderView>;
export type AccountView = ReturnType<typeof accountView>;

export type StateView = ReturnType<typeof stateView>;

/** Returns the books of markets, and the open orders in them and the balances of accounts. */
export function stateView(state: State, markets: readonly Market[], accounts: readonly Account[]) {
  const wanted = new Set(markets.map(({ number }) => number));
  return {
    markets: markets.map(marketView),
    orders: accounts
      .flatMap((account) => [...openOrdersOf(state, account)])
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
    books: outcomes.map((outcome) => {
      const { bids, asks } = sidesOf(market, outcome);
      return { outcome, bids: bids.map(levelView), asks: asks.map(levelView) };
    }),
  };
}

function levelView({ price, size, orders }: Level) {
  return { price: NUMBERS.price(price), size: NUMBERS.size(size), orders };
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
  const { address, collateral, holdings, everyMarket } = account;
  const money = (units: number) => NUMBERS.money(units as Money);
  const size = (units: number) => NUMBERS.size(units as Size);
  const assets = [assetView(state, "USDC", null, collateral, money)];
  for (const [market, { yes, no }] of [...holdings].sort(([a], [b]) => a - b)) {
    if (!wanted.has(market)) continue;
    const { slug } = state.markets.get(market);
    assets.push(assetView(state, "YES", slug, yes, size), assetView(state, "NO", slug, no, size));
  }
  return { account: address, assets, sharesOfEveryOtherToken: size(everyMarket) };
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
