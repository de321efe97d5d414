import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import type { RunningServer } from "../../src/compose.ts";
import type { Config } from "../../src/config.ts";
import { post, rpc } from "../chain-rpc/rpc.ts";
import { openSocket, refusalOf } from "../chain-rpc/rpc-socket.ts";
import {
  Api,
  exchangeAt,
  fetchJson,
  type Reply,
  serve,
  serverOfTest,
  startApi,
  T0,
  useServer,
  yesOf,
} from "../support/http.ts";
import { forAllAsync, runs } from "../support/runs.ts";
import { expectPage } from "./pages.ts";
import { repliesTo, replyTo, requestBytes } from "./raw-socket.ts";
import type { Credentials, Info, MarketPage, Refusal } from "./replies.ts";
import { Trader } from "./trader.ts";

const SIZE = 5;

const poolOfTest = (config: Partial<Config> = {}): Promise<RunningServer> =>
  serverOfTest({ pool: SIZE, ...config });

/** The JSON at / of a pool. */
interface Index {
  readonly pool: number;
  readonly exchanges: readonly { readonly url: string; readonly isOpen: boolean }[];
}

const openIn = async (server: RunningServer): Promise<number[]> =>
  (await fetchJson<Index>(server.url, "/")).exchanges.flatMap(({ isOpen }, index) =>
    isOpen ? [index + 1] : [],
  );

/** The first dev account of an exchange, with its credentials. */
async function devTrader(api: Api): Promise<Trader> {
  const address = (await api.get<Info>("/sim")).devAccounts[0]?.address ?? "";
  return new Trader(api, address, await api.post<Credentials>(`/sim/accounts/${address}/credentials`));
}

const firstToken = async (api: Api): Promise<string> =>
  yesOf((await api.get<MarketPage>("/api/markets?active=true")).data[0]);

const server = await useServer({ pool: SIZE });

describe("an exchange of a pool", () => {
  it("is created by its first request, unless its host is refused", async () => {
    const own = await poolOfTest();
    for (const line of ["GET /", "GET /2/sim", "GET http://evil.example/2/sim"]) {
      const { status } = await replyTo(own.port, requestBytes(line, ["Host: evil.example"]));
      expect(status, line).toBe(403);
    }
    expect(await openIn(own)).toEqual([]);
    const absolute = requestBytes(`GET http://localhost:${own.port}/3/clob/time`);
    expect((await replyTo(own.port, absolute)).status).toBe(200);
    expect(await openIn(own)).toEqual([3]);
  });

  it("is independent of the others, and is reset alone", async () => {
    const [one, two] = [await exchangeAt(server, 1), await exchangeAt(server, 2)];
    const opening = await two.stateHash();
    const trader = await devTrader(one);
    const order = { tokenId: await firstToken(one), side: "BUY", price: 0.01, size: 5 };
    const { id } = await trader.place(order);
    await one.post("/sim/snapshots", { name: "mine" });
    await one.post("/sim/clock", { advance: "1h" });
    await one.post("/sim/faults", { route: "GET /clob/time", status: 503 });
    expect(await two.stateHash()).toBe(opening);
    await two.refused(`GET /sim/orders/${id}`, "ORDER_NOT_FOUND");
    await two.refused("POST /sim/snapshots/mine/restore", "SNAPSHOT_NOT_FOUND");
    expect((await two.send<{ time: number }>("GET /clob/time")).body.time).toBe(T0);
    const traded = await one.stateHash();
    await two.post("/sim/reset");
    expect(await one.stateHash()).toBe(traded);
    await one.post("/sim/reset");
    expect(await one.stateHash()).toBe(opening);
  });

  it("refuses credentials derived on another exchange", async () => {
    const trader = await devTrader(await exchangeAt(server, 3));
    const stranger = new Trader(await exchangeAt(server, 4), trader.address, trader.credentials);
    await stranger.refused("GET /clob/orders", "UNKNOWN_API_KEY");
  });

  it("has its path in its document and in the curl commands", async () => {
    const document = await fetchJson<{ servers: { url: string }[] }>(server.url, "/2/openapi.json");
    expect(document.servers).toEqual([{ url: "/2" }]);
    const { devAccounts } = await fetchJson<Info>(server.url, "/2/sim");
    expect(devAccounts[0]?.curl).toContain(` ${server.url}/2/sim/accounts/0x`);
  });

  it("names the mistake of a signature over the whole path", async () => {
    const api = await exchangeAt(server, 2);
    const trader = await devTrader(api);
    for (const [path, message] of [
      ["/2/clob/orders", "the /2/clob prefix"],
      ["/clob/orders", "the /clob prefix"],
      ["/2/orders", "the /2 prefix"],
      [`${server.url}/2/clob/orders`, "the full URL"],
    ] as const) {
      const headers = trader.headers("GET", "/clob/orders", "", { path });
      const request = { method: "GET", path: "/clob/orders", headers } as const;
      const { body } = await api.refused(request, "INVALID_SIGNATURE");
      expect(body.hint).toContain(message);
      const url = `${server.url}/2/clob/orders`;
      const sent = { method: "GET", url, headers };
      expect((await api.post<{ hint: string }>("/sim/explain-auth", sent)).hint).toContain(message);
    }
    const headers = { ...trader.headers("GET", "/clob/orders"), poly_timestamp: "1" };
    const pasted = { method: "GET", url: "/clob/orders", headers };
    const { hint } = await api.post<{ hint: string }>("/sim/explain-auth", pasted);
    expect(hint).toBe("synchronise with GET /2/clob/time");
  });

  it("works with the typed client, with or without a slash at the end of the URL", async () => {
    const client = new ExchangeClient(`${server.url}/4/`, { time: "server" });
    const { devAccounts } = orThrow(await client.control.info());
    const address = devAccounts[0]?.address ?? "0x";
    const keys = orThrow(await client.control.credentials(address));
    const trader = new ExchangeClient(`${server.url}/4`, {
      credentials: { ...keys, address },
      time: "server",
    });
    expect(orThrow(await trader.openOrders()).total).toBe(0);
    client.close();
    trader.close();
  });

  it("has its own chain, over HTTP and WebSocket", async () => {
    const [three, four] = [await exchangeAt(server, 3), await exchangeAt(server, 4)];
    await post(three, rpc("anvil_mine", ["0x2"]));
    const heights = await Promise.all(
      [three, four].map(async (api) => {
        const socket = await openSocket(api);
        const height = await socket.result<string>("eth_blockNumber");
        socket.close();
        return Number(height);
      }),
    );
    expect(heights[0]).toBe(Number(heights[1]) + 2);
  });
});

describe("a pool", () => {
  it("lists its exchanges at /, and answers /healthz", async () => {
    const { pool, exchanges } = await fetchJson<Index>(server.url, "/");
    expect(pool).toBe(SIZE);
    const urls = [1, 2, 3, 4, 5].map((number) => `${server.url}/${number}`);
    expect(exchanges.map(({ url }) => url)).toEqual(urls);
    expect(await fetchJson(server.url, "/healthz")).toEqual({ status: "ok" });
    const head = await fetch(server.url, { method: "HEAD" });
    expect([head.status, head.headers.get("x-sim-pool"), await head.text()]).toEqual([200, "5", ""]);
  });

  it("answers requests for other paths as its page shows, with hints at paths of one exchange", async () => {
    await expectPage(await exchangeAt(server, 2), join(import.meta.dirname, "pool.txt"));
  });

  it("refuses an invalid request, and a WebSocket where there is no chain", async () => {
    const broken = await replyTo(server.port, "nonsense\r\n\r\n");
    expect([broken.status, (JSON.parse(broken.text) as Refusal).code]).toEqual([400, "INVALID_HTTP"]);
    const statuses: number[] = [];
    for (const path of ["/chain", "/6/chain", "/0/chain", "/1/clob/time"]) {
      const [status] = await refusalOf(`${server.url.replace("http", "ws")}${path}`);
      statuses.push(status);
    }
    expect(statuses).toEqual([404, 404, 404, 200]);
  });

  it("answers the requests of a connection in order across exchanges", async () => {
    const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const paths = ["/1/sim/state", "/2/clob/time", "/", "/3/sim/state/hash", "/nowhere"];
    const replies = await repliesTo(server.port, paths.map(request).join(""), { replies: paths.length });
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404]);
    expect(replies[0]?.text).toContain('"units"');
    expect(replies[2]?.text).toContain('"pool":5');
  });

  it("requires the token of the control plane in each exchange", async () => {
    const guarded = await poolOfTest({ simToken: "s3cret" });
    expect((await fetchJson<Refusal>(guarded.url, "/2/sim")).code).toBe("SIM_TOKEN_REQUIRED");
    const owner = new Api({ ...guarded, url: `${guarded.url}/2` }, { "x-sim-token": "s3cret" });
    expect((await (await owner.open()).get<Info>("/sim")).name).toBe("clobsim");
  });
});

type Step = (trader: Trader, tokenId: string, last: string) => Promise<Reply<unknown>>;

/** Requests of all kinds, valid and invalid. */
const STEPS: readonly Step[] = [
  (trader, tokenId) => trader.send("POST /clob/order", { tokenId, side: "BUY", price: 0.99, size: 7 }),
  (trader, tokenId) => trader.send("POST /clob/order", { tokenId, side: "BUY", price: 0.02, size: 5 }),
  (trader, tokenId) => trader.send("POST /clob/order", { tokenId, side: "SELL", price: 0.555555, size: 5 }),
  (trader, _tokenId, last) => trader.send("DELETE /clob/order", { orderId: last }),
  (trader) => trader.send("GET /clob/orders?limit=3"),
  (trader) => trader.send("GET /clob/trades"),
  ({ api }, tokenId) => api.send(`GET /clob/book?token_id=${tokenId}`),
  ({ api }) => api.send("GET /clob/spread?token_id=1"),
  ({ api }) => api.send("POST /sim/clock", { advance: "30s" }),
  ({ api }) => api.send("POST /chain", { jsonrpc: "2.0", id: 1, method: "eth_blockNumber" }),
  ({ api, address }) => api.send(`POST /sim/accounts/${address}/credentials`),
  ({ api }) => api.send("GET /sim/state"),
];

/** Headers and body of every answer to some steps, with paths in hints as those of a single exchange. */
async function answersTo(api: Api, steps: readonly number[]): Promise<string[]> {
  const trader = await devTrader(api);
  const tokenId = await firstToken(api);
  let last = "none";
  const answers: string[] = [];
  for (const step of steps) {
    const { status, headers, text } = await (STEPS[step] as Step)(trader, tokenId, last);
    last = (/^{"id":"([^"]+)"/.exec(text) ?? [])[1] ?? last;
    const { "content-length": length, ...others } = headers;
    const bytes = String(Buffer.byteLength(text));
    // A state is streamed, without a length.
    expect(length ?? bytes).toBe(bytes);
    answers.push(`${status} ${JSON.stringify(others)} ${text.replace(/GET \/\d\//g, "GET /")}`);
  }
  return [...answers, await api.stateHash()];
}

describe("a sequence of requests", () => {
  const sequences = fc.array(fc.nat(STEPS.length - 1), { minLength: 1, maxLength: 12 });

  it("has the same answers, byte for byte, on an exchange of a pool and on a single exchange", async () => {
    await forAllAsync(runs(6, 11), [sequences, fc.integer({ min: 1, max: SIZE })], async (steps, number) => {
      const [own, alone] = [await serve({ pool: SIZE }), await startApi()];
      expect(await answersTo(await exchangeAt(own, number), steps)).toEqual(await answersTo(alone, steps));
      await Promise.all([own.close(), alone.close()]);
    });
  });

  it("has the same answers on exchanges used concurrently", async () => {
    const own = await poolOfTest();
    const steps = [0, 1, 3, 6, 8, 0, 5, 9, 2, 11];
    const all = await Promise.all(
      [1, 2, 3, 4, 5].map(async (number) => answersTo(await exchangeAt(own, number), steps)),
    );
    for (const each of all) expect(each).toEqual(all[0]);
  });
});
