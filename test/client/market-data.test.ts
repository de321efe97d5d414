import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import { type Api, startApi, T0 } from "../support/http.ts";
import { checked, errorOf, openTrader } from "./opened.ts";

let api: Api;
let client: ExchangeClient;

beforeAll(async () => {
  api = await startApi();
  client = new ExchangeClient(api.server.url, { transport: checked(api) });
});
afterAll(() => api.close());

describe("quotes", () => {
  it("put best bid, ask, mid, spread and last trade of a token together", async () => {
    const [alice, bob] = await Promise.all([openTrader(api, 21), openTrader(api, 22)]);
    const { tokens } = orThrow(await client.control.createMarket({ question: "Quoted?", feeRateBps: 20 }));
    const tokenId = tokens[0]?.tokenId ?? "";
    orThrow(await alice.place({ tokenId, side: "BUY", price: 0.4, size: 100 }));
    orThrow(await alice.place({ tokenId, side: "SELL", price: 0.5, size: 100 }));
    orThrow(await bob.place({ tokenId, side: "SELL", price: 0.4, size: 30 }));
    expect(orThrow(await client.quotes(tokenId))).toEqual({
      tokenId,
      bestBid: 0.4,
      bestAsk: 0.5,
      mid: 0.45,
      spread: 0.1,
      lastTradePrice: 0.4,
      side: "SELL",
      tradedAt: "2026-01-01T00:00:00.000Z",
    });
    expect(orThrow(await client.book(tokenId)).bids).toEqual([{ price: 0.4, size: 70, orders: 1 }]);
    expect(orThrow(await client.tickSize(tokenId)).tickSize).toBe(0.01);
    expect(orThrow(await client.feeRate(tokenId)).feeRateBps).toBe(20);
  });

  it("are null where there is nothing", async () => {
    const { tokens } = orThrow(await client.control.createMarket({ question: "Untouched?" }));
    const nothing = { bestBid: null, bestAsk: null, mid: null, spread: null, lastTradePrice: null };
    expect(orThrow(await client.quotes(tokens[1]?.tokenId ?? ""))).toMatchObject(nothing);
  });

  it.each(["price", "midpoint", "spread", "last-trade-price"])("are an error when %s is", async (part) => {
    const reader = new ExchangeClient("http://127.0.0.1:1", {
      transport: async ({ path }) =>
        path.startsWith(`/clob/${part}?`)
          ? { status: 404, headers: {}, text: '{"error":"none","code":"TOKEN_NOT_FOUND"}' }
          : { status: 200, headers: {}, text: "{}" },
    });
    expect(errorOf(await reader.quotes("1")).code).toBe("TOKEN_NOT_FOUND");
  });

  it("of an unknown token are one error", async () => {
    expect(errorOf(await client.quotes("1"))).toMatchObject({ code: "TOKEN_NOT_FOUND", status: 404 });
  });
});

describe("market data", () => {
  it("answers one page of a list as the wire gives it", async () => {
    const page = orThrow(await client.markets({ sort: "volume", active: true, limit: 1 }));
    expect(page).toMatchObject({ limit: 1, offset: 0, total: expect.any(Number), hasMore: true });
    expect(page.data).toHaveLength(1);
  });

  it("answers a market, its event, its trades and its prices by id or slug", async () => {
    const { data } = orThrow(await client.markets({ sort: "volume", limit: 1 }));
    const { id = "", slug = "", eventId = "" } = data[0] ?? {};
    const market = orThrow(await client.market(slug));
    expect(market).toMatchObject({ id, event: { id: eventId } });
    expect(orThrow(await client.event(eventId)).markets.map((each) => each.id)).toContain(id);
    const all = orThrow(await client.marketTrades(id, { all: true, limit: 500 }));
    const ofYes = orThrow(await client.marketTrades(slug, { limit: 500 }));
    expect(new Set(ofYes.data.map(({ outcome }) => outcome))).toEqual(new Set(["YES"]));
    expect(all.total).toBeGreaterThan(ofYes.total);
    const tokenId = market.tokens[1]?.tokenId ?? "";
    const history = orThrow(await client.history(id, { tokenId, endTs: T0, fidelity: 3 }));
    expect(history).toMatchObject({ tokenId, data: { length: 3 } });
  });

  it("answers events and finds words in them", async () => {
    const { data } = orThrow(await client.events({ limit: 1 }));
    const { id, title = "" } = data[0] ?? {};
    const found = orThrow(await client.search(title, { limit: 5 }));
    expect(found.data).toContainEqual(
      expect.objectContaining({ type: "event", event: expect.objectContaining({ id }) }),
    );
  });

  it("answers the server's time in Unix seconds", async () => {
    expect(orThrow(await client.serverTime())).toEqual({ time: T0 });
  });

  it.each<[string, (client: ExchangeClient) => Promise<unknown>, string]>([
    ["a market", (reader) => reader.market("nowhere"), "MARKET_NOT_FOUND"],
    ["an event", (reader) => reader.event("nowhere"), "EVENT_NOT_FOUND"],
    ["words", (reader) => reader.search(" "), "QUERY_REQUIRED"],
  ])("answers an error where there is no such thing: %s", async (_what, call, code) => {
    expect(await call(client)).toMatchObject({ ok: false, error: { code } });
  });
});

it("numbers are texts, which the types do not show, on a server told to send them so", async () => {
  const texts = await startApi({ numbers: "string" });
  const reader = new ExchangeClient(texts.server.url, { transport: checked(texts) });
  const { tickSize } = orThrow(await reader.tickSize(texts.server.sampleTokenId ?? ""));
  expect(tickSize).toMatch(/^0\.\d+$/);
  await texts.close();
});
