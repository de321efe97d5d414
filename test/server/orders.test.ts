import { beforeAll, describe, expect, it } from "vitest";
import { noOf, useApi, yesOf } from "../support/http.ts";
import type { CancelResult, Market, OrderPage, PlacedOrder, TradePage } from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);

describe("DELETE /clob/order", () => {
  const place = async (): Promise<string> => {
    const tokenId = yesOf(await api.createMarket());
    return (await maker.place({ tokenId, side: "BUY", price: 0.5, size: 5 })).id;
  };

  it.each(["orderId", "id", "orderID"])("accepts the id as %s in the body or the query", async (name) => {
    const [one, two] = [await place(), await place()];
    const byBody = await maker.ask<CancelResult>("DELETE", "/clob/order", { [name]: one });
    expect(byBody).toEqual({ canceled: [one], notCanceled: {} });
    const byQuery = await maker.ask<CancelResult>("DELETE", `/clob/order?${name}=${two}`);
    expect(byQuery).toEqual({ canceled: [two], notCanceled: {} });
  });

  it("requires an id", async () => {
    await maker.refused("DELETE /clob/order", "ORDER_ID_REQUIRED", { orderId: "" });
    await maker.refused("DELETE /clob/order", "INVALID_PARAMETER", { orderId: 5 });
    await maker.refused("DELETE /clob/order", "INVALID_JSON", "[]");
  });
});

describe("GET /clob/orders", () => {
  let ids: string[];
  let queries: Readonly<Record<string, string>>;

  beforeAll(async () => {
    await maker.ask("DELETE", "/clob/orders/all");
    const [one, two] = [await api.createMarket(), await api.createMarket()];
    const orders = [
      { tokenId: yesOf(one), side: "BUY", price: 0.3, size: 5 },
      { tokenId: noOf(one), side: "SELL", price: 0.9, size: 5 },
      { tokenId: yesOf(two), side: "BUY", price: 0.2, size: 5 },
      { tokenId: yesOf(two), side: "SELL", price: 0.8, size: 5 },
    ];
    ids = [];
    for (const order of orders) ids.push((await maker.place(order)).id);
    await taker.place({ tokenId: yesOf(two), side: "BUY", price: 0.1, size: 5 });
    const token = `token_id=${yesOf(two)}`;
    const [id, slug] = [`market=${one.id}`, `market=${two.slug}`];
    queries = { token, id, slug, all: `side=SELL&${token}&${slug}` };
  });

  it.each([
    ["all open ones of the caller, oldest first", "", [0, 1, 2, 3]],
    ["a page", "limit=2&offset=1", [1, 2]],
    ["those of a token", "token", [2, 3]],
    ["those of a market by its id", "id", [0, 1]],
    ["those of a market by its slug", "slug", [2, 3]],
    ["those of a side", "side=SELL", [1, 3]],
    ["those of all filters", "all", [3]],
  ])("lists %s", async (_which, name, expected) => {
    const { data } = await maker.ask<OrderPage>("GET", `/clob/orders?${queries[name] ?? name}`);
    expect(data.map(({ id }) => ids.indexOf(id))).toEqual(expected);
  });
});

describe("GET /clob/trades", () => {
  let market: Market;
  let started: number;
  let orderId: string;
  const list = (query: string, caller = maker): Promise<TradePage> =>
    caller.ask("GET", `/clob/trades?market=${market.id}&${query}`);

  /** The maker's order is filled at 0.5 at seconds 0, 10 and 20; then its YES at 0.3 matches a NO at 0.7. */
  beforeAll(async () => {
    market = await api.createMarket();
    started = api.now;
    const tokenId = yesOf(market);
    orderId = (await maker.place({ tokenId, side: "SELL", price: 0.5, size: 30 })).id;
    for (const size of [1, 2, 3]) {
      await taker.place({ tokenId, side: "BUY", price: 0.5, size });
      await api.advance("10s");
    }
    await maker.place({ tokenId, side: "BUY", price: 0.3, size: 4 });
    await taker.place({ tokenId: noOf(market), side: "BUY", price: 0.7, size: 4 });
  });

  it("has the same ids for both parties, and filters by token of the caller's side and by order", async () => {
    const sizes = async (query: string, caller = maker): Promise<number[]> =>
      (await list(query, caller)).data.map(({ size }) => size);
    const [own, others] = [(await list("limit=2")).data, (await list("limit=2", taker)).data];
    expect(others.map(({ id }) => id)).toEqual(own.map(({ id }) => id));
    expect(await sizes(`token_id=${noOf(market)}`, taker)).toEqual([4]);
    expect(await sizes(`token_id=${noOf(market)}`)).toEqual([]);
    expect(await sizes(`order=${orderId}`)).toEqual([3, 2, 1]);
    expect(await sizes(`after=${started + 20}&before=${started}`)).toEqual([]);
  });

  it("lists both sides of self-trades in one order, whatever the filter", async () => {
    const { id, tokens } = await api.createMarket();
    const [yes, no] = tokens.map(({ tokenId }) => tokenId);
    const sides = { BUY: 0.6, SELL: 0.4 };
    for (const [tokenId, side] of [
      [yes, "SELL"],
      [yes, "BUY"],
      [yes, "BUY"],
      [no, "BUY"],
      [no, "SELL"],
      [no, "BUY"],
    ] as const)
      await maker.place({ tokenId, side, price: sides[side], size: 5 });
    const rows = async (query: string) => (await maker.ask<TradePage>("GET", `/clob/trades?${query}`)).data;
    const own = (await rows("limit=6")).filter(({ marketId }) => marketId === id);
    expect(own.map(({ role }) => role)).toEqual(["TAKER", "MAKER", "TAKER", "MAKER", "TAKER", "MAKER"]);
    expect(await rows(`market=${id}`)).toEqual(own);
    for (const { tokenId } of tokens)
      expect(await rows(`token_id=${tokenId}`)).toEqual(own.filter((fill) => fill.tokenId === tokenId));
  });

  it("refuses an order of another account like an unknown order", async () => {
    const refusal = (id: string) => taker.refused(`GET /clob/trades?order=${id}`, "ORDER_NOT_FOUND");
    const [{ body: foreign }, { body: unknown }] = [await refusal(orderId), await refusal("nothing")];
    expect(foreign.error.replace(orderId, "")).toBe(unknown.error.replace("nothing", ""));
    await taker.refused("GET /clob/trades?before=yesterday", "INVALID_PARAMETER");
  });
});

describe("an id in upper case", () => {
  let market: Market;
  let resting: PlacedOrder;
  /** Both ids in upper case. */
  let marketId: string;
  let orderId: string;

  beforeAll(async () => {
    market = await api.createMarket();
    const order = { tokenId: yesOf(market), price: 0.5, size: 5 };
    resting = await maker.place({ ...order, side: "BUY", size: 10 });
    await maker.place({ ...order, side: "SELL" });
    marketId = market.id.toUpperCase();
    orderId = resting.id.toUpperCase();
    expect([marketId, orderId]).not.toEqual([market.id, resting.id]);
  });

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
    const orders = await maker.ask<OrderPage>("GET", `/clob/orders?market=${marketId}`);
    expect(orders.data.map(({ id }) => id)).toEqual([resting.id]);
    for (const query of [`market=${marketId}`, `order=${orderId}`]) {
      const { data } = await maker.ask<TradePage>("GET", `/clob/trades?${query}`);
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
    const canceled = await maker.ask<CancelResult>("DELETE", twice, { orderId });
    expect(canceled).toEqual({ canceled: [resting.id], notCanceled: {} });
    const again = await maker.ask<CancelResult>("DELETE", "/clob/order", { orderId });
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
