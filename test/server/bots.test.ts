import { beforeEach, describe, expect, it } from "vitest";
import { startServer } from "../../src/compose.ts";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import { Api, startApi, TINY_WORLD, useApi } from "../support/http.ts";
import type { Bots, EndedBots, Info } from "./replies.ts";

const api = useApi();
beforeEach(() => api.post("/sim/reset"));

const start = (body: object): Promise<Bots> => api.post("/sim/bots", body);
const bots = (): Promise<Bots> => api.get("/sim/bots");
const end = async (): Promise<EndedBots> => (await api.send<EndedBots>("DELETE /sim/bots")).body;
const advance = (duration: string, of = api): Promise<object> => of.post("/sim/clock", { advance: duration });
const total = ({ bots: all }: Bots, figure: "openOrders" | "fills"): number =>
  all.reduce((sum, bot) => sum + bot[figure], 0);

const NONE = { profile: null, seed: null, bots: [] };

describe("/sim/bots", () => {
  it("has none unless somebody asks for them, and ends none", async () => {
    expect(await bots()).toEqual(NONE);
    expect(await end()).toEqual({ profile: null, canceled: 0 });
  });

  it("starts those of a profile, who then trade as time passes", async () => {
    const started = await start({ profile: "normal" });
    const { seed } = await api.get<Info>("/sim");
    expect(started).toMatchObject({ profile: "normal", seed });
    expect(started.bots[0]).toMatchObject({ name: "bot-maker-1", kind: "maker", openOrders: 0, fills: 0 });
    expect(new Set(started.bots.map(({ address }) => address)).size).toBe(started.bots.length);
    await advance("1h");
    const now = await bots();
    expect(total(now, "openOrders")).toBeGreaterThan(10);
    expect(total(now, "fills")).toBeGreaterThan(10);
  });

  it("takes the place of those that acted, with a seed of its own where one is given", async () => {
    await start({ profile: "busy" });
    await advance("10m");
    expect(await start({ profile: "thin", seed: "mine" })).toMatchObject({ profile: "thin", seed: "mine" });
    expect((await bots()).bots.map(({ name }) => name)).not.toContain("bot-maker-2");
  });

  it("ends them with all their orders, of whatever profile", async () => {
    await start({ profile: "normal" });
    await advance("1h");
    const open = total(await bots(), "openOrders");
    expect(await end()).toEqual({ profile: "normal", canceled: open });
    expect(await bots()).toEqual(NONE);
    const { orders } = await api.get<Info>("/sim");
    await advance("1h");
    expect((await api.get<Info>("/sim")).orders).toBe(orders);
  });

  it("runs on through a snapshot that is restored, from there", async () => {
    await start({ profile: "normal" });
    await advance("30m");
    await api.post("/sim/snapshots", { name: "before" });
    await advance("30m");
    const hash = await api.stateHash();
    await api.post("/sim/snapshots/before/restore");
    await advance("30m");
    expect(await api.stateHash()).toBe(hash);
  });

  it("keeps a frozen clock from catching up with the wall's by a year of trading", async () => {
    await start({ profile: "thin" });
    const refusal = await api.refused("POST /sim/clock", "INVALID_PARAMETER", { mode: "real" });
    expect(refusal.body.error).toMatch(/bots trade for \d+ days at once, at most 31/);
    expect(refusal.body.hint).toContain("DELETE /sim/bots");
  });

  it.each([
    [{ profile: "nrmal" }, '"nrmal", did you mean normal?'],
    [{ profile: "wild" }, "profile: expected one of thin, normal, busy, toxic"],
    [{}, "profile: expected one of thin, normal, busy, toxic, found nothing"],
    [{ profile: "thin", seed: "" }, "seed: expected a length of at least 1"],
    [{ profile: "thin", seed: 7 }, "seed: expected a string, found the number 7"],
  ])("refuses %o", async (body, message) => {
    const refusal = await api.refused("POST /sim/bots", "INVALID_PARAMETER", body);
    expect(refusal.body.error).toContain(message);
    expect(await bots()).toEqual(NONE);
  });

  it.each(["none", null])("says how to have none where %o is asked for", async (profile) => {
    const refusal = await api.refused("POST /sim/bots", "INVALID_PARAMETER", { profile });
    expect(refusal.body.hint).toBe("DELETE /sim/bots ends the current bots");
  });
});

describe("--bots", () => {
  it("lets them act from the start, and again after a reset, whoever was started meanwhile", async () => {
    const own = await startApi({ bots: "thin" });
    expect(await own.get<Bots>("/sim/bots")).toMatchObject({ profile: "thin" });
    await own.post("/sim/bots", { profile: "busy" });
    await own.post("/sim/reset");
    expect(await own.get<Bots>("/sim/bots")).toMatchObject({ profile: "thin" });
    await own.send("DELETE /sim/bots");
    await own.post("/sim/reset");
    expect(await own.get<Bots>("/sim/bots")).toMatchObject({ profile: "thin" });
    await own.close();
  });

  it("gives each exchange of a pool the same market", async () => {
    const config = { port: 0, clock: { mode: "frozen" }, world: TINY_WORLD, logLevel: "silent" } as const;
    const pool = await startServer({ ...DEFAULT_CONFIG, ...config, pool: 2, bots: "normal" });
    const hashes: string[] = [];
    for (const number of [1, 2]) {
      const one = await new Api({ ...pool, url: `${pool.url}/${number}` }).open();
      await advance("1h", one);
      hashes.push(await one.stateHash());
    }
    expect(hashes[0]).toBe(hashes[1]);
    await pool.close();
  });

  it("lets a clock that runs by itself wake them", async () => {
    const own = await startApi({ bots: "busy", clock: { mode: "scaled", rate: 100_000 } });
    const before = (await own.get<Info>("/sim")).trades;
    while ((await own.get<Info>("/sim")).trades < before + 10);
    await own.close();
  });
});
