import { beforeEach, describe, expect, it } from "vitest";
import { useApi, yesOf } from "../support/http.ts";
import type { Info, Snapshot, SnapshotPage } from "./replies.ts";
import { deriveTrader } from "./trader.ts";

const api = useApi();
beforeEach(() => api.post("/sim/reset"));

const take = (name?: string): Promise<Snapshot> =>
  api.post("/sim/snapshots", name === undefined ? {} : { name });
const restore = (idOrName: string): Promise<Info> =>
  api.post(`/sim/snapshots/${encodeURIComponent(idOrName)}/restore`);
const all = async (): Promise<readonly Snapshot[]> => (await api.get<SnapshotPage>("/sim/snapshots")).data;

describe("POST /sim/snapshots", () => {
  it("returns id, name, sequence, time and hash", async () => {
    const { sequence, stateHash } = await api.get<Info>("/sim");
    const at = { sequence, time: "2026-01-01T00:00:00.000Z", hash: stateHash };
    expect(await take("before")).toEqual({ id: "snapshot-1", name: "before", ...at });
    await api.createMarket();
    const { body } = await api.send<Snapshot>("POST /sim/snapshots");
    expect(body).toMatchObject({ id: "snapshot-2", name: null, sequence: sequence + 2 });
    expect(body.hash).not.toBe(stateHash);
  });

  it("does not change the state", async () => {
    const before = await api.get<Info>("/sim");
    await take();
    expect(await api.get<Info>("/sim")).toEqual(before);
  });

  it("refuses an invalid name, or one like an id", async () => {
    for (const name of ["", "x".repeat(101), 5, null, "snapshot-1", "snapshot-77"]) {
      const { body } = await api.refused("POST /sim/snapshots", "INVALID_PARAMETER", { name });
      expect(body.details).toEqual({ fields: ["name"] });
    }
    expect(await all()).toEqual([]);
  });

  it("keeps at most a thousand", async () => {
    for (let count = 0; count < 1000; count += 1) await take();
    const { body } = await api.refused("POST /sim/snapshots", "LIMIT_REACHED");
    expect(body.hint).toContain("DELETE /sim/snapshots/{id}");
    await api.send("DELETE /sim/snapshots/snapshot-500");
    expect((await take()).id).toBe("snapshot-1001");
  });
});

describe("GET /sim/snapshots", () => {
  it("lists snapshots, oldest first, in pages", async () => {
    const taken = [await take("a"), await take("b"), await take()];
    const page = { data: taken.slice(1, 2), limit: 1, offset: 1, total: 3, hasMore: true };
    expect(await api.get<SnapshotPage>("/sim/snapshots?limit=1&offset=1")).toEqual(page);
    expect(await all()).toEqual(taken);
  });
});

describe("POST /sim/snapshots/{idOrName}/restore", () => {
  it("restores orders, balances, books and lists, and answers like GET /sim", async () => {
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

  it("restores the credentials of its time", async () => {
    await take("before");
    const trader = await deriveTrader(api, 1);
    await take("after");
    await restore("before");
    const { body } = await trader.refused("GET /clob/orders", "UNKNOWN_API_KEY");
    expect(body.hint).toContain("a restored snapshot those derived after it");
    await restore("after");
    await trader.ask("GET", "/clob/orders");
  });

  it("accepts names that a path must encode", async () => {
    const { hash } = await take("vor / nach? 100 % – ü");
    await api.createMarket();
    expect((await restore("vor / nach? 100 % – ü")).stateHash).toBe(hash);
  });

  it("lists existing snapshots in the hint if there is none with the name", async () => {
    const lost = { method: "POST", path: "/sim/snapshots/befor/restore" } as const;
    const { body } = await api.refused(lost, "SNAPSHOT_NOT_FOUND");
    expect(body.hint).toContain("POST /sim/snapshots takes one");
    await take();
    await take("before");
    const hint = (await api.refused(lost, "SNAPSHOT_NOT_FOUND")).body.hint;
    expect(hint).toBe('there are snapshot-2 "before", snapshot-1');
    for (let count = 0; count < 10; count += 1) await take();
    expect((await api.refused(lost, "SNAPSHOT_NOT_FOUND")).body.hint).toMatch(/snapshot-3, and 2 older/);
  });
});

describe("DELETE /sim/snapshots/{idOrName}", () => {
  it("deletes one and returns it", async () => {
    const [first, second] = [await take("a"), await take("b")];
    const { body } = await api.send<Snapshot>("DELETE /sim/snapshots/a");
    expect(body).toEqual(first);
    expect(await all()).toEqual([second]);
    for (const path of ["/sim/snapshots/a", "/sim/snapshots/snapshot-1"]) {
      await api.refused(`DELETE ${path}`, "SNAPSHOT_NOT_FOUND");
    }
  });
});

describe("POST /sim/reset", () => {
  it("deletes all snapshots, and ids start again", async () => {
    await take("before");
    await api.post("/sim/reset");
    expect(await all()).toEqual([]);
    await api.refused("POST /sim/snapshots/before/restore", "SNAPSHOT_NOT_FOUND");
    expect((await take()).id).toBe("snapshot-1");
  });
});
