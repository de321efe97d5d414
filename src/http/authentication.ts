import { createHash, timingSafeEqual } from "node:crypto";
import type { Address } from "../core/commands.ts";
import { ApiError } from "../wire/errors.ts";
import { checkSignedRequest, type HeaderValues, type StoredCredentials } from "../wire/signing.ts";
import { allowedOrigin } from "./cross-origin.ts";
import type { Incoming } from "./exchange-message.ts";
import { pathOf } from "./send.ts";
import type { Service } from "./service.ts";

const CLOB = "/clob".length;

/** The address whose credentials signed the request. @throws ApiError the first of the 401s that applies. */
export function authenticate(service: Service, request: Incoming, body: Buffer): Address {
  const verdict = checkSignedRequest(
    {
      method: request.method,
      path: pathOf(request.url).slice(CLOB),
      url: request.url,
      headers: request.headers as HeaderValues,
      rawHeaders: request.rawHeaders,
      body,
    },
    (apiKey) => signingSet(service, apiKey),
    Math.floor(service.exchange.now / 1000),
  );
  if (verdict.ok) return verdict.address;
  throw new ApiError(verdict.code, verdict.error, { hint: verdict.hint, details: verdict.details });
}

/** The credentials of an API key, with the HMAC key of their secret. */
export function signingSet({ keyring, hmacKeys }: Service, apiKey: string): StoredCredentials | undefined {
  const set = keyring.find(apiKey);
  if (set === undefined) return undefined;
  const { address, secret, passphrase } = set;
  return { address, secret, passphrase, key: hmacKeys.of(set) };
}

/**
 * Keeps foreign web pages, and with a token foreign callers, from the control plane.
 * @throws ApiError `ORIGIN_NOT_ALLOWED`, `SIM_TOKEN_REQUIRED`.
 */
export function guardControl(
  { simToken }: { readonly simToken: string | null },
  { headers }: Incoming,
): void {
  if (headers.origin !== undefined && !allowedOrigin(headers.origin)) {
    throw new ApiError(
      "ORIGIN_NOT_ALLOWED",
      `a page of ${JSON.stringify(headers.origin.slice(0, 200))} may not use the control plane`,
      { hint: "the control plane serves pages of localhost only" },
    );
  }
  if (simToken === null) return;
  const bearer = /^Bearer (.*)$/i.exec(headers.authorization ?? "")?.[1];
  const sent = bearer ?? headers["x-sim-token"];
  if (typeof sent === "string" && equal(sent, simToken)) return;
  throw new ApiError(
    "SIM_TOKEN_REQUIRED",
    `the control plane needs its token, found ${sent === undefined ? "none" : "another one"}`,
    {
      hint: "send the value of --sim-token as authorization: Bearer TOKEN or as x-sim-token",
      headers: { "www-authenticate": "Bearer" },
    },
  );
}

/** Equality in constant time, whatever the lengths. */
function equal(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
