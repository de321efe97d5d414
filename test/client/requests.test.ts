import { describe, expect, it } from "vitest";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { ExchangeClient } from "../../src/client/client.ts";
import type { Result } from "../../src/client/result.ts";
import type { HttpRequest } from "../../src/client/transport.ts";

const CREDENTIALS = { address: "0xa", apiKey: "k", secret: "s", passphrase: "p" } as const;

type Call = (client: ExchangeClient) => Promise<Result<unknown>>;

/** What a client sends for one call, to a server that answers an empty object. */
async function sentBy(call: Call): Promise<HttpRequest[]> {
  const sent: HttpRequest[] = [];
  const client = new ExchangeClient("http://127.0.0.1:7070", {
    credentials: CREDENTIALS,
    account: { address: "0xa", signTypedData: async () => "0xb", signMessage: async () => "0xc" },
    time: () => 1000,
    transport: async (request) => {
      sent.push(request);
      return { status: 200, headers: {}, text: "{}" };
    },
  });
  await call(client);
  return sent;
}

/** The endpoint as the contract writes it, what is sent to it, its body, and the call that does. */
const CALLS: readonly (readonly [endpoint: string, target: string, body: object | null, call: Call])[] = [
  [
    "POST /clob/auth/derive-api-key",
    "/clob/auth/derive-api-key",
    { address: "0xa", signature: "0xb", timestamp: "1000", nonce: "7" },
    (client) => client.derive(7),
  ],
  [
    "POST /clob/order",
    "/clob/order",
    { tokenId: "1", side: "BUY", price: 0.5, size: 10, orderType: "FAK" },
    (client) => client.place({ tokenId: "1", side: "BUY", price: 0.5, size: 10, orderType: "FAK" }),
  ],
  ["DELETE /clob/order", "/clob/order", { orderId: "o" }, (client) => client.cancel("o")],
  ["DELETE /clob/orders/all", "/clob/orders/all", null, (client) => client.cancelAll()],
  [
    "GET /clob/orders",
    "/clob/orders?token_id=1&market=rain&side=BUY&limit=2&offset=4",
    null,
    (client) => client.openOrders({ tokenId: "1", market: "rain", side: "BUY", limit: 2, offset: 4 }),
  ],
  [
    "GET /clob/trades",
    "/clob/trades?token_id=1&market=rain&order=o&before=9&after=3&limit=2",
    null,
    (client) => client.trades({ tokenId: "1", market: "rain", order: "o", before: 9, after: 3, limit: 2 }),
  ],
  ["GET /clob/book", "/clob/book?token_id=1", null, (client) => client.book("1")],
  ["GET /clob/tick-size", "/clob/tick-size?token_id=1", null, (client) => client.tickSize("1")],
  ["GET /clob/fee-rate", "/clob/fee-rate?token_id=1", null, (client) => client.feeRate("1")],
  ["GET /clob/time", "/clob/time", null, (client) => client.serverTime()],
  [
    "GET /api/markets",
    "/api/markets?active=true&sort=volume&tag=sport&limit=2&offset=4",
    null,
    (client) => client.markets({ active: true, sort: "volume", tag: "sport", limit: 2, offset: 4 }),
  ],
  ["GET /api/markets/{idOrSlug}", "/api/markets/rain", null, (client) => client.market("rain")],
  [
    "GET /api/markets/{idOrSlug}/prices-history",
    "/api/markets/rain/prices-history?tokenId=1&startTs=3&endTs=9&fidelity=5",
    null,
    (client) => client.history("rain", { tokenId: "1", startTs: 3, endTs: 9, fidelity: 5 }),
  ],
  [
    "GET /api/markets/{idOrSlug}/trades",
    "/api/markets/rain/trades?all=true&limit=2",
    null,
    (client) => client.marketTrades("rain", { all: true, limit: 2 }),
  ],
  [
    "GET /api/events",
    "/api/events?active=false&tag=sport",
    null,
    (client) => client.events({ active: false, tag: "sport" }),
  ],
  ["GET /api/events/{idOrSlug}", "/api/events/rain", null, (client) => client.event("rain")],
  [
    "GET /api/search",
    "/api/search?q=rain%20%26%20snow&limit=2&offset=4",
    null,
    (client) => client.search("rain & snow", { limit: 2, offset: 4 }),
  ],
  ["GET /sim", "/sim", null, ({ control }) => control.info()],
  ["GET /sim/clock", "/sim/clock", null, ({ control }) => control.clock()],
  ["POST /sim/clock", "/sim/clock", { advance: "2h" }, ({ control }) => control.setClock({ advance: "2h" })],
  ["POST /sim/reset", "/sim/reset", null, ({ control }) => control.reset()],
  ["GET /sim/state", "/sim/state", null, ({ control }) => control.state()],
  ["GET /sim/state/hash", "/sim/state/hash", null, ({ control }) => control.stateHash()],
  ["GET /sim/invariants", "/sim/invariants", null, ({ control }) => control.invariants()],
  ["GET /sim/accounts", "/sim/accounts?limit=2", null, ({ control }) => control.accounts({ limit: 2 })],
  ["GET /sim/accounts/{address}", "/sim/accounts/0xa", null, ({ control }) => control.account("0xa")],
  [
    "POST /sim/accounts/{address}/fund",
    "/sim/accounts/0xa/fund",
    { collateral: 5, tokens: { 1: 2 } },
    ({ control }) => control.fund("0xa", { collateral: 5, tokens: { 1: 2 } }),
  ],
  [
    "POST /sim/events",
    "/sim/events",
    { title: "Rain" },
    ({ control }) => control.createEvent({ title: "Rain" }),
  ],
  [
    "POST /sim/markets",
    "/sim/markets",
    { question: "Rain?", tickSize: 0.001 },
    ({ control }) => control.createMarket({ question: "Rain?", tickSize: 0.001 }),
  ],
  [
    "POST /sim/markets/{idOrSlug}/close",
    "/sim/markets/rain/close",
    null,
    ({ control }) => control.close("rain"),
  ],
  [
    "POST /sim/markets/{idOrSlug}/resolve",
    "/sim/markets/rain/resolve",
    { winningOutcome: "NO" },
    ({ control }) => control.resolve("rain", "NO"),
  ],
  ["GET /sim/report", "/sim/report?reason=a%20stop", null, ({ control }) => control.report("a stop")],
  ["GET /sim/orders/{id}", "/sim/orders/o", null, ({ control }) => control.order("o")],
  [
    "POST /sim/explain-auth",
    "/sim/explain-auth",
    { method: "GET", url: "/clob/orders", headers: {} },
    ({ control }) => control.explainAuth({ method: "GET", url: "/clob/orders", headers: {} }),
  ],
  ["GET /sim/scenario", "/sim/scenario?name=rain", null, ({ control }) => control.scenario("rain")],
  ["POST /sim/snapshots", "/sim/snapshots", { name: "a" }, ({ control }) => control.snapshot("a")],
  ["GET /sim/snapshots", "/sim/snapshots?offset=3", null, ({ control }) => control.snapshots({ offset: 3 })],
  [
    "POST /sim/snapshots/{idOrName}/restore",
    "/sim/snapshots/before%20noon/restore",
    null,
    ({ control }) => control.restore("before noon"),
  ],
  [
    "DELETE /sim/snapshots/{idOrName}",
    "/sim/snapshots/a",
    null,
    ({ control }) => control.deleteSnapshot("a"),
  ],
  [
    "POST /sim/faults",
    "/sim/faults",
    { route: "POST /order", status: 503, times: 1 },
    ({ control }) => control.addFault({ route: "POST /order", status: 503, times: 1 }),
  ],
  ["GET /sim/faults", "/sim/faults", null, ({ control }) => control.faults()],
  ["DELETE /sim/faults", "/sim/faults", null, ({ control }) => control.clearFaults()],
  ["DELETE /sim/faults/{id}", "/sim/faults/fault-1", null, ({ control }) => control.deleteFault("fault-1")],
  ["GET /sim/chain", "/sim/chain", null, ({ control }) => control.chain.info()],
  [
    "GET /sim/chain/blocks",
    "/sim/chain/blocks?limit=3",
    null,
    ({ control }) => control.chain.blocks({ limit: 3 }),
  ],
  ["GET /sim/chain/pending", "/sim/chain/pending", null, ({ control }) => control.chain.pending()],
  [
    "GET /sim/chain/supply/{idOrSlug}",
    "/sim/chain/supply/rain",
    null,
    ({ control }) => control.chain.supply("rain"),
  ],
  ["POST /sim/chain/mine", "/sim/chain/mine", { blocks: 2 }, ({ control }) => control.chain.mine(2)],
  ["POST /sim/chain/bump", "/sim/chain/bump", null, ({ control }) => control.chain.bump()],
  [
    "POST /sim/chain/faults",
    "/sim/chain/faults",
    { kind: "delay", blocks: 3 },
    ({ control }) => control.chain.addFault({ kind: "delay", blocks: 3 }),
  ],
  ["GET /sim/chain/faults", "/sim/chain/faults", null, ({ control }) => control.chain.faults()],
  ["DELETE /sim/chain/faults", "/sim/chain/faults", null, ({ control }) => control.chain.clearFaults()],
  [
    "DELETE /sim/chain/faults/{id}",
    "/sim/chain/faults/settlement-fault-1",
    null,
    ({ control }) => control.chain.deleteFault("settlement-fault-1"),
  ],
];

describe("a method of the client", () => {
  it.each(CALLS)("asks %s", async (endpoint, target, body, call) => {
    const [sent, ...more] = await sentBy(call);
    expect(more).toEqual([]);
    expect(`${sent?.method} ${sent?.path}`).toBe(`${endpoint.split(" ")[0]} ${target}`);
    expect(sent?.body === null ? null : JSON.parse(sent?.body ?? "")).toEqual(body);
  });

  it("asks four endpoints for quotes", async () => {
    const sent = await sentBy((client) => client.quotes("1"));
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /clob/price?token_id=1",
      "GET /clob/midpoint?token_id=1",
      "GET /clob/spread?token_id=1",
      "GET /clob/last-trade-price?token_id=1",
    ]);
  });

  it("is there for every endpoint but the chain, which has clients of its own, and those of the service itself", () => {
    const ofQuotes = ["price", "midpoint", "spread", "last-trade-price"].map((name) => `GET /clob/${name}`);
    const reached = new Set([...CALLS.map(([endpoint]) => endpoint), ...ofQuotes]);
    const all = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
    const others = ["POST /chain", "GET /healthz", "GET /openapi.json"];
    expect(all.filter((endpoint) => !reached.has(endpoint))).toEqual(others);
  });

  it.each([
    ["a slash", "a/b", "a%2Fb"],
    ["a question mark", "a?b=c", "a%3Fb%3Dc"],
    ["what is above ASCII", "é", "%C3%A9"],
    ["half a surrogate pair", "\ud800", "%EF%BF%BD"],
  ])("carries %s inside one segment of a path, and inside one parameter", async (_what, text, encoded) => {
    const [market] = await sentBy((client) => client.market(text));
    expect(market?.path).toBe(`/api/markets/${encoded}`);
    const [search] = await sentBy((client) => client.search(text));
    expect(search?.path).toBe(`/api/search?q=${encoded}`);
  });
});

describe("an order", () => {
  const order = { tokenId: "1", side: "BUY", price: 0.5, size: 10 } as const;
  const bodyOf = async (fields: object): Promise<unknown> => {
    const [sent] = await sentBy((client) => client.place({ ...order, ...fields }));
    return JSON.parse(sent?.body ?? "");
  };

  it("is GTC and without expiration unless told otherwise", async () => {
    expect(await bodyOf({})).toEqual({ ...order, orderType: "GTC" });
  });

  it.each([
    ["a moment", new Date("2026-01-02T03:04:05.678Z"), "2026-01-02T03:04:05.678Z"],
    ["a text, as it stands", "2026-01-02T00:00:00+01:00", "2026-01-02T00:00:00+01:00"],
    ["Unix seconds", 1_767_225_601, "1767225601"],
    ["no moment, for the server to refuse", new Date(Number.NaN), "Invalid Date"],
  ])("expires at %s", async (_what, expiration, text) => {
    expect(await bodyOf({ orderType: "GTD", expiration })).toEqual({
      ...order,
      orderType: "GTD",
      expiration: text,
    });
  });
});

describe("headers", () => {
  const headersOf = async (call: Call): Promise<Record<string, string>> =>
    Object.fromEntries((await sentBy(call))[0]?.headers ?? []);

  it("of a public request name the host alone", async () => {
    expect(await headersOf((client) => client.serverTime())).toEqual({ host: "127.0.0.1:7070" });
  });

  it("of a POST without a body say that it has no bytes", async () => {
    expect(await headersOf(({ control }) => control.reset())).toEqual({
      host: "127.0.0.1:7070",
      "content-length": "0",
    });
  });

  it("of a body name its type and its length in bytes", async () => {
    expect(await headersOf(({ control }) => control.createEvent({ title: "é" }))).toEqual({
      host: "127.0.0.1:7070",
      "content-type": "application/json",
      "content-length": "14",
    });
  });

  it("of a signed request carry the five of the specification", async () => {
    expect(await headersOf((client) => client.cancelAll())).toEqual({
      host: "127.0.0.1:7070",
      poly_address: "0xa",
      poly_api_key: "k",
      poly_passphrase: "p",
      poly_timestamp: "1000",
      poly_signature: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });
});
