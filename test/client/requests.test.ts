import { describe, expect, it } from "vitest";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { ExchangeClient } from "../../src/client/client.ts";
import type { Result } from "../../src/client/result.ts";
import type { HttpRequest } from "../../src/client/transport.ts";

const CREDENTIALS = { address: "0xa", apiKey: "k", secret: "s", passphrase: "p" } as const;

type Call = (client: ExchangeClient, body: never) => Promise<Result<unknown>>;

/** The requests of one call, to a server that answers `{}`. */
async function sentBy(call: Call, body = {}): Promise<HttpRequest[]> {
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
  await call(client, body as never);
  return sent;
}

const DERIVED = { address: "0xa", signature: "0xb", timestamp: "1000", nonce: "7" };
const ORDER = { tokenId: "1", side: "BUY", price: 0.5, size: 10 } as const;

/** The request of each call, and its body, which most calls are given. */
const CALLS: readonly (readonly [sent: string, call: Call, body?: object])[] = [
  ["POST /clob/auth/derive-api-key", (c) => c.derive(7), DERIVED],
  ["POST /clob/order", (c, order) => c.place(order), { ...ORDER, orderType: "FAK" }],
  ["DELETE /clob/order", (c) => c.cancel("o"), { orderId: "o" }],
  ["DELETE /clob/orders/all", (c) => c.cancelAll()],
  [
    "GET /clob/orders?token_id=1&market=rain&side=BUY&limit=2&offset=4",
    (c) => c.openOrders({ tokenId: "1", market: "rain", side: "BUY", limit: 2, offset: 4 }),
  ],
  [
    "GET /clob/trades?token_id=1&market=rain&order=o&before=9&after=3&limit=2",
    (c) => c.trades({ tokenId: "1", market: "rain", order: "o", before: 9, after: 3, limit: 2 }),
  ],
  ["GET /clob/book?token_id=1", (c) => c.book("1")],
  ["GET /clob/tick-size?token_id=1", (c) => c.tickSize("1")],
  ["GET /clob/fee-rate?token_id=1", (c) => c.feeRate("1")],
  ["GET /clob/time", (c) => c.serverTime()],
  [
    "GET /api/markets?active=true&sort=volume&tag=sport&limit=2&offset=4",
    (c) => c.markets({ active: true, sort: "volume", tag: "sport", limit: 2, offset: 4 }),
  ],
  ["GET /api/markets/rain", (c) => c.market("rain")],
  [
    "GET /api/markets/rain/prices-history?tokenId=1&startTs=3&endTs=9&fidelity=5",
    (c) => c.history("rain", { tokenId: "1", startTs: 3, endTs: 9, fidelity: 5 }),
  ],
  ["GET /api/markets/rain/trades?all=true&limit=2", (c) => c.marketTrades("rain", { all: true, limit: 2 })],
  ["GET /api/events?active=false&tag=sport", (c) => c.events({ active: false, tag: "sport" })],
  ["GET /api/events/rain", (c) => c.event("rain")],
  [
    "GET /api/search?q=rain%20%26%20snow&limit=2&offset=4",
    (c) => c.search("rain & snow", { limit: 2, offset: 4 }),
  ],
  ["GET /sim", ({ control }) => control.info()],
  ["GET /sim/clock", ({ control }) => control.clock()],
  ["POST /sim/clock", ({ control }, change) => control.setClock(change), { advance: "2h" }],
  ["POST /sim/reset", ({ control }) => control.reset()],
  ["GET /sim/state", ({ control }) => control.state()],
  ["GET /sim/state/hash", ({ control }) => control.stateHash()],
  ["GET /sim/invariants", ({ control }) => control.invariants()],
  ["GET /sim/accounts?limit=2", ({ control }) => control.accounts({ limit: 2 })],
  ["GET /sim/accounts/0xa", ({ control }) => control.account("0xa")],
  ["POST /sim/accounts/0xa/fund", ({ control }, funds) => control.fund("0xa", funds), { tokens: { 1: 2 } }],
  ["POST /sim/accounts/0xa/credentials", ({ control }) => control.credentials("0xa")],
  ["POST /sim/events", ({ control }, event) => control.createEvent(event), { title: "Rain" }],
  [
    "POST /sim/markets",
    ({ control }, it) => control.createMarket(it),
    { question: "Rain?", tickSize: 0.001 },
  ],
  ["POST /sim/markets/rain/close", ({ control }) => control.close("rain")],
  ["POST /sim/markets/rain/resolve", (c) => c.control.resolve("rain", "NO"), { winningOutcome: "NO" }],
  ["GET /sim/journal?limit=2&offset=1", ({ control }) => control.journal({ limit: 2, offset: 1 })],
  ["GET /sim/report?reason=a%20stop", ({ control }) => control.report("a stop")],
  ["GET /sim/orders/o", ({ control }) => control.order("o")],
  ["POST /sim/explain-auth", (c, it) => c.control.explainAuth(it), { method: "GET", url: "/", headers: {} }],
  [
    "POST /sim/orders/preview",
    (c, order) => c.control.preview(order),
    { ...ORDER, orderType: "FOK", address: "0x" },
  ],
  ["GET /sim/scenario?name=rain", ({ control }) => control.scenario("rain")],
  ["POST /sim/snapshots", ({ control }) => control.snapshot("a"), { name: "a" }],
  ["GET /sim/snapshots?offset=3", ({ control }) => control.snapshots({ offset: 3 })],
  ["POST /sim/snapshots/before%20noon/restore", ({ control }) => control.restore("before noon")],
  ["DELETE /sim/snapshots/a", ({ control }) => control.deleteSnapshot("a")],
  ["POST /sim/faults", ({ control }, fault) => control.addFault(fault), { status: 503, times: 1 }],
  ["GET /sim/faults", ({ control }) => control.faults()],
  ["DELETE /sim/faults", ({ control }) => control.clearFaults()],
  ["GET /sim/bots", ({ control }) => control.bots()],
  ["POST /sim/bots", ({ control }, bots) => control.startBots(bots), { profile: "thin" }],
  ["DELETE /sim/bots", ({ control }) => control.endBots()],
  ["DELETE /sim/faults/fault-1", ({ control }) => control.deleteFault("fault-1")],
  ["GET /sim/chain", ({ control }) => control.chain.info()],
  ["GET /sim/chain/blocks?limit=3", ({ control }) => control.chain.blocks({ limit: 3 })],
  ["GET /sim/chain/pending", ({ control }) => control.chain.pending()],
  ["GET /sim/chain/supply/rain", ({ control }) => control.chain.supply("rain")],
  ["POST /sim/chain/mine", ({ control }) => control.chain.mine(2), { blocks: 2 }],
  ["POST /sim/chain/bump", ({ control }) => control.chain.bump()],
  ["POST /sim/chain/faults", ({ control }, it) => control.chain.addFault(it), { kind: "delay", blocks: 3 }],
  ["GET /sim/chain/faults", ({ control }) => control.chain.faults()],
  ["DELETE /sim/chain/faults", ({ control }) => control.chain.clearFaults()],
  ["DELETE /sim/chain/faults/fault-1", ({ control }) => control.chain.deleteFault("fault-1")],
];

describe("a method of the client", () => {
  it.each(CALLS.map(([route, call, body]) => ({ route, call, body })))("sends $route", async (row) => {
    const { route, call, body } = row;
    const [sent, ...more] = await sentBy(call, body);
    expect(more).toEqual([]);
    expect(`${sent?.method} ${sent?.path}`).toBe(route);
    expect(JSON.parse(sent?.body ?? "null")).toEqual(body ?? null);
  });

  it("sends four requests for quotes", async () => {
    const sent = await sentBy((client) => client.quotes("1"));
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /clob/price?token_id=1",
      "GET /clob/midpoint?token_id=1",
      "GET /clob/spread?token_id=1",
      "GET /clob/last-trade-price?token_id=1",
    ]);
  });

  it("exists for every endpoint except the chain, which has its own clients, and those of the service", () => {
    const ofQuotes = ["price", "midpoint", "spread", "last-trade-price"].map((name) => `GET /clob/${name}`);
    const reached = [...CALLS.map(([sent]) => sent.replace(/\?.*/, "")), ...ofQuotes];
    const isMissing = ({ method, path }: (typeof ENDPOINTS)[number]): boolean => {
      const route = new RegExp(`^${method} ${path.replace(/\{\w+\}/g, "[^/]+")}$`);
      return !reached.some((sent) => route.test(sent));
    };
    const missing = ENDPOINTS.filter(isMissing).map(({ operation }) => operation);
    // `stream.test.ts` tests the live feed.
    expect(missing).toEqual(["callChain", "streamSession", "getHealth", "getOpenApi"]);
  });

  it.each<[sent: string, Call, body?: object]>([
    ["POST /clob/order", (c, none) => c.place(none), { orderType: "GTC" }],
    ["POST /sim/orders/preview", ({ control }, none) => control.preview(none), { orderType: "GTC" }],
    ["GET /clob/orders", (c, none) => c.openOrders(none)],
    ["GET /clob/trades", (c, none) => c.trades(none)],
    ["GET /api/markets", (c, none) => c.markets(none)],
    ["GET /sim/accounts", ({ control }, none) => control.accounts(none)],
  ])("sends %s without fields if it is given null, which the server explains", async (route, call, body) => {
    const [sent] = await sentBy((client) => call(client, null as never));
    expect(`${sent?.method} ${sent?.path}`).toBe(route);
    expect(JSON.parse(sent?.body ?? "null")).toEqual(body ?? null);
  });

  it.each([
    ["a slash", "a/b", "a%2Fb"],
    ["a question mark", "a?b=c", "a%3Fb%3Dc"],
    ["a letter outside ASCII", "é", "%C3%A9"],
    ["half a surrogate pair", "\ud800", "%EF%BF%BD"],
  ])("encodes %s in one path segment and in one parameter", async (_case, text, encoded) => {
    const [market] = await sentBy((client) => client.market(text));
    expect(market?.path).toBe(`/api/markets/${encoded}`);
    const [search] = await sentBy((client) => client.search(text));
    expect(search?.path).toBe(`/api/search?q=${encoded}`);
  });
});

describe("an order", () => {
  const bodyOf = async (fields: object): Promise<unknown> => {
    const order = { ...ORDER, ...fields };
    const [placed] = await sentBy((client) => client.place(order));
    const [previewed] = await sentBy((client) => client.control.preview({ ...order, address: "0xa" }));
    const body = JSON.parse(placed?.body ?? "");
    expect(JSON.parse(previewed?.body ?? "")).toEqual({ ...body, address: "0xa" });
    return body;
  };

  it.each([{}, { expiration: null }])("is GTC without expiration by default: %j", async (fields) => {
    expect(await bodyOf(fields)).toEqual({ ...ORDER, orderType: "GTC" });
  });

  it("has the text of a bigint, and of a number that JSON cannot represent", async () => {
    const body = await bodyOf({ tokenId: 2n ** 200n, price: Number.NaN });
    expect(body).toMatchObject({ tokenId: String(2n ** 200n), price: "NaN" });
  });

  it.each([
    ["a Date", new Date("2026-01-02T03:04:05.678Z"), "2026-01-02T03:04:05.678Z"],
    ["a string, unchanged", "2026-01-02T00:00:00+01:00", "2026-01-02T00:00:00+01:00"],
    ["Unix seconds", 1_767_225_601, "1767225601"],
    ["an invalid Date, which the server refuses", new Date(Number.NaN), "Invalid Date"],
  ])("expires at %s", async (_case, expiration, text) => {
    const gtd = { ...ORDER, orderType: "GTD" };
    expect(await bodyOf({ ...gtd, expiration })).toEqual({ ...gtd, expiration: text });
  });
});

describe("headers", () => {
  const headersOf = async (call: Call): Promise<Record<string, string>> =>
    Object.fromEntries((await sentBy(call))[0]?.headers ?? []);

  const poly = {
    ...{ poly_address: "0xa", poly_api_key: "k", poly_passphrase: "p", poly_timestamp: "1000" },
    poly_signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  };
  const typed = { "content-type": "application/json", "content-length": "14" };
  it.each<[of: string, Call, more: object]>([
    ["a public request have only the host", (c) => c.serverTime(), {}],
    ["a POST without a body have a length of 0", ({ control }) => control.reset(), { "content-length": "0" }],
    ["a body have its type and its length in bytes", (c) => c.control.createEvent({ title: "é" }), typed],
    ["a signed request have the five of the specification", (c) => c.cancelAll(), poly],
  ])("of %s", async (_of, call, more) => {
    expect(await headersOf(call)).toEqual({ host: "127.0.0.1:7070", ...more });
  });
});
