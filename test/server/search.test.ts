import { beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../support/http.ts";
import type { Event, SearchPage } from "./replies.ts";

const api = useApi();

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
    ...[".*", "[", "\\", "a".repeat(200), "(a+)+$", "%00", "__proto__", "constructor", "👍", "*"],
    ...['"zebra'],
  ])("reads %s as words and not as a pattern", async (q) => {
    expect((await api.send(`GET /api/search?q=${encodeURIComponent(q)}`)).status).toBe(200);
  });

  it("refuses a blank query, and one of more than 200 characters", async () => {
    for (const query of ["", "?q=", "?q=%20%09", "?Q=zebra"]) {
      await api.refused(`GET /api/search${query}`, "QUERY_REQUIRED");
    }
    const { body } = await api.refused(`GET /api/search?q=${"a".repeat(201)}`, "INVALID_PARAMETER");
    expect(body.error).toBe("q must have at most 200 characters, found 201");
  });
});
