import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "../api/errors.ts";
import { checkSignedRequest, type HeaderValues, type StoredCredentials } from "../api/signing.ts";
import type { Address } from "../core/terms.ts";
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

type WithToken = Pick<Service["options"], "simToken">;

/**
 * Keeps foreign web pages, and with a token foreign callers, from the control plane.
 * @throws ApiError `ORIGIN_NOT_ALLOWED`, `SIM_TOKEN_REQUIRED`.
 */
export function guardControl(options: WithToken, { headers }: Incoming): void {
  guardOrigin(headers, "the control plane");
  if (isTrusted(options, headers)) return;
  const found = tokenIn(headers) === undefined ? "none" : "another one";
  throw new ApiError("SIM_TOKEN_REQUIRED", `the control plane needs its token, found ${found}`, {
    hint: "send the value of --sim-token as authorization: Bearer TOKEN or as x-sim-token",
    headers: { "www-authenticate": "Bearer" },
  });
}

/** Keeps foreign web pages from a part of the server. @throws ApiError `ORIGIN_NOT_ALLOWED`. */
export function guardOrigin({ origin }: IncomingHttpHeaders, part: string): void {
  if (origin === undefined || allowedOrigin(origin)) return;
  throw new ApiError(
    "ORIGIN_NOT_ALLOWED",
    `a page of ${JSON.stringify(origin.slice(0, 200))} may not use ${part}`,
    { hint: `${part} serves pages of localhost only` },
  );
}

/** Whether a caller shows the token of the control plane, where it has one. */
export function isTrusted({ simToken }: WithToken, headers: IncomingHttpHeaders): boolean {
  if (simToken === null) return true;
  const sent = tokenIn(headers);
  return typeof sent === "string" && equal(sent, simToken);
}

const tokenIn = (headers: IncomingHttpHeaders): string | string[] | undefined =>
  /^Bearer (.*)$/i.exec(headers.authorization ?? "")?.[1] ?? headers["x-sim-token"];

/** Equality in constant time, whatever the lengths. */
function equal(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
