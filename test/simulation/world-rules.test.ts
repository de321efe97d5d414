import { describe, expect, test } from "vitest";
import { MarketRanking, rankedEvents } from "../../src/api/market-search.ts";
import { eventReply, marketReply } from "../../src/api/markets.ts";
import { numbersAs } from "../../src/api/view.ts";
import type { Market, MarketEvent } from "../../src/client/api-messages.ts";
import { violations } from "../../src/core/invariants.ts";
import type { MatchType } from "../../src/core/terms.ts";
import { type Millis, millis, money, size } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { generateWorld, type WorldOptions } from "../../src/simulation/generate-world.ts";
import { openWorld } from "../../src/simulation/opening.ts";
import { AUTO } from "../support/config.ts";
import { START } from "../support/exchange.ts";
import { atLevel } from "../support/runs.ts";

/** The content of an exchange that has just been opened. */
interface Fresh {
  readonly name: string;
  readonly start: Millis;
  readonly events: readonly MarketEvent[];
  readonly lists: ReadonlyMap<string, readonly Market[]>;
  /** In order of creation, with the time and the YES price of each trade. */
  readonly markets: readonly (Market & { readonly trades: readonly Trade[] })[];
  readonly violations: readonly string[];
}

interface Trade {
  readonly at: Millis;
  readonly price: number;
  readonly matchType: MatchType;
}

const DAY = 86_400_000;
const SORTS = ["createdAt", "volume", "liquidity", "endDate"] as const;
const DATE =
  /(?:January|February|March|April|May|June|July|August|September|October|November|December) \d+, \d+/g;
const SEEDS = Array.from({ length: atLevel(25) }, (_, seed) => `${seed + 1}`);

/** Opens a world as `clobsim serve` does. @throws WorldOpeningError if an order is refused. */
async function open(options: WorldOptions, start: Millis): Promise<Fresh> {
  const world = await generateWorld(options);
  const faucet = { collateral: money(0), everyMarket: size(0) };
  const exchange = new Exchange({ seed: world.seed, faucet, credentials: "rotate", ...AUTO }, start);
  exchange.restart(start);
  openWorld(exchange, world, start);
  const { state, sequence } = exchange;
  const view = { state, numbers: numbersAs("number") };
  const ranking = new MarketRanking();
  return {
    name: JSON.stringify(options),
    start,
    events: rankedEvents(state).map((event) => eventReply(view, event)),
    lists: new Map(
      SORTS.map((sort) => {
        const first = ranking.ranked(state, sequence, sort).slice(0, 3);
        return [sort, first.map((market) => marketReply(view, market))];
      }),
    ),
    markets: [...state.markets].map((market) => ({
      ...marketReply(view, market),
      trades: [...market.trades].map((number): Trade => {
        const { at, price, taker, matchType } = state.trades.get(number);
        const isYes = state.orders.get(taker).token % 2 === 0;
        return { at, price: isYes ? price : 10_000 - price, matchType };
      }),
    })),
    violations: violations(state).map(({ name }) => name),
  };
}

/** Returns the markets of each event that has several. */
function families({ markets }: Fresh): (readonly Market[])[] {
  const byEvent = new Map<string, Market[]>();
  for (const market of markets) byEvent.set(market.eventId, [...(byEvent.get(market.eventId) ?? []), market]);
  return [...byEvent.values()].filter((family) => family.length > 1);
}

/** Whether questions differ only in a threshold. */
const areThresholds = (family: readonly Market[]): boolean =>
  new Set(family.map(({ question }) => question.replace(/\d[\d,.]*/g, "#"))).size === 1;

/** The value of a YES share: its price, or its payout. */
const worth = ({ winningOutcome, tokens }: Market): number =>
  winningOutcome === null ? (tokens[0]?.price ?? Number.NaN) : winningOutcome === "YES" ? 1 : 0;

const busyIn = ({ markets }: Fresh): Fresh["markets"] =>
  markets.filter(({ trades }) => trades.length >= 2000);

const defaults: Fresh[] = [];
for (const [index, seed] of SEEDS.entries())
  defaults.push(await open({ seed }, millis(START + index * 23 * DAY)));
const sized: Fresh[] = [];
for (const markets of [1, 2, 4, 9, 100]) {
  for (const seed of ["1", "2", "3"]) sized.push(await open({ seed, markets }, START));
}

describe.each([...defaults, ...sized])("a fresh world of $name", (fresh) => {
  const { start, events, lists, markets } = fresh;

  test("has a history in which all invariants hold", () => {
    expect(fresh.violations).toEqual([]);
  });

  test("ends on the day that its texts name, in the future", () => {
    for (const { title, description, endDate } of events) expectDate(`${title} ${description}`, endDate);
    for (const { question, description, endDate } of markets) {
      expectDate(question, endDate);
      expectDate(description, endDate);
      expect(description).toMatch(DATE);
      expect(Date.parse(endDate ?? "")).toBeGreaterThan(start);
    }
  });

  test.each(SORTS)("begins no list with a market that has ended or is empty: %s", (sort) => {
    const [first] = lists.get(sort) ?? [];
    expect(first).toMatchObject({ status: "ACTIVE", active: true });
    expect(first?.bestBid).toBeGreaterThan(0);
    expect(first?.bestAsk).toBeLessThan(1);
    expect(first?.volume).toBeGreaterThan(0);
  });

  test("has only open events, the first of which is traded", () => {
    for (const event of events) expect(event).toMatchObject({ active: true });
    expect(events[0]?.volume).toBeGreaterThan(0);
  });

  test("has few resolved markets, each traded until it was resolved, and others of its event still open", () => {
    const resolved = markets.filter(({ status }) => status !== "ACTIVE");
    expect(resolved.length).toBeLessThanOrEqual(Math.ceil(markets.length / 6));
    for (const { trades, resolvedAt, winningOutcome, eventId } of resolved) {
      expect(Date.parse(resolvedAt ?? "")).toBeGreaterThan(trades.at(-1)?.at ?? 0);
      const last = (trades.at(-1)?.price ?? 0) / 10_000;
      expect(winningOutcome === "YES" ? last : 1 - last).toBeGreaterThan(0.9);
      expect(markets.some((other) => other.eventId === eventId && other.status === "ACTIVE")).toBe(true);
    }
  });

  test("prices a higher threshold no higher than a lower one", () => {
    for (const family of families(fresh).filter(areThresholds)) {
      const prices = family.map(worth);
      expect(prices, family[0]?.question).toEqual([...prices].sort((a, b) => b - a));
    }
  });

  test("prices exclusive outcomes at about 1 together", () => {
    for (const family of families(fresh).filter((found) => !areThresholds(found))) {
      const sum = family.reduce((total, market) => total + worth(market), 0);
      expect(sum, family[0]?.question).toBeGreaterThan(0.9);
      expect(sum, family[0]?.question).toBeLessThan(1.15);
    }
  });
});

describe.each(defaults)("the default world of $name", (fresh) => {
  const busy = busyIn(fresh);

  test("has three busy markets that lead by volume, and far fewer trades in the others", () => {
    expect(busy).toHaveLength(3);
    expect(fresh.lists.get("volume")?.[0]?.slug).toBe([...busy].sort((a, b) => b.volume - a.volume)[0]?.slug);
    for (const market of fresh.markets) {
      if (!busy.includes(market)) expect(market.trades.length, market.slug).toBeLessThan(200);
    }
  });

  test("has busy markets in which shares change hands, are minted and are merged", () => {
    for (const { slug, trades } of busy) {
      const share = (kind: MatchType): number =>
        trades.filter(({ matchType }) => matchType === kind).length / trades.length;
      expect(share("COMPLEMENTARY"), slug).toBeGreaterThan(0.3);
      expect(share("MINT"), slug).toBeGreaterThan(0.15);
      expect(share("MERGE"), slug).toBeGreaterThan(0.05);
    }
  });

  test("has trades on every day, moving prices, and more trades by day than by night", () => {
    for (const { slug, trades } of busy) {
      const age = ({ at }: Trade): number => fresh.start - at;
      const days = new Set(trades.map((trade) => Math.floor(age(trade) / DAY)));
      expect([...days].sort(), slug).toEqual([0, 1, 2, 3, 4, 5, 6]);
      const prices = trades.map(({ price }) => price);
      expect(Math.max(...prices) - Math.min(...prices), slug).toBeGreaterThanOrEqual(500);
      const byDay = trades.filter((trade) => Math.abs(((age(trade) / DAY) % 1) - 0.5) > 0.25).length;
      expect(byDay, slug).toBeGreaterThan(1.5 * (trades.length - byDay));
    }
  });
});

test.each([
  [1, 1],
  [2, 1],
  [100, 3],
])("a world of %i markets has %i busy", async (markets, count) => {
  const found = sized
    .filter((fresh) => fresh.markets.length === markets)
    .map((fresh) => busyIn(fresh).length);
  expect(found).toEqual([count, count, count]);
});

/** Requires that each date in a text is that of the end, and that the event ends with its last second. */
function expectDate(text: string, endDate: string | null): void {
  const day = endDate?.slice(0, 10);
  expect(endDate).toMatch(/T23:59:59\.000Z$/);
  for (const [found] of text.matchAll(DATE)) {
    expect(new Date(`${found} UTC`).toISOString().slice(0, 10), text).toBe(day);
  }
  expect(text).not.toContain("{");
}
