import { describe, expect, it } from "vitest";
import { T0, tokensOf, useApi } from "../support/http.ts";
import type { Book, ClockChange } from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);

const rowsOf = (levels: Book["bids"]): number[][] =>
  levels.map(({ price, size, orders }) => [price, size, orders]);

describe("GET /clob/time", () => {
  it("is the server's time in Unix seconds", async () => {
    expect(await api.get("/clob/time")).toEqual({ time: T0 });
  });
});

describe("GET /clob/book", () => {
  it("is empty for a new market: no levels, no last price, sequence 0", async () => {
    const market = await api.createMarket();
    const [yes] = tokensOf(market);
    const book = await api.book(yes);
    expect(book).toEqual({
      tokenId: yes,
      marketId: market.id,
      outcome: "YES",
      bids: [],
      asks: [],
      tickSize: 0.01,
      lastTradePrice: null,
      sequence: 0,
      hash: book.hash,
      updatedAt: "2026-01-01T00:00:00.000Z",
    });
  });

  it("sums the orders of each price level, best price first", async () => {
    const [yes] = tokensOf(await api.createMarket());
    for (const [side, price, size] of [
      ["BUY", 0.4, 10],
      ["BUY", 0.42, 5.5],
      ["BUY", 0.4, 2.25],
      ["SELL", 0.6, 7],
      ["SELL", 0.58, 3],
      ["SELL", 0.6, 1],
    ]) {
      await maker.place({ tokenId: yes, side, price, size });
    }
    const book = await api.book(yes);
    expect(rowsOf(book.bids)).toEqual([
      [0.42, 5.5, 1],
      [0.4, 12.25, 2],
    ]);
    expect(rowsOf(book.asks)).toEqual([
      [0.58, 3, 1],
      [0.6, 8, 2],
    ]);
    expect(book.sequence).toBe(6);
  });

  it("of NO is the exact mirror of YES if the market is complementary", async () => {
    const [yes, no] = tokensOf(await api.createMarket());
    await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    await maker.place({ tokenId: no, side: "BUY", price: 0.35, size: 4 });
    await maker.place({ tokenId: no, side: "SELL", price: 0.7, size: 6 });
    const [ofYes, ofNo] = [await api.book(yes), await api.book(no)];
    expect(rowsOf(ofYes.bids)).toEqual([
      [0.4, 10, 1],
      [0.3, 6, 1],
    ]);
    expect(rowsOf(ofYes.asks)).toEqual([[0.65, 4, 1]]);
    expect(rowsOf(ofNo.asks)).toEqual([
      [0.6, 10, 1],
      [0.7, 6, 1],
    ]);
    expect(rowsOf(ofNo.bids)).toEqual([[0.35, 4, 1]]);
    expect(ofNo).toMatchObject({ outcome: "NO", sequence: ofYes.sequence, updatedAt: ofYes.updatedAt });
  });

  it("of NO is a separate book if the market is independent", async () => {
    const [yes, no] = tokensOf(await api.createMarket({ matching: "independent" }));
    await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    await maker.place({ tokenId: no, side: "BUY", price: 0.7, size: 4 });
    const [ofYes, ofNo] = [await api.book(yes), await api.book(no)];
    expect([rowsOf(ofYes.bids), ofYes.asks]).toEqual([[[0.4, 10, 1]], []]);
    expect([rowsOf(ofNo.bids), ofNo.asks]).toEqual([[[0.7, 4, 1]], []]);
  });

  it("has a sequence of changes, and a hash of the content only", async () => {
    const [yes] = tokensOf(await api.createMarket());
    const empty = await api.book(yes);
    const { id } = await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    const one = await api.book(yes);
    await maker.cancel(id);
    const emptied = await api.book(yes);
    await taker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    const again = await api.book(yes);
    expect([empty, one, emptied, again].map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3]);
    expect(one.hash).not.toBe(empty.hash);
    expect([emptied.hash, again.hash]).toEqual([empty.hash, one.hash]);
  });

  it("has the time of the last change", async () => {
    const [yes] = tokensOf(await api.createMarket());
    const { time } = await api.post<ClockChange>("/sim/clock", { advance: "90s" });
    await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    await api.post<ClockChange>("/sim/clock", { advance: "90s" });
    expect((await api.book(yes)).updatedAt).toBe(time);
  });

  it("of a closed market is empty", async () => {
    const market = await api.createMarket();
    const [yes, no] = tokensOf(market);
    await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    await api.post(`/sim/markets/${market.id}/close`);
    expect(await api.book(yes)).toMatchObject({ bids: [], asks: [] });
    expect(await api.book(no)).toMatchObject({ bids: [], asks: [] });
  });
});

describe("a wrong token_id", () => {
  const reads = ["book", "price", "midpoint", "spread", "last-trade-price", "tick-size", "fee-rate"];

  it.each(reads)("is refused by /clob/%s if it is missing, blank or unknown", async (read) => {
    const get = (query: string) => ({ method: "GET", path: `/clob/${read}${query}` }) as const;
    await api.refused(get(""), "TOKEN_ID_REQUIRED");
    await api.refused(get("?token_id="), "TOKEN_ID_REQUIRED");
    await api.refused(get("?token_id=1"), "TOKEN_NOT_FOUND");
  });

  it.each(["id", "slug", "conditionId"] as const)(
    "that is a market's %s is refused with the market's token ids",
    async (kind) => {
      const market = await api.createMarket();
      const { body } = await api.refused(`GET /clob/book?token_id=${market[kind]}`, "TOKEN_NOT_FOUND");
      for (const tokenId of tokensOf(market)) expect(body.hint).toContain(tokenId);
    },
  );
});
