import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { refusedAsRpc } from "../chain-rpc/rpc.ts";
import { apiOfTest, type Method, useApi } from "../support/http.ts";
import { HOST, headerLines, refusalIn, replyTo, requestBytes } from "./raw-socket.ts";
import type { MarketPage } from "./replies.ts";
import { deriveTrader } from "./trader.ts";

const api = useApi();

it("GET /healthz has the server's status and time", async () => {
  expect(await api.get("/healthz")).toEqual({ status: "ok", time: "2026-01-01T00:00:00.000Z" });
});

it("a path that is not exactly a route is not found with a signature for any path", async () => {
  const trader = await deriveTrader(api, 1);
  for (const path of ["//orders", "/orders/", "/%6frders", "/ORDERS", "/orders#x"]) {
    for (const signed of ["/orders", path]) {
      const headers = headerLines(trader.headers("GET", `/clob${path}`, "", { path: signed }));
      const reply = await replyTo(api.port, requestBytes(`GET /clob${path}`, [HOST, ...headers]));
      expect(refusalIn(reply).code, `${path} signed as ${signed}`).toBe("ROUTE_NOT_FOUND");
    }
  }
});

describe("a method that a path does not have", () => {
  const routes = (): [path: string, methods: string[]][] =>
    Object.entries(api.document.json.paths).map(([template, operations]) => [
      template.replace("{address}", `0x${"00".repeat(20)}`).replace(/\{\w+\}/g, "x"),
      Object.keys(operations).map((method) => method.toUpperCase()),
    ]);

  it("is refused on every path, with the path's methods in Allow", async () => {
    for (const [path, methods] of routes()) {
      const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"];
      const others = ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((method) => !allowed.includes(method));
      for (const method of others as Method[]) {
        const code = "METHOD_NOT_ALLOWED";
        const { headers } =
          path === "/chain"
            ? await refusedAsRpc(api, { method, path }, { status: 405, code, rpc: -32600, ids: null })
            : await api.refused(`${method} ${path}`, code);
        expect(headers.allow?.split(", ").toSorted(), `${method} ${path}`).toEqual(allowed.toSorted());
      }
      const options = await api.send(`OPTIONS ${path}`);
      expect([options.status, options.text]).toEqual([204, ""]);
      expect(options.headers.allow?.split(", ").toSorted()).toEqual(allowed.toSorted());
    }
  });
});

describe("HEAD", () => {
  it("answers like GET, also with errors, without the body", async () => {
    const [market] = (await api.get<MarketPage>("/api/markets")).data;
    const found = ["/clob/time", "/openapi.json", `/api/markets/${market?.id}`, "/healthz", "/sim/state"];
    const statuses: number[] = [];
    for (const path of [...found, "/clob/book", "/api/markets/none", "/nowhere"]) {
      const get = await replyTo(api.port, requestBytes(`GET ${path}`));
      const head = await replyTo(api.port, requestBytes(`HEAD ${path}`), { isHead: true });
      statuses.push(get.status);
      expect([head.status, head.text]).toEqual([get.status, ""]);
      // An error has the id of its request, of any length.
      const named = found.includes(path) ? ["content-length"] : [];
      for (const name of ["content-type", "x-sim-sequence", "x-sim-time", ...named])
        expect(head.headers.get(name), name).toEqual(get.headers.get(name));
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 400, 404, 404]);
  });

  it("is signed as HEAD", async () => {
    const trader = await deriveTrader(api, 2);
    const statusOf = async (method: string): Promise<number> => {
      const headers = headerLines(trader.headers("HEAD", "/clob/orders", "", { method }));
      const bytes = requestBytes("HEAD /clob/orders", [HOST, ...headers]);
      return (await replyTo(api.port, bytes, { isHead: true })).status;
    };
    expect([await statusOf("HEAD"), await statusOf("GET")]).toEqual([200, 401]);
  });
});

describe("the headers of a response", () => {
  it("have a new id for each request", async () => {
    const ids = new Set<string | undefined>();
    for (let count = 0; count < 5; count += 1) {
      ids.add((await api.send("GET /clob/time")).headers["x-request-id"]);
    }
    expect(ids.size).toBe(5);
  });

  it("do not count connections that break", async () => {
    const fresh = await apiOfTest({ world: null });
    const takeId = async (): Promise<number> =>
      Number((await fresh.send("GET /clob/time")).headers["x-request-id"]?.slice("req-".length));
    const before = await takeId();
    const socket = connect(fresh.port, "127.0.0.1");
    socket.write(requestBytes("GET /sim/stream"));
    await once(socket, "data");
    socket.destroy();
    for (const requests of [2, 3, 4]) expect(await takeId()).toBe(before + requests);
  });

  it("have the sequence and the virtual time after the request", async () => {
    const sequenceOf = (reply: { headers: Readonly<Record<string, string>> }): number =>
      Number(reply.headers["x-sim-sequence"]);
    const before = sequenceOf(await api.send("GET /clob/time"));
    const body = { title: "One more" };
    expect(sequenceOf(await api.send("POST /sim/events", body))).toBe(before + 1);
    expect(sequenceOf(await api.send("GET /clob/time"))).toBe(before + 1);
    const advance = { advance: "1500ms" };
    const moved = await api.send("POST /sim/clock", advance);
    expect(moved.headers["x-sim-time"]).toBe("1767225601500");
  });

  it("are complete on errors too", async () => {
    for (const bytes of [
      requestBytes("GET /nowhere"),
      requestBytes("PUT /clob/time"),
      requestBytes("GET /clob/time", ["Host: evil.example"]),
      requestBytes("OPTIONS /clob/time"),
    ]) {
      const { headers } = await replyTo(api.port, bytes);
      for (const name of ["x-request-id", "x-sim-sequence", "x-sim-time"])
        expect(headers.get(name)).toHaveLength(1);
    }
  });

  it("do not name the server's software, and have no date of the machine", async () => {
    const { headers } = await api.send("GET /clob/time");
    for (const name of ["x-powered-by", "server", "date", "etag"]) expect(headers[name]).toBeUndefined();
  });
});
