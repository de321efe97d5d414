import { beforeAll, describe, expect, it } from "vitest";
import { T0, tokensOf, useApi, yesOf } from "../support/http.ts";
import type {
  Event,
  EventDetail,
  EventPage,
  Market,
  MarketDetail,
  MarketPage,
  SearchPage,
} from "./replies.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const maker = useTrader(api, 1);
const taker = useTrader(api, 2);
/** Five markets in order of creation, the only ones with the tag "five". */
let markets: Market[];

const idsOf = ({ data }: MarketPage): string[] => data.map(({ id }) => id);
const list = (query: string): Promise<MarketPage> => api.get(`/api/markets?${query}`);
const postEvent = (facts: object): Promise<Event> => api.post("/sim/events", facts);

/** The taker buys YES from the maker. */
async function trade(market: Market | undefined, price: number, size: number): Promise<void> {
  await maker.place({ tokenId: yesOf(market), side: "SELL", price, size });
  await taker.place({ tokenId: yesOf(market), side: "BUY", price, size });
}

beforeAll(async () => {
  markets = [];
  const [early, late] = ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"];
  for (const endDate of [late, null, early, late, null]) {
    await api.advance("1s");
    const question = `Number ${markets.length + 1}?`;
    markets.push(await api.createMarket({ question, tags: ["five"], endDate }));
  }
  await trade(markets[1], 0.5, 40);
  await trade(markets[3], 0.5, 30);
  await trade(markets[4], 0.5, 40);
  await maker.place({ tokenId: yesOf(markets[2]), side: "BUY", price: 0.2, size: 100 });
  await maker.place({ tokenId: yesOf(markets[0]), side: "SELL", price: 0.9, size: 100 });
  await api.post(`/sim/markets/${markets[4]?.id}/close`);
  await api.post(`/sim/markets/${markets[3]?.id}/resolve`, { winningOutcome: "NO" });
});

describe("GET /api/markets", () => {
  it.each([
    ["by creation, newest first, by default", "", [4, 3, 2, 1, 0]],
    ["by creation", "&sort=createdAt", [4, 3, 2, 1, 0]],
    ["by volume, highest first, ties by id", "&sort=volume", [1, 4, 3, 0, 2]],
    ["by liquidity, highest first, ties by id", "&sort=liquidity", [0, 2, 1, 3, 4]],
    ["by end date, earliest first, then those without one, ties by id", "&sort=endDate", [2, 0, 3, 1, 4]],
    ["and filters open ones", "&active=true", [2, 1, 0]],
    ["and filters closed and resolved ones", "&active=false", [4, 3]],
    ["and ends its last page", "&limit=2&offset=3", [1, 0]],
    ["and has nothing after it", "&offset=5", []],
  ])("sorts markets %s", async (_order, query, indexes) => {
    expect(idsOf(await list(`tag=five${query}`))).toEqual(indexes.map((index) => markets[index]?.id));
  });

  it("filters by tag of the market or its event or by category, exactly", async () => {
    const event = await postEvent({ title: "A cup", category: "sport", tags: ["cup"] });
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

  it("has the last trade's price if a side is empty", async () => {
    const market = await api.createMarket();
    const pricesNow = async () =>
      (await api.get<MarketDetail>(`/api/markets/${market.id}`)).tokens.map(({ price }) => price);
    await maker.place({ tokenId: yesOf(market), side: "BUY", price: 0.39, size: 10 });
    expect(await pricesNow()).toEqual([null, null]);
    await taker.place({ tokenId: yesOf(market), side: "SELL", price: 0.39, size: 10 });
    expect(await pricesNow()).toEqual([0.39, 0.61]);
  });

  it("has no winner while it is closed", async () => {
    expect(await api.get(`/api/markets/${markets[4]?.id}`)).toMatchObject({
      ...{ status: "CLOSED", active: false, resolvedAt: null, winningOutcome: null },
      tokens: [{ winner: null }, { winner: null }],
    });
  });

  it("is refused for an unknown id, with a hint if it is an id of something else", async () => {
    const { eventId, conditionId, tokens } = markets[0] as Market;
    const hint = async (id: string): Promise<string | undefined> =>
      (await api.refused(`GET /api/markets/${id}`, "MARKET_NOT_FOUND")).body.hint;
    expect(await hint("no-such-market")).toBeUndefined();
    expect(await hint(eventId)).toContain("/api/events/");
    expect(await hint(conditionId)).toContain("condition id");
    expect(await hint(tokens[0]?.tokenId ?? "")).toContain("token id");
  });
});

describe("GET /api/markets/{idOrSlug}/prices-history", () => {
  it("has at most `fidelity` points at equal steps, each with the price in force then, between both bounds", async () => {
    const market = await api.createMarket();
    const start = api.now - T0;
    await trade(market, 0.2, 1);
    for (const [advance, price] of [
      ["10s", 0.3],
      ["10s", 0.4],
      ["80s", 0.5],
    ] as const) {
      await api.advance(advance);
      await trade(market, price, 1);
    }
    const path = `/api/markets/${market.slug}/prices-history`;
    const history = async (query = ""): Promise<string> => {
      const { data } = await api.get<{ data: { t: number; p: number }[] }>(path + query);
      return data.map(({ t, p }) => `${t - T0 - start} ${p}`).join(", ");
    };
    const all = "0 0.2, 10 0.3, 20 0.4, 100 0.5";
    expect(await history("?fidelity=3")).toBe("0 0.2, 50 0.4, 100 0.5");
    for (const query of ["", "?fidelity=4", "?fidelity=10000"]) expect(await history(query)).toBe(all);
    const at = T0 + start;
    expect(await history(`?fidelity=1&endTs=${at + 20}`)).toMatch(/^[^,]+$/);
    expect(await history(`?startTs=${at + 20}&endTs=${at + 20}`)).toBe("20 0.4");
    expect(await history(`?endTs=${at - 1}`)).toBe("");
    expect(await history(`?startTs=${at + 101}`)).toBe("");
    const { body } = await api.refused(`GET ${path}?startTs=${at + 1}&endTs=${at}`, "INVALID_PARAMETER");
    expect(body.details).toEqual({ startTs: at + 1, endTs: at });
  });
});

describe("GET /api/events", () => {
  it("lists events newest first", async () => {
    const { data } = await api.get<EventPage>("/api/events");
    const created = data.map(({ createdAt }) => createdAt);
    expect(created).toEqual([...created].sort().reverse());
  });

  it("is active while one of its markets is open, and has the sums of its markets", async () => {
    const event = await postEvent({ title: "Two", tags: ["pair"] });
    expect(event).toMatchObject({ slug: "two", active: false, marketCount: 0, volume: 0, liquidity: 0 });
    const pair = [
      await api.createMarket({ eventId: event.id }),
      await api.createMarket({ eventId: event.slug }),
    ];
    for (const market of pair) await trade(market, 0.5, 4);
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
    const { slug, id } = await api.createMarket({ slug: "a-market-alone" });
    for (const name of [slug, id]) {
      const { body } = await api.refused(`GET /api/events/${name}`, "EVENT_NOT_FOUND");
      expect(body.hint).toContain("market");
    }
  });
});

describe("GET /clob/book", () => {
  it("is empty for a new market: no levels, no last price, sequence 0", async () => {
    const market = await api.createMarket();
    const [yes] = tokensOf(market);
    const book = await api.book(yes);
    expect(book).toEqual({
      ...{ tokenId: yes, marketId: market.id, outcome: "YES", bids: [], asks: [], tickSize: 0.01 },
      ...{
        lastTradePrice: null,
        sequence: 0,
        hash: book.hash,
        updatedAt: new Date(api.now * 1000).toISOString(),
      },
    });
  });

  it("has a sequence and the time of its last change, and a hash of the content only", async () => {
    const [yes] = tokensOf(await api.createMarket());
    const empty = await api.book(yes);
    const { id } = await maker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    const one = await api.book(yes);
    const time = await api.advance("90s");
    await maker.cancel(id);
    await api.advance("90s");
    const emptied = await api.book(yes);
    await taker.place({ tokenId: yes, side: "BUY", price: 0.4, size: 10 });
    const again = await api.book(yes);
    expect([empty, one, emptied, again].map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3]);
    expect(one.hash).not.toBe(empty.hash);
    expect([emptied.hash, again.hash]).toEqual([empty.hash, one.hash]);
    expect(emptied.updatedAt).toBe(time);
  });
});

describe("a wrong token_id", () => {
  it.each(["id", "slug", "conditionId"] as const)(
    "that is a market's %s is refused with the market's token ids",
    async (kind) => {
      const market = await api.createMarket();
      const { body } = await api.refused(`GET /clob/book?token_id=${market[kind]}`, "TOKEN_NOT_FOUND");
      for (const tokenId of tokensOf(market)) expect(body.hint).toContain(tokenId);
    },
  );
});

describe("the quotes of a token", () => {
  it.each([0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001])("have tick size %d", async (tickSize) => {
    for (const tokenId of tokensOf(await api.createMarket({ tickSize })))
      expect(await api.get(`/clob/tick-size?token_id=${tokenId}`)).toEqual({ tokenId, tickSize });
  });
});

beforeAll(async () => {
  for (const title of ["Zebra crossing in Zürich", "Zebra herd", "İSTANBUL derby", "Hauptstraße flooded"]) {
    await api.post<Event>("/sim/events", { title });
  }
  await api.post<Event>("/sim/events", { title: "A herd of goats", description: "No zebra among them." });
  const { id: eventId } = await api.post<Event>("/sim/events", { title: "Quagga returns" });
  await api.createMarket({ question: "Will the quagga return?", eventId });
});

const search = (q: string, more = ""): Promise<SearchPage> =>
  api.get(`/api/search?q=${encodeURIComponent(q)}${more}`);
const namesOf = async (q: string): Promise<string[]> =>
  (await search(q)).data.map((found) => (found.type === "event" ? found.event.title : found.market.question));

describe("GET /api/search", () => {
  it("matches every word, in any order", async () => {
    expect(await namesOf("zebra herd")).toEqual(["Zebra herd", "A herd of goats"]);
    expect(await namesOf("herd zebra")).toEqual(["Zebra herd", "A herd of goats"]);
    expect(await namesOf("zebra goats returns")).toEqual([]);
  });

  it("matches prefixes of words and no other parts of them", async () => {
    expect(await namesOf("zeb cro")).toEqual(["Zebra crossing in Zürich"]);
    expect(await namesOf("ebra")).toEqual([]);
  });

  it.each([
    ["ZEBRA ZURICH", "Zebra crossing in Zürich"],
    ["zürich", "Zebra crossing in Zürich"],
    ["zu\u0308rich", "Zebra crossing in Zürich"],
    ["istanbul", "İSTANBUL derby"],
    ["İSTANBUL", "İSTANBUL derby"],
    ["ISTANBUL", "İSTANBUL derby"],
    ["hauptstrasse", "Hauptstraße flooded"],
    ["HAUPTSTRASSE", "Hauptstraße flooded"],
    ["hauptstraße", "Hauptstraße flooded"],
  ])("ignores case and accents: %s", async (q, title) => {
    expect(await namesOf(q)).toEqual([title]);
  });

  it("returns events and markets, title matches before description matches", async () => {
    const { data } = await search("quagga");
    expect(data.map(({ type }) => type).sort()).toEqual(["event", "market"]);
    expect((await namesOf("zebra")).at(-1)).toBe("A herd of goats");
  });

  it("returns pages", async () => {
    const { data, ...page } = await search("zebra", "&limit=1&offset=1");
    expect(page).toEqual({ limit: 1, offset: 1, total: 3, hasMore: true });
    expect(data).toEqual((await search("zebra")).data.slice(1, 2));
  });

  it("finds events created after the last search", async () => {
    expect(await namesOf("okapi")).toEqual([]);
    await api.post<Event>("/sim/events", { title: "Okapi seen" });
    expect(await namesOf("okapi")).toEqual(["Okapi seen"]);
  });

  it.each([
    ...[".*", "[", "\\", "a".repeat(200), "(a+)+$", "%00", "__proto__", "constructor", "👍".repeat(200), "*"],
    ...['"zebra'],
  ])("reads %s as words and not as a pattern", async (q) => {
    expect((await api.send(`GET /api/search?q=${encodeURIComponent(q)}`)).status).toBe(200);
  });

  it("refuses a blank query, and one of more than 200 characters", async () => {
    for (const query of ["", "?q=", "?q=%20%09", "?Q=zebra"]) {
      await api.refused(`GET /api/search${query}`, "QUERY_REQUIRED");
    }
    for (const character of ["a", encodeURIComponent("👍")]) {
      const { body } = await api.refused(`GET /api/search?q=${character.repeat(201)}`, "INVALID_PARAMETER");
      expect(body.error).toBe("q must have at most 200 characters, found 201");
    }
  });
});
