import { beforeAll, describe, expect, it } from "vitest";
import { useApi, yesOf } from "../support/http.ts";
import type { CancelResult, Market, OrderPage, PlacedOrder, TradePage } from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const trader = useTrader(api, 1);
let market: Market;
let resting: PlacedOrder;
/** Both ids in upper case. */
let marketId: string;
let orderId: string;

beforeAll(async () => {
  market = await api.createMarket();
  const order = { tokenId: yesOf(market), price: 0.5, size: 5 };
  resting = await trader.place({ ...order, side: "BUY", size: 10 });
  await trader.place({ ...order, side: "SELL" });
  marketId = market.id.toUpperCase();
  orderId = resting.id.toUpperCase();
  expect([marketId, orderId]).not.toEqual([market.id, resting.id]);
});

describe("an id in upper case", () => {
  it("finds its market and its event", async () => {
    expect(await api.get(`/api/markets/${marketId}`)).toMatchObject({ id: market.id });
    const { eventId } = market;
    expect(await api.get(`/api/events/${eventId.toUpperCase()}`)).toMatchObject({ id: eventId });
    for (const part of ["trades", "prices-history"]) {
      const { data } = await api.get<{ data: object[] }>(`/api/markets/${marketId}/${part}`);
      expect(data, part).toHaveLength(1);
    }
    expect(await api.get(`/sim/chain/supply/${marketId}`)).toMatchObject({ marketId: market.id });
  });

  it("finds orders and fills by market and by order", async () => {
    const orders = await trader.ask<OrderPage>("GET", `/clob/orders?market=${marketId}`);
    expect(orders.data.map(({ id }) => id)).toEqual([resting.id]);
    for (const query of [`market=${marketId}`, `order=${orderId}`]) {
      const { data } = await trader.ask<TradePage>("GET", `/clob/trades?${query}`);
      expect(data.map((trade) => trade.marketId)).toContain(market.id);
    }
    expect(await api.get(`/sim/orders/${orderId}`)).toMatchObject({ order: { id: resting.id } });
  });

  it("finds the event of a new market", async () => {
    const { eventId } = await api.createMarket({ eventId: market.eventId.toUpperCase() });
    expect(eventId).toBe(market.eventId);
  });

  it("cancels its order, and the answer has the original id", async () => {
    const twice = `/clob/order?id=${resting.id}`;
    const canceled = await trader.ask<CancelResult>("DELETE", twice, { orderId });
    expect(canceled).toEqual({ canceled: [resting.id], notCanceled: {} });
    const again = await trader.ask<CancelResult>("DELETE", "/clob/order", { orderId });
    expect(again).toEqual({ canceled: [], notCanceled: { [resting.id]: "already canceled" } });
  });

  it("closes and resolves its market", async () => {
    const { id } = market;
    expect(await api.post(`/sim/markets/${marketId}/close`)).toMatchObject({ id, status: "CLOSED" });
    const resolved = await api.post(`/sim/markets/${marketId}/resolve`, { winningOutcome: "YES" });
    expect(resolved).toMatchObject({ id, status: "RESOLVED" });
  });

  it("of another kind of object is not found", async () => {
    for (const name of [orderId, market.slug.toUpperCase()])
      await api.refused(`GET /api/markets/${name}`, "MARKET_NOT_FOUND");
  });
});
