import { beforeAll, describe, expect, it } from "vitest";
import { T0, tokensOf, useApi, yesOf } from "../support/http.ts";
import type { ClockChange, Market, MarketTradePage, PlacedOrder, PricesHistory } from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);
let market: Market;
let taken: PlacedOrder[];

/** The taker buys YES from the maker. */
async function trade(price: number, size = 1): Promise<PlacedOrder> {
  const [yes] = tokensOf(market);
  await maker.place({ tokenId: yes, side: "SELL", price, size });
  return taker.place({ tokenId: yes, side: "BUY", price, size });
}

const advanceBy = (advance: string): Promise<ClockChange> => api.post("/sim/clock", { advance });

/** Trades at T0 0.1 then 0.2, at T0+10 0.3, at T0+20 0.4, at T0+100 0.5. */
beforeAll(async () => {
  market = await api.createMarket();
  taken = [await trade(0.1), await trade(0.2)];
  for (const [advance, price] of [
    ["10s", 0.3],
    ["10s", 0.4],
    ["80s", 0.5],
  ] as const) {
    await advanceBy(advance);
    taken.push(await trade(price));
  }
});

describe("GET /api/markets/{idOrSlug}/prices-history", () => {
  const history = (query = ""): Promise<PricesHistory> =>
    api.get(`/api/markets/${market.slug}/prices-history${query}`);
  const points = async (query?: string): Promise<number[][]> =>
    (await history(query)).data.map(({ t, p }) => [t - T0, p]);

  it("has the last price of each second with trades, oldest first, of YES", async () => {
    expect(await history()).toMatchObject({ tokenId: yesOf(market) });
    expect(await points()).toEqual([
      [0, 0.2],
      [10, 0.3],
      [20, 0.4],
      [100, 0.5],
    ]);
  });

  it("is empty for a market without trades", async () => {
    const { id } = await api.createMarket();
    expect(await api.get<PricesHistory>(`/api/markets/${id}/prices-history`)).toMatchObject({ data: [] });
  });

  it("of NO has the complements", async () => {
    const [, no] = tokensOf(market);
    expect(await history(`?tokenId=${no}`)).toMatchObject({ tokenId: no });
    expect(await points(`?tokenId=${no}`)).toEqual([
      [0, 0.8],
      [10, 0.7],
      [20, 0.6],
      [100, 0.5],
    ]);
  });

  it("includes both bounds", async () => {
    expect(await points(`?startTs=${T0 + 10}&endTs=${T0 + 20}`)).toEqual([
      [10, 0.3],
      [20, 0.4],
    ]);
    expect(await points(`?startTs=${T0 + 11}&endTs=${T0 + 19}`)).toEqual([]);
    expect(await points(`?startTs=${T0 + 20}&endTs=${T0 + 20}`)).toEqual([[20, 0.4]]);
    expect(await points(`?endTs=${T0 - 1}`)).toEqual([]);
    expect(await points(`?startTs=${T0 + 101}`)).toEqual([]);
  });

  it("returns at most `fidelity` points at equal steps, each with the price in force then", async () => {
    expect(await points("?fidelity=3")).toEqual([
      [0, 0.2],
      [50, 0.4],
      [100, 0.5],
    ]);
    expect(await points("?fidelity=2")).toEqual([
      [0, 0.2],
      [100, 0.5],
    ]);
    expect(await points("?fidelity=4")).toEqual(await points());
    expect(await points("?fidelity=10000")).toEqual(await points());
    expect(await points(`?fidelity=1&endTs=${T0 + 20}`)).toHaveLength(1);
  });

  it("refuses a start after the end, and a token of another market", async () => {
    const path = `/api/markets/${market.id}/prices-history`;
    const { body } = await api.refused(`GET ${path}?startTs=${T0 + 1}&endTs=${T0}`, "INVALID_PARAMETER");
    expect(body.details).toEqual({ startTs: T0 + 1, endTs: T0 });
    const other = await api.createMarket();
    await api.refused(`GET ${path}?tokenId=${other.tokens[0]?.tokenId}`, "TOKEN_NOT_IN_MARKET");
    await api.refused(`GET ${path}?tokenId=1`, "TOKEN_NOT_FOUND");
    await api.refused("GET /api/markets/none/prices-history", "MARKET_NOT_FOUND");
  });
});

describe("GET /api/markets/{idOrSlug}/trades", () => {
  const trades = (query = ""): Promise<MarketTradePage> =>
    api.get(`/api/markets/${market.id}/trades${query}`);

  it("lists trades newest first, from the taker's side, without accounts", async () => {
    const { data, ...page } = await trades();
    expect(page).toEqual({ limit: 50, offset: 0, total: 5, hasMore: false });
    expect(data.map(({ price }) => price)).toEqual([0.5, 0.4, 0.3, 0.2, 0.1]);
    const [own] = taken.at(-1)?.trades ?? [];
    expect(data[0]).toEqual({
      id: own?.id,
      tokenId: yesOf(market),
      outcome: "YES",
      side: "BUY",
      price: 0.5,
      size: 1,
      matchType: "COMPLEMENTARY",
      status: own?.status,
      transactionHash: own?.transactionHash,
      createdAt: own?.createdAt,
    });
  });

  it("lists only trades with takers of YES, all with all=true", async () => {
    const [yes, no] = tokensOf(market);
    await maker.place({ tokenId: yes, side: "BUY", price: 0.3, size: 2 });
    await taker.place({ tokenId: no, side: "BUY", price: 0.7, size: 2 });
    expect((await trades()).total).toBe(5);
    expect((await trades("?all=false")).total).toBe(5);
    const { data, total } = await trades("?all=true&limit=1");
    expect(total).toBe(6);
    expect(data).toMatchObject([
      { tokenId: no, outcome: "NO", side: "BUY", price: 0.7, size: 2, matchType: "MINT" },
    ]);
  });

  it("returns pages, clamps a limit above 500, and refuses an unknown market", async () => {
    expect(await trades("?limit=501")).toMatchObject({ limit: 500 });
    const { data, hasMore } = await trades("?limit=2&offset=1");
    expect([data.map(({ price }) => price), hasMore]).toEqual([[0.4, 0.3], true]);
    await api.refused("GET /api/markets/none/trades", "MARKET_NOT_FOUND");
  });
});
