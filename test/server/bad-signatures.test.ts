import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, type Headers, type Request, startApi } from "../support/http.ts";
import { refusalOf, titleOf } from "./bad-inputs.ts";
import type { OrderPage, PlacedOrder } from "./replies.ts";
import { deriveTrader, hmac, type Signed, type Trader } from "./trader.ts";
import { AUTH_VECTORS } from "./wallet.ts";

let api: Api;
let trader: Trader;

beforeAll(async () => {
  api = await startApi();
  trader = await deriveTrader(api, 1);
});
afterAll(() => api.close());

/** GET /clob/orders with the right headers, some of them replaced; undefined leaves one out. */
function orders(replaced: Readonly<Record<string, string | undefined>> = {}, signed: Signed = {}): Request {
  const all = { ...trader.headers("GET", "/clob/orders", "", signed), ...replaced };
  const headers = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as Headers;
  return { method: "GET", path: "/clob/orders", headers };
}

const accepted = async (sent: Request): Promise<void> =>
  expect((await api.send<OrderPage>(sent)).status, JSON.stringify(sent)).toBe(200);

describe("the client of these tests", () => {
  it.each(AUTH_VECTORS.hmac)("signs $method $path as the vectors do", (vector) => {
    const { secret, timestamp, method, path, body, signature } = vector;
    expect(hmac(secret, timestamp + method + path + body)).toBe(signature);
  });
});

describe("a signed request", () => {
  it(titleOf("A15"), async () => {
    const { poly_signature: right = "" } = trader.headers("GET", "/clob/orders");
    await accepted(orders({ poly_signature: right.toUpperCase() }));
  });

  it(titleOf("A17"), async () => {
    const { poly_signature: right = "" } = trader.headers("GET", "/clob/orders");
    for (const wrong of ["", right.slice(1), right + right, "é".repeat(64)]) {
      await api.refused(
        orders({ poly_signature: Buffer.from(wrong).toString("latin1") }),
        ...refusalOf("A17"),
      );
    }
    for (const encoding of ["base64", "base64url"] as const) {
      const wrong = Buffer.from(right, "hex").toString(encoding);
      const { body } = await api.refused(orders({ poly_signature: wrong }), ...refusalOf("A17"));
      expect(body.hint).toMatch(/base64(url)?: would match with the digest in hexadecimal/);
    }
  });

  it.each<[id: string, says: string, signed: Signed]>([
    ["A18", "would match with path /orders", { path: "/clob/orders" }],
    ["A20", "would match with GET", { method: "get" }],
  ])("%s is refused, and the hint says %s", async (id, says, signed) => {
    const { body } = await api.refused(orders({}, signed), ...refusalOf(id));
    expect(body.hint).toContain(says);
  });

  it(titleOf("A19"), async () => {
    const target = "/clob/orders?limit=5";
    await accepted(trader.signed("GET", target));
    const headers = trader.headers("GET", target, "", { path: "/orders?limit=5" });
    const { body } = await api.refused({ method: "GET", path: target, headers }, 401, "INVALID_SIGNATURE");
    expect(body.hint).toContain("query string");
  });

  it(titleOf("A21"), async () => {
    const [token] = (await api.createMarket()).tokens;
    const order = { tokenId: token?.tokenId, side: "BUY", price: 0.5, size: 5 };
    const spaced = JSON.stringify(order).replace(/([:,])/g, "$1 ");
    await trader.ask<PlacedOrder>("POST", "/clob/order", spaced);
    const headers = trader.headers("POST", "/clob/order", "", { body: spaced });
    const sent = { method: "POST", path: "/clob/order", headers, body: order } as const;
    const { body } = await api.refused(sent, 401, "INVALID_SIGNATURE");
    expect(body.hint).toContain("would match the re-serialised body");
  });

  it(titleOf("A23"), async () => {
    await trader.ask("DELETE", "/clob/orders/all");
    const path = "/clob/orders/all";
    const headers = trader.headers("DELETE", path);
    const { body } = await api.refused(
      { method: "DELETE", path, headers, body: "{}" },
      401,
      "INVALID_SIGNATURE",
    );
    expect(body.hint).toContain("the body was left out");
    await trader.ask("DELETE", path, "{}");
  });

  it("over {} when nothing is sent is refused, and the hint says so", async () => {
    const headers = trader.headers("DELETE", "/clob/orders/all", "", { body: "{}" });
    const sent = { method: "DELETE", path: "/clob/orders/all", headers } as const;
    const { body } = await api.refused(sent, 401, "INVALID_SIGNATURE");
    expect(body.hint).toContain("{} was signed for an empty body");
  });

  it(titleOf("A26"), async () => {
    const [token] = (await api.createMarket()).tokens;
    const order = { tokenId: token?.tokenId, side: "BUY", price: 0.5, size: 5 };
    const request = trader.signed("POST", "/clob/order", order);
    const [first, second] = [await api.send<PlacedOrder>(request), await api.send<PlacedOrder>(request)];
    expect([first.status, second.status]).toEqual([200, 200]);
    const { data } = await trader.ask<OrderPage>("GET", `/clob/orders?token_id=${token?.tokenId}`);
    expect(data.map(({ id }) => id)).toEqual([first.body.id, second.body.id]);
    expect(first.body.id).not.toBe(second.body.id);
  });

  it("never tells the secret, the passphrase or the right digest in a refusal", async () => {
    const { secret, passphrase } = trader.credentials;
    const { poly_signature: digest = "" } = trader.headers("GET", "/clob/orders");
    for (const wrong of [orders({}, { path: "/clob/orders" }), orders({ poly_passphrase: "x" })]) {
      const { text } = await api.send(wrong);
      for (const kept of [secret, passphrase, digest]) expect(text).not.toContain(kept);
    }
  });

  it("is refused by the first check that fails, in the contract's order", async () => {
    const wrong: Record<string, string | undefined> = {
      poly_timestamp: "soon",
      poly_api_key: "none",
      poly_address: "nobody",
      poly_passphrase: "open sesame",
      poly_signature: "x",
    };
    const right = trader.headers("GET", "/clob/orders");
    const steps = [
      ["MISSING_AUTH_HEADER", "poly_signature", undefined],
      ["INVALID_TIMESTAMP", "poly_timestamp", String(api.now + 99)],
      ["TIMESTAMP_OUT_OF_WINDOW", "poly_timestamp", right.poly_timestamp],
      ["UNKNOWN_API_KEY", "poly_api_key", right.poly_api_key],
      ["ADDRESS_MISMATCH", "poly_address", right.poly_address],
      ["INVALID_PASSPHRASE", "poly_passphrase", right.poly_passphrase],
      ["INVALID_SIGNATURE", "poly_signature", right.poly_signature],
    ] as const;
    for (const [code, name, next] of steps) {
      const now = code === "MISSING_AUTH_HEADER" ? { ...wrong, [name]: undefined } : wrong;
      await api.refused(orders(now), 401, code);
      if (next !== undefined) wrong[name] = next;
    }
    await accepted(orders(wrong));
  });

  it("is needed by every trading endpoint", async () => {
    for (const [method, path] of [
      ["POST", "/clob/order"],
      ["DELETE", "/clob/order"],
      ["DELETE", "/clob/orders/all"],
      ["GET", "/clob/orders"],
      ["GET", "/clob/trades"],
    ] as const) {
      await api.refused({ method, path }, 401, "MISSING_AUTH_HEADER");
    }
  });
});
