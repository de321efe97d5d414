import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { T0, useApi } from "../support/http.ts";
import { titleOf } from "./bad-inputs.ts";
import {
  CHUNKED,
  chunked,
  HOST,
  headerLines,
  JSON_BODY,
  refusalTo,
  repliesTo,
  replyTo,
  requestBytes,
} from "./raw-socket.ts";
import { useTrader } from "./trader.ts";

const POST = "POST /clob/order HTTP/1.1\r\nHost: localhost\r\n";

const api = useApi();
const trader = useTrader(api, 1);

/** Header lines of a signed POST /clob/order with this body. */
const orderHeaders = (body: string): string[] => [
  HOST,
  JSON_BODY,
  ...headerLines(trader.headers("POST", "/clob/order", body)),
];

/** The body of an order, padded to a length. */
async function orderOf(length: number): Promise<string> {
  const tokenId = await api.newToken();
  const body = JSON.stringify({ tokenId, side: "BUY", price: 0.5, size: 5, note: "" });
  return body.replace('"note":""', `"note":"${"a".repeat(length - body.length)}"`);
}

describe("a request that is too large", () => {
  it(titleOf("H10"), async () => {
    const long = "a".repeat(17_000);
    const many = Array.from({ length: 1100 }, (_, n) => `X-Many-${n}: aaaaaaaa`);
    for (const bytes of [
      requestBytes("GET /clob/time", [HOST, `X-Large: ${long}`]),
      requestBytes(`GET /clob/time?${long}`),
      requestBytes("GET /clob/time", [HOST, ...many]),
    ]) {
      expect(await refusalTo(api, bytes)).toMatchObject({ status: 431, code: "HEADERS_TOO_LARGE" });
    }
  });

  it(`has a body of more than 64 KiB, by its Content-Length or by its chunks (${titleOf("O17")})`, async () => {
    for (const [length, status] of [
      [65_536, 200],
      [65_537, 413],
    ] as const) {
      const body = await orderOf(length);
      const headers = orderHeaders(body);
      const whole = requestBytes("POST /clob/order", headers, body);
      const inChunks = requestBytes("POST /clob/order", [...headers, CHUNKED], chunked(body, 1000));
      for (const bytes of [whole, inChunks]) expect((await replyTo(api.port, bytes)).status).toBe(status);
    }
  });

  it("is refused by its Content-Length, before the body is sent", async () => {
    const head = requestBytes("POST /clob/order", [HOST, JSON_BODY, "Content-Length: 99999999999"]);
    const { code, details } = await refusalTo(api, head);
    expect({ code, details }).toEqual({ code: "PAYLOAD_TOO_LARGE", details: { maximum: 65_536 } });
  });

  it.each([
    ["/clob/order", [JSON_BODY], 413],
    ["/clob/time", [JSON_BODY], 405],
    ["/sim/reset", ["Content-Type: text/plain"], 415],
    ["/sim/reset", [JSON_BODY, "Origin: http://evil.example"], 403],
    ["/nowhere", [JSON_BODY], 404],
  ])(
    "is read to its end for a client that reads the refusal of %s only then: %j",
    async (path, head, status) => {
      const body = "1".repeat(8_000_000);
      for (const [framing, sent] of [
        [`Content-Length: ${body.length}`, body],
        [CHUNKED, chunked(body, 65_536)],
      ] as const) {
        const socket = connect(api.port, "127.0.0.1");
        await new Promise<void>((done, fail) => {
          socket.once("error", fail);
          socket.write(requestBytes(`POST ${path}`, [HOST, ...head, framing], sent), () => done());
        });
        // The size of chunks is known before the type of their body is checked.
        const expected = status === 415 && framing === CHUNKED ? 413 : status;
        expect(await text(socket)).toMatch(`HTTP/1.1 ${expected} `);
      }
    },
  );

  it("has more than 1 MiB on the control plane", async () => {
    const description = "a".repeat(70_000);
    const { body } = await api.refused("POST /sim/events", "INVALID_PARAMETER", { title: "A", description });
    expect(body.details).toEqual({ fields: ["description"] });
    const large = { title: "A", description: "a".repeat(1_048_576) };
    await api.refused("POST /sim/events", "PAYLOAD_TOO_LARGE", large);
  });
});

describe("a body where none is expected", () => {
  it("is ignored if it is JSON", async () => {
    const reply = await replyTo(api.port, requestBytes("GET /clob/time", [HOST, JSON_BODY], '{"time":1}'));
    expect([reply.status, reply.text]).toEqual([200, JSON.stringify({ time: T0 })]);
  });

  it("has the same limits of type and size, which every operation documents", async () => {
    for (const [path, method] of [
      ["/clob/time", "GET"],
      ["/sim", "GET"],
      ["/sim/reset", "POST"],
    ] as const) {
      const text = { method, path, body: "text", headers: { "content-type": "text/plain" } };
      await api.refused(text, "UNSUPPORTED_MEDIA_TYPE");
      await api.refused(`${method} ${path}`, "PAYLOAD_TOO_LARGE", "1".repeat(1_048_577));
    }
  });

  it("is part of the signed message of a GET", async () => {
    const headers = trader.headers("GET", "/clob/orders", "{}");
    expect((await api.send({ method: "GET", path: "/clob/orders", headers, body: "{}" })).status).toBe(200);
    const without = { method: "GET", path: "/clob/orders", headers } as const;
    await api.refused(without, "INVALID_SIGNATURE");
  });
});

const NO_METHOD = "it does not begin with a registered method";
const NOT_ASCII = "percent-encode all other characters of the path and the query";

describe("invalid HTTP/1.1", () => {
  it.each<[string, string | Buffer, reason?: string]>([
    ["a TLS handshake", Buffer.from("16030100c8010000c40303", "hex")],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["another version", "GET /clob/time HTTP/3.7\r\nHost: localhost\r\n\r\n"],
    ["no target", "GET  HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["bare line feeds", "GET /clob/time HTTP/1.1\nHost: localhost\n\n"],
    ["a folded header", "GET /clob/time HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n"],
    ["a header without a colon", "GET /clob/time HTTP/1.1\r\nHost localhost\r\n\r\n"],
    ["a space before the colon", "GET /clob/time HTTP/1.1\r\nHost : localhost\r\n\r\n"],
    ["a NUL in a header", "GET /clob/time HTTP/1.1\r\nHost: local\0host\r\n\r\n"],
    ["a NUL in the path", "GET /clob/ti\0me HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["an escape in the path", "GET /clob/\x1b[2J HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["UTF-8 in the path", Buffer.from("GET /clob/ü HTTP/1.1\r\nHost: localhost\r\n\r\n"), NOT_ASCII],
    ["UTF-8 in the query", Buffer.from("GET /clob?x=ü HTTP/1.1\r\nHost: localhost\r\n\r\n"), NOT_ASCII],
    ["an unknown method", "BREW /clob/time HTTP/1.1\r\nHost: localhost\r\n\r\n", NO_METHOD],
    ["a method in lower case", "get /clob/time HTTP/1.1\r\nHost: localhost\r\n\r\n", NO_METHOD],
    ["two lengths", `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ["a length that is no number", `${POST}Content-Length: +2\r\n\r\n{}`],
    ["a length and chunks", `${POST}Content-Length: 5\r\n${CHUNKED}\r\n\r\n0\r\n\r\n`],
    ["a chunk without a size", `${POST}${JSON_BODY}\r\n${CHUNKED}\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ["chunks that are not the last coding", `${POST}${CHUNKED}, gzip\r\n\r\n`],
  ])(
    "is answered by a JSON error, with the reason if it is the method or the encoding: %s",
    async (_case, bytes, reason = "") => {
      const { status, code, error, hint } = await refusalTo(api, bytes);
      expect([status, code]).toEqual([400, "INVALID_HTTP"]);
      expect(`${error} ${hint}`).toContain(reason);
    },
  );

  it("ends the connection, so that bytes after it are not read as a request", async () => {
    const smuggled = "GET /clob/time HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const replies = await repliesTo(api.port, `BREW / HTTP/1.1\r\n\r\n${smuggled}`, { replies: 2 });
    const found = replies.map(({ status, headers }) => [status, headers.get("connection")]);
    expect(found).toEqual([[400, ["close"]]]);
  });
});

describe("rare features of HTTP/1.1:", () => {
  const largest = { "content-type": "application/json", "content-length": 65_536 };
  it.each([
    ["POST /clob/order", largest, 1, 401, "keep-alive"],
    ["POST /clob/order", { ...largest, "content-length": 65_537 }, 0, 413, "close"],
    ["POST /clob/order", { ...largest, "content-type": "text/plain" }, 0, 415, "close"],
    ["POST /nothing", largest, 0, 404, "close"],
    ["GET /clob/time", {}, 0, 200, "close"],
  ])(
    "a client that expects 100-continue is asked only for a body that is read: %s %j",
    async (route, headers, ...expected) => {
      const [method, path] = route.split(" ");
      const sent = request({ port: api.port, method, path, headers: { ...headers, expect: "100-continue" } });
      let asked = 0;
      sent.on("continue", () => {
        asked += 1;
        sent.end("x".repeat(65_536));
      });
      sent.flushHeaders();
      const [{ statusCode, headers: answered }] = (await once(sent, "response")) as [IncomingMessage];
      expect([asked, statusCode, answered.connection]).toEqual(expected);
      sent.destroy();
    },
  );

  it("another expectation is refused with a JSON error, after the check of the host", async () => {
    const refusal = await refusalTo(api, requestBytes("GET /clob/time", [HOST, "Expect: banana"]));
    expect(refusal.status).toBe(417);
    const foreign = requestBytes("GET /clob/time", ["Host: evil.example", "Expect: banana"]);
    expect((await refusalTo(api, foreign)).code).toBe("HOST_NOT_ALLOWED");
  });

  it("an upgrade to another protocol is ignored", async () => {
    for (const protocol of ["websocket", "h2c"]) {
      const head = `GET /clob/time HTTP/1.1\r\n${HOST}\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
      expect((await replyTo(api.port, head)).status).toBe(200);
    }
  });

  it("CONNECT is refused and opens no tunnel", async () => {
    const refusal = await refusalTo(api, "CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n");
    expect(refusal.status).toBeGreaterThanOrEqual(400);
    expect(refusal.status).toBeLessThan(500);
  });

  it("an empty chunked body is an empty body", async () => {
    const lines = [HOST, CHUNKED, ...headerLines(trader.headers("DELETE", "/clob/orders/all"))];
    const bytes = requestBytes("DELETE /clob/orders/all", lines, chunked(""));
    expect((await replyTo(api.port, bytes)).status).toBe(200);
  });
});
