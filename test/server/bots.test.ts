import { beforeEach, describe, expect, it } from "vitest";
import { apiOfTest, exchangeAt, serve, useApi } from "../support/http.ts";
import type { Bots, EndedBots, Info } from "./replies.ts";

const api = useApi();
beforeEach(() => api.post("/sim/reset"));

const start = (body: object): Promise<Bots> => api.post("/sim/bots", body);
const bots = (): Promise<Bots> => api.get("/sim/bots");
const end = async (): Promise<EndedBots> => (await api.send<EndedBots>("DELETE /sim/bots")).body;
const total = ({ bots: all }: Bots, figure: "openOrders" | "fills"): number =>
  all.reduce((sum, bot) => sum + bot[figure], 0);

const NONE = { profile: null, seed: null, bots: [] };

describe("/sim/bots", () => {
  it("has no bots by default, and DELETE then ends none", async () => {
    expect(await bots()).toEqual(NONE);
    expect(await end()).toEqual({ profile: null, canceled: 0 });
  });

  it("starts the bots of a profile, which trade as time passes", async () => {
    const started = await start({ profile: "normal" });
    const { seed } = await api.get<Info>("/sim");
    expect(started).toMatchObject({ profile: "normal", seed });
    expect(started.bots[0]).toMatchObject({ name: "bot-maker-1", kind: "maker", openOrders: 0, fills: 0 });
    expect(new Set(started.bots.map(({ address }) => address)).size).toBe(started.bots.length);
    await api.advance("1h");
    const now = await bots();
    expect(total(now, "openOrders")).toBeGreaterThan(10);
    expect(total(now, "fills")).toBeGreaterThan(10);
  });

  it("replaces the current bots, with a seed if one is given", async () => {
    await start({ profile: "busy" });
    await api.advance("10m");
    expect(await start({ profile: "thin", seed: "mine" })).toMatchObject({ profile: "thin", seed: "mine" });
    expect((await bots()).bots.map(({ name }) => name)).not.toContain("bot-maker-2");
  });

  it("ends the bots and cancels all their orders", async () => {
    await start({ profile: "normal" });
    await api.advance("1h");
    const open = total(await bots(), "openOrders");
    expect(await end()).toEqual({ profile: "normal", canceled: open });
    expect(await bots()).toEqual(NONE);
    const { orders } = await api.get<Info>("/sim");
    await api.advance("1h");
    expect((await api.get<Info>("/sim")).orders).toBe(orders);
  });

  it("refuses to let a frozen clock catch up with a year of the wall clock's time", async () => {
    await start({ profile: "thin" });
    const refusal = await api.refused("POST /sim/clock", "INVALID_PARAMETER", { mode: "real" });
    expect(refusal.body.error).toMatch(/bots trade for \d+ days at once, at most 31/);
    expect(refusal.body.hint).toContain("DELETE /sim/bots");
  });
});

describe("--bots", () => {
  it("starts bots with the exchange, and again after a reset that follows other bots", async () => {
    const server = await apiOfTest({ bots: "thin" });
    expect(await server.get<Bots>("/sim/bots")).toMatchObject({ profile: "thin" });
    await server.post("/sim/bots", { profile: "busy" });
    await server.post("/sim/reset");
    expect(await server.get<Bots>("/sim/bots")).toMatchObject({ profile: "thin" });
    await server.send("DELETE /sim/bots");
    await server.post("/sim/reset");
    expect(await server.get<Bots>("/sim/bots")).toMatchObject({ profile: "thin" });
  });

  it("starts the same bots in each exchange of a pool", async () => {
    const pool = await serve({ pool: 2, bots: "normal" });
    const hashes: string[] = [];
    for (const number of [1, 2]) {
      const one = await exchangeAt(pool, number);
      await one.advance("1h");
      hashes.push(await one.stateHash());
    }
    expect(hashes[0]).toBe(hashes[1]);
    await pool.close();
  });

  it("wakes them with a running clock", async () => {
    const server = await apiOfTest({ bots: "busy", clock: { mode: "scaled", rate: 100_000 } });
    const before = (await server.get<Info>("/sim")).trades;
    while ((await server.get<Info>("/sim")).trades < before + 10);
  });
});
