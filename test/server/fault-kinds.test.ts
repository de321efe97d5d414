import { connect } from "node:net";
import { setTimeout as passes } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Faults } from "../../src/server/faults.ts";
import { type Api, type Reply, startApi } from "../support/http.ts";
import { addFault, type FaultPage, isHungUp } from "./faults.ts";
import { answerTo, exchangeBytes, requestBytes } from "./raw-socket.ts";
import type { OrderPage, PlacedOrder } from "./replies.ts";
import { deriveTrader, type Trader } from "./trader.ts";

let api: Api;
let trader: Trader;
let order: { readonly tokenId: string; readonly side: "BUY"; readonly price: number; readonly size: number };

beforeEach(async () => {
  api = await startApi();
  trader = await deriveTrader(api, 1);
  const tokenId = (await api.createMarket()).tokens[0]?.tokenId ?? "";
  order = { tokenId, side: "BUY", price: 0.5, size: 5 };
});
afterEach(() => api.close());

const openOrders = async (): Promise<number> => (await trader.ask<OrderPage>("GET", "/clob/orders")).total;
const placing = () => trader.signed("POST", "/clob/order", order);
const sequenceOf = ({ headers }: Reply<unknown>): number => Number(headers["x-sim-sequence"]);

/** Waits until a fault has hit so many requests. */
async function fired(id: string, times: number): Promise<void> {
  for (;;) {
    const { data } = await api.get<FaultPage>("/sim/faults");
    if ((data.find((fault) => fault.id === id)?.fired ?? 0) >= times) return;
  }
}

describe("a fault with a status", () => {
  it.each([
    [429, "RATE_LIMITED", "1"],
    [500, "INTERNAL_ERROR", undefined],
    [502, "UNAVAILABLE", undefined],
    [503, "UNAVAILABLE", "1"],
    [504, "UNAVAILABLE", undefined],
  ] as const)(
    "answers %d %s, says that it was injected, and nothing is executed",
    async (status, code, retry) => {
      const { id } = await addFault(api, { route: "POST /clob/order", status });
      const { headers, body } = await api.refused(placing(), status, code);
      expect([headers["x-sim-fault"], headers["retry-after"]]).toEqual([id, retry]);
      expect(body.hint).toContain(`DELETE /sim/faults/${id}`);
      expect(body.details).toEqual({ fault: id });
      expect(await openOrders()).toBe(0);
    },
  );

  it("tells to come again after as many seconds as it was asked to", async () => {
    await addFault(api, { route: "/clob/time", status: 429, retryAfter: 30, times: 1 });
    await addFault(api, { route: "/clob/time", status: 503, retryAfter: 0, times: 1 });
    for (const [status, code, seconds] of [
      [429, "RATE_LIMITED", "30"],
      [503, "UNAVAILABLE", "0"],
    ] as const) {
      const { headers } = await api.refused({ method: "GET", path: "/clob/time" }, status, code);
      expect(headers["retry-after"]).toBe(seconds);
    }
  });

  it("answers before anybody looks at the signature, the query or the body", async () => {
    await addFault(api, { status: 503 });
    for (const sent of [
      { method: "POST", path: "/clob/order", body: "{" },
      { method: "GET", path: "/clob/orders" },
      { method: "GET", path: "/clob/book" },
      { method: "GET", path: "/api/markets/none?limit=x" },
    ] as const) {
      await api.refused(sent, 503, "UNAVAILABLE");
    }
  });

  it("answers HEAD like GET, without the body", async () => {
    await addFault(api, { route: "GET /clob/time", status: 503 });
    const bytes = requestBytes("HEAD /clob/time", ["Host: localhost"]);
    const { status, text } = await answerTo(api.port, bytes, { isHead: true });
    expect([status, text]).toEqual([503, ""]);
  });

  it("leaves the connection open for the next request", async () => {
    await addFault(api, { route: "POST /clob/order", status: 503 });
    const body = JSON.stringify(order);
    const head = `POST /clob/order HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    const bytes = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    const next = requestBytes("GET /clob/time", ["Host: localhost"]).toString();
    const replies = await exchangeBytes(api.port, bytes + next, { replies: 2 });
    expect(replies.map(({ status }) => status)).toEqual([503, 200]);
  });
});

describe("a fault that drops the connection", () => {
  it("hangs up without an answer, and nothing is executed", async () => {
    await addFault(api, { route: "POST /clob/order", drop: "connection", times: 2 });
    const before = await api.stateHash();
    expect([await isHungUp(api.send(placing())), await isHungUp(api.send(placing()))]).toEqual([true, true]);
    expect(await api.stateHash()).toBe(before);
    await trader.place(order);
    expect(await openOrders()).toBe(1);
  });
});

describe("a fault that drops the reply", () => {
  it("hangs up without an answer, and the request has been executed", async () => {
    await addFault(api, { route: "POST /clob/order", drop: "reply", times: 1 });
    expect(await isHungUp(api.send(placing()))).toBe(true);
    expect(await openOrders()).toBe(1);
  });

  it("does so only when an answer that takes its time is there", async () => {
    await addFault(api, { route: "POST /clob/auth/derive-api-key", drop: "reply", times: 1 });
    const { sequence } = await api.get<{ sequence: number }>("/sim");
    expect(await isHungUp(deriveTrader(api, 2))).toBe(true);
    expect((await api.get<{ sequence: number }>("/sim")).sequence).toBe(sequence + 1);
    await (await deriveTrader(api, 2)).place(order);
  });

  it("loses refusals as well, which leave no trace as ever", async () => {
    await addFault(api, { route: "POST /clob/order", drop: "reply" });
    const before = await api.stateHash();
    expect(await isHungUp(api.send(trader.signed("POST", "/clob/order", { ...order, price: 2 })))).toBe(true);
    expect(await isHungUp(api.send({ method: "POST", path: "/clob/order", body: order }))).toBe(true);
    expect(await api.stateHash()).toBe(before);
  });
});

describe("a fault with a latency", () => {
  it("lets others be executed first, then executes the request, and says so", async () => {
    const { id } = await addFault(api, { route: "POST /clob/order", latency: "500ms", times: 1 });
    const late = api.send<PlacedOrder>(placing());
    await fired(id, 1);
    const soon = await api.send<PlacedOrder>(placing());
    const answered = await late;
    expect([soon.status, answered.status]).toEqual([200, 200]);
    expect(sequenceOf(answered)).toBe(sequenceOf(soon) + 1);
    expect([soon.headers["x-sim-fault"], answered.headers["x-sim-fault"]]).toEqual([undefined, id]);
  });

  it("executes in the order in which the delays end", async () => {
    const long = await addFault(api, { route: "POST /clob/order", latency: "700ms", times: 1 });
    const short = await addFault(api, { route: "POST /clob/order", latency: "50ms", times: 1 });
    const first = api.send<PlacedOrder>(placing());
    await fired(long.id, 1);
    const second = api.send<PlacedOrder>(placing());
    await fired(short.id, 1);
    const [late, soon] = await Promise.all([first, second]);
    expect(sequenceOf(late)).toBe(sequenceOf(soon) + 1);
  });

  it("goes together with a status, or with a drop, at its end", async () => {
    const [, answer] = [
      await addFault(api, { route: "/clob/time", latency: "1ms", status: 504, times: 1 }),
      await api.send({ method: "GET", path: "/clob/time" }),
    ];
    expect(answer.status).toBe(504);
    for (const [drop, open] of [
      ["connection", 0],
      ["reply", 1],
    ] as const) {
      await addFault(api, { route: "POST /clob/order", latency: "1ms", drop, times: 1 });
      expect(await isHungUp(api.send(placing()))).toBe(true);
      expect(await openOrders()).toBe(open);
    }
  });

  it("executes the request of a client that has hung up meanwhile, like a slow network", async () => {
    const { id } = await addFault(api, { route: "POST /clob/order", latency: "200ms" });
    const { headers, body } = placing();
    const lines = Object.entries({ host: "localhost", "content-type": "application/json", ...headers });
    const head = [...lines, ["content-length", `${Buffer.byteLength(String(body))}`]].map((pair) =>
      pair.join(": "),
    );
    const socket = connect(api.port, "127.0.0.1");
    socket.write(requestBytes("POST /clob/order", head, String(body)));
    await fired(id, 1);
    socket.destroy();
    while ((await openOrders()) === 0) await passes(5);
    expect((await api.get<FaultPage>("/sim/faults")).data[0]).toMatchObject({ matched: 1, fired: 1 });
  });

  it("keeps no server from closing, which hangs up on what still waits", async () => {
    const own = await startApi();
    await addFault(own, { route: "/clob/time", latency: "1h" });
    const waiting = isHungUp(own.send({ method: "GET", path: "/clob/time" }));
    while ((await own.get<FaultPage>("/sim/faults")).data[0]?.fired !== 1);
    await own.close();
    expect(await waiting).toBe(true);
  });
});

describe("requests that wait", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("go on when their time has come, each at its own, whatever becomes of the fault", () => {
    const faults = new Faults("seed");
    const done: string[] = [];
    faults.delay(20, () => void done.push("long"));
    faults.delay(10, () => void done.push("short"));
    faults.clear();
    vi.advanceTimersByTime(19);
    expect(done).toEqual(["short"]);
    vi.advanceTimersByTime(1);
    expect(done).toEqual(["short", "long"]);
  });

  it("never go on after the server has stopped", () => {
    const faults = new Faults("seed");
    faults.delay(10, () => expect.fail("went on"));
    faults.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
