import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import vectors from "../../fixtures/vectors/auth-vectors.json" with { type: "json" };
import { authHeaders } from "../../src/api/signing.ts";
import { attest, ExchangeClient, walletOf } from "../../src/client/client.ts";
import type { RawRequest } from "../../src/client/connection.ts";
import { orThrow } from "../../src/client/result.ts";
import type { Header, HeaderChanges, Transport } from "../../src/client/transport.ts";
import { apiOfTest, T0, useApi } from "../support/http.ts";
import { checked, errorOf, openTrader } from "./open.ts";

const { privateKey, personalSign, typedData, hmac } = vectors;
const address = vectors.address as `0x${string}`;

it.each(hmac)(
  "a signed request is signed like the vector, without its query: $method $path",
  ({ path, signature, ...sent }) => {
    const credentials = { address, apiKey: "k", passphrase: "p", secret: sent.secret };
    for (const target of [`/clob${path}`, `/clob${path}?limit=5&side=BUY`]) {
      const headers = authHeaders(credentials, { ...sent, target }, Number(sent.timestamp));
      expect(Object.fromEntries(headers).poly_signature).toBe(signature);
    }
  },
);

describe("a wallet", () => {
  it.each(typedData)("signs typed data like the vector: chain $chainId, nonce $nonce", async (vector) => {
    const account = await walletOf(privateKey);
    const { chainId, timestamp, nonce, signature } = vector;
    const claim = { scheme: "typed-data", chainId, unixTime: Number(timestamp), nonce } as const;
    expect(await attest(account, claim)).toEqual({ address, signature, timestamp, nonce: String(nonce) });
  });

  it("signs with personal_sign like the vector, without time and nonce", async () => {
    const account = await walletOf(privateKey);
    const claim = { scheme: "personal-sign", chainId: 137, unixTime: 1, nonce: 5 } as const;
    expect(await attest(account, claim)).toEqual({ address, signature: personalSign });
  });

  it("does not sign by a scheme that is unknown", async () => {
    const client = new ExchangeClient("http://127.0.0.1:7070", { account: await walletOf(privateKey) });
    await expect(client.derive(0, "personal_sign" as never)).rejects.toThrow(
      new TypeError('scheme expects "typed-data" or "personal-sign", found the string "personal_sign"'),
    );
  });

  it.each([
    ["is too short", `${privateKey.slice(0, -1)}`, TypeError],
    ["has no 0x", privateKey.slice(2), TypeError],
    ["is not hexadecimal", privateKey.replace("ac09", "acog"), TypeError],
    ["is zero", `0x${"0".repeat(64)}`, RangeError],
    ["is above the curve's order", `0x${"f".repeat(64)}`, RangeError],
  ])("is not created from a key that %s, and the error does not show the key", async (_case, key, kind) => {
    const error = await walletOf(key).catch((caught: unknown) => caught as Error);
    expect(error).toBeInstanceOf(kind);
    expect(String(error)).not.toContain(key.slice(4, 12));
  });
});

const api = useApi();

/** A transport over a connection that can be cut. */
function breakable() {
  const connection = { isUp: true };
  const send = checked(api);
  const transport: Transport = (request) =>
    connection.isUp ? send(request) : Promise.reject(new Error("gone"));
  return { connection, transport };
}

/** A transport that records the paths. */
function recording(paths: string[]): Transport {
  const send = checked(api);
  return (request) => {
    paths.push(request.path);
    return send(request);
  };
}

describe("a client with its own clock", () => {
  it("does not request the server's time", async () => {
    const paths: string[] = [];
    const client = await openTrader(api, 31, { time: () => T0, transport: recording(paths) });
    orThrow(await client.trades());
    expect(paths).toEqual(["/clob/auth/derive-api-key", "/clob/trades"]);
  });

  it("uses this machine's clock by default", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: T0 * 1000 + 20_500 });
    onTestFinished(() => void vi.useRealTimers());
    const account = await openTrader(api, 32, { time: "local" });
    expect(orThrow(await account.trades()).total).toBe(0);
    vi.setSystemTime((T0 + 31) * 1000);
    expect(errorOf(await account.trades()).code).toBe("TIMESTAMP_OUT_OF_WINDOW");
  });

  it("gets a hint if that clock is wrong", async () => {
    const client = await openTrader(api, 33, { time: () => T0 - 300 });
    expect(errorOf(await client.trades())).toMatchObject({
      code: "TIMESTAMP_OUT_OF_WINDOW",
      status: 401,
      hint: 'synchronise with GET /clob/time: call syncTime(), or give the client time: "server"',
      details: { skewSeconds: -300 },
    });
  });

  it.each([-300, 250.9])("uses the server's time after synchronisation, %s s off", async (skew) => {
    const client = await openTrader(api, 34, { time: () => T0 + skew });
    expect(orThrow(await client.syncTime())).toEqual({ serverTime: T0, offset: -Math.floor(skew) });
    expect(orThrow(await client.trades()).total).toBe(0);
  });

  it("keeps its offset if synchronisation fails", async () => {
    const { connection, transport } = breakable();
    const client = await openTrader(api, 35, { time: () => T0 + 100, transport });
    orThrow(await client.syncTime());
    connection.isUp = false;
    expect(errorOf(await client.syncTime()).code).toBe("CONNECTION_LOST");
    connection.isUp = true;
    expect(orThrow(await client.trades()).total).toBe(0);
  });
});

describe("a client with the server's clock", () => {
  it("requests the time before signed requests only", async () => {
    const paths: string[] = [];
    const client = await openTrader(api, 36, { time: "server", transport: recording(paths) });
    paths.length = 0;
    orThrow(await client.trades());
    orThrow(await client.markets());
    orThrow(await client.cancelAll());
    expect(paths).toEqual(["/clob/time", "/clob/trades", "/api/markets", "/clob/time", "/clob/orders/all"]);
  });

  it("follows a clock that is moved", async () => {
    const own = await apiOfTest();
    const client = await openTrader(own, 1, { time: "server", transport: checked(own) });
    orThrow(await client.control.setClock({ advance: "30d" }));
    expect(orThrow(await client.trades()).total).toBe(0);
  });

  it("returns the error of the request for the time", async () => {
    const { connection, transport } = breakable();
    const client = await openTrader(api, 37, { time: "server", transport });
    connection.isUp = false;
    expect(errorOf(await client.trades())).toMatchObject({ code: "CONNECTION_LOST" });
    expect(errorOf(await client.derive())).toMatchObject({ code: "CONNECTION_LOST" });
  });
});

let client: ExchangeClient;
let tokenId = "";

beforeAll(async () => {
  client = await openTrader(api, 51);
  tokenId = await api.newToken();
});

const post = async (path: string, body?: unknown) =>
  orThrow(await client.send({ method: "POST", path, signed: true, ...(body !== undefined && { body }) }));
const ORDERS = { method: "GET", path: "/clob/orders", signed: true };
/** Status and code of the answer to a signed GET of the open orders. */
async function answerTo(changes: Partial<RawRequest>): Promise<[number, string | undefined]> {
  const { status, body } = orThrow(await client.send({ ...ORDERS, ...changes }));
  return [status, (body as { code?: string }).code];
}

describe("a raw request", () => {
  it("returns status, headers, body and text of any reply", async () => {
    const reply = orThrow(await client.send({ method: "GET", path: "/nowhere" }));
    expect(reply.status).toBe(404);
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(reply.body).toMatchObject({ code: "ROUTE_NOT_FOUND" });
    expect(JSON.parse(reply.text)).toEqual(reply.body);
  });

  it("is signed over its path without /clob and without its query, and over its body", async () => {
    const order = { tokenId, side: "BUY", price: 0.5, size: 10 };
    expect((await post("/clob/order?debug=true", order)).status).toBe(200);
    expect(await answerTo({ path: "/clob/orders?limit=1" })).toEqual([200, undefined]);
  });

  it("sends a string body unchanged, and signs it", async () => {
    const body = `{ "tokenId": "${tokenId}",  "side":"BUY", "price":0.50, "size":1e1 }`;
    expect((await post("/clob/order", body)).body).toMatchObject({ price: 0.5, size: 10 });
  });

  it.each([
    ["{", { code: "INVALID_JSON" }],
    [[1], { error: "expected a JSON object, found an array" }],
    [null, { error: "expected a JSON object, found null" }],
    ["", { code: "INVALID_JSON" }],
    [undefined, { error: "the body is empty, expected a JSON object" }],
  ])("sends the body %j", async (body, error) => {
    expect((await post("/clob/order", body)).body).toMatchObject(error);
  });
});

describe("given headers", () => {
  it.each<[string, HeaderChanges, number, string | undefined]>([
    ["a passphrase replaced", { poly_passphrase: "x" }, 401, "INVALID_PASSPHRASE"],
    ["a name in another case", { POLY_PASSPHRASE: "x" }, 401, "INVALID_PASSPHRASE"],
    ["a signature replaced", { poly_signature: "0".repeat(64) }, 401, "INVALID_SIGNATURE"],
    ["a timestamp replaced after signing", { poly_timestamp: String(T0 + 1) }, 401, "INVALID_SIGNATURE"],
    ["an old timestamp", { poly_timestamp: String(T0 - 31) }, 401, "TIMESTAMP_OUT_OF_WINDOW"],
    ["an unknown address", { poly_address: `0x${"1".repeat(40)}` }, 401, "ADDRESS_MISMATCH"],
    ["a header removed", { poly_api_key: null }, 401, "MISSING_AUTH_HEADER"],
    ["a header sent twice", { poly_api_key: ["a", "b"] }, 401, "DUPLICATE_AUTH_HEADER"],
    ["another host", { host: "evil.example" }, 403, "HOST_NOT_ALLOWED"],
    ["no host", { host: null }, 403, "HOST_NOT_ALLOWED"],
    ["a foreign origin, which trading ignores", { origin: "https://evil.example" }, 200, undefined],
  ])("replace those of the client: %s", async (_case, headers, status, code) => {
    expect(await answerTo({ headers })).toEqual([status, code]);
  });

  it("may be a function of those of the client", async () => {
    const headers = (made: readonly Header[]): readonly Header[] =>
      made.map(([name, value]) => [name.toUpperCase(), name === "poly_signature" ? `${value}00` : value]);
    expect(await answerTo({ headers })).toEqual([401, "INVALID_SIGNATURE"]);
  });

  it("are signed for signedPath, if it is given", async () => {
    const path = "/clob/orders?limit=5";
    expect(await answerTo({ path, signedPath: "/orders" })).toEqual([200, undefined]);
    expect(await answerTo({ path, signedPath: "/orders?limit=5" })).toEqual([401, "INVALID_SIGNATURE"]);
  });

  it("replace the content type", async () => {
    const headers = { "content-type": "text/plain" };
    const sent = { method: "POST", path: "/sim/events", body: { title: "Typed" }, headers };
    expect(orThrow(await client.send(sent)).body).toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
  });
});
