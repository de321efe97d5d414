import { expect, it } from "vitest";
import { noOf, useApi, yesOf } from "../support/http.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);

it("a resting order is returned with every field, a GTC order by default", async () => {
  const market = await api.createMarket();
  const order = { tokenId: noOf(market), side: "BUY", price: 0.29, size: 12.5 };
  const placed = await maker.place(order);
  const at = "2026-01-01T00:00:00.000Z";
  expect(placed).toEqual({
    ...{ id: placed.id, status: "LIVE", marketId: market.id, outcome: "NO", ...order, orderType: "GTC" },
    ...{ sizeMatched: 0, sizeRemaining: 12.5, avgPrice: null, fee: 0, trades: [] },
    ...{ expiration: null, cancelReason: null, createdAt: at, updatedAt: at },
  });
});

it("an order that trades is returned with its fills, their average price and fee", async () => {
  const market = await api.createMarket({ feeRateBps: 123 });
  const tokenId = yesOf(market);
  const far = await maker.place({ tokenId, side: "SELL", price: 0.6, size: 10 });
  const near = await maker.place({ tokenId: noOf(market), side: "BUY", price: 0.45, size: 4 });
  const before = (await api.account(taker.address)).collateral;
  const placed = await taker.place({ tokenId, side: "BUY", price: 0.7, size: 10 });
  expect(placed).toMatchObject({ status: "MATCHED", sizeMatched: 10, sizeRemaining: 0, avgPrice: 0.58 });
  expect(placed).toMatchObject({ cancelReason: null, fee: 0.05166 });
  const own = { orderId: placed.id, role: "TAKER", side: "BUY", outcome: "YES" };
  expect(placed.trades).toMatchObject([
    { ...own, price: 0.55, size: 4, fee: 0.02214, counterOrderId: near.id, matchType: "MINT" },
    { ...own, price: 0.6, size: 6, fee: 0.02952, counterOrderId: far.id, matchType: "COMPLEMENTARY" },
  ]);
  const { balance, reserved } = (await api.account(taker.address)).collateral;
  expect(balance).toBeCloseTo(before.balance - 5.8 - 0.05166, 6);
  expect(reserved).toBe(before.reserved);
});

it("an order in a closed or resolved market is refused with the status of the market", async () => {
  const market = await api.createMarket();
  const order = { tokenId: yesOf(market), side: "BUY", price: 0.5, size: 5 };
  for (const [action, marketStatus, body] of [
    ["close", "CLOSED", undefined],
    ["resolve", "RESOLVED", { winningOutcome: "YES" }],
  ] as const) {
    await api.post(`/sim/markets/${market.id}/${action}`, body);
    const refusal = await taker.orderRefused(order, "MARKET_CLOSED");
    expect(refusal.body.details).toEqual({ marketId: market.id, marketStatus });
  }
});
