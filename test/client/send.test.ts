import { beforeAll, describe, expect, it } from "vitest";
import type { ExchangeClient } from "../../src/client/client.ts";
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
    const path = "/clob/order?debug=true";
    const placed = orThrow(await client.send({ method: "POST", path, body: order, signed: true }));
    expect(placed.status).toBe(200);
    const listed = orThrow(await client.send({ method: "GET", path: "/clob/orders?limit=1", signed: true }));
    expect(listed.status).toBe(200);
  });

  it("sends a string body unchanged, and signs it", async () => {
    const body = `{ "tokenId": "${tokenId}",  "side":"BUY", "price":0.50, "size":1e1 }`;
    const placed = orThrow(await client.send({ method: "POST", path: "/clob/order", body, signed: true }));
    expect(placed.body).toMatchObject({ price: 0.5, size: 10 });
    const broken = orThrow(
      await client.send({ method: "POST", path: "/clob/order", body: "{", signed: true }),
    );
    expect(broken.body).toMatchObject({ code: "INVALID_JSON" });
  });

  it("sends any JSON, and an empty string", async () => {
    const codeOf = async (body: unknown): Promise<unknown> =>
      orThrow(await client.send({ method: "POST", path: "/clob/order", body, signed: true })).body;
    expect(await codeOf([1])).toMatchObject({ error: "expected a JSON object, found an array" });
    expect(await codeOf(null)).toMatchObject({ error: "expected a JSON object, found null" });
    expect(await codeOf("")).toMatchObject({ code: "INVALID_JSON" });
  });

  it("without a body has length 0", async () => {
    const reply = orThrow(await client.send({ method: "POST", path: "/clob/order", signed: true }));
    expect(reply.body).toMatchObject({ error: "the body is empty, expected a JSON object" });
  });
});

describe("given headers", () => {
  it.each<[string, HeaderChanges, number, string]>([
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
    ["a foreign origin, which trading ignores", { origin: "https://evil.example" }, 200, ""],
  ])("replace those of the client: %s", async (_case, headers, status, code) => {
    const path = "/clob/orders";
    const reply = orThrow(await client.send({ method: "GET", path, signed: true, headers }));
    expect(reply.status).toBe(status);
    if (code !== "") expect(reply.body).toMatchObject({ code });
  });

  it("may be a function of those of the client", async () => {
    const path = "/clob/orders";
    const headers = (made: readonly Header[]): readonly Header[] =>
      made.map(([name, value]) => [name.toUpperCase(), name === "poly_signature" ? `${value}00` : value]);
    const reply = orThrow(await client.send({ method: "GET", path, signed: true, headers }));
    expect(reply.body).toMatchObject({ code: "INVALID_SIGNATURE" });
  });

  it("are signed for the path without its query, or for signedPath", async () => {
    const sent = { method: "GET", path: "/clob/orders?limit=5", signed: true };
    expect(orThrow(await client.send(sent)).status).toBe(200);
    expect(orThrow(await client.send({ ...sent, signedPath: "/orders" })).status).toBe(200);
    const other = orThrow(await client.send({ ...sent, signedPath: "/orders?limit=5" }));
    expect(other.body).toMatchObject({ code: "INVALID_SIGNATURE" });
  });

  it("replace the content type", async () => {
    const headers = { "content-type": "text/plain" };
    const sent = { method: "POST", path: "/sim/events", body: { title: "Typed" }, headers };
    expect(orThrow(await client.send(sent)).body).toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
  });
});
