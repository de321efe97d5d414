import { describe, expect, it } from "vitest";
import type { Mistake } from "../../src/api/signing-mistakes.ts";
import { apiOfTest, type Headers, type Request, type Route, requestOf, useApi } from "../support/http.ts";
import { codeOf, titleOf } from "./bad-inputs.ts";
import { HOST, headerLines, refusalTo, requestBytes } from "./raw-socket.ts";
import type { OrderPage, PlacedOrder, Refusal } from "./replies.ts";
import { deriveTrader, type Signed, useTrader } from "./trader.ts";
import { swapCase } from "./wallet.ts";

const api = useApi();
const trader = useTrader(api, 1);

/** GET /clob/orders with valid headers, some of them replaced, or removed by undefined. */
function orders(replaced: Readonly<Record<string, string | undefined>> = {}, signed: Signed = {}): Request {
  const all = { ...trader.headers("GET", "/clob/orders", "", signed), ...replaced };
  const headers = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as Headers;
  return { method: "GET", path: "/clob/orders", headers };
}

const accepted = async (sent: Request): Promise<void> =>
  expect((await api.send<OrderPage>(sent)).status, JSON.stringify(sent)).toBe(200);

/** Sends these header lines over a socket, because a client would change names or values. */
const rawRefusal = (headers: readonly string[]): Promise<Refusal> =>
  refusalTo(api, requestBytes("GET /clob/orders", [HOST, ...headers]));

describe("a signed request", () => {
  it.each([
    ...["", " ", "abc", "-1", "+1750000000", "0x684ee180", "1.75e9", "01750000000", "1750000000.0", "NaN"],
    ...["Infinity", Buffer.from("١٧٥٠٠٠٠٠٠٠").toString("latin1"), "1".repeat(400)],
  ])(`${titleOf("A04")}: "%s"`, async (timestamp) => {
    const headers = trader.headers("GET", "/clob/orders", "", { timestamp });
    const { code } = await rawRefusal(headerLines(headers));
    expect(code).toBe(codeOf("A04"));
  });

  it(titleOf("A09"), async () => {
    const headers = headerLines(trader.headers("GET", "/clob/orders"));
    const { code, hint } = await rawRefusal(
      headers.map((line) => line.replace(/^[a-z_]+/, (name) => name.replaceAll("_", "-"))),
    );
    expect(code).toBe(codeOf("A09"));
    expect(hint).toContain("poly-address");
    expect(hint).toContain("underscores_in_headers");
  });

  it(titleOf("A10"), async () => {
    const own = await apiOfTest();
    const wiped = await deriveTrader(own, 1);
    for (const poly_api_key of ["00000000-0000-4000-8000-000000000000", "", "__proto__", "x".repeat(5000)]) {
      await own.refused(wiped.signed("GET", "/clob/orders", undefined, { poly_api_key }), codeOf("A10"));
    }
    await own.post("/sim/reset");
    const { body } = await wiped.refused("GET /clob/orders", codeOf("A10"));
    expect(body.hint).toContain("reset");
  });

  it(titleOf("A11"), async () => {
    const { passphrase } = trader.credentials;
    const flipped = passphrase.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const wrong of [flipped, passphrase.slice(1), passphrase.toUpperCase(), `${passphrase}0`, ""]) {
      await api.refused(orders({ poly_passphrase: wrong }), codeOf("A11"));
    }
  });

  it(titleOf("A13"), async () => {
    const digits = trader.address.slice(2);
    for (const spelled of [digits.toLowerCase(), digits.toUpperCase(), swapCase(digits)]) {
      await accepted(orders({ poly_address: `0x${spelled}` }));
    }
  });

  it(titleOf("A14"), async () => {
    const digits = trader.address.slice(2);
    const [short, long, odd] = [`0x${digits.slice(1)}`, `0x${digits}0`, `0x${digits.slice(1)}g`];
    for (const wrong of [`0X${digits}`, digits, short, long, odd, ""])
      await api.refused(orders({ poly_address: wrong }), codeOf("A14"));
  });
});

describe("a signature", () => {
  it(titleOf("A15"), async () => {
    const { poly_signature: right = "" } = trader.headers("GET", "/clob/orders");
    await accepted(orders({ poly_signature: right.toUpperCase() }));
  });

  it(titleOf("A17"), async () => {
    const { poly_signature: right = "" } = trader.headers("GET", "/clob/orders");
    for (const wrong of ["", right.slice(1), right + right, "é".repeat(64)]) {
      await api.refused(orders({ poly_signature: Buffer.from(wrong).toString("latin1") }), codeOf("A17"));
    }
    for (const encoding of ["base64", "base64url"] as const) {
      const wrong = Buffer.from(right, "hex").toString(encoding);
      const { body } = await api.refused(orders({ poly_signature: wrong }), codeOf("A17"));
      expect(body.hint).toMatch(/base64(url)?: would match with the digest in hexadecimal/);
    }
  });

  it.each<[id: string, Route, body: string, signed: Signed, Mistake, hint: string]>([
    ["A18", "GET /clob/orders", "", { path: "/clob/orders" }, "CLOB_PREFIX", "would match with path /orders"],
    ["A19", "GET /clob/orders?limit=5", "", { path: "/orders?limit=5" }, "QUERY_STRING", "query string"],
    ["A20", "GET /clob/orders", "", { method: "get" }, "LOWER_CASE_METHOD", "would match with GET"],
    [
      "A21",
      "DELETE /clob/order",
      '{ "id": "" }',
      { body: '{"id":""}' },
      "BODY_RESERIALISED",
      "re-serialised",
    ],
    ["A23", "DELETE /clob/orders/all", "{}", { body: "" }, "BODY_LEFT_OUT", "the body was left out"],
    ["A23", "DELETE /clob/orders/all", "", { body: "{}" }, "EMPTY_OBJECT_SIGNED", "{} was signed for an"],
  ])(
    "%s: %s %s signed as %j is refused as %s, also by explain-auth",
    async (id, route, sent, as, mistake, hint) => {
      const { method, path, ...content } = requestOf(route, sent || undefined);
      const right = await api.send<{ code?: string }>(trader.signed(method, path, sent || undefined));
      expect(right.body.code).toBe(id === "A21" ? "ORDER_ID_REQUIRED" : undefined);
      const headers = trader.headers(method, path, sent, as);
      const { body } = await api.refused({ method, path, headers, ...content }, "INVALID_SIGNATURE");
      expect(body.hint).toContain(hint);
      expect(body.details).toEqual({ mistakes: [mistake] });
      const explained = await api.post("/sim/explain-auth", { method, url: path, headers, body: sent });
      expect(explained).toMatchObject({ verdict: "INVALID_SIGNATURE", hint: body.hint });
    },
  );

  it(titleOf("A26"), async () => {
    const tokenId = await api.newToken();
    const order = { tokenId, side: "BUY", price: 0.5, size: 5 };
    const request = trader.signed("POST", "/clob/order", order);
    const [first, second] = [await api.send<PlacedOrder>(request), await api.send<PlacedOrder>(request)];
    expect([first.status, second.status]).toEqual([200, 200]);
    const { data } = await trader.ask<OrderPage>("GET", `/clob/orders?token_id=${tokenId}`);
    expect(data.map(({ id }) => id)).toEqual([first.body.id, second.body.id]);
    expect(first.body.id).not.toBe(second.body.id);
  });

  it("is refused without the secret, the passphrase or the valid digest in the reply", async () => {
    const { secret, passphrase } = trader.credentials;
    const { poly_signature: digest = "" } = trader.headers("GET", "/clob/orders");
    for (const wrong of [orders({}, { path: "/clob/orders" }), orders({ poly_passphrase: "x" })]) {
      const { text } = await api.send(wrong);
      for (const hidden of [secret, passphrase, digest]) expect(text).not.toContain(hidden);
    }
  });
});
