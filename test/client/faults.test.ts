import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import type { ExchangeClient } from "../../src/client/client.ts";
import type { Fault, Snapshot } from "../../src/client/messages.ts";
import { orThrow } from "../../src/client/result.ts";
import { type Api, startApi } from "../support/http.ts";
import { errorOf, openTrader } from "./opened.ts";

let api: Api;
let client: ExchangeClient;
let tokenId = "";

beforeAll(async () => {
  api = await startApi();
  client = await openTrader(api, 71);
  const { tokens } = orThrow(await client.control.createMarket({ question: "Faulty?" }));
  tokenId = tokens[0]?.tokenId ?? "";
});
afterAll(() => api.close());
beforeEach(async () => {
  orThrow(await client.control.clearFaults());
});

const place = () => client.place({ tokenId, side: "BUY", price: 0.5, size: 10 });

describe("an injected fault", () => {
  it.each([
    [429, "RATE_LIMITED"],
    [500, "INTERNAL_ERROR"],
    [502, "UNAVAILABLE"],
    [503, "UNAVAILABLE"],
  ] as const)(
    "of status %i is an error with its code, and hits as often as it is told to",
    async (status, code) => {
      orThrow(await client.control.addFault({ route: "POST /order", status, times: 1 }));
      expect(errorOf(await place())).toMatchObject({
        code,
        status,
        hint: expect.stringMatching(/fault-\d+/),
      });
      expect(orThrow(await place()).status).toBe("LIVE");
    },
  );

  it("says after how many seconds to try again, where it is told to", async () => {
    orThrow(await client.control.addFault({ route: "POST /order", status: 429, retryAfter: 12, times: 1 }));
    expect(errorOf(await place())).toMatchObject({ code: "RATE_LIMITED", retryAfter: 12 });
    orThrow(await client.control.addFault({ route: "POST /order", status: 500, times: 1 }));
    expect(errorOf(await place())).toMatchObject({ code: "INTERNAL_ERROR", retryAfter: null });
  });

  it("drops the connection before the order is placed", async () => {
    const { total } = orThrow(await client.openOrders());
    orThrow(await client.control.addFault({ route: "POST /order", drop: "connection", times: 1 }));
    expect(errorOf(await place()).code).toBe("CONNECTION_LOST");
    expect(orThrow(await client.openOrders()).total).toBe(total);
  });

  it("drops the reply of an order that is placed, which the client does not send again", async () => {
    const { total } = orThrow(await client.openOrders());
    orThrow(await client.control.addFault({ route: "POST /order", drop: "reply", times: 1 }));
    expect(errorOf(await place()).code).toBe("CONNECTION_LOST");
    expect(orThrow(await client.openOrders()).total).toBe(total + 1);
  });

  it("is listed, removed by its id, and with all others", async () => {
    const fault = orThrow(await client.control.addFault({ route: "GET /book", status: 500 }));
    expectTypeOf(fault).toEqualTypeOf<Fault>();
    expectTypeOf(fault.remaining).toEqualTypeOf<number | null>();
    expect(orThrow(await client.control.faults()).data).toEqual([fault]);
    expect(orThrow(await client.control.deleteFault(fault.id))).toEqual(fault);
    expect(errorOf(await client.control.deleteFault(fault.id))).toMatchObject({ code: "FAULT_NOT_FOUND" });
    const other = orThrow(await client.control.addFault({ route: "GET /book", latency: "1ms" }));
    expect(orThrow(await client.control.clearFaults())).toEqual({ removed: [other.id] });
  });

  it("is refused when there is no such route", async () => {
    expect(errorOf(await client.control.addFault({ route: "POST /ordr", status: 500 }))).toMatchObject({
      code: "INVALID_PARAMETER",
      status: 400,
    });
  });
});

describe("a snapshot", () => {
  it("is gone back to by its id or its name, the clock with it", async () => {
    const own = await startApi();
    const trader = await openTrader(own, 1, { time: "server" });
    const kept = orThrow(await trader.control.snapshot("before noon"));
    expectTypeOf(kept).toEqualTypeOf<Snapshot>();
    const unnamed = orThrow(await trader.control.snapshot());
    expect(unnamed).toMatchObject({ name: null, hash: kept.hash });
    orThrow(await trader.control.createEvent({ title: "Soon undone" }));
    orThrow(await trader.control.setClock({ advance: "1h" }));
    const restored = orThrow(await trader.control.restore("before noon"));
    expect(restored).toMatchObject({ stateHash: kept.hash, clock: { time: kept.time } });
    orThrow(await trader.control.createEvent({ title: "Undone too" }));
    expect(orThrow(await trader.control.restore(unnamed.id)).stateHash).toBe(kept.hash);
    expect(orThrow(await trader.trades()).total).toBe(0);
    await own.close();
  });

  it("is listed until it is deleted", async () => {
    const { id } = orThrow(await client.control.snapshot());
    const idsOf = async () => orThrow(await client.control.snapshots()).data.map((snapshot) => snapshot.id);
    expect(await idsOf()).toContain(id);
    expect(orThrow(await client.control.deleteSnapshot(id)).id).toBe(id);
    expect(await idsOf()).not.toContain(id);
    expect(errorOf(await client.control.restore(id))).toMatchObject({ code: "SNAPSHOT_NOT_FOUND" });
  });
});
