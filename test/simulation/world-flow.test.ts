import { deepStrictEqual } from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { NaiveBook } from "../../src/scenario/watch/naive-book.ts";
import { generateWorld, type WorldOptions } from "../../src/simulation/generate-world.ts";
import type { World, WorldMarket } from "../../src/simulation/world.ts";
import { type WorldOrder, worldOrders } from "../../src/simulation/world-orders.ts";

const DAY = 86_400_000;

const marketsOf = (world: World): WorldMarket[] => world.events.flatMap((event) => event.markets);
const ticksOf = (market: WorldMarket): number => Math.round(1 / market.tickSize);
const unitsOf = (market: WorldMarket): number => Math.round(market.tickSize * 10_000);

interface Played {
  readonly market: WorldMarket;
  readonly book: NaiveBook;
  readonly trades: { readonly taker: number; readonly maker: number }[];
}

/** Sends the whole flow to reference books: one per market, or per outcome of an independent market. */
function play(world: World, orders: readonly WorldOrder[]): Played[] {
  const markets = marketsOf(world);
  const books = new Map<string, Played>();
  for (const [index, market] of markets.entries()) {
    for (const outcome of market.matching === "complementary" ? ["YES"] : ["YES", "NO"]) {
      books.set(`${index} ${outcome}`, { market, book: new NaiveBook(), trades: [] });
    }
  }
  orders.forEach(({ trader, market: index, side, outcome, price, size, orderType }, id) => {
    const own = books.get(`${index} ${outcome}`);
    const { market, book, trades } = own ?? (books.get(`${index} YES`) as Played);
    const tick = (own ? price : 10_000 - price) / unitsOf(market);
    const bookSide = own ? side : side === "BUY" ? "SELL" : "BUY";
    const order = { id, owner: trader, side: bookSide, tick, size, open: size } as const;
    for (const { maker } of book.place({ ...order }, orderType).matches)
      trades.push({ taker: id, maker: maker.id });
  });
  return [...books.values()];
}

describe.each<WorldOptions>([
  { seed: "1" },
  { seed: "2" },
  { seed: "6", events: 2, markets: 3, rowsPerMarket: 60 },
  { seed: "3", markets: 300, rowsPerMarket: 24 },
])("the order flow of %o", async (options) => {
  const world = await generateWorld(options);
  const markets = marketsOf(world);
  const orders = [...worldOrders(world)];
  const played = play(world, orders);

  test("is sorted by time, then market, and lies within the seven days and the life of each market", () => {
    orders.forEach(({ at, market }, position) => {
      const before = orders[position - 1] ?? { at: Number.NEGATIVE_INFINITY, market: 0 };
      const { createdAt, resolved } = markets[market] as WorldMarket;
      const isSorted = before.at < at || (before.at === at && before.market <= market);
      const isAlive = Number.isInteger(at) && at > createdAt && at < (resolved?.at ?? 0);
      deepStrictEqual([position, isSorted, isAlive], [position, true, true]);
    });
    for (const event of world.events) {
      expect(event.createdAt).toBeGreaterThanOrEqual(-7 * DAY);
      for (const market of event.markets) expect(market.createdAt).toBeGreaterThanOrEqual(event.createdAt);
    }
    expect(orders[0]?.at).toBeLessThan(-6.9 * DAY);
    expect(orders.at(-1)?.at).toBeGreaterThan(-DAY / 24);
  });

  test("grows denser towards the end of the history of each market that is not busy", () => {
    const quarters = [0, 0, 0, 0];
    const counts = markets.map(() => 0);
    for (const { market } of orders) counts[market] = (counts[market] ?? 0) + 1;
    for (const { at, market } of orders) {
      if ((counts[market] ?? 0) > 1000) continue;
      const { createdAt, resolved } = markets[market] as WorldMarket;
      const quarter = Math.floor((4 * (at - createdAt)) / ((resolved?.at ?? 0) - createdAt));
      quarters[quarter] = (quarters[quarter] ?? 0) + 1;
    }
    expect(quarters[3]).toBeGreaterThan(1.5 * (quarters[2] ?? 0));
    expect(quarters[1]).toBeGreaterThan(0);
  });

  test("never asks for more than its traders have, even if nothing filled and everything rested", () => {
    const spent = new Map<number, number>();
    const sold = new Map<string, number>();
    for (const { trader, market, side, outcome, price, size } of orders) {
      const { feeRateBps } = markets[market] as WorldMarket;
      const fee = (Math.min(price, 10_000 - price) * feeRateBps) / 10_000;
      const cost = ((price + fee) * size) / 1_000_000;
      const key = `${trader} ${market} ${outcome}`;
      if (side === "BUY") spent.set(trader, (spent.get(trader) ?? 0) + cost);
      else sold.set(key, (sold.get(key) ?? 0) + size / 100);
    }
    const { traders } = world;
    expect([...spent].filter(([trader, cost]) => cost >= (traders[trader]?.collateral ?? 0))).toEqual([]);
    expect(
      [...sold].filter(([key, size]) => size > (traders[Number.parseInt(key, 10)]?.shares ?? 0)),
    ).toEqual([]);
  });

  test("uses both sides, both outcomes and both order types", () => {
    expect(new Set(orders.map((order) => `${order.side} ${order.outcome} ${order.orderType}`)).size).toBe(8);
  });

  test("leaves every open market a narrow book with five levels a side wherever there is room", () => {
    for (const { market, book } of played.filter(({ market }) => market.resolved === null)) {
      const [bids, asks] = [book.depth("BUY"), book.depth("SELL")];
      const [bid, ask] = [bids[0]?.tick ?? 0, asks[0]?.tick ?? ticksOf(market)];
      expect(bid > 0 && ask < ticksOf(market), market.slug).toBe(true);
      expect(bids.length, market.slug).toBeGreaterThanOrEqual(Math.min(5, bid));
      expect(asks.length, market.slug).toBeGreaterThanOrEqual(Math.min(5, ticksOf(market) - ask));
      expect((ask - bid) * market.tickSize, market.slug).toBeLessThan(0.035);
    }
  });

  test("stacks more behind the touch than on it", () => {
    const sums = [0, 1, 2, 3].map((level) =>
      played.reduce((sum, { book }) => sum + (book.depth("BUY")[level]?.open ?? 0), 0),
    );
    expect((sums[1] ?? 0) + (sums[2] ?? 0) + (sums[3] ?? 0)).toBeGreaterThan(3 * (sums[0] ?? 0));
  });

  test("trades several times in every market, and never with oneself", () => {
    const ownerOf = (order: number): number | undefined => orders[order]?.trader;
    for (const { market, trades } of played) {
      expect(trades.length, market.slug).toBeGreaterThanOrEqual(3);
      expect(trades.filter(({ taker, maker }) => ownerOf(taker) === ownerOf(maker))).toEqual([]);
    }
  });
});
