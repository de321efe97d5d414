import { beforeEach, describe, expect, it } from "vitest";
import { useApi } from "../support/http.ts";
import { codeOf, titleOf } from "./bad-inputs.ts";
import { CHUNKED, chunked, HOST, headerLines, refusalTo, replyTo, requestBytes } from "./raw-socket.ts";
import { useTrader } from "./trader.ts";

const api = useApi();
const trader = useTrader(api, 1);
let tokenId: string;
let order: Readonly<Record<string, unknown>>;

beforeEach(async () => {
  tokenId = await api.newToken();
  order = { tokenId, side: "BUY", price: 0.5, size: 5 };
});

describe("the body of an order", () => {
  it.each([
    ...["", "{'a':1}", "\ufeff{}", '{"a":"\u0000"}', "[".repeat(20_000), `{"a":"\\ud800"`],
    `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
  ])(`${titleOf("O14")}: %j`.slice(0, 140), async (body) => {
    await trader.orderRefused(body, codeOf("O14"));
  });

  it("in invalid UTF-8 is refused as invalid JSON", async () => {
    for (const bytes of [[0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff, 0xfe]]) {
      const text = JSON.stringify(order).replace('"BUY"', '"BUY","note":"%"');
      const [head = "", tail = ""] = text.split("%");
      const body = Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);
      const headers = trader.headers("POST", "/clob/order", body);
      await api.refused({ method: "POST", path: "/clob/order", headers, body }, "INVALID_JSON");
    }
  });

  it(titleOf("O16"), async () => {
    const body = JSON.stringify(order);
    const signed = headerLines(trader.headers("POST", "/clob/order", body));
    const json = "application/json";
    const twice = `${json}\r\nContent-Type: text/plain`;
    for (const type of ["text/plain", `${json}; charset=utf-16`, `${json}p`, "", twice]) {
      const bytes = requestBytes("POST /clob/order", [HOST, `Content-Type: ${type}`, ...signed], body);
      expect((await refusalTo(api, bytes)).code, type).toBe(codeOf("O16"));
    }
  });

  it("may have no content type, on any route", async () => {
    const json = (body: object): string => JSON.stringify(body);
    for (const [line, headers, sent] of [
      ["POST /clob/order", headerLines(trader.headers("POST", "/clob/order", json(order))), json(order)],
      ["GET /api/markets", [], "{}"],
      ["POST /sim/events", [], json({ title: "Untyped" })],
      ["POST /chain", [], json({ jsonrpc: "2.0", id: 1, method: "eth_chainId" })],
    ] as const) {
      for (const [framing, framed] of [
        [[], sent],
        [[CHUNKED], chunked(sent)],
      ] as const) {
        const bytes = requestBytes(line, [HOST, ...headers, ...framing], framed);
        const { status, text } = await replyTo(api.port, bytes);
        expect(status, `${line} ${text}`).toBe(200);
      }
    }
  });

  it.each([
    ...["application/json", "Application/JSON", "application/json;charset=UTF-8"],
    "application/json; charset=utf8",
    'application/json; charset="utf-8"',
  ])("may have the content type %s", async (type) => {
    const request = trader.signed("POST", "/clob/order", order, { "content-type": type });
    expect((await api.send(request)).status).toBe(200);
  });
});
