import { beforeEach, describe, expect, it } from "vitest";
import { apiOfTest, T0, useApi, yesOf } from "../support/http.ts";
import type { Clock, ClockChange, Info, Snapshot, SnapshotPage } from "./replies.ts";
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

const set = (change: object): Promise<ClockChange> => api.post("/sim/clock", change);
const refused = async (change: object, field: string): Promise<void> => {
  const { body } = await api.refused("POST /sim/clock", "INVALID_PARAMETER", change);
  expect(body.details).toEqual({ fields: [field] });
  expect((await api.get<Clock>("/sim/clock")).time).toBe("2026-01-01T00:00:00.000Z");
};

it("a frozen clock reports its mode, and its time stays", async () => {
  const start = { time: "2026-01-01T00:00:00.000Z", unixTime: T0 };
  expect(await api.get<Clock>("/sim/clock")).toEqual({ mode: "frozen", rate: 0, ...start });
});

it("refuses invalid times, invalid durations and contradictory fields", async () => {
  await refused({ time: "2025-12-31T23:59:59.999Z" }, "time");
  await refused({ time: "tomorrow" }, "time");
  await refused({ time: "2026-02-30T00:00:00Z" }, "time");
  await refused({ time: 5 }, "time");
  for (const advance of ["", "5", "-5s", "1.5h", "s", "5s 5s", "99999999999d"])
    await refused({ advance }, "advance");
  await refused({ time: "2027-01-01T00:00:00Z", advance: "1s" }, "advance");
  for (const rate of [0, -1, 1_000_001, "5"]) await refused({ mode: "scaled", rate }, "rate");
  await refused({ mode: "scaled" }, "rate");
  await refused({ mode: "frozen", rate: 5 }, "rate");
  await refused({ mode: "Frozen" }, "mode");
});

it("names the limit of a duration, and the end of the clock", async () => {
  const errorOf = async (advance: string): Promise<string> =>
    (await api.refused("POST /sim/clock", "INVALID_PARAMETER", { advance })).body.error;
  expect(await errorOf("2932897d")).toBe(
    'advance must be a duration such as 90s, 2h or 500ms, at most 2932896d, found "2932897d"',
  );
  expect(await errorOf("2932896d")).toBe("the clock ends at 9999-12-31T23:59:59.999Z");
});

it("moves by a duration or to a time, and returns what became due, in order", async () => {
  const seller = await deriveTrader(api, 1);
  const tokenId = await api.newToken();
  const ids: string[] = [];
  for (const seconds of [90, 30, 3600]) {
    const expiration = String(T0 + seconds);
    const order = { tokenId, side: "BUY", price: 0.5, size: 5, orderType: "GTD", expiration };
    ids.push((await seller.place(order)).id);
  }
  const moved = await set({ advance: "1m30s" });
  expect(moved.fired).toEqual([
    { kind: "ORDER_EXPIRED", orderId: ids[1], at: "2026-01-01T00:00:30.000Z" },
    { kind: "ORDER_EXPIRED", orderId: ids[0], at: "2026-01-01T00:01:30.000Z" },
  ]);
  expect(moved).toMatchObject({ mode: "frozen", time: "2026-01-01T00:01:30.000Z", unixTime: T0 + 90 });
  const later = await set({ time: "2026-01-01T02:00:00+01:00" });
  expect(later).toMatchObject({ time: "2026-01-01T01:00:00.000Z", fired: [{ orderId: ids[2] }] });
  expect(await set({ time: "2026-01-01T01:00:00Z" })).toMatchObject({ time: later.time, fired: [] });
  expect(await set({ advance: "0s" })).toMatchObject({ time: later.time });
});

it("runs at a rate or in real time, and can be frozen again", async () => {
  expect(await set({ mode: "scaled", rate: 0.5 })).toMatchObject({ mode: "scaled", rate: 0.5 });
  expect(await set({ rate: 1000 })).toMatchObject({ mode: "scaled", rate: 1000 });
  expect(await set({ mode: "real" })).toMatchObject({ mode: "real", rate: 1 });
  const { time } = await set({ mode: "frozen" });
  expect((await api.get<Clock>("/sim/clock")).time).toBe(time);
});

it("cannot pass the end of the year 9999, up to which requests can be signed", async () => {
  const server = await apiOfTest();
  const trader = await deriveTrader(server, 1);
  await server.post("/sim/clock", { time: "9999-12-31T23:59:59.999Z" });
  await trader.ask("GET", "/clob/orders");
  await server.refused("POST /sim/clock", "INVALID_PARAMETER", { advance: "1ms" });
});
