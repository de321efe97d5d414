import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SignedRequest } from "../src/api/signing.ts";
import type { Mistake } from "../src/api/signing-mistakes.ts";
import { explainSignature, reorderedBodies, restyledBodies } from "../src/api/signing-mistakes.ts";
import { forAll, runs } from "./support/runs.ts";

const SECONDS = "1700000000";
const SECRET = "3f9a".repeat(16);
const PASSPHRASE = "c0de".repeat(16);
const API_KEY = "5f0c2a52-5a8e-8d5a-9d7e-000000000001";
const CREDENTIALS = { address: `0x${"ab".repeat(20)}`, secret: SECRET, passphrase: PASSPHRASE };
const ORDER = '{"tokenId":"1","side":"BUY","price":0.5,"size":10.0}';
const SPACED = '{"tokenId": "1", "side": "BUY", "price": 0.5, "size": 10.0}';

type Encoding = "hex" | "base64" | "base64url";

const digestOf = (message: string, secret: string | Uint8Array = SECRET, encoding: Encoding = "hex") =>
  createHmac("sha256", secret).update(message).digest(encoding);

function request(target: string, method = "GET", body: string | Uint8Array = ""): SignedRequest {
  const headers = { host: "localhost:7070", poly_api_key: API_KEY };
  const path = target.replace(/\?.*/, "");
  return { method, path, url: `/clob${target}`, headers, rawHeaders: [], body: Buffer.from(body) };
}

const explain = (sent: SignedRequest, signature: string) =>
  explainSignature(sent, SECONDS, signature, CREDENTIALS);

const READ = request("/orders");
const LIST = request("/orders?limit=5");
const POST = request("/order", "POST", ORDER);
const HEAD = `${SECONDS}POST/order`;

describe("the explanation of a wrong signature", () => {
  const paths: [SignedRequest, string, Mistake[]][] = [
    [READ, "/clob/orders", ["CLOB_PREFIX"]],
    [READ, "http://localhost:7070/clob/orders", ["FULL_URL"]],
    [READ, "https://localhost:7070/clob/orders", ["FULL_URL"]],
    [READ, "/orders/", ["TRAILING_SLASH"]],
    [LIST, "/orders?limit=5", ["QUERY_STRING"]],
    [LIST, "/clob/orders?limit=5", ["CLOB_PREFIX", "QUERY_STRING"]],
    [LIST, "http://localhost:7070/clob/orders?limit=5", ["FULL_URL", "QUERY_STRING"]],
    [LIST, "/clob/orders/?limit=5", ["CLOB_PREFIX", "TRAILING_SLASH", "QUERY_STRING"]],
  ];
  it.each(paths)("names the path %#", (sent, path, mistakes) => {
    const explanation = explain(sent, digestOf(`${SECONDS}GET${path}`));
    expect(explanation.mistakes).toEqual(mistakes);
    expect(explanation.hint).toMatch(`signed as ${path},`);
    expect(explanation.hint).toMatch(/would match with path \/orders$/);
  });

  it.each(["000", "001", "042", "999"])("names the timestamp in milliseconds at %s", (millis) => {
    const explanation = explain(READ, digestOf(`${SECONDS}${millis}GET/orders`));
    expect(explanation.mistakes).toEqual(["MILLISECONDS"]);
    expect(explanation.hint).toMatch(`(${SECONDS}${millis}): would match with timestamp ${SECONDS}`);
  });

  const used = (what: string): string =>
    `the ${what} was used as the key of the HMAC: would match with the text of the secret as the key`;
  const LOWER = "the method was signed in lower case (get): would match with GET";
  const SIGNED = `${SECONDS}GET/orders`;
  it.each<[mistake: Mistake, message: string, key: string | Uint8Array, hint: RegExp | string]>([
    ["LOWER_CASE_METHOD", `${SECONDS}get/orders`, SECRET, LOWER],
    ["SECRET_BASE64_DECODED", SIGNED, Buffer.from(SECRET, "base64"), /\S/],
    ["SECRET_BASE64_DECODED", SIGNED, Buffer.from(SECRET, "base64url"), /\S/],
    ["SECRET_HEX_DECODED", SIGNED, Buffer.from(SECRET, "hex"), /\S/],
    ["PASSPHRASE_AS_KEY", SIGNED, PASSPHRASE, used("passphrase")],
    ["API_KEY_AS_KEY", SIGNED, API_KEY, used("API key")],
    ["EMPTY_OBJECT_SIGNED", `${SIGNED}{}`, SECRET, /\S/],
  ])("names %s, signed %j", (mistake, message, key, hint) => {
    const explained = {
      mistakes: [mistake],
      hint: typeof hint === "string" ? hint : expect.stringMatching(hint),
    };
    expect(explain(READ, digestOf(message, key))).toEqual(explained);
  });

  const GTD =
    '{"tokenId":"1","side":"BUY","price":0.5,"size":10.0,"orderType":"GTD","expiration":"1700000100"}';
  it.each([
    [ORDER, '{"side":"BUY","tokenId":"1","size":10.0,"price":0.5}', "side, tokenId, size, price"],
    [ORDER, '{"size": 10.0, "side": "BUY", "tokenId": "1", "price": 0.5}', "size, side, tokenId, price"],
    [SPACED, '{"size":10.0,"side":"BUY","tokenId":"1","price":0.5}', "size, side, tokenId, price"],
    [
      GTD,
      '{"orderType":"GTD","expiration":"1700000100","tokenId":"1","side":"BUY","size":10.0,"price":0.5}',
      "orderType, expiration, tokenId, side, size, price",
    ],
  ])("names the other order of the keys of %s", (sent, signed, order) => {
    const { mistakes, hint } = explain(request("/order", "POST", sent), digestOf(HEAD + signed));
    expect(mistakes).toEqual(["BODY_KEYS_REORDERED"]);
    expect(hint).toBe(
      `the body was signed with its keys in another order (${order}): sign the exact bytes that are sent`,
    );
  });

  const GTC = ORDER.replace("}", ',"orderType":"GTC"}');
  const fourWrong: Mistake[] = ["SECRET_HEX_DECODED", "CLOB_PREFIX", "TRAILING_SLASH", "QUERY_STRING"];
  const withOthers: [string, string, string | Uint8Array, Mistake[]][] = [
    [ORDER, "POST/clob/order/?x=1", Buffer.from(SECRET, "hex"), fourWrong],
    [ORDER, "post/clob/order", SECRET, ["LOWER_CASE_METHOD", "CLOB_PREFIX"]],
    [GTC, "POST/clob/order?x=1", SECRET, ["CLOB_PREFIX", "QUERY_STRING"]],
    [GTC, "post/order", PASSPHRASE, ["PASSPHRASE_AS_KEY", "LOWER_CASE_METHOD"]],
    [GTD, "post/order", SECRET, ["LOWER_CASE_METHOD"]],
    [GTD, "POST/clob/order", SECRET, ["CLOB_PREFIX"]],
    [GTD, "POSThttps://localhost:7070/3/clob/order", SECRET, ["FULL_URL"]],
    [GTD, "POST/order", API_KEY, ["API_KEY_AS_KEY"]],
  ];
  it.each(withOthers)(
    "names the other order of the keys of %s, signed with %s",
    (sent, head, key, mistakes) => {
      const signed = `{${sent.slice(1, -1).split(",").reverse().join(",")}}`;
      const inPool = { ...request("/order?x=1", "POST", sent), prefix: "/3" };
      const explanation = explain(inPool, digestOf(SECONDS + head + signed, key));
      expect(explanation.mistakes).toEqual([...mistakes, "BODY_KEYS_REORDERED"]);
    },
  );

  it.each(["base64", "base64url"] as const)("names the digest in %s, padded or not", (encoding) => {
    const digest = digestOf(`${SECONDS}GET/orders`, SECRET, encoding);
    for (const signature of [digest, digest.replace("=", ""), `${digest.replace("=", "")}=`]) {
      const { mistakes, hint } = explain(READ, signature);
      expect(mistakes).toEqual(["DIGEST_BASE64"]);
      expect(hint).toMatch("would match with the digest in hexadecimal");
    }
  });

  it("names the digest with a 0x prefix", () => {
    expect(explain(READ, `0x${digestOf(`${SECONDS}GET/orders`)}`).mistakes).toEqual(["DIGEST_0X"]);
  });

  it.each([
    [POST, HEAD],
    [request("/orders/all", "DELETE", "{}"), `${SECONDS}DELETE/orders/all`],
  ])("names the omitted body: %#", (sent, signed) => {
    expect(explain(sent, digestOf(signed)).mistakes).toEqual(["BODY_LEFT_OUT"]);
  });

  const SORTED = '{"price":0.5,"side":"BUY","size":10.0,"tokenId":"1"}';
  const styles: [string, string, string][] = [
    ["compact", SPACED, ORDER],
    ['spaces after ":" and ","', ORDER, SPACED],
    ["compact, keys sorted", ORDER, SORTED],
    ['spaces after ":" and ",", keys sorted', ORDER, SORTED.replace(/([:,])/g, "$1 ")],
    ["indented by two spaces", ORDER, JSON.stringify(JSON.parse(ORDER), null, 2).replace("10", "10.0")],
    ["compact", ORDER, JSON.stringify(JSON.parse(ORDER))],
    ['spaces after ":" and ",", non-ASCII characters escaped', '{"a":"\u00e9"}', '{"a": "\\u00e9"}'],
  ];
  it.each(styles)("names the body re-serialised %s", (style, sent, signed) => {
    const { mistakes, hint } = explain(request("/order", "POST", sent), digestOf(HEAD + signed));
    expect(mistakes).toEqual(["BODY_RESERIALISED"]);
    expect(hint).toBe(`would match the re-serialised body (${style}): sign the exact bytes that are sent`);
  });

  it("names two and three mistakes at once", () => {
    const key = Buffer.from(SECRET, "base64");
    expect(explain(POST, digestOf(`${SECONDS}POST/clob/order${ORDER}`, key, "base64url"))).toEqual({
      mistakes: ["DIGEST_BASE64", "SECRET_BASE64_DECODED", "CLOB_PREFIX"],
      hint: expect.stringMatching(/^3 mistakes at once: .*; .*would match with path \/order$/),
    });
  });

  const SWAPPED = '{"side":"BUY","tokenId":"1","price":0.5,"size":10.0}';
  const LONG_GTD = GTD.replace('"1"', `"${"1".repeat(77)}"`);
  const IN_POOL = { ...request("/order", "POST", LONG_GTD), prefix: "/3" };
  const DEEP = `${"[".repeat(14)}{"b":1.0,"a":[${"1,".repeat(1990)}1]}${"]".repeat(14)}`;
  it.each<[what: string, sent: SignedRequest, signed: string, mistakes: Mistake[]]>([
    ["a body", POST, `777POST/order${SPACED}`, ["MILLISECONDS", "BODY_RESERIALISED"]],
    ["its keys", POST, `POST/clob/order${SWAPPED}`, ["CLOB_PREFIX", "BODY_KEYS_REORDERED"]],
    ["three", READ, "000get/clob/orders", ["MILLISECONDS", "LOWER_CASE_METHOD", "CLOB_PREFIX"]],
    // Attempts are left after the key orders of an order.
    ["an order in a pool", IN_POOL, `999post/order${LONG_GTD}`, ["MILLISECONDS", "LOWER_CASE_METHOD"]],
    // Single mistakes are tried before the budget is spent on combinations.
    ["a deep body", request("/order?x=1", "POST", DEEP), `000POST/order${DEEP}`, ["MILLISECONDS"]],
  ])("names mistakes together: %s", (_what, sent, signed, mistakes) => {
    expect(explain(sent, digestOf(SECONDS + signed)).mistakes).toEqual(mistakes);
  });

  it("says what to sign if no known mistake reproduces it", () => {
    const { mistakes, hint } = explain(POST, digestOf(HEAD + ORDER, "another secret"));
    expect(mistakes).toEqual([]);
    expect(hint).toMatch(`"${HEAD}" and then the ${ORDER.length} bytes of the body`);
  });

  it("describes a digest if there is none", () => {
    expect(explain(READ, "0".repeat(63)).hint).toBe("expected 64 hexadecimal digits, found 63 digits");
  });

  const hostile = fc
    .constantFrom(
      ...[
        "[".repeat(65_536),
        "9".repeat(65_536),
        '"'.repeat(4096),
        '\\"'.repeat(2048),
        "\u00e9".repeat(2048),
      ],
      ...[`${"[".repeat(2000)}${"]".repeat(2000)}`, `"${'\\"'.repeat(2000)}"`, `{"a":1e${"9".repeat(4000)}}`],
      `${"[".repeat(16)}${"1,".repeat(2000)}1${"]".repeat(16)}`,
      '{"__proto__":{"10":1,"9":2},"10":1,"9":[]}',
    )
    .map((text) => Buffer.from(text));
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 65_536 }),
    fc.json().map((text) => Buffer.from(text)),
    hostile,
  );

  it("exists for any request, and reveals neither the secret nor the digest", () => {
    const anyText = fc.string({ unit: "binary", maxLength: 200 });
    const key = fc.oneof(anyText, fc.constant(SECRET));
    forAll(runs(50, 7), [anyText, bodies, anyText, anyText, key], (target, body, host, other, secret) => {
      const sent = { ...request(target, "POST", body), headers: { host } };
      const { hint } = explainSignature(sent, SECONDS, digestOf(other), {
        ...CREDENTIALS,
        secret: `secret ${secret}`,
      });
      const right = createHmac("sha256", `secret ${secret}`)
        .update(SECONDS + sent.method + sent.path)
        .update(body);
      expect(hint).not.toMatch(right.digest("hex"));
      expect(hint.includes(`secret ${secret}`) && secret !== "").toBe(false);
    });
  });
});

describe("reordered bodies", () => {
  const textsOf = (body: string, mostKeys = 7): string[] =>
    [...reorderedBodies(Buffer.from(body), mostKeys)].map(({ text }) => text);

  it("are every other order of the keys, compact and spaced", () => {
    expect(textsOf('{"a":[1,2],"b":{"d":1,"c":2}}')).toEqual([
      '{"b":{"d":1,"c":2},"a":[1,2]}',
      '{"b": {"d": 1, "c": 2}, "a": [1, 2]}',
    ]);
    expect(textsOf('{"a":1,"b":2,"c":3}')).toHaveLength(2 * (6 - 1));
  });

  it("have the same value as the body", () => {
    for (const text of textsOf(ORDER)) expect(JSON.parse(text)).toEqual(JSON.parse(ORDER));
  });

  const FOUR_KEYS = '{"a":1,"b":2,"c":3,"d":4}';
  const LONG = `{"a":1,"b":"${"a".repeat(4096)}"}`;
  it.each(["", "{", "[1,2]", "{}", '{"a":1}', FOUR_KEYS, LONG])("are none for %j", (text) => {
    expect(textsOf(text, 3)).toEqual([]);
  });
});

describe("restyled bodies", () => {
  it("have the same value as the body, and differ from it", () => {
    forAll(runs(100, 7), [fc.json()], (text) => {
      for (const restyled of restyledBodies(Buffer.from(text))) {
        expect(restyled.text).not.toBe(text);
        expect(JSON.parse(restyled.text)).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))));
      }
    });
  });

  it.each(["", "{", "\ufeff{}", "[".repeat(17) + "]".repeat(17), `"${"a".repeat(4096)}"`])(
    "are none for %j",
    (text) => {
      expect(restyledBodies(Buffer.from(text))).toEqual([]);
    },
  );

  it("are none for bytes that are not UTF-8", () => {
    expect(restyledBodies(Buffer.from([0x22, 0xff, 0x22]))).toEqual([]);
  });
});
