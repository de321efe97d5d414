import { expect, it } from "vitest";
import { apiOfTest, T0, useApi } from "../support/http.ts";
import type { Clock, ClockChange } from "./replies.ts";
import { deriveTrader } from "./trader.ts";

const api = useApi();

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
