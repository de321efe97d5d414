import { beforeAll, describe, expect, it } from "vitest";
import { noOf, useApi, yesOf } from "../support/http.ts";
import type { CancelResult, Market, OrderPage, TradePage } from "./replies.ts";
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
    for (const body of [undefined, {}, { orderId: "" }, { order: "x" }])
      await maker.refused("DELETE /clob/order", "ORDER_ID_REQUIRED", body);
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

  it("has each fill in one of two adjacent ranges", async () => {
    const all = (await list("")).data;
    for (let second = started - 1; second <= started + 31; second += 1) {
      const late = (await list(`after=${second}`)).data;
      const isLate = ({ createdAt }: (typeof all)[number]) => Date.parse(createdAt) / 1000 >= second;
      expect(late).toEqual(all.filter(isLate));
      expect([...late, ...(await list(`before=${second}`)).data]).toEqual(all);
    }
  });

  it("refuses an order of another account like an unknown order", async () => {
    const refusal = (id: string) => taker.refused(`GET /clob/trades?order=${id}`, "ORDER_NOT_FOUND");
    const [{ body: foreign }, { body: unknown }] = [await refusal(orderId), await refusal("nothing")];
    expect(foreign.error.replace(orderId, "")).toBe(unknown.error.replace("nothing", ""));
    await taker.refused("GET /clob/trades?before=yesterday", "INVALID_PARAMETER");
  });
});
