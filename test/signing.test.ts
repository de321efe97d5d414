import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import vectors from "../fixtures/vectors/auth-vectors.json" with { type: "json" };
import { checkSignedRequest } from "../src/api/authentication.ts";
import { ApiError, type ErrorCode } from "../src/api/errors.ts";
import {
  AUTH_HEADERS,
  type AuthHeader,
  canonicalMessage,
  type SignedRequest,
  sign,
} from "../src/api/signing.ts";
import { codeOf } from "./server/bad-inputs.ts";
import { forAll, runs } from "./support/runs.ts";

const NOW = 1_700_000_000;
const ADDRESS = vectors.address.toLowerCase();
const SECRET = "3f9a".repeat(16);
const PASSPHRASE = "c0de".repeat(16);
const API_KEY = "7a1c9f52-0000-8000-8000-000000000001";
const CREDENTIALS = { address: ADDRESS, secret: SECRET, passphrase: PASSPHRASE };

interface Sent {
  method?: string;
  /** As in the request target, after `/clob`: `/orders?limit=5`. */
  target?: string;
  body?: string | Uint8Array;
  timestamp?: string;
  headers?: Record<string, string | undefined>;
  /** Signed instead of the canonical message. */
  message?: string;
}

/** Builds a request as Node provides it, by default correctly signed. */
function requestOf(sent: Sent = {}): SignedRequest {
  const { method = "GET", target = "/orders", timestamp = String(NOW) } = sent;
  const body = Buffer.from(sent.body ?? "");
  const path = target.replace(/\?.*/, "");
  const message = sent.message ?? timestamp + method + path + body;
  const headers: Record<string, string | undefined> = {
    host: "localhost:7070",
    poly_address: ADDRESS,
    poly_api_key: API_KEY,
    poly_passphrase: PASSPHRASE,
    poly_timestamp: timestamp,
    poly_signature: createHmac("sha256", SECRET).update(message).digest("hex"),
    ...sent.headers,
  };
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  );
  return { method, path, url: `/clob${target}`, headers, rawHeaders, body };
}

const check = (request: SignedRequest) =>
  checkSignedRequest(request, (apiKey) => (apiKey === API_KEY ? CREDENTIALS : undefined), NOW);

/** Returns the error of a refused request. */
function refused(request: SignedRequest): ApiError {
  try {
    check(request);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("the request was accepted");
}

describe("the signature", () => {
  it.each(vectors.hmac)("of $method $path is the known one", ({ message, signature, secret, ...parts }) => {
    expect(canonicalMessage(parts)).toBe(message);
    expect(sign(secret, canonicalMessage(parts))).toBe(signature);
    const credentials = { ...CREDENTIALS, secret };
    const { method, path: target, body, timestamp } = parts;
    const request = requestOf({ method, target, body, timestamp, headers: { poly_signature: signature } });
    expect(checkSignedRequest(request, () => credentials, NOW)).toBe(ADDRESS);
  });

  it("covers the method in upper case", () => {
    expect(canonicalMessage({ timestamp: "1", method: "get", path: "/orders", body: "" })).toBe(
      "1GET/orders",
    );
  });

  it("covers the exact bytes of the body, valid UTF-8 or not", () => {
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    const digest = createHmac("sha256", SECRET).update(`${NOW}POST/order`).update(body).digest("hex");
    const sent = { method: "POST", target: "/order", headers: { poly_signature: digest } };
    expect(check(requestOf({ ...sent, body }))).toBe(ADDRESS);
    expect(refused(requestOf({ ...sent, body: body.toString() })).code).toBe("INVALID_SIGNATURE");
  });
});

/** The digits of the address, and the digest of a request, which are right. */
const DIGITS = ADDRESS.slice(2);
const DIGEST = requestOf().headers.poly_signature ?? "";
const inLatin1 = (text: string): string => Buffer.from(text).toString("latin1");
const inBase64 = (encoding: "base64" | "base64url"): string => Buffer.from(DIGEST, "hex").toString(encoding);

describe("the headers", () => {
  const TIMES = ["", " ", "abc", "-1", "+1700000000", "0x684ee180", "1.7e9", "01700000000", "1700000000.0"];
  const LONG_TIMES = ["NaN", "Infinity", inLatin1("١٧٠٠٠٠٠٠٠٠"), "1".repeat(400)];
  const [shorter, longer] = [`0x${DIGITS.slice(1)}`, `0x${DIGITS}0`];
  const ADDRESSES = [`0X${DIGITS}`, DIGITS, shorter, longer, `${shorter}g`, ""];
  const cut = PASSPHRASE.slice(1);
  const PASSPHRASES = [`${cut}0`, cut, PASSPHRASE.toUpperCase(), `${PASSPHRASE}0`, ""];
  it.each<[id: string, name: AuthHeader, values: readonly string[]]>([
    ["A04", "poly_timestamp", [...TIMES, ...LONG_TIMES]],
    ["A11", "poly_passphrase", PASSPHRASES],
    ["A14", "poly_address", ADDRESSES],
    ["A17", "poly_signature", ["", DIGEST.slice(1), DIGEST + DIGEST, inLatin1("é".repeat(64))]],
    ["A17", "poly_signature", [inBase64("base64"), inBase64("base64url")]],
  ])("%s: are refused with another %s: %j", (id, name, values) => {
    for (const value of values) {
      const timestamp = name === "poly_timestamp" ? { timestamp: value } : {};
      expect(refused(requestOf({ ...timestamp, headers: { [name]: value } })).code, value).toBe(codeOf(id));
    }
  });

  it.each<[id: string, name: AuthHeader, values: readonly string[]]>([
    ["A13", "poly_address", [`0x${DIGITS}`, `0x${DIGITS.toUpperCase()}`, vectors.address]],
    ["A15", "poly_signature", [DIGEST.toUpperCase()]],
  ])("%s: may have %s in other letter cases: %j", (_id, name, values) => {
    for (const value of values) expect(check(requestOf({ headers: { [name]: value } }))).toBe(ADDRESS);
  });

  it.each(AUTH_HEADERS)("with hyphens instead of %s are named, with nginx as the likely cause", (name) => {
    const hyphened = name.replaceAll("_", "-");
    const { code, help } = refused(requestOf({ headers: { [name]: undefined, [hyphened]: "x" } }));
    expect(code).toBe(codeOf("A09"));
    expect(help.hint).toMatch(hyphened);
    expect(help.hint).toMatch("nginx");
    expect(help.hint).toMatch("underscores_in_headers");
  });

  it("other than the five may be repeated", () => {
    const request = requestOf();
    const rawHeaders = [...request.rawHeaders, "x-a", "1", "x-a", "2", "poly_nonce", "0", "poly_nonce", "0"];
    expect(check({ ...request, rawHeaders })).toBe(ADDRESS);
  });
});

const withHeader = (name: string, value: string | undefined) => (request: SignedRequest) => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

/** One invalid request for each refusal, in order of precedence. */
const breaks: [ErrorCode, (request: SignedRequest) => SignedRequest][] = [
  ["MISSING_AUTH_HEADER", withHeader("poly_signature", undefined)],
  ["DUPLICATE_AUTH_HEADER", (r) => ({ ...r, rawHeaders: [...r.rawHeaders, "Poly_Address", ADDRESS] })],
  ["INVALID_TIMESTAMP", withHeader("poly_timestamp", "1e9")],
  ["TIMESTAMP_OUT_OF_WINDOW", withHeader("poly_timestamp", String(NOW + 31))],
  ["UNKNOWN_API_KEY", withHeader("poly_api_key", "another")],
  ["ADDRESS_MISMATCH", withHeader("poly_address", "0x1")],
  ["INVALID_PASSPHRASE", withHeader("poly_passphrase", "another")],
  ["INVALID_SIGNATURE", withHeader("poly_signature", "00")],
];

it.each(breaks.map(([code], index) => ({ code, index })))(
  "the first failure determines the answer: $code before all that follow",
  ({ code, index }) => {
    const broken = breaks.slice(index).reduceRight((request, [, apply]) => apply(request), requestOf());
    expect(refused(broken).code).toBe(code);
  },
);

it.each([
  ["poly_address", `0x${"1".repeat(40)}`, "each wallet has keys of its own"],
  ["poly_passphrase", "another", "another one issues a new set"],
])("another %s than the key's is refused with a hint", (name, value, hint) => {
  expect(refused(withHeader(name, value)(requestOf())).help.hint).toContain(hint);
});

describe("any request", () => {
  const junk = fc.oneof(
    fc.string({ unit: "binary", maxLength: 100 }),
    fc.stringMatching(/^[0-9a-f]{64}$/),
    fc.constantFrom("__proto__", "constructor", "9".repeat(16_000)),
  );
  const sent = fc.record({
    headers: fc.dictionary(fc.constantFrom("host", ...AUTH_HEADERS), fc.option(junk, { nil: undefined })),
    target: junk,
    body: fc.uint8Array({ maxLength: 300 }),
    method: fc.constantFrom("GET", "POST", "DELETE", "\u0130"),
    message: junk,
  });

  it("is answered with a listed code, and no secret", () => {
    const codes = breaks.map(([code]) => code);
    forAll(runs(150, 7), [sent], (changes) => {
      const outcome = refused(requestOf(changes));
      expect(codes).toContain(outcome.code);
      expect(JSON.stringify([outcome.message, outcome.help])).not.toMatch(SECRET);
      expect(JSON.stringify([outcome.message, outcome.help])).not.toMatch(PASSPHRASE);
    });
  });
});
