import { describe, expect, test } from "vitest";
import { generateWorld, type WorldOptions } from "../src/world/generate-world.ts";
import type { FlowRow, World, WorldMarket } from "../src/world/world.ts";
import { NaiveBook, type NaiveTrade } from "./reference/naive-book.ts";

const DAY = 86_400_000;

const marketsOf = (world: World): WorldMarket[] => world.events.flatMap((event) => event.markets);
const ticksOf = (market: WorldMarket): number => Math.round(1 / market.tickSize);
const ownTick = (market: WorldMarket, row: FlowRow): number => Math.round(row[5] * ticksOf(market));

interface Played {
  readonly market: WorldMarket;
  readonly book: NaiveBook;
  readonly trades: NaiveTrade[];
}

/** Sends the whole flow to reference books: one per market, or one per outcome where outcomes do not meet. */
function play(world: World): Played[] {
  const markets = marketsOf(world);
  const books = new Map<string, Played>();
  for (const [index, market] of markets.entries()) {
    for (const outcome of market.matching === "complementary" ? ["YES"] : ["YES", "NO"]) {
      books.set(`${index} ${outcome}`, { market, book: new NaiveBook(), trades: [] });
    }
  }
  world.flow.forEach((row, id) => {
    const [, owner, index, side, outcome, , shares, type] = row;
    const own = books.get(`${index} ${outcome}`);
    const { market, book, trades } = own ?? (books.get(`${index} YES`) as Played);
    const tick = own ? ownTick(market, row) : ticksOf(market) - ownTick(market, row);
    const size = Math.round(shares * 100);
    const order = { id, owner, side: own ? side : side === "BUY" ? "SELL" : "BUY", tick, size } as const;
    trades.push(...book.place(order, type).trades);
  });
  return [...books.values()];
}

describe.each<WorldOptions>([
  { seed: "1" },
  { seed: "2" },
  { seed: "4", events: 2, markets: 3, rowsPerMarket: 60 },
  { seed: "3", markets: 300, rowsPerMarket: 24 },
])("the order flow of %o", async (options) => {
  const world = await generateWorld(options);
  const markets = marketsOf(world);
  const played = play(world);

  test("is sorted by time, then market, and lies within the seven days and the life of each market", () => {
    world.flow.forEach(([at, , index], position) => {
      const [before, , marketBefore] = world.flow[position - 1] ?? [Number.NEGATIVE_INFINITY, 0, 0];
      const { createdAt, resolved } = markets[index] as WorldMarket;
      expect(before < at || (before === at && marketBefore <= index)).toBe(true);
      expect(Number.isInteger(at) && at > createdAt && at < (resolved?.at ?? 0)).toBe(true);
    });
    for (const event of world.events) {
      expect(event.createdAt).toBeGreaterThanOrEqual(-7 * DAY);
      for (const market of event.markets) expect(market.createdAt).toBeGreaterThanOrEqual(event.createdAt);
    }
    expect(world.flow[0]?.[0]).toBeLessThan(-6.9 * DAY);
    expect(world.flow.at(-1)?.[0]).toBeGreaterThan(-DAY / 24);
  });

  test("grows denser towards the end of each market's history", () => {
    const quarters = [0, 0, 0, 0];
    for (const [at, , index] of world.flow) {
      const { createdAt, resolved } = markets[index] as WorldMarket;
      const quarter = Math.floor((4 * (at - createdAt)) / ((resolved?.at ?? 0) - createdAt));
      quarters[quarter] = (quarters[quarter] ?? 0) + 1;
    }
    expect(quarters[3]).toBeGreaterThan(1.5 * (quarters[2] ?? 0));
    expect(quarters[1]).toBeGreaterThan(0);
  });

  test("names prices on the tick strictly between 0 and 1, and sizes in hundredths from the minimum", () => {
    for (const row of world.flow) {
      const market = markets[row[2]] as WorldMarket;
      const tick = ownTick(market, row);
      expect(tick / ticksOf(market)).toBe(row[5]);
      expect(tick > 0 && tick < ticksOf(market)).toBe(true);
      expect(Math.round(row[6] * 100) / 100).toBe(row[6]);
      expect(row[6]).toBeGreaterThanOrEqual(market.minOrderSize);
    }
  });

  test("never asks for more than its traders have, even if nothing filled and everything rested", () => {
    const spent = new Map<number, number>();
    const sold = new Map<string, number>();
    for (const [, trader, index, side, outcome, price, size] of world.flow) {
      const { feeRateBps } = markets[index] as WorldMarket;
      const cost = price * size + (Math.min(price, 1 - price) * size * feeRateBps) / 10_000;
      const key = `${trader} ${index} ${outcome}`;
      if (side === "BUY") spent.set(trader, (spent.get(trader) ?? 0) + cost);
      else sold.set(key, (sold.get(key) ?? 0) + size);
    }
    for (const [trader, cost] of spent) expect(cost).toBeLessThan(world.traders[trader]?.collateral ?? 0);
    for (const [key, size] of sold) {
      expect(size).toBeLessThanOrEqual(world.traders[Number.parseInt(key, 10)]?.shares ?? 0);
    }
  });

  test("uses both sides, both outcomes and both order types", () => {
    expect(new Set(world.flow.map((row) => `${row[3]} ${row[4]} ${row[7]}`)).size).toBe(8);
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
    const ownerOf = (order: number): number | undefined => world.flow[order]?.[1];
    for (const { market, trades } of played) {
      expect(trades.length, market.slug).toBeGreaterThanOrEqual(3);
      for (const { taker, maker } of trades) expect(ownerOf(taker)).not.toBe(ownerOf(maker));
    }
  });

  test("ends each resolved market near what won", () => {
    for (const { market, trades } of played) {
      if (market.resolved === null || market.matching === "independent") continue;
      const last = (trades.at(-1)?.tick ?? 0) * market.tickSize;
      expect(market.resolved.winningOutcome === "YES" ? 1 - last : last, market.slug).toBeLessThan(0.1);
    }
  });
});
