import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Api, startApi } from "../support/http.ts";
import { refusalOf, titleOf } from "./bad-inputs.ts";
import { answerTo, refusalIn, requestBytes } from "./raw-socket.ts";
import { deriveTrader, type Trader } from "./trader.ts";

let api: Api;
let trader: Trader;
let tokenId: string;
let order: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  api = await startApi();
  trader = await deriveTrader(api, 1);
});
afterAll(() => api.close());

beforeEach(async () => {
  tokenId = (await api.createMarket()).tokens[0]?.tokenId ?? "";
  order = { tokenId, side: "BUY", price: 0.5, size: 5 };
});

describe("the body of an order", () => {
  it.each([
    "",
    '{"side":"BUY"',
    "1",
    "null",
    "[]",
    '"text"',
    '{"a":NaN}',
    '{"a":1,}',
    '{"a":1} // comment',
    "{'a':1}",
    "{}{}",
    "\ufeff{}",
    '{"a":"\u0000"}',
    "[".repeat(20_000),
    `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
    `{"a":"\\ud800"`,
  ])(`${titleOf("O14")}: %j`.slice(0, 140), async (body) => {
    await trader.refused(body, ...refusalOf("O14"));
  });

  it("in broken UTF-8 is no JSON", async () => {
    for (const bytes of [[0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff, 0xfe]]) {
      const text = JSON.stringify(order).replace('"BUY"', '"BUY","note":"%"');
      const [head = "", tail = ""] = text.split("%");
      const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
      const headers = trader.headers("POST", "/clob/order", body);
      await api.refused({ method: "POST", path: "/clob/order", headers, body }, 400, "INVALID_JSON");
    }
  });

  it(titleOf("O16"), async () => {
    const body = JSON.stringify(order);
    const headers = Object.entries(trader.headers("POST", "/clob/order", body));
    const head = [
      "Host: localhost",
      `Content-Length: ${body.length}`,
      ...headers.map((pair) => pair.join(": ")),
    ];
    const types = [
      "Content-Type: text/plain",
      "Content-Type: application/json; charset=utf-16",
      "Content-Type: application/jsonp",
      "Content-Type:",
      "Content-Type: application/json\r\nContent-Type: text/plain",
    ];
    const before = await api.stateHash();
    for (const type of types) {
      const bytes = requestBytes("POST /clob/order", [...head, type], body);
      const { status, code } = refusalIn(await answerTo(api.port, bytes));
      expect([status, code], type).toEqual(refusalOf("O16"));
    }
    expect(await api.stateHash()).toBe(before);
  });

  it("may have no type, wherever it is sent", async () => {
    const json = (body: object): string => JSON.stringify(body);
    for (const [line, headers, sent] of [
      ["POST /clob/order", Object.entries(trader.headers("POST", "/clob/order", json(order))), json(order)],
      ["GET /api/markets", [], "{}"],
      ["POST /sim/events", [], json({ title: "Untyped" })],
      ["POST /chain", [], json({ jsonrpc: "2.0", id: 1, method: "eth_chainId" })],
    ] as const) {
      const head = ["Host: localhost", ...headers.map((pair) => pair.join(": "))];
      for (const framing of [[`Content-Length: ${sent.length}`], ["Transfer-Encoding: chunked"]]) {
        const isChunked = framing[0]?.endsWith("chunked") === true;
        const framed = isChunked ? `${sent.length.toString(16)}\r\n${sent}\r\n0\r\n\r\n` : sent;
        const { status, text } = await answerTo(api.port, requestBytes(line, [...head, ...framing], framed));
        expect(status, `${line} ${text}`).toBe(200);
      }
    }
  });

  it.each([
    "application/json",
    "Application/JSON",
    "application/json;charset=UTF-8",
    'application/json; charset="utf-8"',
  ])("may be of the type %s", async (type) => {
    const request = trader.signed("POST", "/clob/order", order, { "content-type": type });
    expect((await api.send(request)).status).toBe(200);
  });

  it(titleOf("O17"), async () => {
    const filler = (length: number): string => {
      const body = JSON.stringify({ ...order, note: "" });
      return body.replace('"note":""', `"note":"${"a".repeat(length - body.length)}"`);
    };
    await trader.refused(filler(65_537), 413, "PAYLOAD_TOO_LARGE");
    const zipped = gzipSync(Buffer.alloc(50_000_000, "a"));
    expect(zipped.length).toBeLessThan(50_000);
    const headers = { ...trader.headers("POST", "/clob/order", zipped), "content-encoding": "gzip" };
    const sent = { method: "POST", path: "/clob/order", headers, body: zipped } as const;
    await api.refused(sent, 415, "UNSUPPORTED_MEDIA_TYPE");
    expect((await api.send(trader.signed("POST", "/clob/order", filler(65_536)))).status).toBe(200);
  });
});
