import { beforeAll, describe, expect, it } from "vitest";
import type { ExchangeClient } from "../../src/client/client.ts";
import type { RawRequest } from "../../src/client/connection.ts";
import { orThrow } from "../../src/client/result.ts";
import type { Header, HeaderChanges } from "../../src/client/transport.ts";
import { T0, useApi } from "../support/http.ts";
import { openTrader } from "./open.ts";

const api = useApi();
let client: ExchangeClient;
let tokenId = "";

beforeAll(async () => {
  client = await openTrader(api, 51);
  const { tokens } = orThrow(await client.control.createMarket({ question: "Raw?" }));
  tokenId = tokens[0]?.tokenId ?? "";
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
