import { beforeEach, describe, expect, it } from "vitest";
import { noOf, T0, useApi, yesOf } from "../support/http.ts";
import type { ClockChange, OrderStory } from "./replies.ts";
import { type Trader, useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);
let marketId: string;
let yes: string;
let no: string;

async function newMarket(fields: object = {}): Promise<void> {
  const market = await api.createMarket(fields);
  marketId = market.id;
  yes = yesOf(market);
  no = noOf(market);
}
beforeEach(() => newMarket());

const sharesOf = async (trader: Trader, tokenId: string) =>
  (await api.account(trader.address)).tokens.find((held) => held.tokenId === tokenId);
const levelCount = async (tokenId: string): Promise<number> => {
  const { bids, asks } = await api.book(tokenId);
  return bids.length + asks.length;
};

describe("POST /clob/order", () => {
  it("returns the resting order, a GTC order by default", async () => {
    const placed = await maker.place({ tokenId: no, side: "BUY", price: 0.29, size: 12.5 });
    expect(placed).toEqual({
      id: placed.id,
      status: "LIVE",
      marketId,
      tokenId: no,
      outcome: "NO",
      side: "BUY",
      price: 0.29,
      size: 12.5,
      sizeMatched: 0,
      sizeRemaining: 12.5,
      avgPrice: null,
      fee: 0,
      orderType: "GTC",
      expiration: null,
      cancelReason: null,
      createdAt: "2026-01-01T00:00:00.000Z",
      updatedAt: "2026-01-01T00:00:00.000Z",
      trades: [],
    });
  });

  it("trades at the makers' prices, best first, and the taker gets the price improvement", async () => {
    const far = await maker.place({ tokenId: yes, side: "SELL", price: 0.6, size: 10 });
    const near = await maker.place({ tokenId: yes, side: "SELL", price: 0.55, size: 4 });
    const before = await api.account(taker.address);
    const placed = await taker.place({ tokenId: yes, side: "BUY", price: 0.7, size: 10 });
    expect(placed).toMatchObject({ status: "MATCHED", sizeMatched: 10, sizeRemaining: 0, avgPrice: 0.58 });
    expect(placed.trades).toMatchObject([
      { price: 0.55, size: 4, counterOrderId: near.id, role: "TAKER", side: "BUY", orderId: placed.id },
      { price: 0.6, size: 6, counterOrderId: far.id, matchType: "COMPLEMENTARY", outcome: "YES" },
    ]);
    const { collateral } = await api.account(taker.address);
    expect(collateral.balance).toBe(before.collateral.balance - 5.8);
    expect(collateral.reserved).toBe(before.collateral.reserved);
  });

  it("lets the unfilled remainder rest, and reserves its cost", async () => {
    await maker.place({ tokenId: yes, side: "SELL", price: 0.5, size: 4 });
    const before = (await api.account(taker.address)).collateral.reserved;
    const placed = await taker.place({ tokenId: yes, side: "BUY", price: 0.5, size: 10 });
    expect(placed).toMatchObject({ status: "LIVE", sizeMatched: 4, sizeRemaining: 6, avgPrice: 0.5 });
    expect((await api.account(taker.address)).collateral.reserved - before).toBe(3);
  });

  it("reserves the shares of a sale, and releases them when it is canceled", async () => {
    const { id } = await maker.place({ tokenId: yes, side: "SELL", price: 0.5, size: 4 });
    expect(await sharesOf(maker, yes)).toMatchObject({ balance: 10000, available: 9996, reserved: 4 });
    await maker.cancel(id);
    expect(await sharesOf(maker, yes)).toMatchObject({ balance: 10000, available: 10000, reserved: 0 });
  });

  it("mints a set for two buyers and merges one of two sellers", async () => {
    await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    const minted = await taker.place({ tokenId: no, side: "BUY", price: 0.6, size: 10 });
    expect(minted.trades).toMatchObject([{ matchType: "MINT", price: 0.6, outcome: "NO" }]);
    await maker.place({ tokenId: yes, side: "SELL", price: 0.4, size: 5 });
    const merged = await taker.place({ tokenId: no, side: "SELL", price: 0.6, size: 5 });
    expect(merged.trades).toMatchObject([{ matchType: "MERGE", price: 0.6, outcome: "NO" }]);
    expect((await sharesOf(maker, yes))?.balance).toBe(10005);
    expect((await sharesOf(taker, no))?.balance).toBe(10005);
  });

  it("charges only the taker, rounded down to a micro-USDC", async () => {
    await newMarket({ feeRateBps: 123 });
    await maker.place({ tokenId: yes, side: "SELL", price: 0.37, size: 3.33 });
    const placed = await taker.place({ tokenId: yes, side: "BUY", price: 0.37, size: 3.33 });
    expect(placed.fee).toBe(0.015154);
    expect(placed.trades).toMatchObject([{ fee: 0.015154 }]);
    const { data } = await maker.ask<{ data: unknown[] }>("GET", `/clob/trades?market=${marketId}`);
    expect(data).toMatchObject([{ role: "MAKER", fee: 0, price: 0.37 }]);
  });

  it.each([
    ["Unix seconds", String(T0 + 60)],
    ["Unix milliseconds", `${T0 + 60}000`],
    ["ISO-8601 in UTC", "2026-01-01T00:01:00Z"],
    ["ISO-8601 with another zone", "2026-01-01T05:31:00.000+05:30"],
  ])("accepts an expiration in %s", async (_format, expiration) => {
    const placed = await maker.place({
      tokenId: yes,
      side: "BUY",
      price: 0.5,
      size: 5,
      orderType: "GTD",
      expiration,
    });
    expect(placed).toMatchObject({ status: "LIVE", expiration: "2026-01-01T00:01:00.000Z" });
    await maker.cancel(placed.id);
  });

  it("applies the self-trade policy of the market", async () => {
    await newMarket({ selfTrade: "cancel-taker" });
    await maker.place({ tokenId: yes, side: "SELL", price: 0.5, size: 5 });
    const placed = await maker.place({ tokenId: yes, side: "BUY", price: 0.5, size: 5 });
    expect(placed).toMatchObject({ status: "CANCELED", cancelReason: "SELF_TRADE", trades: [] });
  });

  it("lets own orders trade with each other by default", async () => {
    await maker.place({ tokenId: yes, side: "SELL", price: 0.5, size: 5 });
    const placed = await maker.place({ tokenId: yes, side: "BUY", price: 0.5, size: 5 });
    expect(placed).toMatchObject({ status: "MATCHED", sizeMatched: 5 });
  });

  it("cancels a FAK order without fills, and a partly filled one is matched", async () => {
    const killed = await taker.place({ tokenId: yes, side: "BUY", price: 0.5, size: 5, orderType: "FAK" });
    expect(killed).toMatchObject({ status: "CANCELED", cancelReason: "FAK_UNFILLED", sizeMatched: 0 });
    await maker.place({ tokenId: yes, side: "SELL", price: 0.5, size: 2 });
    const partly = await taker.place({ tokenId: yes, side: "BUY", price: 0.5, size: 5, orderType: "FAK" });
    expect(partly).toMatchObject({ status: "MATCHED", cancelReason: "FAK_REMAINDER", sizeMatched: 2 });
    expect(await levelCount(yes)).toBe(0);
  });

  it("fills a FOK order that can be filled completely", async () => {
    await maker.place({ tokenId: yes, side: "SELL", price: 0.5, size: 2 });
    await maker.place({ tokenId: yes, side: "SELL", price: 0.6, size: 3 });
    const placed = await taker.place({ tokenId: yes, side: "BUY", price: 0.6, size: 5, orderType: "FOK" });
    expect(placed).toMatchObject({ status: "MATCHED", cancelReason: null, sizeMatched: 5, avgPrice: 0.56 });
  });

  it("refuses an order in a closed or resolved market", async () => {
    const order = { tokenId: yes, side: "BUY", price: 0.5, size: 5 };
    await api.post(`/sim/markets/${marketId}/close`);
    const closed = await taker.orderRefused(order, "MARKET_CLOSED");
    expect(closed.body.details).toEqual({ marketId, marketStatus: "CLOSED" });
    await api.post(`/sim/markets/${marketId}/resolve`, { winningOutcome: "YES" });
    const resolved = await taker.orderRefused(order, "MARKET_CLOSED");
    expect(resolved.body.details).toEqual({ marketId, marketStatus: "RESOLVED" });
  });
});

describe("an order that expires", () => {
  it("is live before its expiration, and has expired before requests of the same time", async () => {
    const order = { tokenId: yes, side: "BUY", price: 0.5, size: 5, orderType: "GTD" };
    const { id } = await maker.place({ ...order, expiration: String(api.now + 60) });
    await api.post<ClockChange>("/sim/clock", { advance: "59s" });
    expect(await levelCount(yes)).toBe(1);
    const { fired, time } = await api.post<ClockChange>("/sim/clock", { advance: "1s" });
    expect(fired).toEqual([{ kind: "ORDER_EXPIRED", orderId: id, at: time }]);
    const late = await taker.place({ tokenId: yes, side: "SELL", price: 0.5, size: 5 });
    expect(late).toMatchObject({ status: "LIVE", trades: [] });
    const { order: expired } = await api.get<OrderStory>(`/sim/orders/${id}`);
    expect(expired).toMatchObject({ status: "EXPIRED", cancelReason: null, updatedAt: time });
    expect((await maker.cancel(id)).notCanceled).toEqual({ [id]: "already expired" });
  });
});
