import { describe, expect, it } from "vitest";
import { answerOf } from "../chain-rpc/rpc.ts";
import { apiOfTest, exchangeAt, serve, useApi } from "../support/http.ts";
import type { Bots, Info } from "./replies.ts";

const api = useApi();

it("bots trade for at most 31 days at once, so that a clock change does not make others wait for hours", async () => {
  await api.post("/sim/bots", { profile: "thin" });
  const tooFar = /bots trade for \d+ days at once, at most 31/;
  const inAYear = "2027-01-01T00:00:00Z";
  for (const change of [{ mode: "real" }, { advance: "2678400001ms" }, { time: inAYear, mode: "real" }]) {
    const { body } = await api.refused("POST /sim/clock", "INVALID_PARAMETER", change);
    expect(body).toMatchObject({
      error: expect.stringMatching(tooFar),
      details: { fields: [Object.keys(change)[0]] },
    });
    expect(body.hint).toContain("DELETE /sim/bots");
  }
  for (const [method, ...params] of [
    ["evm_increaseTime", 2_678_401],
    ["evm_setNextBlockTimestamp", Date.parse(inAYear) / 1000],
    ["anvil_mine", 32, 86_400],
  ] as const) {
    const { error } = await answerOf(api, method, ...params);
    expect(error?.message, method).toMatch(tooFar);
  }
  await api.send("DELETE /sim/bots");
  await api.advance("3650d");
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
