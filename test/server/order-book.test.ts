import { describe, expect, it } from "vitest";
import { tokensOf, useApi } from "../support/http.ts";
import type { MarketPage, Quote } from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);

describe("GET /clob/book", () => {
  it("is empty for a new market: no levels, no last price, sequence 0", async () => {
    const market = await api.createMarket();
    const [yes] = tokensOf(market);
    const book = await api.book(yes);
    expect(book).toEqual({
      ...{ tokenId: yes, marketId: market.id, outcome: "YES", bids: [], asks: [], tickSize: 0.01 },
      ...{ lastTradePrice: null, sequence: 0, hash: book.hash, updatedAt: "2026-01-01T00:00:00.000Z" },
    });
  });

  it("has a sequence and the time of its last change, and a hash of the content only", async () => {
    const [yes] = tokensOf(await api.createMarket());
    const empty = await api.book(yes);
    const { id } = await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    const one = await api.book(yes);
    const time = await api.advance("90s");
    await maker.cancel(id);
    await api.advance("90s");
    const emptied = await api.book(yes);
    await taker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    const again = await api.book(yes);
    expect([empty, one, emptied, again].map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3]);
    expect(one.hash).not.toBe(empty.hash);
    expect([emptied.hash, again.hash]).toEqual([empty.hash, one.hash]);
    expect(emptied.updatedAt).toBe(time);
  });
});

describe("a wrong token_id", () => {
  it.each(["id", "slug", "conditionId"] as const)(
    "that is a market's %s is refused with the market's token ids",
    async (kind) => {
      const market = await api.createMarket();
      const { body } = await api.refused(`GET /clob/book?token_id=${market[kind]}`, "TOKEN_NOT_FOUND");
      for (const tokenId of tokensOf(market)) expect(body.hint).toContain(tokenId);
    },
  );
});

describe("the quotes of a token", () => {
  it("agree with the book in every market of the world", async () => {
    const { data } = await api.get<MarketPage>("/api/markets");
    for (const tokenId of data.flatMap(tokensOf)) {
      const { bids, asks, lastTradePrice } = await api.book(tokenId);
      const best = { bestBid: bids[0]?.price ?? null, bestAsk: asks[0]?.price ?? null };
      expect(await api.get<Quote>(`/clob/price?token_id=${tokenId}`)).toEqual({ tokenId, ...best });
      const last = await api.get(`/clob/last-trade-price?token_id=${tokenId}`);
      expect(last).toMatchObject({ tokenId, lastTradePrice });
    }
  });

  it("are the shortest decimals, half ticks included", async () => {
    const tokens = tokensOf(await api.createMarket({ tickSize: 0.0001 }));
    await maker.place({ tokenId: tokens[0], side: "BUY", price: 0.1, size: 10 });
    await maker.place({ tokenId: tokens[0], side: "SELL", price: 0.3001, size: 10 });
    const read = (name: string, tokenId: string) => api.get(`/clob/${name}?token_id=${tokenId}`);
    for (const [index, [bestBid, bestAsk, mid]] of [
      [0.1, 0.3001, 0.20005],
      [0.6999, 0.9, 0.79995],
    ].entries()) {
      const tokenId = tokens[index] ?? "";
      expect(await read("price", tokenId)).toEqual({ tokenId, bestBid, bestAsk });
      expect(await read("midpoint", tokenId)).toEqual({ tokenId, mid });
      expect(await read("spread", tokenId)).toEqual({ tokenId, spread: 0.2001 });
    }
  });

  it.each([0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001])("have tick size %d", async (tickSize) => {
    for (const tokenId of tokensOf(await api.createMarket({ tickSize })))
      expect(await api.get(`/clob/tick-size?token_id=${tokenId}`)).toEqual({ tokenId, tickSize });
  });
});
