import { beforeEach, expect, it } from "vitest";
import { useApi, yesOf } from "../support/http.ts";
import { postMany } from "./raw-socket.ts";
import type { Info, Snapshot } from "./replies.ts";
import { deriveTrader } from "./trader.ts";

const api = useApi();
beforeEach(() => api.post("/sim/reset"));

const take = (name?: string): Promise<Snapshot> =>
  api.post("/sim/snapshots", name === undefined ? {} : { name });
const restore = (idOrName: string): Promise<Info> =>
  api.post(`/sim/snapshots/${encodeURIComponent(idOrName)}/restore`);

it("POST /sim/snapshots keeps at most a thousand", async () => {
  expect(await postMany(api.port, "/sim/snapshots", {}, 1000)).toEqual([200]);
  const { body } = await api.refused("POST /sim/snapshots", "LIMIT_REACHED");
  expect(body.hint).toContain("DELETE /sim/snapshots/{id}");
  await api.send("DELETE /sim/snapshots/snapshot-500");
  expect((await take()).id).toBe("snapshot-1001");
});

it("POST /sim/snapshots/{idOrName}/restore restores orders, balances, books and lists, and answers like GET /sim", async () => {
  const [alice, bob] = [await deriveTrader(api, 1), await deriveTrader(api, 2)];
  const market = await api.createMarket();
  const tokenId = yesOf(market);
  const { id } = await alice.place({ tokenId, side: "BUY", price: 0.5, size: 10 });
  const read = async (): Promise<unknown> => [
    await api.get<Info>("/sim"),
    await api.book(tokenId),
    await api.account(alice.address),
    await alice.ask("GET", "/clob/orders"),
    await api.get("/api/markets?sort=volume"),
    await api.get("/api/search?q=rain"),
  ];
  const before = await read();
  await take("before");
  for (const size of [4, 10]) {
    await bob.place({ tokenId, side: "SELL", price: 0.5, size });
    await api.createMarket();
    await api.advance("1h");
    expect(await restore("before")).toEqual((before as [Info])[0]);
    expect(await read()).toEqual(before);
  }
  expect((await alice.cancel(id)).canceled).toEqual([id]);
});
