import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkSignedRequest, explainAuth, type PastedRequest } from "../src/api/authentication.ts";
import { AUTH_HEADERS, sign } from "../src/api/signing.ts";
import type { Mistake } from "../src/api/signing-mistakes.ts";
import { forAll, runs } from "./support/runs.ts";

const NOW = 1_700_000_000;
const SECRET = "3f9a".repeat(16);
const PASSPHRASE = "c0de".repeat(16);
const ADDRESS = `0x${"ab".repeat(20)}`;
const ORDER = '{"tokenId":"1","side":"BUY","price":0.5,"size":10}';
const lookup = (apiKey: string) =>
  apiKey === "key-1" ? { address: ADDRESS, secret: SECRET, passphrase: PASSPHRASE } : undefined;

interface Changes extends Omit<Partial<PastedRequest>, "headers"> {
  signed?: string;
  headers?: Record<string, string | undefined>;
}

/** Builds a correctly signed POST /clob/order with changes; a header that is undefined is omitted. */
function pasted({
  signed = `${NOW}POST/order${ORDER}`,
  headers = {},
  ...changes
}: Changes = {}): PastedRequest {
  const all: Record<string, string | undefined> = {
    host: "localhost:7070",
    poly_address: ADDRESS,
    poly_api_key: "key-1",
    poly_passphrase: PASSPHRASE,
    poly_timestamp: String(NOW),
    poly_signature: sign(SECRET, signed),
    ...headers,
  };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { method: "POST", url: "/clob/order", body: ORDER, ...changes, headers: Object.fromEntries(sent) };
}

const explain = (changes?: Changes, time = NOW, host: string | undefined = undefined) =>
  explainAuth(pasted(changes), lookup, { time, host, prefix: "" });

describe("the explanation of a pasted request", () => {
  it("passes every check of a correct one, in the order of the refusals", () => {
    const { verdict, hint, checks, canonicalMessage } = explain();
    expect({ verdict, hint }).toEqual({ verdict: "OK", hint: null });
    expect(checks.filter(({ ok }) => ok === true).map(({ code }) => code)).toEqual([
      ...["MISSING_AUTH_HEADER", "DUPLICATE_AUTH_HEADER", "INVALID_TIMESTAMP", "TIMESTAMP_OUT_OF_WINDOW"],
      ...["UNKNOWN_API_KEY", "ADDRESS_MISMATCH", "INVALID_PASSPHRASE", "INVALID_SIGNATURE"],
    ]);
    expect(checks).toHaveLength(8);
    expect(canonicalMessage).toBe(`${NOW}POST/order${ORDER}`);
  });

  it.each([
    { url: "http://localhost:7070/clob/order" },
    { url: "https://example.org/clob/order?x=1#top" },
    { url: "/clob/order?x=1" },
    { url: "/clob/order#top" },
    { url: "/order" },
    { url: undefined, path: "/clob/order" },
    { method: "post" },
    { headers: { poly_address: undefined, POLY_ADDRESS: ` ${ADDRESS} ` } },
  ])("accepts every form of the request: %j", (changes) => {
    expect(explain(changes)).toMatchObject({ verdict: "OK", canonicalMessage: `${NOW}POST/order${ORDER}` });
  });

  it("needs no body", () => {
    const changes = { method: "GET", url: "/clob/orders", body: undefined, signed: `${NOW}GET/orders` };
    expect(explain(changes)).toMatchObject({ verdict: "OK", canonicalMessage: `${NOW}GET/orders` });
  });

  it("performs the checks after the first failure too", () => {
    const headers = { poly_passphrase: "another", poly_timestamp: String(NOW - 31) };
    const { verdict, checks, hint } = explain({ headers, signed: `${NOW - 31}POST/clob/order${ORDER}` });
    expect(verdict).toBe("TIMESTAMP_OUT_OF_WINDOW");
    expect(hint).toMatch("GET /clob/time");
    expect(checks.map(({ ok }) => ok)).toEqual([true, true, true, false, true, true, false, false]);
  });

  it.each([
    ["those of the credentials without a key", { poly_api_key: undefined }, "✗✓✓✓----"],
    ["those of the credentials with an unknown key", { poly_api_key: "key-2" }, "✓✓✓✓✗---"],
    ["those of the time with an invalid timestamp", { poly_timestamp: "1e9" }, "✓✓✗-✓✓✓-"],
    ["the signature if it is missing", { poly_signature: undefined }, "✗✓✓✓✓✓✓-"],
  ])("skips checks that are not possible: %s", (_case, headers, checks) => {
    const marks = explain({ headers }).checks.map(({ ok }) => (ok === null ? "-" : ok ? "✓" : "✗"));
    expect(marks.join("")).toBe(checks);
  });

  it("detects a header repeated in another letter case", () => {
    expect(explain({ headers: { Poly_Address: ADDRESS } }).verdict).toBe("DUPLICATE_AUTH_HEADER");
  });

  it("names the mistake in the signature", () => {
    const url = "http://localhost:9999/clob/order";
    const signed = `${NOW}POST${url}${ORDER}`;
    const { verdict, hint } = explain({ url, headers: { host: undefined }, signed });
    expect(verdict).toBe("INVALID_SIGNATURE");
    expect(hint).toMatch("would match with path /order");
  });

  it.each([
    ["localhost:7070", "https://localhost:7070"],
    ["localhost:7070", "http://127.0.0.1:7070"],
    ["127.0.0.1:7070", "http://[::1]:7070"],
    ["exchange.example", "https://exchange.example"],
  ])("uses the server's host %s for a request without one, signed with %s", (host, origin) => {
    const changes = { headers: { host: undefined }, signed: `${NOW}POST${origin}/clob/order${ORDER}` };
    expect(explain(changes, NOW, host).hint).toBe(
      `the path was signed as ${origin}/clob/order, with the full URL: would match with path /order`,
    );
    expect(explain(changes, NOW, "elsewhere:1").hint).toMatch("no known mistake reproduces it");
  });

  it("checks the timestamp at the given time", () => {
    const given = explain({ serverTime: NOW + 30 }, NOW + 9999);
    expect(given).toMatchObject({ verdict: "OK", serverTime: NOW + 30 });
    const late = explain({}, NOW + 9999);
    expect(late).toMatchObject({ verdict: "TIMESTAMP_OUT_OF_WINDOW", serverTime: NOW + 9999 });
  });

  it("shows a message with the server's time if there is no timestamp", () => {
    expect(explain({ headers: { poly_timestamp: "1e9" } }, NOW + 5).canonicalMessage).toBe(
      `${NOW + 5}POST/order${ORDER}`,
    );
  });

  it("exists for any request, and reveals no secret, passphrase or digest", () => {
    const text = fc.string({ unit: "binary", maxLength: 80 });
    const values = fc.oneof(text, fc.constantFrom(ADDRESS, "key-1", PASSPHRASE, String(NOW), "0".repeat(64)));
    const names = fc.constantFrom("POLY_TIMESTAMP", "__proto__", "toString", ...AUTH_HEADERS);
    const request = fc.record({ headers: fc.dictionary(names, values), url: text, method: text, body: text });
    forAll(runs(100, 7), [request], ({ headers, ...changes }) => {
      const sent = pasted({ ...changes, headers });
      const explanation = explainAuth(sent, lookup, { time: NOW, host: undefined, prefix: "" });
      const failed = explanation.checks.filter(({ ok }) => ok === false);
      expect(explanation.verdict).toBe(failed[0]?.code ?? "OK");
      const shown = JSON.stringify({ ...explanation, canonicalMessage: "" });
      const { canonicalMessage } = explanation;
      for (const secret of [SECRET, PASSPHRASE, sign(SECRET, canonicalMessage)])
        expect(shown).not.toMatch(secret);
    });
  });

  /** Expects the server's refusal of a request to equal its explanation, and to have details. */
  function expectSameRefusal(changes: Changes, details: object = {}): void {
    const sent = pasted(changes);
    const { method, url = "", body = "", headers } = sent;
    const path = url.replace(/^\/clob|\?.*/g, "");
    const rawHeaders = Object.entries(headers).flat();
    const request = { method, path, url, body: Buffer.from(body), headers, rawHeaders };
    const { verdict, hint } = explain(changes);
    const help = expect.objectContaining({ ...(hint !== null && { hint }), ...details });
    expect(() => checkSignedRequest(request, lookup, NOW)).toThrow(
      expect.objectContaining({ code: verdict, help }),
    );
  }

  it.each(AUTH_HEADERS)("equals the refusal of the server if %s is wrong", (name) => {
    expectSameRefusal({ headers: { [name]: "wrong" } });
  });

  const READ = { method: "GET", url: "/clob/orders", body: undefined };
  const CANCEL = { method: "DELETE", url: "/clob/orders/all" };
  it.each<[id: string, changes: Changes, signed: string, Mistake, hint: string]>([
    ["A18", READ, "GET/clob/orders", "CLOB_PREFIX", "would match with path /orders"],
    ["A19", { ...READ, url: `${READ.url}?x=5` }, "GET/orders?x=5", "QUERY_STRING", "query string"],
    ["A20", READ, "get/orders", "LOWER_CASE_METHOD", "would match with GET"],
    ["A21", { body: '{ "id": "" }' }, 'POST/order{"id":""}', "BODY_RESERIALISED", "re-serialised"],
    ["A23", { ...CANCEL, body: "{}" }, "DELETE/orders/all", "BODY_LEFT_OUT", "the body was left out"],
    ["A23", { ...CANCEL, body: "" }, "DELETE/orders/all{}", "EMPTY_OBJECT_SIGNED", "{} was signed for an"],
  ])(
    "equals the refusal of the server for the mistake %s, %j signed %s as %s",
    (_id, sent, message, mistake, hint) => {
      const changes = { ...sent, signed: NOW + message };
      expectSameRefusal(changes, { details: { mistakes: [mistake] } });
      expect(explain(changes)).toMatchObject({
        verdict: "INVALID_SIGNATURE",
        hint: expect.stringContaining(hint),
      });
    },
  );
});
