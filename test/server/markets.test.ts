import { beforeAll, describe, expect, it } from "vitest";
import { useApi, yesOf } from "../support/http.ts";
import type {
  ClockChange,
  Event,
  EventDetail,
  EventPage,
  Market,
  MarketDetail,
  MarketPage,
} from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);
/** Five markets in order of creation, the only ones with the tag "five". */
let markets: Market[];

const idsOf = ({ data }: MarketPage): string[] => data.map(({ id }) => id);
/** Ids of the markets with these indexes. */
const at = (...indexes: number[]): string[] => indexes.map((index) => markets[index]?.id ?? "");
const list = (query: string): Promise<MarketPage> => api.get(`/api/markets?${query}`);

beforeAll(async () => {
  markets = [];
  for (const endDate of [
    "2026-03-01T00:00:00Z",
    null,
    "2026-02-01T00:00:00Z",
    "2026-03-01T00:00:00Z",
    null,
  ]) {
    await api.post<ClockChange>("/sim/clock", { advance: "1s" });
    const number = markets.length + 1;
    markets.push(await api.createMarket({ question: `Number ${number}?`, tags: ["five"], endDate }));
  }
  for (const [place, size] of [
    [1, 40],
    [3, 30],
    [4, 40],
  ] as const) {
    await maker.place({ tokenId: yesOf(markets[place]), side: "SELL", price: 0.5, size });
    await taker.place({ tokenId: yesOf(markets[place]), side: "BUY", price: 0.5, size });
  }
  await maker.place({ tokenId: yesOf(markets[2]), side: "BUY", price: 0.2, size: 100 });
  await maker.place({ tokenId: yesOf(markets[0]), side: "SELL", price: 0.9, size: 100 });
  await api.post(`/sim/markets/${markets[4]?.id}/close`);
  await api.post(`/sim/markets/${markets[3]?.id}/resolve`, { winningOutcome: "NO" });
});

describe("GET /api/markets", () => {
  it("lists every market of the world, 50 to a page", async () => {
    const page = await api.get<MarketPage>("/api/markets");
    expect(page).toMatchObject({ limit: 50, offset: 0, total: 8, hasMore: false });
    expect(page.data.length).toBe(8);
  });

  it.each([
    ["by creation, newest first, by default", "", [4, 3, 2, 1, 0]],
    ["by creation", "&sort=createdAt", [4, 3, 2, 1, 0]],
    ["by volume, highest first, ties by id", "&sort=volume", [1, 4, 3, 0, 2]],
    ["by liquidity, highest first, ties by id", "&sort=liquidity", [0, 2, 1, 3, 4]],
    ["by end date, earliest first, then those without one, ties by id", "&sort=endDate", [2, 0, 3, 1, 4]],
    ["and filters open ones", "&active=true", [2, 1, 0]],
    ["and filters closed and resolved ones", "&active=false", [4, 3]],
  ])("sorts markets %s", async (_order, query, indexes) => {
    expect(idsOf(await list(`tag=five${query}`))).toEqual(at(...indexes));
  });

  it("has volume and liquidity in USDC", async () => {
    const { data } = await list("tag=five&sort=volume");
    expect(data.map(({ volume }) => volume)).toEqual([20, 20, 15, 0, 0]);
    expect(data.map(({ liquidity }) => liquidity)).toEqual([0, 0, 0, 90, 20]);
  });

  it("returns pages by limit and offset, and says whether there is another", async () => {
    const first = await list("tag=five&limit=2");
    expect(first).toMatchObject({ limit: 2, offset: 0, total: 5, hasMore: true });
    expect(idsOf(first)).toEqual(at(4, 3));
    const last = await list("tag=five&limit=2&offset=3");
    expect(last).toMatchObject({ limit: 2, offset: 3, total: 5, hasMore: false });
    expect(idsOf(last)).toEqual(at(1, 0));
    expect(await list("tag=five&offset=5")).toMatchObject({ data: [], offset: 5, total: 5, hasMore: false });
  });

  it("clamps a limit above 100 and returns the limit applied", async () => {
    expect(await list("limit=101")).toMatchObject({ limit: 100 });
    expect(await list("limit=100000000000000")).toMatchObject({ limit: 100 });
  });

  it("filters by tag of the market or its event or by category, exactly", async () => {
    const event = await api.post<Event>("/sim/events", { title: "A cup", category: "sport", tags: ["cup"] });
    const { id } = await api.createMarket({ eventId: event.id, tags: ["final"], category: "polo" });
    for (const tag of ["cup", "final", "polo", "sport"])
      expect(idsOf(await list(`tag=${tag}`))).toEqual([id]);
    for (const tag of ["cu", "Cup", "", "constructor"]) expect(idsOf(await list(`tag=${tag}`))).toEqual([]);
  });
});

describe("GET /api/markets/{idOrSlug}", () => {
  it("returns the same market by id and by slug, with its event", async () => {
    const { id, slug, eventId } = markets[0] as Market;
    const byId = await api.get<MarketDetail>(`/api/markets/${id}`);
    expect(await api.get<MarketDetail>(`/api/markets/${slug}`)).toEqual(byId);
    expect(byId.event).toMatchObject({ id: eventId, title: "Number 1?", marketCount: 1 });
    const { event, ...market } = byId;
    expect((await list("tag=five")).data).toContainEqual(market);
    expect((await api.get<EventPage>("/api/events")).data).toContainEqual(event);
  });

  it("has two tokens, YES first, each with the mid price of a narrow spread", async () => {
    const market = await api.createMarket();
    await maker.place({ tokenId: yesOf(market), side: "BUY", price: 0.4, size: 10 });
    await maker.place({ tokenId: yesOf(market), side: "SELL", price: 0.5, size: 10 });
    const { tokens, bestBid, bestAsk } = await api.get<MarketDetail>(`/api/markets/${market.id}`);
    expect({ bestBid, bestAsk }).toEqual({ bestBid: 0.4, bestAsk: 0.5 });
    expect(tokens.map(({ outcome, price, winner }) => [outcome, price, winner])).toEqual([
      ["YES", 0.45, null],
      ["NO", 0.55, null],
    ]);
  });

  it("has the last trade's price if the spread is wide or a side is empty, null before a trade", async () => {
    const market = await api.createMarket();
    const pricesNow = async (): Promise<(number | null)[]> =>
      (await api.get<MarketDetail>(`/api/markets/${market.id}`)).tokens.map(({ price }) => price);
    await maker.place({ tokenId: yesOf(market), side: "BUY", price: 0.39, size: 10 });
    expect(await pricesNow()).toEqual([null, null]);
    await maker.place({ tokenId: yesOf(market), side: "SELL", price: 0.5, size: 10 });
    expect(await pricesNow()).toEqual([null, null]);
    await taker.place({ tokenId: yesOf(market), side: "BUY", price: 0.5, size: 1 });
    expect(await pricesNow()).toEqual([0.5, 0.5]);
    await taker.place({ tokenId: yesOf(market), side: "SELL", price: 0.39, size: 10 });
    expect(await pricesNow()).toEqual([0.39, 0.61]);
  });

  it("counts volume once per fill, and liquidity as the resting orders, in USDC", async () => {
    const market = await api.createMarket();
    await maker.place({ tokenId: yesOf(market), side: "SELL", price: 0.6, size: 10 });
    await taker.place({ tokenId: yesOf(market), side: "BUY", price: 0.7, size: 3 });
    await maker.place({ tokenId: yesOf(market), side: "BUY", price: 0.1, size: 5.5 });
    expect(await api.get<MarketDetail>(`/api/markets/${market.id}`)).toMatchObject({
      volume: 1.8,
      liquidity: 4.75,
      lastTradePrice: 0.6,
    });
  });

  it("has a winner once it is resolved, not while it is closed", async () => {
    expect(await api.get(`/api/markets/${markets[4]?.id}`)).toMatchObject({
      status: "CLOSED",
      active: false,
      resolvedAt: null,
      winningOutcome: null,
      tokens: [{ winner: null }, { winner: null }],
    });
    expect(await api.get(`/api/markets/${markets[3]?.id}`)).toMatchObject({
      status: "RESOLVED",
      active: false,
      resolvedAt: "2026-01-01T00:00:05.000Z",
      winningOutcome: "NO",
      tokens: [{ winner: false }, { winner: true }],
    });
  });

  it("is refused for an unknown id, with a hint if it is an id of something else", async () => {
    const { eventId, conditionId, tokens } = markets[0] as Market;
    const refusal = async (id: string): Promise<string | undefined> => {
      const reply = await api.refused(`GET /api/markets/${id}`, "MARKET_NOT_FOUND");
      return reply.body.hint;
    };
    expect(await refusal("no-such-market")).toBeUndefined();
    expect(await refusal(eventId)).toContain("/api/events/");
    expect(await refusal(conditionId)).toContain("condition id");
    expect(await refusal(tokens[0]?.tokenId ?? "")).toContain("token id");
  });
});

describe("GET /api/events", () => {
  it("lists events newest first, in pages of at most 100", async () => {
    const page = await api.get<EventPage>("/api/events?limit=500");
    expect(page).toMatchObject({ limit: 100, offset: 0, hasMore: false });
    const created = page.data.map(({ createdAt }) => createdAt);
    expect(created).toEqual([...created].sort().reverse());
    const next = await api.get<EventPage>("/api/events?limit=1&offset=1");
    expect(next.data).toEqual([page.data[1]]);
    expect(next.hasMore).toBe(true);
  });

  it("is active while one of its markets is open, and has the sums of its markets", async () => {
    const event = await api.post<Event>("/sim/events", { title: "Two", tags: ["pair"] });
    expect(event).toMatchObject({ slug: "two", active: false, marketCount: 0, volume: 0, liquidity: 0 });
    const pair = [
      await api.createMarket({ eventId: event.id }),
      await api.createMarket({ eventId: event.slug }),
    ];
    for (const market of pair) {
      await maker.place({ tokenId: yesOf(market), side: "SELL", price: 0.5, size: 10 });
      await taker.place({ tokenId: yesOf(market), side: "BUY", price: 0.5, size: 4 });
    }
    const actives = async (query: string): Promise<string[]> =>
      (await api.get<EventPage>(`/api/events?tag=pair&${query}`)).data.map(({ id }) => id);
    await api.post(`/sim/markets/${pair[0]?.id}/close`);
    expect([await actives("active=true"), await actives("active=false")]).toEqual([[event.id], []]);
    await api.post(`/sim/markets/${pair[1]?.id}/close`);
    expect([await actives("active=true"), await actives("active=false")]).toEqual([[], [event.id]]);
    const detail = await api.get<EventDetail>(`/api/events/${event.id}`);
    expect(detail).toMatchObject({ marketCount: 2, volume: 4, liquidity: 0, active: false });
    expect(detail.markets.map(({ id }) => id)).toEqual(pair.map(({ id }) => id));
    expect(await api.get(`/api/events/${event.slug}`)).toEqual(detail);
  });

  it("refuses an unknown event, with a hint if it is a market", async () => {
    await api.refused("GET /api/events/none", "EVENT_NOT_FOUND");
    const { slug, id } = await api.createMarket({ slug: "a-market-alone" });
    for (const name of [slug, id]) {
      const { body } = await api.refused(`GET /api/events/${name}`, "EVENT_NOT_FOUND");
      expect(body.hint).toContain("market");
    }
  });
});
