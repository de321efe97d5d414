import { describe, expect, it } from "vitest";
import { tokensOf, useApi } from "../support/http.ts";
import type { LastTrade, MarketPage, Quote } from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);

describe("the quotes of a token", () => {
  const quotesOf = async (tokenId: string) => ({
    ...(await api.get<Quote>(`/clob/price?token_id=${tokenId}`)),
    ...(await api.get<{ mid: number | null }>(`/clob/midpoint?token_id=${tokenId}`)),
    ...(await api.get<{ spread: number | null }>(`/clob/spread?token_id=${tokenId}`)),
  });

  it("are null on an empty book", async () => {
    const [yes] = tokensOf(await api.createMarket());
    expect(await quotesOf(yes)).toEqual({
      tokenId: yes,
      bestBid: null,
      bestAsk: null,
      mid: null,
      spread: null,
    });
  });

  it("have no mid and no spread if a side is empty", async () => {
    const [yes, no] = tokensOf(await api.createMarket());
    await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    expect(await quotesOf(yes)).toMatchObject({ bestBid: 0.4, bestAsk: null, mid: null, spread: null });
    expect(await quotesOf(no)).toMatchObject({ bestBid: null, bestAsk: 0.6, mid: null, spread: null });
  });

  it("are the shortest decimals, half ticks included", async () => {
    const [yes, no] = tokensOf(await api.createMarket({ tickSize: 0.0001 }));
    await maker.place({ tokenId: yes, side: "BUY", price: 0.1, size: 10 });
    await maker.place({ tokenId: yes, side: "SELL", price: 0.3001, size: 10 });
    expect(await quotesOf(yes)).toEqual({
      tokenId: yes,
      bestBid: 0.1,
      bestAsk: 0.3001,
      mid: 0.20005,
      spread: 0.2001,
    });
    expect(await quotesOf(no)).toEqual({
      tokenId: no,
      bestBid: 0.6999,
      bestAsk: 0.9,
      mid: 0.79995,
      spread: 0.2001,
    });
  });

  it("agree with the book in every market of the world", async () => {
    const { data } = await api.get<MarketPage>("/api/markets");
    for (const tokenId of data.flatMap(tokensOf)) {
      const book = await api.book(tokenId);
      expect(await quotesOf(tokenId)).toMatchObject({
        bestBid: book.bids[0]?.price ?? null,
        bestAsk: book.asks[0]?.price ?? null,
      });
    }
  });
});

describe("GET /clob/last-trade-price", () => {
  const lastOf = (tokenId: string): Promise<LastTrade> =>
    api.get(`/clob/last-trade-price?token_id=${tokenId}`);

  it("is null before the first trade", async () => {
    const [yes] = tokensOf(await api.createMarket());
    expect(await lastOf(yes)).toEqual({ tokenId: yes, lastTradePrice: null, side: null, tradedAt: null });
  });

  it("has the maker's price and the taker's side, and the complement for the other token", async () => {
    const [yes, no] = tokensOf(await api.createMarket());
    await maker.place({ tokenId: yes, side: "SELL", price: 0.58, size: 3 });
    const { createdAt } = await taker.place({ tokenId: yes, side: "BUY", price: 0.6, size: 1 });
    expect(await lastOf(yes)).toEqual({
      tokenId: yes,
      lastTradePrice: 0.58,
      side: "BUY",
      tradedAt: createdAt,
    });
    expect(await lastOf(no)).toEqual({
      tokenId: no,
      lastTradePrice: 0.42,
      side: "SELL",
      tradedAt: createdAt,
    });
    expect((await api.book(no)).lastTradePrice).toBe(0.42);
  });
});

describe("the terms of a token", () => {
  it.each([0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001])("have tick size %d", async (tickSize) => {
    const [yes, no] = tokensOf(await api.createMarket({ tickSize }));
    expect(await api.get(`/clob/tick-size?token_id=${yes}`)).toEqual({ tokenId: yes, tickSize });
    expect(await api.get(`/clob/tick-size?token_id=${no}`)).toEqual({ tokenId: no, tickSize });
  });

  it("have the taker's fee in basis points", async () => {
    const [yes] = tokensOf(await api.createMarket({ feeRateBps: 200 }));
    expect(await api.get(`/clob/fee-rate?token_id=${yes}`)).toEqual({ tokenId: yes, feeRateBps: 200 });
  });
});
