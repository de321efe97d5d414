import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import vectors from "../fixtures/vectors/auth-vectors.json" with { type: "json" };
import { checkSignedRequest } from "../src/api/authentication.ts";
import {
  AUTH_HEADERS,
  type AuthRefusal,
  canonicalMessage,
  HmacKey,
  type SignedRequest,
  type SigningCode,
  sign,
} from "../src/api/signing.ts";

const NOW = 1_700_000_000;
const ADDRESS = vectors.address.toLowerCase();
const SECRET = "3f9a".repeat(16);
const PASSPHRASE = "c0de".repeat(16);
const API_KEY = "7a1c9f52-0000-8000-8000-000000000001";
const ORDER = '{"tokenId":"1","side":"BUY","price":0.5,"size":10.0,"note":"caf\u00e9"}';
const CREDENTIALS = {
  address: ADDRESS,
  secret: SECRET,
  passphrase: PASSPHRASE,
  key: new HmacKey(Buffer.from(SECRET)),
};

interface Sent {
  method?: string;
  /** As in the request target, after `/clob`: `/orders?limit=5`. */
  target?: string;
  body?: string | Uint8Array;
  timestamp?: string;
  headers?: Record<string, string | undefined>;
  /** What is signed in place of the canonical message. */
  message?: string;
}

/** A request as Node would hand it over, rightly signed unless told otherwise. */
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

const check = (request: SignedRequest, now = NOW) =>
  checkSignedRequest(request, (apiKey) => (apiKey === API_KEY ? CREDENTIALS : undefined), now);

function refused(request: SignedRequest, now = NOW): AuthRefusal {
  const outcome = check(request, now);
  if (outcome.ok) throw new Error("the request was accepted");
  return outcome;
}

const accepted = { ok: true, address: ADDRESS };

describe("the signature", () => {
  it.each(vectors.hmac)("of $method $path is the known one", ({ message, signature, secret, ...parts }) => {
    expect(canonicalMessage(parts)).toBe(message);
    expect(sign(secret, canonicalMessage(parts))).toBe(signature);
    const credentials = { address: ADDRESS, secret, passphrase: PASSPHRASE };
    const { method, path: target, body, timestamp } = parts;
    const request = requestOf({ method, target, body, timestamp, headers: { poly_signature: signature } });
    expect(checkSignedRequest(request, () => credentials, NOW)).toEqual(accepted);
  });

  it("is over the method in upper case", () => {
    expect(canonicalMessage({ timestamp: "1", method: "get", path: "/orders", body: "" })).toBe(
      "1GET/orders",
    );
  });

  it("may be upper-case hexadecimal", () => {
    const { headers } = requestOf();
    expect(check(requestOf({ headers: { poly_signature: headers.poly_signature?.toUpperCase() } }))).toEqual(
      accepted,
    );
  });

  it("is over the very bytes of the body, valid UTF-8 or not", () => {
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    const digest = createHmac("sha256", SECRET).update(`${NOW}POST/order`).update(body).digest("hex");
    const sent = { method: "POST", target: "/order", headers: { poly_signature: digest } };
    expect(check(requestOf({ ...sent, body }))).toEqual(accepted);
    expect(refused(requestOf({ ...sent, body: body.toString() })).code).toBe("INVALID_SIGNATURE");
  });

  it("does not cover the query", () => {
    expect(check(requestOf({ target: "/orders?limit=5" }))).toEqual(accepted);
  });

  it("over {} covers a body of {}", () => {
    expect(check(requestOf({ method: "DELETE", target: "/orders/all", body: "{}" }))).toEqual(accepted);
  });

  it("that was right once is right again inside the window", () => {
    const request = requestOf({ method: "POST", target: "/order", body: ORDER });
    expect([check(request), check(request)]).toEqual([accepted, accepted]);
  });
});

describe("the window", () => {
  it.each([-30, 30])("includes a timestamp %i s off", (skew) => {
    expect(check(requestOf({ timestamp: String(NOW + skew) }))).toEqual(accepted);
  });

  it.each([-31, 31])("excludes a timestamp %i s off, with both times and the skew", (skew) => {
    const refusal = refused(requestOf({ timestamp: String(NOW + skew) }));
    expect(refusal).toMatchObject({
      code: "TIMESTAMP_OUT_OF_WINDOW",
      details: { serverTime: NOW, sent: NOW + skew, skewSeconds: skew },
    });
    expect(refusal.error).toMatch(`31 s ${skew > 0 ? "ahead of" : "behind"} the server's time ${NOW}`);
  });
});

describe("a timestamp", () => {
  const wrong = [
    "",
    " ",
    "abc",
    "-1",
    "+1700000000",
    "0x684ee180",
    "1.75e9",
    "01700000000",
    "1700000000.0",
    "NaN",
  ];
  it.each([...wrong, "Infinity", "\u0661\u0667", "9".repeat(400), `${NOW}\n`])("is not %j", (timestamp) => {
    expect(refused(requestOf({ timestamp })).code).toBe("INVALID_TIMESTAMP");
  });

  it("in milliseconds is told so", () => {
    const refusal = refused(requestOf({ timestamp: `${NOW}123` }));
    expect(refusal).toMatchObject({
      code: "INVALID_TIMESTAMP",
      hint: expect.stringMatching("looks like milliseconds"),
    });
  });
});

describe("the headers", () => {
  it.each(AUTH_HEADERS)("must include %s", (name) => {
    const refusal = refused(requestOf({ headers: { [name]: undefined } }));
    expect(refusal).toMatchObject({ code: "MISSING_AUTH_HEADER", details: { field: name } });
    expect(refusal.error).toMatch(name);
  });

  it.each(AUTH_HEADERS)("with hyphens instead of %s are named, and nginx with them", (name) => {
    const hyphened = name.replaceAll("_", "-");
    const { code, hint } = refused(requestOf({ headers: { [name]: undefined, [hyphened]: "x" } }));
    expect(code).toBe("MISSING_AUTH_HEADER");
    expect(hint).toMatch(hyphened);
    expect(hint).toMatch("nginx");
    expect(hint).toMatch("underscores_in_headers");
  });

  it.each(AUTH_HEADERS)("may not include %s twice, in whatever letter case", (name) => {
    const request = requestOf();
    const rawHeaders = [...request.rawHeaders, name.toUpperCase(), request.headers[name] ?? ""];
    const refusal = refused({ ...request, rawHeaders });
    expect(refusal).toMatchObject({ code: "DUPLICATE_AUTH_HEADER", details: { field: name } });
  });

  it("that are not among the five may be repeated", () => {
    const request = requestOf();
    const rawHeaders = [...request.rawHeaders, "x-a", "1", "x-a", "2", "poly_nonce", "0", "poly_nonce", "0"];
    expect(check({ ...request, rawHeaders })).toEqual(accepted);
  });

  it("that are empty are there", () => {
    const codeOf = (name: string) => refused(requestOf({ headers: { [name]: "" } })).code;
    expect(AUTH_HEADERS.map(codeOf)).toEqual([
      "ADDRESS_MISMATCH",
      "UNKNOWN_API_KEY",
      "INVALID_PASSPHRASE",
      "INVALID_TIMESTAMP",
      "INVALID_SIGNATURE",
    ]);
  });

  const digits = ADDRESS.slice(2);
  it.each([vectors.address, `0x${digits.toUpperCase()}`, `0xF${digits.slice(1)}`])(
    "accept the address %s",
    (address) => {
      expect(check(requestOf({ headers: { poly_address: address } }))).toEqual(accepted);
    },
  );

  const others = [
    `0X${digits}`,
    digits,
    ADDRESS.slice(0, -1),
    `${ADDRESS}0`,
    `0x${"g".repeat(40)}`,
    `0x${"1".repeat(40)}`,
  ];
  it.each([...others, "\u00e9"])("refuse the address %s", (address) => {
    expect(refused(requestOf({ headers: { poly_address: address } })).code).toBe("ADDRESS_MISMATCH");
  });

  it.each(["c0df".repeat(16), "c0de", `${PASSPHRASE}0`, "\u00e9".repeat(64), "x".repeat(9000)])(
    "refuse the passphrase %s",
    (passphrase) => {
      expect(refused(requestOf({ headers: { poly_passphrase: passphrase } })).code).toBe(
        "INVALID_PASSPHRASE",
      );
    },
  );

  it.each(["abc", "0".repeat(63), "0".repeat(65), "0".repeat(128), "z".repeat(64), "\u00ff".repeat(64)])(
    "refuse the signature %s",
    (signature) => {
      expect(refused(requestOf({ headers: { poly_signature: signature } })).code).toBe("INVALID_SIGNATURE");
    },
  );
});

const withHeader = (name: string, value: string | undefined) => (request: SignedRequest) => ({
  ...request,
  headers: { ...request.headers, [name]: value },
});

/** A way to earn each refusal, in order of precedence. */
const breaks: [SigningCode, (request: SignedRequest) => SignedRequest][] = [
  ["MISSING_AUTH_HEADER", withHeader("poly_signature", undefined)],
  ["DUPLICATE_AUTH_HEADER", (r) => ({ ...r, rawHeaders: [...r.rawHeaders, "Poly_Address", ADDRESS] })],
  ["INVALID_TIMESTAMP", withHeader("poly_timestamp", "1e9")],
  ["TIMESTAMP_OUT_OF_WINDOW", withHeader("poly_timestamp", String(NOW + 31))],
  ["UNKNOWN_API_KEY", withHeader("poly_api_key", "another")],
  ["ADDRESS_MISMATCH", withHeader("poly_address", "0x1")],
  ["INVALID_PASSPHRASE", withHeader("poly_passphrase", "another")],
  ["INVALID_SIGNATURE", withHeader("poly_signature", "00")],
];

describe("the first failure answers", () => {
  it.each(breaks.map(([code], index) => ({ code, index })))(
    "$code before all that follow",
    ({ code, index }) => {
      const broken = breaks.slice(index).reduceRight((request, [, apply]) => apply(request), requestOf());
      expect(refused(broken).code).toBe(code);
    },
  );
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

  it("gets an answer of the closed list, and none that tells a secret", () => {
    const codes = breaks.map(([code]) => code);
    fc.assert(
      fc.property(sent, (changes) => {
        const outcome = refused(requestOf(changes));
        expect(codes).toContain(outcome.code);
        expect(JSON.stringify(outcome)).not.toMatch(SECRET);
        expect(JSON.stringify(outcome)).not.toMatch(PASSPHRASE);
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});
