import { expect, it } from "vitest";
import { useApi } from "../support/http.ts";
import type {
  Account,
  Book,
  CancelResult,
  Credentials,
  Invariants,
  Market,
  MarketDetail,
  MarketTradePage,
  OrderPage,
  OrderStory,
  PricesHistory,
  TradePage,
} from "./replies.ts";
import { Trader } from "./trader.ts";
import { signPersonal, signTyped, wallet } from "./wallet.ts";

const DERIVE = "/clob/auth/derive-api-key";

const api = useApi({ clock: { mode: "real" } });

/** With EIP-712, everything in the body. */
async function alice(): Promise<Trader> {
  const account = wallet();
  const { time } = await api.get<{ time: number }>("/clob/time");
  const timestamp = String(time);
  const signature = await signTyped(account, { timestamp });
  const body = { address: account.address, signature, timestamp };
  return new Trader(api, account.address, await api.post<Credentials>(DERIVE, body));
}

/** With personal_sign, everything in headers. */
async function bob(): Promise<Trader> {
  const account = wallet();
  const headers = { poly_address: account.address, poly_signature: await signPersonal(account) };
  const { body } = await api.send<Credentials>({ method: "POST", path: DERIVE, headers });
  return new Trader(api, account.address, body);
}

it("two wallets derive keys and trade, and every endpoint has the result, with a running clock", async () => {
  const [seller, buyer] = [await alice(), await bob()];
  const market = await api.createMarket({ tickSize: 0.001 });
  const [yes, no] = market.tokens.map(({ tokenId }) => tokenId) as [string, string];

  const resting = await seller.place({ tokenId: yes, side: "SELL", price: 0.575, size: 100 });
  const crossing = await buyer.place({ tokenId: no, side: "SELL", price: 0.425, size: 30 });
  expect(resting).toMatchObject({ status: "LIVE", sizeRemaining: 100 });
  expect(crossing).toMatchObject({ status: "MATCHED", avgPrice: 0.425, outcome: "NO" });
  expect(crossing.trades).toMatchObject([{ matchType: "MERGE", counterOrderId: resting.id, size: 30 }]);
  const bought = await buyer.place({ tokenId: yes, side: "BUY", price: 0.6, size: 20.5 });
  expect(bought.trades).toMatchObject([{ matchType: "COMPLEMENTARY", price: 0.575 }]);

  await expectBooks(market, yes, no);
  await expectMarket(market, yes);
  const own = await seller.ask<TradePage>("GET", `/clob/trades?order=${resting.id}`);
  expect(own.data.map(({ size, role }) => [size, role])).toEqual([
    [20.5, "MAKER"],
    [30, "MAKER"],
  ]);
  const open = await seller.ask<OrderPage>("GET", `/clob/orders?market=${market.slug}`);
  expect(open.data).toMatchObject([{ id: resting.id, sizeMatched: 50.5, sizeRemaining: 49.5 }]);

  expect(await seller.ask<CancelResult>("DELETE", "/clob/orders/all")).toEqual({
    canceled: [resting.id],
    notCanceled: {},
  });
  await expectStory(resting.id, [crossing.id, bought.id]);
  await expectBalances(
    seller,
    { usdc: 10_000 + 30 * 0.575 + 20.5 * 0.575, yes: 10_000 - 50.5, no: 10_000 },
    market,
  );
  await expectBalances(
    buyer,
    { usdc: 10_000 + 30 * 0.425 - 20.5 * 0.575, yes: 10_000 + 20.5, no: 10_000 - 30 },
    market,
  );
  expect(await api.get<Invariants>("/sim/invariants")).toMatchObject({ hold: true });
});

async function expectBooks({ id }: Market, yes: string, no: string): Promise<void> {
  const book = await api.get<Book>(`/clob/book?token_id=${yes}`);
  expect(book).toMatchObject({
    marketId: id,
    bids: [],
    asks: [{ price: 0.575, size: 49.5, orders: 1 }],
    lastTradePrice: 0.575,
  });
  const mirror = await api.get<Book>(`/clob/book?token_id=${no}`);
  expect(mirror).toMatchObject({
    asks: [],
    bids: [{ price: 0.425, size: 49.5, orders: 1 }],
    lastTradePrice: 0.425,
  });
}

async function expectMarket({ id }: Market, yes: string): Promise<void> {
  const market = await api.get<MarketDetail>(`/api/markets/${id}`);
  expect(market).toMatchObject({ volume: 24.5375, lastTradePrice: 0.575, bestBid: null, bestAsk: 0.575 });
  const history = await api.get<PricesHistory>(`/api/markets/${id}/prices-history`);
  expect(history).toMatchObject({ tokenId: yes });
  expect(new Set(history.data.map(({ p }) => p))).toEqual(new Set([0.575]));
  const { data: tape } = await api.get<MarketTradePage>(`/api/markets/${id}/trades?all=true`);
  expect(tape.map(({ outcome, side, price, size }) => [outcome, side, price, size])).toEqual([
    ["YES", "BUY", 0.575, 20.5],
    ["NO", "SELL", 0.425, 30],
  ]);
}

async function expectStory(orderId: string, takers: readonly string[]): Promise<void> {
  const story = await api.get<OrderStory>(`/sim/orders/${orderId}`);
  expect(story.order).toMatchObject({ status: "CANCELED", cancelReason: "USER", sizeMatched: 50.5 });
  expect(story.queue).toEqual({
    joinedBehind: { orders: 0, shares: 0 },
    nowBehind: { orders: 0, shares: 0 },
  });
  expect(story.fills.map(({ counterOrderId }) => counterOrderId)).toEqual(takers);
  const sentences = story.story.map(({ what }) => what);
  expect(sentences.filter((what) => what.startsWith("settlement waits for the block"))).toHaveLength(2);
  const trading = sentences.filter((what) => !what.startsWith("settlement"));
  expect(trading).toHaveLength(5);
  expect(trading[0]).toContain("SELL 100 YES @ 0.575 GTC");
  expect(trading[1]).toContain("joined an empty level at 0.575");
  expect(trading[2]).toContain(takers[0]);
  expect(trading[3]).toContain(takers[1]);
  expect(trading[4]).toContain("canceled by its owner, 50.5 of 100 matched");
}

async function expectBalances(
  { address }: Trader,
  expected: { readonly usdc: number; readonly yes: number; readonly no: number },
  { id }: Market,
): Promise<void> {
  const { collateral, tokens } = await api.get<Account>(`/sim/accounts/${address}`);
  expect(collateral.balance).toBeCloseTo(expected.usdc, 6);
  expect(collateral.reserved).toBe(0);
  const held = tokens
    .filter(({ marketId }) => marketId === id)
    .map(({ balance, reserved }) => [balance, reserved]);
  expect(held).toEqual([
    [expected.yes, 0],
    [expected.no, 0],
  ]);
}
