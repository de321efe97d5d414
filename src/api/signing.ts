import { createHmac } from "node:crypto";
import { HmacKey } from "./hmac.ts";
import { explainSignature } from "./signing-mistakes.ts";

/** The five headers of a signed request, lower case, in the order in which a missing one is reported. */
export const AUTH_HEADERS = [
  "poly_address",
  "poly_api_key",
  "poly_passphrase",
  "poly_timestamp",
  "poly_signature",
] as const;

export type AuthHeader = (typeof AUTH_HEADERS)[number];

/** Header values by lower-case name, as Node decodes them (latin1). */
export type HeaderValues = Readonly<Record<string, string | undefined>>;

/** How far a signed request's timestamp may be from the server's time, in seconds, either way, inclusive. */
export const WINDOW_SECONDS = 30;

/** Why a signed request is refused (always with status 401), in order of precedence. */
export type SigningCode =
  | "MISSING_AUTH_HEADER"
  | "DUPLICATE_AUTH_HEADER"
  | "INVALID_TIMESTAMP"
  | "TIMESTAMP_OUT_OF_WINDOW"
  | "UNKNOWN_API_KEY"
  | "ADDRESS_MISMATCH"
  | "INVALID_PASSPHRASE"
  | "INVALID_SIGNATURE";

/** A refusal in the words of the wire; it never holds a secret, a passphrase or a digest. */
export interface AuthRefusal<Code extends string = SigningCode> {
  readonly ok: false;
  readonly code: Code;
  readonly error: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** One set of credentials, as `lookup` finds it by API key. */
export interface StoredCredentials {
  /** `0x` and 40 lower-case hex digits. */
  readonly address: string;
  readonly secret: string;
  readonly passphrase: string;
  /** The HMAC key that is the secret's text, kept so that it is not made again for every request. */
  readonly key?: HmacKey;
}

export type CredentialsLookup = (apiKey: string) => StoredCredentials | undefined;

export interface SignedRequest {
  /** Upper case, as Node gives it. */
  readonly method: string;
  /** The raw path relative to `/clob`, without the query: `/orders`. */
  readonly path: string;
  /** The raw request target as sent: `/clob/orders?limit=5`. */
  readonly url: string;
  readonly headers: HeaderValues;
  /** Under what names, with ports, the client may know the server; the one in its Host header if not given. */
  readonly hosts?: readonly string[];
  /** Node's flat list name, value, name, value, ... */
  readonly rawHeaders: readonly string[];
  /** The bytes received; empty when none were. */
  readonly body: Uint8Array;
}

/** The text that a signed request's HMAC is made over: timestamp, METHOD, path relative to `/clob`, body. */
export function canonicalMessage(parts: {
  /** Unix seconds, the value of `poly_timestamp`. */
  readonly timestamp: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}): string {
  return parts.timestamp + parts.method.toUpperCase() + parts.path + parts.body;
}

/** The value of `poly_signature`: HMAC-SHA256 of the message, 64 lower-case hex digits. */
export const sign = (secret: string, message: string): string =>
  createHmac("sha256", secret).update(message).digest("hex");

/** A refusal whose optional parts are absent rather than undefined. */
export function refusal<Code extends string>(
  code: Code,
  error: string,
  hint?: string,
  details?: Readonly<Record<string, unknown>>,
): AuthRefusal<Code> {
  return { ok: false, code, error, ...(hint && { hint }), ...(details && { details }) };
}

/** Refuses when one of the five headers is absent; a header that is present but empty is present. */
export function refuseMissing(headers: HeaderValues): AuthRefusal | undefined {
  for (const name of AUTH_HEADERS) {
    if (headers[name] === undefined) {
      const hint = missingHint(name, headers);
      return refusal("MISSING_AUTH_HEADER", `header ${name} is missing`, hint, { field: name });
    }
  }
  return undefined;
}

function missingHint(name: AuthHeader, headers: HeaderValues): string | undefined {
  const proxies = "proxies such as nginx drop headers with underscores unless underscores_in_headers is on";
  const hyphened = name.replaceAll("_", "-");
  if (headers[hyphened] !== undefined) return `${hyphened} was sent, it must be ${name}; ${proxies}`;
  if (AUTH_HEADERS.some((header) => headers[header] !== undefined)) return undefined;
  return `a signed request carries ${AUTH_HEADERS.join(", ")}; ${proxies}`;
}

const UNDERSCORE = 95;

/** Refuses when one of the five headers was sent twice, in whatever letter case. */
export function refuseDuplicate(rawHeaders: readonly string[]): AuthRefusal | undefined {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] as string;
    if (sent.charCodeAt(4) !== UNDERSCORE) continue;
    const index = AUTH_HEADERS.indexOf(sent.toLowerCase() as AuthHeader);
    if (index < 0) continue;
    if ((seen & (1 << index)) !== 0) {
      const error = `header ${AUTH_HEADERS[index]} was sent more than once`;
      return refusal("DUPLICATE_AUTH_HEADER", error, undefined, { field: AUTH_HEADERS[index] });
    }
    seen |= 1 << index;
  }
  return undefined;
}

const TIMESTAMP = /^(0|[1-9][0-9]{0,10})$/;
const MILLISECONDS = /^[1-9][0-9]{12}$/;

/** True for Unix seconds written as this service reads them: at most 11 digits, no sign, no leading zero. */
export const isTimestamp = (text: string): boolean => TIMESTAMP.test(text);

/** What to say to a client whose timestamp is not one; undefined when nothing is certain. */
export const timestampHint = (text: string): string | undefined =>
  MILLISECONDS.test(text) ? `looks like milliseconds: in seconds it is ${text.slice(0, 10)}` : undefined;

/** Refuses a `poly_timestamp` that is not Unix seconds. */
export function refuseTimestamp(sent: string): AuthRefusal | undefined {
  if (isTimestamp(sent)) return undefined;
  const shown = JSON.stringify(sent.slice(0, 40));
  const error = `poly_timestamp ${shown} is not a Unix time in whole seconds`;
  return refusal("INVALID_TIMESTAMP", error, timestampHint(sent), { field: "poly_timestamp" });
}

/**
 * Refuses a valid timestamp further than `window` seconds from `serverTime` (Unix seconds); in the details,
 * `skewSeconds` is positive when the client's clock is ahead.
 */
export function refuseSkew(
  sent: string,
  serverTime: number,
  window: number,
): AuthRefusal<"TIMESTAMP_OUT_OF_WINDOW"> | undefined {
  const skew = Number(sent) - serverTime;
  if (skew <= window && skew >= -window) return undefined;
  const side = skew > 0 ? "ahead of" : "behind";
  return refusal(
    "TIMESTAMP_OUT_OF_WINDOW",
    `timestamp ${sent} is ${Math.abs(skew)} s ${side} the server's time ${serverTime}; at most ${window} s either way are allowed`,
    "synchronise with GET /clob/time",
    { serverTime, sent: Number(sent), skewSeconds: skew },
  );
}

/** Refuses an API key that `lookup` did not find. */
export function refuseUnknownKey(): AuthRefusal {
  const hint = "a reset forgets all credentials: derive new ones with POST /clob/auth/derive-api-key";
  return refusal("UNKNOWN_API_KEY", "poly_api_key is not a key of this server", hint);
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** True for 20 bytes written as `0x` and 40 hex digits of either case; an EIP-55 checksum is not looked at. */
export const isAddress = (text: string): boolean => ADDRESS.test(text);

/** Refuses an address that is not the one the API key was issued to; both are compared as 20 bytes. */
export function refuseAddress(sent: string, credentials: StoredCredentials): AuthRefusal | undefined {
  if (sent === credentials.address) return undefined;
  if (!isAddress(sent)) {
    const hint = "an address is 0x and 40 hexadecimal digits";
    return refusal("ADDRESS_MISMATCH", "poly_address is not an address", hint, { field: "poly_address" });
  }
  if (sent.toLowerCase() === credentials.address) return undefined;
  return refusal("ADDRESS_MISMATCH", "poly_address is not the wallet that poly_api_key was issued to");
}

/** Refuses a wrong passphrase, of whatever length. */
export function refusePassphrase(sent: string, credentials: StoredCredentials): AuthRefusal | undefined {
  if (equalInConstantTime(sent, credentials.passphrase)) return undefined;
  return refusal("INVALID_PASSPHRASE", "poly_passphrase is not the one issued with poly_api_key");
}

/** Refuses a wrong signature and explains it; `timestamp` and `sent` are the two headers. */
export function refuseSignature(
  request: SignedRequest,
  timestamp: string,
  sent: string,
  credentials: StoredCredentials,
): AuthRefusal | undefined {
  const key = credentials.key ?? new HmacKey(Buffer.from(credentials.secret));
  const digest = key.hex(timestamp + request.method + request.path, request.body);
  if (equalInConstantTime(sent.toLowerCase(), digest)) return undefined;
  const { hint, mistakes } = explainSignature(request, timestamp, sent, credentials);
  const error = "poly_signature is not the HMAC-SHA256 of this request under the secret of poly_api_key";
  return refusal("INVALID_SIGNATURE", error, hint, mistakes.length > 0 ? { mistakes } : undefined);
}

/** Compares without allocating, in a time that depends on nothing but the length of `expected`. */
function equalInConstantTime(sent: string, expected: string): boolean {
  let difference = sent.length ^ expected.length;
  for (let at = 0; at < expected.length; at += 1) difference |= sent.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}

/**
 * Decides who sent a signed request: the wallet's address (lower case), or the first reason to refuse it, in the
 * order of `SigningCode`. `serverTime` is in whole Unix seconds.
 */
export function checkSignedRequest(
  request: SignedRequest,
  lookup: CredentialsLookup,
  serverTime: number,
): { readonly ok: true; readonly address: string } | AuthRefusal {
  const absent = refuseMissing(request.headers) ?? refuseDuplicate(request.rawHeaders);
  if (absent !== undefined) return absent;
  const {
    poly_address: address = "",
    poly_api_key: apiKey = "",
    poly_passphrase: passphrase = "",
    poly_timestamp: timestamp = "",
    poly_signature: signature = "",
  } = request.headers;
  const untimely = refuseTimestamp(timestamp) ?? refuseSkew(timestamp, serverTime, WINDOW_SECONDS);
  if (untimely !== undefined) return untimely;
  const credentials = lookup(apiKey);
  if (credentials === undefined) return refuseUnknownKey();
  return (
    refuseAddress(address, credentials) ??
    refusePassphrase(passphrase, credentials) ??
    refuseSignature(request, timestamp, signature, credentials) ?? { ok: true, address: credentials.address }
  );
}
