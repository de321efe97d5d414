import { beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/api/errors.ts";
import { noOf, useApi, yesOf } from "../support/http.ts";
import type { CancelResult, ClockChange, Market, OrderPage, TradePage } from "./replies.ts";
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

  it("accepts equal ids and refuses different ones", async () => {
    const [id, other] = [await place(), await place()];
    await maker.refused(`DELETE /clob/order?id=${other}`, "CONFLICTING_FIELDS", { orderId: id });
    await maker.refused("DELETE /clob/order", "CONFLICTING_FIELDS", { orderId: id, id: other });
    const { canceled } = await maker.ask<CancelResult>("DELETE", `/clob/order?id=${id}`, { orderId: id });
    expect(canceled).toEqual([id]);
  });

  it("requires an id", async () => {
    for (const body of [undefined, {}, { orderId: "" }, { order: "x" }]) {
      await maker.refused("DELETE /clob/order", "ORDER_ID_REQUIRED", body);
    }
    await maker.refused("DELETE /clob/order", "INVALID_PARAMETER", { orderId: 5 });
    await maker.refused("DELETE /clob/order", "INVALID_JSON", "[]");
  });

  it("says why an order of the caller that is no longer open is not canceled", async () => {
    const tokenId = yesOf(await api.createMarket());
    const order = { tokenId, side: "BUY", price: 0.5, size: 5 };
    const { id: matched } = await maker.place(order);
    await taker.place({ ...order, side: "SELL" });
    expect(await maker.cancel(matched)).toEqual({
      canceled: [],
      notCanceled: { [matched]: "already matched" },
    });
    const { id: canceled } = await maker.place(order);
    await maker.cancel(canceled);
    expect(await maker.cancel(canceled)).toEqual({
      canceled: [],
      notCanceled: { [canceled]: "already canceled" },
    });
  });
});

describe("DELETE /clob/orders/all", () => {
  it("cancels the caller's open orders only, oldest first", async () => {
    const tokenId = yesOf(await api.createMarket());
    await maker.ask("DELETE", "/clob/orders/all");
    const own: string[] = [];
    for (const price of [0.5, 0.2, 0.4]) {
      own.push((await maker.place({ tokenId, side: "BUY", price, size: 5 })).id);
    }
    const { id } = await taker.place({ tokenId, side: "BUY", price: 0.3, size: 5 });
    expect(await maker.ask("DELETE", "/clob/orders/all")).toEqual({ canceled: own, notCanceled: {} });
    expect((await taker.ask<OrderPage>("GET", "/clob/orders")).data.map((order) => order.id)).toContain(id);
  });

  it("succeeds and changes nothing if there is no open order", async () => {
    const before = await api.stateHash();
    expect(await maker.ask("DELETE", "/clob/orders/all")).toEqual({ canceled: [], notCanceled: {} });
    expect(await api.stateHash()).toBe(before);
  });
});

describe("GET /clob/orders", () => {
  let markets: Market[];
  /** Ids of four orders, oldest first: BUY YES, SELL NO of the first market, BUY YES, SELL YES of the second. */
  let ids: string[];
  const list = (query = ""): Promise<OrderPage> => maker.ask("GET", `/clob/orders${query}`);
  const found = async (query: string): Promise<number[]> =>
    (await list(query)).data.map(({ id }) => ids.indexOf(id));

  beforeAll(async () => {
    await maker.ask("DELETE", "/clob/orders/all");
    markets = [await api.createMarket(), await api.createMarket()];
    const [one, two] = markets as [Market, Market];
    ids = [];
    for (const order of [
      { tokenId: yesOf(one), side: "BUY", price: 0.3, size: 5 },
      { tokenId: noOf(one), side: "SELL", price: 0.9, size: 5 },
      { tokenId: yesOf(two), side: "BUY", price: 0.2, size: 5 },
      { tokenId: yesOf(two), side: "SELL", price: 0.8, size: 5 },
    ]) {
      ids.push((await maker.place(order)).id);
    }
  });

  it("lists the caller's open orders, oldest first, 100 to a page", async () => {
    expect(await list()).toMatchObject({ limit: 100, offset: 0, total: 4, hasMore: false });
    expect(await found("")).toEqual([0, 1, 2, 3]);
    expect(
      (await taker.ask<OrderPage>("GET", "/clob/orders")).data.map(({ id }) => ids.indexOf(id)),
    ).not.toContain(0);
  });

  it("filters by token, by id or slug of the market, by side, and by all of them", async () => {
    const [one, two] = markets as [Market, Market];
    expect(await found(`?token_id=${yesOf(two)}`)).toEqual([2, 3]);
    expect(await found(`?market=${one.id}`)).toEqual([0, 1]);
    expect(await found(`?market=${two.slug}`)).toEqual([2, 3]);
    expect(await found("?side=SELL")).toEqual([1, 3]);
    expect(await found(`?side=SELL&market=${two.id}&token_id=${yesOf(two)}`)).toEqual([3]);
  });

  it("returns pages, and clamps a limit above 500", async () => {
    expect(await found("?limit=2&offset=1")).toEqual([1, 2]);
    expect(await list("?limit=2&offset=1")).toMatchObject({ limit: 2, offset: 1, total: 4, hasMore: true });
    expect(await list("?limit=501")).toMatchObject({ limit: 500 });
  });

  it("refuses filters by unknown objects, and a token of another market", async () => {
    const [one, two] = markets as [Market, Market];
    const refused = (query: string, code: ErrorCode) => maker.refused(`GET /clob/orders${query}`, code);
    await refused("?token_id=1", "TOKEN_NOT_FOUND");
    await refused("?market=none", "MARKET_NOT_FOUND");
    await refused("?side=buy", "INVALID_PARAMETER");
    await refused(`?market=${one.id}&token_id=${yesOf(two)}`, "TOKEN_NOT_IN_MARKET");
  });
});

describe("GET /clob/trades", () => {
  let market: Market;
  let started: number;
  let orderId: string;
  const list = (query = "", caller = maker): Promise<TradePage> => caller.ask("GET", `/clob/trades${query}`);
  const prices = async (query: string, caller = maker): Promise<number[]> =>
    (await list(`?market=${market.id}${query}`, caller)).data.map(({ price }) => price);

  /** The maker's order is filled at 0.5 at seconds 0, 10 and 20; then its YES at 0.3 matches a NO at 0.7. */
  beforeAll(async () => {
    market = await api.createMarket();
    started = api.now;
    const tokenId = yesOf(market);
    orderId = (await maker.place({ tokenId, side: "SELL", price: 0.5, size: 30 })).id;
    for (const size of [1, 2, 3]) {
      await taker.place({ tokenId, side: "BUY", price: 0.5, size });
      await api.post<ClockChange>("/sim/clock", { advance: "10s" });
    }
    await maker.place({ tokenId, side: "BUY", price: 0.3, size: 4 });
    await taker.place({ tokenId: noOf(market), side: "BUY", price: 0.7, size: 4 });
  });

  it("lists the caller's fills, newest first, from the caller's side", async () => {
    expect(await list(`?market=${market.id}`)).toMatchObject({
      limit: 100,
      offset: 0,
      total: 4,
      hasMore: false,
    });
    const { data: own } = await list(`?market=${market.id}&limit=2`);
    expect(own).toMatchObject([
      { role: "MAKER", side: "BUY", outcome: "YES", price: 0.3, size: 4, matchType: "MINT" },
      { role: "MAKER", side: "SELL", outcome: "YES", price: 0.5, size: 3, orderId },
    ]);
    const { data: others } = await list(`?market=${market.slug}&limit=2`, taker);
    expect(others).toMatchObject([
      { role: "TAKER", side: "BUY", outcome: "NO", price: 0.7, size: 4, counterOrderId: own[0]?.orderId },
      { role: "TAKER", side: "BUY", outcome: "YES", price: 0.5, size: 3, counterOrderId: orderId },
    ]);
    expect(others.map(({ id }) => id)).toEqual(own.map(({ id }) => id));
  });

  it("filters by token, by order, and by time from `after`, inclusive, to `before`, exclusive", async () => {
    expect(await prices(`&token_id=${noOf(market)}`, taker)).toEqual([0.7]);
    expect(await prices(`&token_id=${noOf(market)}`)).toEqual([]);
    expect(await prices(`&order=${orderId}`)).toEqual([0.5, 0.5, 0.5]);
    const sizes = async (query: string): Promise<number[]> =>
      (await list(`?order=${orderId}${query}`)).data.map(({ size }) => size);
    expect(await sizes(`&after=${started}`)).toEqual([3, 2, 1]);
    expect(await sizes(`&after=${started + 1}`)).toEqual([3, 2]);
    expect(await sizes(`&before=${started + 20}`)).toEqual([2, 1]);
    expect(await sizes(`&after=${started}&before=${started + 20}`)).toEqual([2, 1]);
    expect(await sizes(`&after=${started}&before=${started}`)).toEqual([]);
    expect(await sizes(`&after=${started + 20}&before=${started}`)).toEqual([]);
  });

  it("has each fill in one of two adjacent ranges", async () => {
    for (let second = started - 1; second <= started + 31; second += 1) {
      const [early, late] = await Promise.all([
        list(`?market=${market.id}&before=${second}`),
        list(`?market=${market.id}&after=${second}`),
      ]);
      const ids = [...late.data, ...early.data].map(({ id }) => id);
      expect(ids).toEqual((await list(`?market=${market.id}`)).data.map(({ id }) => id));
    }
  });

  it("returns pages, and clamps a limit above 500", async () => {
    expect(await prices("&limit=1&offset=3")).toEqual([0.5]);
    expect(await list(`?market=${market.id}&limit=3`)).toMatchObject({ limit: 3, total: 4, hasMore: true });
    expect(await list("?limit=501")).toMatchObject({ limit: 500 });
  });

  it("refuses an order of another account like an unknown order", async () => {
    const refusal = (id: string) => taker.refused(`GET /clob/trades?order=${id}`, "ORDER_NOT_FOUND");
    const [{ body: foreign }, { body: unknown }] = [await refusal(orderId), await refusal("nothing")];
    expect(foreign.error.replace(orderId, "")).toBe(unknown.error.replace("nothing", ""));
    await taker.refused("GET /clob/trades?before=yesterday", "INVALID_PARAMETER");
  });
});
