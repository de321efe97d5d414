import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SignedRequest } from "../src/api/signing.ts";
import type { Mistake } from "../src/api/signing-mistakes.ts";
import { explainSignature, reorderedBodies, restyledBodies } from "../src/api/signing-mistakes.ts";
import { type PageText, pageWith } from "./support/page.ts";
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
const POST = request("/order", "POST", ORDER);

describe("the explanation of a wrong signature", () => {
  /** Returns the key with a name. */
  const keyNamed = (name: string): string | Uint8Array => {
    const [, encoding] = /^secret from (\w+)$/.exec(name) ?? [];
    if (encoding !== undefined) return Buffer.from(SECRET, encoding as Encoding);
    return { passphrase: PASSPHRASE, "API key": API_KEY }[name] ?? name;
  };

  /** Returns a digest in an encoding such as `base64 without padding`. */
  function digestIn(words: string, message: string, key: string | Uint8Array): string {
    if (words === "after 0x") return `0x${digestOf(message, key)}`;
    const [, encoding, padding] = /^in (\w+)(?: (with|without) padding)?$/.exec(words) ?? [];
    if (encoding === undefined) return words;
    const digest = digestOf(message, key, encoding as Encoding).replace("=", "");
    return padding === "with" ? `${digest}=` : digest;
  }

  /** Returns the mistakes and the hint of a request of the page. */
  function explained({ text }: PageText): string[] {
    const [line = "", ...lines] = text.trimEnd().split("\n");
    const [, method = "", target = "", isOfPool] = /^(\w+) (\S+)( of a pool)?$/.exec(line) ?? [];
    const part = (name: string): string | undefined =>
      lines.find((each) => each.startsWith(`${name} `))?.slice(name.length + 1);
    const message = SECONDS + (part("signed") ?? "").replaceAll("\\n", "\n");
    const signature = digestIn(part("digest") ?? "in hex", message, keyNamed(part("key") ?? SECRET));
    const sent = request(target, method, part("body") ?? "");
    const { mistakes, hint } = explain(isOfPool ? { ...sent, prefix: "/3" } : sent, signature);
    return [mistakes.join(" ") || "none", ...hint.split("\n")];
  }

  it("names what its page shows", async () => {
    const path = join(import.meta.dirname, "signing-mistakes.txt");
    await expect(await pageWith(readFileSync(path, "utf8"), explained)).toMatchFileSnapshot(path);
  });

  const GTD =
    '{"tokenId":"1","side":"BUY","price":0.5,"size":10.0,"orderType":"GTD","expiration":"1700000100"}';
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
