import { connect } from "node:net";
import { setTimeout as passes } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Faults } from "../../src/server/faults.ts";
import { type Api, type Method, type Reply, startApi, useApi } from "../support/http.ts";
import { addFault, isHungUp } from "./faults.ts";
import { answerTo, exchangeBytes, requestBytes } from "./raw-socket.ts";
import type { Fault, FaultPage, Info, NewFault, OrderPage, PlacedOrder } from "./replies.ts";
import { deriveTrader, type Trader } from "./trader.ts";

const api = useApi();
beforeEach(() => api.post("/sim/reset"));

const all = async (): Promise<readonly Fault[]> => (await api.get<FaultPage>("/sim/faults")).data;
const statusOf = async (method: Method, path: string): Promise<number> =>
  (await api.send(`${method} ${path}`)).status;
/** The statuses of a row of requests for the time. */
async function row(count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push(await statusOf("GET", "/clob/time"));
  return statuses;
}

describe("POST /sim/faults", () => {
  it("answers the fault as it stands, with what was left out", async () => {
    expect(await addFault(api, { status: 503 })).toEqual({
      id: "fault-1",
      route: "*",
      status: 503,
      retryAfter: 1,
      latency: null,
      drop: null,
      probability: 1,
      times: null,
      after: 0,
      matched: 0,
      fired: 0,
      remaining: null,
    });
    const whole = { latency: "1m30s", drop: "reply", probability: 0.25, times: 3, after: 2 } as const;
    expect(await addFault(api, { route: "POST /order", ...whole })).toEqual({
      id: "fault-2",
      route: "POST /clob/order",
      status: null,
      retryAfter: null,
      ...whole,
      matched: 0,
      fired: 0,
      remaining: 3,
    });
  });

  it.each<[Record<string, unknown>, ...string[]]>([
    [{}, "status", "latency", "drop"],
    [{ route: "*", times: 1 }, "status", "latency", "drop"],
    [{ status: 200 }, "status"],
    [{ status: "503" }, "status"],
    [{ status: 503, drop: "reply" }, "status", "drop"],
    [{ drop: "socket" }, "drop"],
    [{ latency: "soon" }, "latency"],
    [{ latency: 200 }, "latency"],
    [{ latency: "2h" }, "latency"],
    [{ status: 500, retryAfter: 1 }, "retryAfter"],
    [{ latency: "1s", retryAfter: 1 }, "retryAfter"],
    [{ status: 429, retryAfter: -1 }, "retryAfter"],
    [{ status: 429, retryAfter: 0.5 }, "retryAfter"],
    [{ status: 503, probability: 1.1 }, "probability"],
    [{ status: 503, probability: -0.1 }, "probability"],
    [{ status: 503, times: 0 }, "times"],
    [{ status: 503, times: 1.5 }, "times"],
    [{ status: 503, after: -1 }, "after"],
    [{ status: 503, route: "" }, "route"],
    [{ status: 503, route: 5 }, "route"],
  ])("refuses %j", async (body, ...fields) => {
    const refusal = await api.refused("POST /sim/faults", "INVALID_PARAMETER", body);
    expect(refusal.body.details).toEqual({ fields });
    expect(await all()).toEqual([]);
  });

  it("keeps a thousand and no more", async () => {
    for (let count = 0; count < 1000; count += 1) await addFault(api, { route: "/clob/time", status: 503 });
    const body = { status: 503 };
    await api.refused("POST /sim/faults", "LIMIT_REACHED", body);
  });
});

describe("the route of a fault", () => {
  it.each([
    ["POST /clob/order", "POST /clob/order"],
    ["POST /order", "POST /clob/order"],
    ["/order", "/clob/order"],
    ["GET /api/markets/{id}", "GET /api/markets/{idOrSlug}"],
    ["GET  /api/markets/{idOrSlug}/trades", "GET /api/markets/{idOrSlug}/trades"],
    ["/api/events/{}", "/api/events/{idOrSlug}"],
    ["*", "*"],
  ])("may be written %j", async (route, written) => {
    expect((await addFault(api, { route, status: 503 })).route).toBe(written);
  });

  it.each([
    ["POST /clob/ordr", "did you mean POST /clob/order?"],
    ["POST /ordr", "did you mean POST /clob/order?"],
    ["PUT /clob/order", "did you mean POST /clob/order?"],
    ["post /clob/order", "did you mean POST /clob/order?"],
    ["GET /markets", "did you mean GET /api/markets?"],
    ["/clob/books", "did you mean /clob/book?"],
    ["GET /clob/time/", "did you mean GET /clob/time?"],
    ["nowhere at all", "GET /openapi.json lists all routes"],
    ["GET /sim/clock", "never the control plane"],
    ["/sim/accounts/{address}/fund", "never the control plane"],
    ["GET /healthz", "never the control plane, /healthz or /openapi.json"],
    ["/openapi.json", "never the control plane, /healthz or /openapi.json"],
  ])("names an endpoint that takes faults, else the nearest is named: %j", async (route, hint) => {
    const body = { route, status: 503 };
    const refusal = await api.refused("POST /sim/faults", "INVALID_PARAMETER", body);
    expect(refusal.body.details).toEqual({ fields: ["route"] });
    expect(refusal.body.hint).toContain(hint);
  });

  it("with a method hits that method alone, without one all methods of the path", async () => {
    await addFault(api, { route: "DELETE /clob/order", status: 503 });
    expect([await statusOf("DELETE", "/clob/order"), await statusOf("POST", "/clob/order")]).toEqual([
      503, 401,
    ]);
    await addFault(api, { route: "/clob/order", status: 504 });
    expect([await statusOf("DELETE", "/clob/order"), await statusOf("POST", "/clob/order")]).toEqual([
      503, 504,
    ]);
    expect(await statusOf("GET", "/clob/orders")).toBe(401);
  });

  it("with a parameter hits every path of that form", async () => {
    await addFault(api, { route: "GET /api/markets/{id}", status: 503 });
    expect(await statusOf("GET", "/api/markets/any")).toBe(503);
    expect(await statusOf("GET", "/api/markets/any/trades")).toBe(404);
    expect(await statusOf("GET", "/api/markets")).toBe(200);
  });

  it("that is * hits whatever the imitated service answers, and nothing else", async () => {
    await addFault(api, { status: 503 });
    for (const [path, operations] of Object.entries(api.document.json.paths)) {
      const isImitated = path.startsWith("/api/") || path.startsWith("/clob/") || path === "/chain";
      const method = Object.keys(operations)[0]?.toUpperCase() as Method;
      // The live feed does not end.
      if (["/sim/faults", "/sim/reset", "/sim/stream"].includes(path)) continue;
      const status = await statusOf(method, path.replace(/\{\w+\}/g, "x"));
      expect(status === 503, `${method} ${path} answers ${status}`).toBe(isImitated);
    }
    expect(await statusOf("GET", "/nowhere")).toBe(404);
    expect(await statusOf("PUT", "/clob/time")).toBe(405);
    expect(await statusOf("OPTIONS", "/clob/time")).toBe(204);
  });
});

describe("how often a fault fires", () => {
  it("is as often as it is told, then never again, and it stays listed", async () => {
    await addFault(api, { route: "/clob/time", status: 503, times: 2 });
    expect(await row(4)).toEqual([503, 503, 200, 200]);
    expect(await all()).toMatchObject([{ times: 2, matched: 4, fired: 2, remaining: 0 }]);
  });

  it("begins after as many requests of its route as it lets pass", async () => {
    await addFault(api, { route: "/clob/time", status: 503, after: 2, times: 1 });
    await statusOf("GET", "/clob/book");
    expect(await row(4)).toEqual([200, 200, 503, 200]);
    expect(await all()).toMatchObject([{ after: 2, matched: 4, fired: 1, remaining: 0 }]);
  });

  it("is never with probability 0, and always with 1", async () => {
    await addFault(api, { route: "/clob/time", status: 503, probability: 0 });
    await addFault(api, { route: "/clob/time", status: 504, probability: 1 });
    expect(await row(20)).toEqual(Array(20).fill(504));
  });

  it("is a chance that seed and id decide: the same again after a reset and on another server", async () => {
    const chance: NewFault = { route: "/clob/time", status: 503, probability: 0.5 };
    const other = await startApi();
    const struck = async (own: Api): Promise<string> => {
      await addFault(own, chance);
      let marks = "";
      for (let count = 0; count < 64; count += 1) {
        marks += (await own.send("GET /clob/time")).status === 503 ? "x" : ".";
      }
      return marks;
    };
    const first = await struck(api);
    expect(first.replaceAll(".", "").length).toBeGreaterThan(16);
    expect(first.replaceAll("x", "").length).toBeGreaterThan(16);
    expect(await struck(other)).toBe(first);
    await api.send("DELETE /sim/faults");
    expect(await struck(api)).not.toBe(first);
    await api.post("/sim/reset");
    expect(await struck(api)).toBe(first);
    await other.close();
  });

  it("is not shifted by another fault: each counts and draws for every request of its route", async () => {
    const chance: NewFault = { route: "/clob/time", status: 503, probability: 0.5, after: 3 };
    await addFault(api, { route: "/clob/book", status: 500 });
    await addFault(api, chance);
    const alone = await row(40);
    await api.post("/sim/reset");
    await addFault(api, { route: "/clob/time", status: 502, times: 10 });
    await addFault(api, chance);
    expect(await row(40)).toEqual([...Array(10).fill(502), ...alone.slice(10)]);
  });

  it("does not count requests that an earlier fault has won", async () => {
    await addFault(api, { route: "/clob/time", status: 502, times: 2 });
    await addFault(api, { route: "*", status: 503, times: 1 });
    expect(await row(4)).toEqual([502, 502, 503, 200]);
    expect(await all()).toMatchObject([
      { matched: 4, fired: 2 },
      { matched: 4, fired: 1 },
    ]);
  });
});

describe("faults in force", () => {
  it("are listed, oldest first, in pages", async () => {
    const added = [
      await addFault(api, { status: 503, route: "/clob/time" }),
      await addFault(api, { latency: "5ms" }),
      await addFault(api, { drop: "connection", route: "/clob/time" }),
    ];
    expect(await all()).toEqual(added);
    const page = { data: added.slice(1, 2), limit: 1, offset: 1, total: 3, hasMore: true };
    expect(await api.get<FaultPage>("/sim/faults?limit=1&offset=1")).toEqual(page);
  });

  it("end when they are removed, one by one or all, and their ids are not given again", async () => {
    await addFault(api, { route: "/clob/time", status: 502 });
    await addFault(api, { route: "/clob/time", status: 503 });
    const { body } = await api.send<Fault>("DELETE /sim/faults/fault-1");
    expect(body).toMatchObject({ id: "fault-1", fired: 0 });
    expect(await row(1)).toEqual([503]);
    await addFault(api, { route: "/clob/time", status: 504 });
    const removed = await api.send("DELETE /sim/faults");
    expect(removed.body).toEqual({ removed: ["fault-2", "fault-3"] });
    expect([await row(1), await all()]).toEqual([[200], []]);
    expect((await addFault(api, { status: 503 })).id).toBe("fault-4");
  });

  it("are not found by an id that none has", async () => {
    const gone = { method: "DELETE", path: "/sim/faults/fault-1" } as const;
    expect((await api.refused(gone, "FAULT_NOT_FOUND")).body.hint).toContain("there are none");
    await addFault(api, { status: 503 });
    await addFault(api, { status: 503 });
    await api.send(gone);
    expect((await api.refused(gone, "FAULT_NOT_FOUND")).body.hint).toContain("GET /sim/faults");
  });

  it("are no part of the exchange: neither its state nor a snapshot holds them, and a reset ends them", async () => {
    const before = await api.get<Info>("/sim");
    await api.post("/sim/snapshots");
    await addFault(api, { route: "/clob/time", status: 503, times: 5 });
    expect(await row(2)).toEqual([503, 503]);
    expect(await api.get<Info>("/sim")).toEqual(before);
    await api.post("/sim/snapshots/snapshot-1/restore");
    expect([await row(1), (await all())[0]?.remaining]).toEqual([[503], 2]);
    await api.post("/sim/reset");
    expect([await row(1), await all()]).toEqual([[200], []]);
    expect((await addFault(api, { status: 503 })).id).toBe("fault-1");
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
      const { headers, body } = await api.refused(placing(), code);
      expect([headers["x-sim-fault"], headers["retry-after"]]).toEqual([id, retry]);
      expect(body.hint).toContain(`DELETE /sim/faults/${id}`);
      expect(body.details).toEqual({ fault: id });
      expect(await openOrders()).toBe(0);
    },
  );

  it("tells to come again after as many seconds as it was asked to", async () => {
    await addFault(api, { route: "/clob/time", status: 429, retryAfter: 30, times: 1 });
    await addFault(api, { route: "/clob/time", status: 503, retryAfter: 0, times: 1 });
    const [limited, unavailable] = [
      await api.refused("GET /clob/time", "RATE_LIMITED"),
      await api.refused("GET /clob/time", "UNAVAILABLE"),
    ];
    expect([limited.headers["retry-after"], unavailable.headers["retry-after"]]).toEqual(["30", "0"]);
  });

  it("answers before anybody looks at the signature, the query or the body", async () => {
    await addFault(api, { status: 503 });
    for (const sent of [
      { method: "POST", path: "/clob/order", body: "{" },
      { method: "GET", path: "/clob/orders" },
      { method: "GET", path: "/clob/book" },
      { method: "GET", path: "/api/markets/none?limit=x" },
    ] as const) {
      await api.refused(sent, "UNAVAILABLE");
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
    expect(await isHungUp(trader.send("POST /clob/order", { ...order, price: 2 }))).toBe(true);
    expect(await isHungUp(api.send("POST /clob/order", order))).toBe(true);
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
      await api.send("GET /clob/time"),
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
    const waiting = isHungUp(own.send("GET /clob/time"));
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
