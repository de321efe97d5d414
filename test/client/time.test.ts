import { describe, expect, it, vi } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import { apiOfTest, T0, useApi } from "../support/http.ts";
import { checked, errorOf, openTrader } from "./open.ts";

const api = useApi();

/** A transport that records the paths. */
function recording(paths: string[]) {
  const send = checked(api);
  return (request: Parameters<typeof send>[0]) => {
    paths.push(request.path);
    return send(request);
  };
}

describe("a client with its own clock", () => {
  it("does not request the server's time", async () => {
    const paths: string[] = [];
    const client = await openTrader(api, 31, { time: () => T0, transport: recording(paths) });
    orThrow(await client.trades());
    expect(paths).toEqual(["/clob/auth/derive-api-key", "/clob/trades"]);
  });

  it("uses this machine's clock by default", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: T0 * 1000 + 20_500 });
    try {
      const account = await openTrader(api, 32, { time: "local" });
      expect(orThrow(await account.trades()).total).toBe(0);
      vi.setSystemTime((T0 + 31) * 1000);
      expect(errorOf(await account.trades()).code).toBe("TIMESTAMP_OUT_OF_WINDOW");
    } finally {
      vi.useRealTimers();
    }
  });

  it("gets a hint if that clock is wrong", async () => {
    const client = await openTrader(api, 33, { time: () => T0 - 300 });
    expect(errorOf(await client.trades())).toMatchObject({
      code: "TIMESTAMP_OUT_OF_WINDOW",
      status: 401,
      hint: 'synchronise with GET /clob/time: call syncTime(), or give the client time: "server"',
      details: { skewSeconds: -300 },
    });
  });

  it.each([-300, 250.9])("uses the server's time after synchronisation, %s s off", async (skew) => {
    const client = await openTrader(api, 34, { time: () => T0 + skew });
    expect(orThrow(await client.syncTime())).toEqual({ serverTime: T0, offset: -Math.floor(skew) });
    expect(orThrow(await client.trades()).total).toBe(0);
  });

  it("keeps its offset if synchronisation fails", async () => {
    let isUp = true;
    const send = checked(api);
    const client = await openTrader(api, 35, {
      time: () => T0 + 100,
      transport: (request) => (isUp ? send(request) : Promise.reject(new Error("gone"))),
    });
    orThrow(await client.syncTime());
    isUp = false;
    expect(errorOf(await client.syncTime()).code).toBe("CONNECTION_LOST");
    isUp = true;
    expect(orThrow(await client.trades()).total).toBe(0);
  });
});

describe("a client with the server's clock", () => {
  it("requests the time before signed requests only", async () => {
    const paths: string[] = [];
    const client = await openTrader(api, 36, { time: "server", transport: recording(paths) });
    paths.length = 0;
    orThrow(await client.trades());
    orThrow(await client.markets());
    orThrow(await client.cancelAll());
    expect(paths).toEqual(["/clob/time", "/clob/trades", "/api/markets", "/clob/time", "/clob/orders/all"]);
  });

  it("follows a clock that is moved", async () => {
    const own = await apiOfTest();
    const client = await openTrader(own, 1, { time: "server", transport: checked(own) });
    orThrow(await client.control.setClock({ advance: "30d" }));
    expect(orThrow(await client.trades()).total).toBe(0);
  });

  it("returns the error of the request for the time", async () => {
    let isUp = true;
    const send = checked(api);
    const client = await openTrader(api, 37, {
      time: "server",
      transport: (request) => (isUp ? send(request) : Promise.reject(new Error("gone"))),
    });
    isUp = false;
    expect(errorOf(await client.trades())).toMatchObject({ code: "CONNECTION_LOST" });
    expect(errorOf(await client.derive())).toMatchObject({ code: "CONNECTION_LOST" });
  });
});
