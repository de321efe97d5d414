import { describe, expect, it } from "vitest";
import { useApi } from "../support/http.ts";
import type { Event, EventDetail, Info, Market, MarketDetail } from "./replies.ts";

const api = useApi();

const createEvent = (fields: object): Promise<Event> => api.post("/sim/events", fields);
const resolve = (id: string, winningOutcome: string): Promise<Market> =>
  api.post(`/sim/markets/${id}/resolve`, { winningOutcome });

describe("POST /sim/events", () => {
  it("needs only a title", async () => {
    const event = await createEvent({ title: "Übermorgen: 3 Ænigmas & more!" });
    expect(event).toEqual({
      ...{ id: event.id, slug: "ubermorgen-3-aenigmas-more", title: "Übermorgen: 3 Ænigmas & more!" },
      ...{ description: "", category: "general", tags: [], active: false, volume: 0, liquidity: 0 },
      ...{ marketCount: 0, createdAt: "2026-01-01T00:00:00.000Z", endDate: null },
    });
    expect(await api.get<EventDetail>(`/api/events/${event.slug}`)).toEqual({ ...event, markets: [] });
  });

  it("accepts every field", async () => {
    const text = { title: "A cup", slug: "the-cup-2026", description: "Who wins it.", category: "sport" };
    const facts = { ...text, tags: ["cup", "final-4"], endDate: "2026-03-01T00:00:00+01:00" };
    expect(await createEvent(facts)).toMatchObject({ ...facts, endDate: "2026-02-28T23:00:00.000Z" });
  });

  it("makes the slug of a taken title unique, and refuses a taken slug", async () => {
    const slugs = [await createEvent({ title: "Same" }), await createEvent({ title: "Same" })];
    expect(slugs.map(({ slug }) => slug)).toEqual(["same", "same-2"]);
    expect((await createEvent({ title: "数量" })).slug).toMatch(/^[a-z0-9-]+$/);
    const taken = { title: "Other", slug: "same" };
    const { body } = await api.refused("POST /sim/events", "INVALID_PARAMETER", taken);
    expect(body.details).toEqual({ fields: ["slug"] });
  });

  it.each<[string, object, string]>([
    ["no title", {}, "title"],
    ["a blank title", { title: "  " }, "title"],
    ["a title of 301 characters", { title: "a".repeat(301) }, "title"],
    ["a title that is not a string", { title: 5 }, "title"],
    ["a slug with capitals", { title: "A", slug: "Slug" }, "slug"],
    ["a slug with a slash", { title: "A", slug: "a/b" }, "slug"],
    ["a very long slug", { title: "A", slug: "a".repeat(129) }, "slug"],
    ["tags that are not slugs", { title: "A", tags: ["b", "C d"] }, "tags.1"],
    ["too many tags", { title: "A", tags: Array(33).fill("a") }, "tags"],
    ["an end date without a zone", { title: "A", endDate: "2026-03-01" }, "endDate"],
    ["an end date of February 30", { title: "A", endDate: "2026-02-30T00:00:00Z" }, "endDate"],
  ])("refuses %s, naming the field", async (_case, body, field) => {
    const reply = await api.refused("POST /sim/events", "INVALID_PARAMETER", body);
    expect(reply.body.details).toEqual({ fields: [field] });
    expect(reply.body.error).toContain(field);
  });
});

describe("POST /sim/markets", () => {
  it("leaves a market and an event addressed by their ids although slugs of later ones equal them", async () => {
    const { id, eventId } = await api.createMarket();
    await createEvent({ title: "Other", slug: eventId });
    const other = await api.createMarket({ slug: id, eventId });
    expect(other.eventId).toBe(eventId);
    await resolve(id, "YES");
    const of = (idOrSlug: string) => api.get<MarketDetail>(`/api/markets/${idOrSlug}`);
    expect([(await of(id)).status, (await of(other.id)).status]).toEqual(["RESOLVED", "ACTIVE"]);
  });

  it("creates an open market with the contract's defaults, and an event for it", async () => {
    const market = await api.createMarket({ question: "Will snow fall?" });
    expect(market).toMatchObject({
      ...{ slug: "will-snow-fall", question: "Will snow fall?", status: "ACTIVE", active: true },
      ...{ tickSize: 0.01, minOrderSize: 1, feeRateBps: 0, matching: "complementary", endDate: null },
      ...{ bestBid: null, bestAsk: null, lastTradePrice: null, volume: 0, liquidity: 0 },
      tokens: [{ outcome: "YES" }, { outcome: "NO" }],
    });
    const { event } = await api.get<MarketDetail>(`/api/markets/${market.id}`);
    const facts = { title: "Will snow fall?", marketCount: 1, active: true };
    expect(event).toMatchObject({ id: market.eventId, ...facts });
  });

  it("accepts every field, with the category and end date of its event as defaults", async () => {
    const endDate = "2026-03-01T00:00:00.000Z";
    const event = await createEvent({ title: "Winter", category: "weather", endDate });
    const texts = {
      question: "Will it freeze?",
      slug: "freezing",
      description: "Below zero.",
      tags: ["ice"],
    };
    const terms = { tickSize: 0.0025, minOrderSize: 2.5, feeRateBps: 150, matching: "independent" };
    const facts = { ...texts, ...terms };
    const market = await api.createMarket({ ...facts, eventId: event.slug });
    expect(market).toMatchObject({ ...facts, eventId: event.id, category: "weather", endDate });
  });

  it.each<[string, object, string]>([
    ["no question", { question: undefined }, "question"],
    ["an unknown tick size", { tickSize: 0.02 }, "tickSize"],
    ["a tick size in quotes", { tickSize: "0.01" }, "tickSize"],
    ["a minimum of 0", { minOrderSize: 0 }, "minOrderSize"],
    ["a minimum below 0.01", { minOrderSize: 1e-9 }, "minOrderSize"],
    ["a negative fee", { feeRateBps: -1 }, "feeRateBps"],
    ["a fee of half a basis point", { feeRateBps: 0.5 }, "feeRateBps"],
    ["a fee above 100 %", { feeRateBps: 10_001 }, "feeRateBps"],
    ["an unknown matching", { matching: "both" }, "matching"],
    ["an unknown self-trade policy", { selfTrade: "deny" }, "selfTrade"],
  ])("refuses %s, naming the field", async (_case, wrong, field) => {
    const body = { question: "Will it?", ...wrong };
    const reply = await api.refused("POST /sim/markets", "INVALID_PARAMETER", body);
    expect(reply.body.details).toEqual({ fields: [field] });
    expect(reply.body.error).not.toMatch(/\de-\d/);
  });

  it("refuses an unknown event and a taken slug, and creates no event", async () => {
    const { slug } = await api.createMarket();
    const { events } = await api.get<Info>("/sim");
    const post = (body: object) => ({ method: "POST", path: "/sim/markets", body }) as const;
    await api.refused(post({ question: "Will it?", eventId: "none" }), "EVENT_NOT_FOUND");
    await api.refused(post({ question: "Will it?", slug }), "INVALID_PARAMETER");
    await api.refused(post({ question: "Will it?", endDate: "soon" }), "INVALID_PARAMETER");
    expect((await api.get<Info>("/sim")).events).toBe(events);
  });
});

describe("closing and resolving a market", () => {
  it("closes it once, and returns it", async () => {
    const { id, slug } = await api.createMarket();
    const closed = await api.post<Market>(`/sim/markets/${slug}/close`);
    expect(closed).toMatchObject({ id, status: "CLOSED", active: false });
    await api.refused(`POST /sim/markets/${id}/close`, "MARKET_CLOSED");
  });

  it.each([
    ["YES", [true, false]],
    ["NO", [false, true]],
    ["SPLIT", [false, false]],
  ])("resolves it to %s, once", async (winningOutcome, winners) => {
    const { id } = await api.createMarket();
    const resolved = await resolve(id, winningOutcome);
    expect(resolved).toMatchObject({ status: "RESOLVED", active: false, winningOutcome });
    expect(resolved.resolvedAt).toBe("2026-01-01T00:00:00.000Z");
    expect(resolved.tokens.map(({ winner }) => winner)).toEqual(winners);
    await api.refused(`POST /sim/markets/${id}/resolve`, "MARKET_CLOSED", { winningOutcome });
  });

  it("needs an existing market and a valid winner", async () => {
    const { id } = await api.createMarket();
    for (const body of [{}, { winningOutcome: "yes" }, { winningOutcome: null }]) {
      await api.refused(`POST /sim/markets/${id}/resolve`, "INVALID_PARAMETER", body);
    }
    await api.refused(`POST /sim/markets/${id}/resolve`, "INVALID_JSON");
    const body = { winningOutcome: "YES" };
    await api.refused("POST /sim/markets/none/resolve", "MARKET_NOT_FOUND", body);
    await api.refused("POST /sim/markets/none/close", "MARKET_NOT_FOUND");
  });
});
