import { describe, expect, it, onTestFinished } from "vitest";
import { serveWorld } from "../../src/compose.ts";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import { emptyWorld } from "../../src/simulation/opening.ts";
import { Api, apiOfTest, exchangeAt, serverOfTest, useApi } from "../support/http.ts";
import type { Bots, Info } from "./replies.ts";

const api = useApi();

it("bots do not let a frozen clock catch up with a year of the wall clock's time", async () => {
  await api.post("/sim/bots", { profile: "thin" });
  const refusal = await api.refused("POST /sim/clock", "INVALID_PARAMETER", { mode: "real" });
  expect(refusal.body.error).toMatch(/bots trade for \d+ days at once, at most 31/);
  expect(refusal.body.hint).toContain("DELETE /sim/bots");
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
    const pool = await serverOfTest({ pool: 2, bots: "normal" });
    const hashes: string[] = [];
    for (const number of [1, 2]) {
      const one = await exchangeAt(pool, number);
      await one.advance("1h");
      hashes.push(await one.stateHash());
    }
    expect(hashes[0]).toBe(hashes[1]);
  });

  it("tells their seed, also that of a world, which has any length", async () => {
    const config = { ...DEFAULT_CONFIG, port: 0, logLevel: "silent", bots: "thin" } as const;
    const { server } = await serveWorld(config, emptyWorld("s".repeat(200)));
    const api = await new Api(server).open();
    onTestFinished(() => api.close());
    expect((await api.get<Bots>("/sim/bots")).seed).toBe("s".repeat(200));
  });

  it("wakes them with a running clock", async () => {
    const server = await apiOfTest({ bots: "busy", clock: { mode: "scaled", rate: 100_000 } });
    const before = (await server.get<Info>("/sim")).trades;
    while ((await server.get<Info>("/sim")).trades < before + 10);
  });
});
