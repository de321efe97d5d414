import type { OutgoingHttpHeaders } from "node:http";
import { createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ExchangeClient } from "../../src/client/client.ts";
import { collect, ExchangeFailure, orThrow } from "../../src/client/result.ts";
import { wallet } from "../server/wallet.ts";
import { httpServer, listenLocally } from "../support/local-server.ts";
import { errorOf } from "./open.ts";

const CREDENTIALS = { address: "0xa", apiKey: "k", secret: "s", passphrase: "p" } as const;
const NOWHERE = "http://127.0.0.1:1";
const closeAfter = <Closable extends { close(): unknown }>(closable: Closable): Closable => {
  onTestFinished(async () => void (await closable.close()));
  return closable;
};

const clientOf = (url: string, options: ConstructorParameters<typeof ExchangeClient>[1] = {}) =>
  closeAfter(new ExchangeClient(url, options));

/** A client of an HTTP server with a given answer. */
const clientOfReply = async (status: number, text: string, headers: OutgoingHttpHeaders = {}) => {
  const server = await httpServer((_request, response) => response.writeHead(status, headers).end(text));
  return clientOf(closeAfter(server).url);
};

/** Fields of an error without the values that most errors lack. */
const PLAIN = { hint: null, details: null, requestId: null, retryAfter: null };

/** A client of a TCP server with a given answer. */
async function clientOfSocket(answer: (socket: Socket) => void): Promise<ExchangeClient> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  const port = await listenLocally(closeAfter(server));
  return clientOf(`http://127.0.0.1:${port}`);
}

const OK = "HTTP/1.1 200 OK\r\n";
const SWITCHING = "HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";

describe("CONNECTION_LOST", () => {
  it("is the error if no server listens", async () => {
    const message = `no reply from ${NOWHERE}: connect ECONNREFUSED 127.0.0.1:1`;
    const hint = "is a server running there? clobsim serve starts one";
    const details = { cause: "ECONNREFUSED" };
    const refused = { code: "CONNECTION_LOST", status: null, message, hint, details };
    expect(errorOf(await clientOf(NOWHERE).serverTime())).toEqual({ ...PLAIN, ...refused });
  });

  it.each<[string, (socket: Socket) => void]>([
    ["closes the connection without a reply", (socket) => socket.end()],
    ["resets the connection", (socket) => socket.resetAndDestroy()],
    ["closes the connection inside the head", (socket) => socket.end(`${OK}content-le`)],
    ["closes the connection inside the body", (socket) => socket.end(`${OK}content-length: 9\r\n\r\n{`)],
    ["uses another protocol", (socket) => socket.end("220 mail.example ESMTP\r\n")],
    ["changes the protocol", (socket) => socket.write(SWITCHING)],
  ])("is the error if the server %s", async (_case, answer) => {
    const client = await clientOfSocket(answer);
    expect(errorOf(await client.serverTime())).toMatchObject({
      code: "CONNECTION_LOST",
      status: null,
      hint: "the request may have been executed: check before sending it again",
    });
  });

  it("is the only error of a raw request", async () => {
    const raw = await clientOf(NOWHERE).send({ method: "GET", path: "/clob/time" });
    expect(errorOf(raw).code).toBe("CONNECTION_LOST");
  });

  it.each([
    ["a header that HTTP cannot carry", { path: "/", headers: { "x-name": "a\r\nb" } }, "ERR_INVALID_CHAR"],
    ["a path that HTTP cannot carry", { path: "/a b" }, "ERR_UNESCAPED_CHARACTERS"],
  ])("is the error of %s, which is not sent", async (_case, request, cause) => {
    const raw = await clientOf(NOWHERE).send({ method: "GET", ...request });
    expect(errorOf(raw)).toMatchObject({ code: "CONNECTION_LOST", hint: null, details: { cause } });
  });

  it("is the error of a pending request when the client is closed, and of later ones", async () => {
    const client: ExchangeClient = await clientOfSocket(() => client.close());
    expect(errorOf(await client.serverTime()).code).toBe("CONNECTION_LOST");
    expect(errorOf(await client.serverTime()).message).toContain("the client is closed");
  });

  it("is the error of a transport that rejects", async () => {
    const client = clientOf(NOWHERE, { transport: () => Promise.reject(undefined) });
    expect(errorOf(await client.serverTime()).message).toBe(`no reply from ${NOWHERE}: undefined`);
  });
});

function fakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

it.each<[string, string]>([
  ["nothing arrives", ""],
  ["only a part arrives", `${OK}content-length: 9\r\n\r\n{`],
])("a reply after the timeout is an error if %s", async (_case, bytes) => {
  fakeTimeouts();
  const client = await clientOfSocket((socket) => {
    socket.write(bytes, () => vi.advanceTimersByTime(30_000));
  });
  expect(errorOf(await client.serverTime()).message).toContain("no complete reply within 30000 ms");
});

it("a reply in time cancels its timer", async () => {
  const server = closeAfter(await httpServer((_request, response) => response.end("{}")));
  fakeTimeouts();
  orThrow(await clientOf(server.url).serverTime());
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0));
});

describe("INVALID_REPLY", () => {
  const [html, plain, json] = ["text/html", "text/plain", "application/json"];
  const teapot = '{"error":"short and stout","code":"TEAPOT"}';
  it.each([
    [502, html, "<html>", "the reply 502 should be a JSON object, found invalid JSON (text/html)"],
    [200, plain, "", "the reply 200 should be a JSON object, found invalid JSON (text/plain)"],
    [200, json, "[1]", "the reply 200 should be a JSON object, found an array"],
    [200, json, '"secret"', "the reply 200 should be a JSON object, found a string"],
    [500, json, "{}", "the reply 500 is not a known error: no code"],
    [418, json, teapot, 'the reply 418 is not a known error: code "TEAPOT"'],
  ])("is the error of a reply %i of %s: %s", async (status, type, text, message) => {
    const client = await clientOfReply(status, text, { "content-type": type, "x-request-id": "r-1" });
    const error = errorOf(await client.serverTime());
    expect(error).toMatchObject({ code: "INVALID_REPLY", status, message, requestId: "r-1" });
  });

  it.each([
    ["{}", "nothing"],
    ['{"data":{}}', "an object"],
  ])("is the error of a page whose list is missing: %s", async (text, found) => {
    const client = await clientOfReply(200, text);
    const collected = await collect((window) => client.markets(window));
    const message = `the reply 200 should be a page with a list data, found ${found}`;
    expect(errorOf(collected)).toMatchObject({ code: "INVALID_REPLY", status: 200, message });
  });

  it("has the body of a server with other codes", async () => {
    const body = { error: "short and stout", code: "toString" };
    const client = await clientOfReply(418, JSON.stringify(body));
    expect(errorOf(await client.serverTime()).details).toEqual(body);
  });
});

it("an error of the contract is read without invalid fields", async () => {
  const error = { code: "INTERNAL_ERROR", requestId: "r" };
  const body = { ...error, error: "busy", status: 500, hint: 5, details: [1] };
  const client = await clientOfReply(503, JSON.stringify(body));
  expect(errorOf(await client.serverTime())).toEqual({ ...PLAIN, ...error, message: "busy", status: 503 });
});

describe("the seconds of Retry-After", () => {
  const DATE = "Thu, 01 Jan 2026 00:00:00 GMT";

  it.each<[string, Record<string, string>, number | null]>([
    ["seconds", { "retry-after": "7" }, 7],
    ["no seconds at all", { "retry-after": "0" }, 0],
    ["a time", { "retry-after": "Thu, 01 Jan 2026 00:01:30 GMT", date: DATE }, 90],
    ["a time in the past", { "retry-after": "Wed, 31 Dec 2025 23:00:00 GMT", date: DATE }, 0],
    ["another text", { "retry-after": "soon", date: DATE }, null],
    ["a negative number", { "retry-after": "-3", date: DATE }, null],
    ["a fraction", { "retry-after": "1.5" }, null],
    ["nothing", {}, null],
  ])("are read from a reply with %s and any body", async (_case, headers, retryAfter) => {
    for (const body of ['{"error":"slow down","code":"RATE_LIMITED"}', "<html>"]) {
      const client = clientOf(NOWHERE, { transport: async () => ({ status: 429, headers, text: body }) });
      expect(errorOf(await client.serverTime()).retryAfter).toBe(retryAfter);
    }
  });
});

it("NOT_DERIVED is the error of every signed call before credentials are derived", async () => {
  const client = clientOf(NOWHERE, { account: wallet(1) });
  const calls = [
    client.place({ tokenId: "1", side: "BUY", price: 0.5, size: 1 }),
    client.cancel("o"),
    client.cancelAll(),
    client.openOrders(),
    client.trades(),
    client.send({ method: "GET", path: "/clob/orders", signed: true }),
  ];
  for (const call of calls) {
    expect(errorOf(await call)).toEqual({
      ...{ ...PLAIN, code: "NOT_DERIVED", status: null },
      message: "this client has no credentials to sign with",
      hint: "call derive() first, or give the client credentials",
    });
  }
});

describe("NO_WALLET", () => {
  it("is the error of deriving without an account", async () => {
    expect(errorOf(await clientOf(NOWHERE, { credentials: CREDENTIALS }).derive())).toMatchObject({
      code: "NO_WALLET",
      hint: "give the client an account: walletOf(privateKey) makes one",
    });
  });

  it("is the error if the wallet refuses", async () => {
    const refuse = (): Promise<string> => Promise.reject(new Error("the user said no\nat length"));
    const account = { address: "0xa", signTypedData: refuse, signMessage: refuse } as const;
    const error = errorOf(await clientOf(NOWHERE, { account }).derive());
    expect(error.code).toBe("NO_WALLET");
    expect(error.message).toMatch(/^the wallet did not sign: [^\n]+$/);
  });
});

it.each([-1, 1.5, Number.NaN, 2n ** 256n])(
  "deriving with the nonce %s is the error of the server",
  async (nonce) => {
    expect(errorOf(await clientOf(NOWHERE, { account: wallet(1) }).derive(nonce))).toEqual({
      ...{ ...PLAIN, code: "INVALID_AUTH_PAYLOAD", status: null, details: { field: "nonce" } },
      message: `nonce is not a whole number from 0 to 2^256 - 1 in decimal, found ${nonce}`,
    });
  },
);

it("orThrow throws the error with a message of one line", () => {
  const more = "send more";
  for (const [message, hint, whole] of [
    ["size 0", more, "INVALID_SIZE: size 0. send more"],
    ["did you mean size?", more, "INVALID_SIZE: did you mean size? send more"],
    ["size 0", null, "INVALID_SIZE: size 0"],
  ] as const) {
    const error = { ...PLAIN, code: "INVALID_SIZE", status: 400, message, hint } as const;
    expect(() => orThrow({ ok: false, error })).toThrow(new ExchangeFailure(error));
    expect(new ExchangeFailure(error)).toMatchObject({ message: whole, error });
  }
});

describe("a client", () => {
  it.each([
    ...["127.0.0.1:7070", "ftp://127.0.0.1", "http://127.0.0.1/clob", "http://127.0.0.1?a", ""],
    ...["http://u:p@h", "http://127.0.0.1/3/clob", "http://127.0.0.1/0"],
  ])("is not created for %j, which is not the URL of an exchange", (url) => {
    expect(() => new ExchangeClient(url)).toThrow(TypeError);
  });

  it.each([
    ...["http://127.0.0.1:7070", "http://127.0.0.1:7070/", "https://exchange.example", "http://[::1]:7070"],
    ...["http://127.0.0.1:7070/3", "http://127.0.0.1:7070/12/"],
  ])("is created for %s", (url) => {
    expect(() => clientOf(url)).not.toThrow();
  });

  it("reuses its connection", async () => {
    const ports = new Set<number | undefined>();
    const server = await httpServer((request, response) => {
      ports.add(request.socket.remotePort);
      response.end("{}");
    });
    const client = clientOf(closeAfter(server).url);
    for (let count = 0; count < 3; count += 1) orThrow(await client.serverTime());
    expect(ports.size).toBe(1);
  });
});
