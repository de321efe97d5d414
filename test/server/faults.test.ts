import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { Faults } from "../../src/server/faults.ts";
import type * as http from "../support/http.ts";
import { apiOfTest, startApi, useApi } from "../support/http.ts";
import { HOST, headerLines, JSON_BODY, repliesTo, replyTo, requestBytes } from "./raw-socket.ts";
import type { Fault, FaultPage, NewFault, OrderPage, PlacedOrder } from "./replies.ts";
import { deriveTrader, type Trader } from "./trader.ts";

const api = useApi();
beforeEach(() => api.post("/sim/reset"));

const addFault = (fault: NewFault, own = api): Promise<Fault> => own.post("/sim/faults", fault);
const onOrders = (fault: NewFault): Promise<Fault> =>
  addFault({ route: "POST /clob/order", times: 1, ...fault });

/** Whether the server resets the connection without an answer. @throws any other error. */
const isHungUp = (sending: Promise<unknown>): Promise<boolean> =>
  sending.then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ECONNRESET" || Promise.reject(error),
  );

const statusOf = async (route: http.Route): Promise<number> => (await api.send(route)).status;
async function statuses(count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) found.push(await statusOf("GET /clob/time"));
  return found;
}

it("the route * of a fault matches every endpoint of the imitated service and no other", async () => {
  await addFault({ status: 503 });
  for (const [path, operations] of Object.entries(api.document.json.paths)) {
    const isImitated = path.startsWith("/api/") || path.startsWith("/clob/") || path === "/chain";
    const method = Object.keys(operations)[0]?.toUpperCase() as http.Method;
    // The live feed does not end.
    if (["/sim/faults", "/sim/reset", "/sim/stream"].includes(path)) continue;
    const status = await statusOf(`${method} ${path.replace(/\{\w+\}/g, "x")}`);
    expect(status === 503, `${method} ${path} answers ${status}`).toBe(isImitated);
  }
  const others = ["GET /nowhere", "PUT /clob/time", "OPTIONS /clob/time"] as const;
  expect(await Promise.all(others.map(statusOf))).toEqual([404, 405, 204]);
});

describe("the number of firings of a fault", () => {
  it("depends on seed and id only: it repeats after a reset and on another server", async () => {
    const chance: NewFault = { route: "/clob/time", status: 503, probability: 0.5 };
    const other = await apiOfTest();
    const firings = async (own: http.Api): Promise<string> => {
      await addFault(chance, own);
      let marks = "";
      while (marks.length < 64) marks += (await own.send("GET /clob/time")).status === 503 ? "x" : ".";
      return marks;
    };
    const first = await firings(api);
    expect(first.replaceAll(".", "").length).toBeGreaterThan(16);
    expect(first.replaceAll("x", "").length).toBeGreaterThan(16);
    expect(await firings(other)).toBe(first);
    await api.send("DELETE /sim/faults");
    expect(await firings(api)).not.toBe(first);
    await api.post("/sim/reset");
    expect(await firings(api)).toBe(first);
  });

  it("does not depend on other faults: each counts and draws for every request of its route", async () => {
    const chance: NewFault = { route: "/clob/time", status: 503, probability: 0.5, after: 3 };
    await addFault({ route: "/clob/book", status: 500 });
    await addFault(chance);
    const alone = await statuses(40);
    await api.post("/sim/reset");
    await addFault({ route: "/clob/time", status: 502, times: 10 });
    await addFault(chance);
    expect(await statuses(40)).toEqual([...Array(10).fill(502), ...alone.slice(10)]);
  });
});

let trader: Trader;
let order: { readonly tokenId: string; readonly side: "BUY"; readonly price: number; readonly size: number };

beforeEach(async () => {
  trader = await deriveTrader(api, 1);
  const tokenId = await api.newToken();
  order = { tokenId, side: "BUY", price: 0.5, size: 5 };
});

const openOrders = async (): Promise<number> => (await trader.ask<OrderPage>("GET", "/clob/orders")).total;
const placing = () => trader.signed("POST", "/clob/order", order);
const sequenceOf = ({ headers }: http.Reply<unknown>): number => Number(headers["x-sim-sequence"]);

/** Waits until a fault has fired `times` times. */
async function untilFired(id: string, times: number): Promise<void> {
  for (;;) {
    const { data } = await api.get<FaultPage>("/sim/faults");
    if ((data.find((fault) => fault.id === id)?.fired ?? 0) >= times) return;
  }
}

describe("a fault with a status", () => {
  it("answers HEAD like GET, without the body", async () => {
    await addFault({ route: "GET /clob/time", status: 503 });
    const { status, text } = await replyTo(api.port, requestBytes("HEAD /clob/time"), { isHead: true });
    expect([status, text]).toEqual([503, ""]);
  });

  it("leaves the connection open for the next request", async () => {
    await onOrders({ status: 503 });
    const body = JSON.stringify(order);
    const first = requestBytes("POST /clob/order", [HOST, JSON_BODY], body, "keep-alive");
    const bytes = Buffer.concat([first, requestBytes("GET /clob/time")]);
    const replies = await repliesTo(api.port, bytes, { replies: 2 });
    expect(replies.map(({ status }) => status)).toEqual([503, 200]);
  });
});

describe("a fault that drops", () => {
  it.each([
    ["connection", undefined, 0],
    ["connection", "1ms", 0],
    ["reply", undefined, 1],
    ["reply", "1ms", 1],
  ] as const)(
    "the %s resets it without an answer; with latency %s, %i orders are placed",
    async (drop, latency, placed) => {
      await onOrders({ drop, ...(latency && { latency }) });
      expect(await isHungUp(api.send(placing()))).toBe(true);
      expect(await openOrders()).toBe(placed);
    },
  );

  it("the reply waits for an asynchronous answer", async () => {
    await addFault({ route: "POST /clob/auth/derive-api-key", drop: "reply", times: 1 });
    const { sequence } = await api.get<{ sequence: number }>("/sim");
    expect(await isHungUp(deriveTrader(api, 2))).toBe(true);
    expect((await api.get<{ sequence: number }>("/sim")).sequence).toBe(sequence + 1);
    await (await deriveTrader(api, 2)).place(order);
  });

  it("replies, also drops refusals, which change nothing", async () => {
    await onOrders({ drop: "reply", times: 2 });
    const before = await api.stateHash();
    expect(await isHungUp(trader.send("POST /clob/order", { ...order, price: 2 }))).toBe(true);
    expect(await isHungUp(api.send("POST /clob/order", order))).toBe(true);
    expect(await api.stateHash()).toBe(before);
  });
});

describe("a fault with a latency", () => {
  /** Delays pass when the test says so, however slow the machine is. */
  const holdTimers = (): void => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
  };

  it("executes the request after later ones, and names the fault in a header", async () => {
    holdTimers();
    const { id } = await onOrders({ latency: "500ms" });
    const late = api.send<PlacedOrder>(placing());
    await untilFired(id, 1);
    const soon = await api.send<PlacedOrder>(placing());
    vi.advanceTimersByTime(500);
    const answered = await late;
    expect([soon.status, answered.status]).toEqual([200, 200]);
    expect(sequenceOf(answered)).toBe(sequenceOf(soon) + 1);
    expect([soon.headers["x-sim-fault"], answered.headers["x-sim-fault"]]).toEqual([undefined, id]);
  });

  it("executes in the order in which the delays end", async () => {
    holdTimers();
    const long = await onOrders({ latency: "700ms" });
    const short = await onOrders({ latency: "50ms" });
    const first = api.send<PlacedOrder>(placing());
    await untilFired(long.id, 1);
    const second = api.send<PlacedOrder>(placing());
    await untilFired(short.id, 1);
    vi.advanceTimersByTime(700);
    const [late, soon] = await Promise.all([first, second]);
    expect(sequenceOf(late)).toBe(sequenceOf(soon) + 1);
  });

  it("executes the request of a client that has closed the connection, like a slow network", async () => {
    const { id } = await onOrders({ latency: "200ms" });
    const { headers, body } = placing();
    const lines = [HOST, JSON_BODY, ...headerLines(headers ?? {})];
    const socket = connect(api.port, "127.0.0.1");
    socket.write(requestBytes("POST /clob/order", lines, String(body)));
    await untilFired(id, 1);
    socket.destroy();
    while ((await openOrders()) === 0) await sleep(5);
    expect((await api.get<FaultPage>("/sim/faults")).data[0]).toMatchObject({ matched: 1, fired: 1 });
  });

  it("does not delay the closing of the server, which resets waiting connections", async () => {
    const own = await startApi();
    await addFault({ route: "/clob/time", latency: "1h" }, own);
    const waiting = isHungUp(own.send("GET /clob/time"));
    while ((await own.get<FaultPage>("/sim/faults")).data[0]?.fired !== 1);
    await own.close();
    expect(await waiting).toBe(true);
  });
});

describe("delayed requests", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("continue at their own times, even if the fault is removed", () => {
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

  it("wait for the sum of the latencies of the faults that apply", () => {
    const faults = new Faults("seed");
    const plan = { route: "*", operations: new Set(["getTime"] as const), retryAfter: null, latency: null };
    const always = { probability: 1, times: null, after: 0 };
    faults.add({ ...plan, ...always, status: null, drop: null, latencyMs: 20 });
    faults.add({ ...plan, ...always, status: 503, drop: null, latencyMs: 5 });
    expect(faults.apply("getTime")).toMatchObject({ latencyMs: 25, status: 503, id: "fault-2" });
  });

  it("never continue after the server has stopped", () => {
    const faults = new Faults("seed");
    faults.delay(10, () => expect.fail("continued"));
    faults.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});
