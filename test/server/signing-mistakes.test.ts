import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Mistake } from "../../src/api/signing-mistakes.ts";
import { type Method, useApi } from "../support/http.ts";
import type { Refusal } from "./replies.ts";
import { type Trader, useTrader } from "./trader.ts";

const api = useApi();
const trader = useTrader(api, 1);

const ORDER = '{"tokenId":"1","side":"BUY","price":0.5,"size":10}';

/** A request signed with a mistake. */
interface MistakenRequest {
  readonly method?: Method;
  readonly target?: string;
  readonly body?: string;
  /** The signed message, given the timestamp and the server's origin; by default the correct one. */
  readonly message?: (timestamp: string, origin: string) => string;
  readonly key?: (credentials: Trader["credentials"]) => string | Buffer;
  /** The value of poly_signature for a digest. */
  readonly encode?: (digest: Buffer) => string;
}

const POST = { method: "POST", target: "/clob/order", body: ORDER } as const;

/** An example of every known mistake. */
const EXAMPLES: Readonly<Record<Mistake, MistakenRequest>> = {
  CLOB_PREFIX: { message: (time) => `${time}GET/clob/orders` },
  FULL_URL: { ...POST, message: (time, origin) => `${time}POST${origin}/clob/order${ORDER}` },
  QUERY_STRING: { target: "/clob/orders?limit=5", message: (time) => `${time}GET/orders?limit=5` },
  TRAILING_SLASH: { message: (time) => `${time}GET/orders/` },
  LOWER_CASE_METHOD: { message: (time) => `${time}get/orders` },
  MILLISECONDS: { message: (time) => `${time}123GET/orders` },
  SECRET_BASE64_DECODED: { key: ({ secret }) => Buffer.from(secret, "base64") },
  SECRET_HEX_DECODED: { key: ({ secret }) => Buffer.from(secret, "hex") },
  PASSPHRASE_AS_KEY: { key: ({ passphrase }) => passphrase },
  API_KEY_AS_KEY: { key: ({ apiKey }) => apiKey },
  BODY_LEFT_OUT: { ...POST, message: (time) => `${time}POST/order` },
  BODY_RESERIALISED: {
    ...POST,
    message: (time) => `${time}POST/order${ORDER.replace(/([:,])/g, "$1 ")}`,
  },
  BODY_KEYS_REORDERED: {
    ...POST,
    message: (time) => `${time}POST/order{"side":"BUY","size":10,"tokenId":"1","price":0.5}`,
  },
  EMPTY_OBJECT_SIGNED: { message: (time) => `${time}GET/orders{}` },
  DIGEST_BASE64: { encode: (digest) => digest.toString("base64") },
  DIGEST_0X: { encode: (digest) => `0x${digest.toString("hex")}` },
};

describe("the live 401 and explain-auth name the same mistake:", () => {
  it.each(Object.entries(EXAMPLES))("%s", async (mistake, example) => {
    const { method = "GET", target = "/clob/orders", body = "" } = example;
    const correct = (time: string): string => `${time}${method}${target.slice(5).replace(/\?.*/, "")}${body}`;
    const origin = api.server.url.replace("http:", "https:");
    const message = (example.message ?? correct)(String(api.now), origin);
    const key = example.key?.(trader.credentials) ?? trader.credentials.secret;
    const digest = createHmac("sha256", key).update(message).digest();
    const poly_signature = example.encode?.(digest) ?? digest.toString("hex");
    const headers = { ...trader.headers(method, target, body), poly_signature };
    const sent = { method, path: target, headers, ...(body !== "" && { body }) };
    const { body: refusal } = await api.refused(sent, "INVALID_SIGNATURE");
    expect((refusal as Refusal & { details: object }).details).toEqual({ mistakes: [mistake] });
    for (const url of [target, `${api.server.url}${target}`]) {
      const explained = await api.post("/sim/explain-auth", { method, url, headers, body });
      expect(explained).toMatchObject({ verdict: "INVALID_SIGNATURE", hint: refusal.hint });
    }
  });
});
