import { accountReply } from "../api/accounts.ts";
import { bookReply } from "../api/order-book.ts";
import { orderReply } from "../api/trading.ts";
import { numbersAs, type View } from "../api/view.ts";
import { type Account, openOrdersOf } from "../core/account.ts";
import { type Market, marketOfToken } from "../core/market.ts";
import type { Order } from "../core/order.ts";
import type { State } from "../core/state.ts";

export type LevelView = MarketView["books"][number]["bids"][number];
export type MarketView = ReturnType<typeof marketView>;
export type OrderView = ReturnType<typeof orderView>;
export type AccountView = ReturnType<typeof accountView>;

export type StateView = ReturnType<typeof stateView>;

/**
 * Returns the books of markets, and the open orders in them and the balances of accounts. Prices, sizes and USDC are
 * decimals, as in the API.
 */
export function stateView(state: State, markets: readonly Market[], accounts: readonly Account[]) {
  const view = { state, numbers: numbersAs("number") };
  const wanted = new Set(markets.map(({ number }) => number));
  return {
    markets: markets.map((market) => marketView(view, market)),
    orders: accounts
      .flatMap((account) => [...openOrdersOf(state, account)])
      .filter(({ token }) => wanted.has(marketOfToken(token)))
      .sort((a, b) => a.number - b.number)
      .map((order) => orderView(view, order)),
    accounts: accounts.map((account) => accountView(view, account, wanted)),
  };
}

function marketView(view: View, market: Market) {
  const outcomes = market.matching === "complementary" ? (["YES"] as const) : (["YES", "NO"] as const);
  return {
    market: market.slug,
    status: market.status,
    winningOutcome: market.winningOutcome,
    books: outcomes.map((outcome) => {
      const { bids, asks } = bookReply(view, market, outcome);
      return { outcome, bids, asks };
    }),
  };
}

function orderView(view: View, order: Order) {
  const { accounts, markets } = view.state;
  const reply = orderReply(view, order);
  const { id, side, outcome, price, size, sizeMatched: matched, orderType, createdAt, expiration } = reply;
  const account = accounts.get(order.account).address;
  const market = markets.get(marketOfToken(order.token)).slug;
  const terms = { side, outcome, market, price, size, matched, orderType, createdAt, expiration };
  return { order: order.number, id, account, ...terms };
}

function accountView(view: View, account: Account, wanted: ReadonlySet<number>) {
  const { tokenById, markets } = view.state;
  const { collateral, tokens, sharesOfEveryOtherToken } = accountReply(view, account);
  const assetView = (asset: string, market: string | null, of: typeof collateral) => {
    const { balance, available, reserved } = of;
    return { asset, market, balance, available, reserved };
  };
  const assets = [assetView("USDC", null, collateral)];
  for (const token of tokens) {
    const market = marketOfToken(tokenById.get(token.tokenId) ?? 0);
    if (wanted.has(market)) assets.push(assetView(token.outcome, markets.get(market).slug, token));
  }
  return { account: account.address, assets, sharesOfEveryOtherToken };
}
