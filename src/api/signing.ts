import { Buffer } from "node:buffer";
import { createHmac, hash } from "node:crypto";
import { isUnixMillis } from "../core/time.ts";
import type { ErrorHelp } from "./errors.ts";

/** Bytes of a SHA-256 block. */
const BLOCK = 64;
const DIGEST = 32;

/**
 * An HMAC-SHA256 key as its two padded blocks (RFC 2104). Because the blocks are kept and no object is created, a
 * digest takes half the time of `createHmac`.
 */
export class HmacKey {
  readonly #inner: Buffer;
  /** The outer block, followed by space for the inner digest. */
  readonly #outer: Buffer;

  constructor(key: Uint8Array) {
    const block = Buffer.alloc(BLOCK);
    block.set(key.length > BLOCK ? hash("sha256", key, "buffer") : key);
    this.#inner = Buffer.from(block.map((byte) => byte ^ 0x36));
    this.#outer = Buffer.alloc(BLOCK + DIGEST);
    this.#outer.set(block.map((byte) => byte ^ 0x5c));
  }

  /** Returns the digest of a message, 64 lower-case hex digits. */
  hex(text: string, bytes: Uint8Array): string {
    const length = Buffer.byteLength(text);
    const buffer = Buffer.allocUnsafe(BLOCK + length + bytes.length);
    buffer.set(this.#inner);
    buffer.write(text, BLOCK);
    buffer.set(bytes, BLOCK + length);
    this.#outer.write(hash("sha256", buffer), BLOCK, "hex");
    return hash("sha256", this.#outer);
  }
}

/** The HMAC keys of credentials that have signed a request. */
const KEYS = new WeakMap<StoredCredentials, HmacKey>();

/** Returns the key that is made of the text of the secret. */
export function hmacKeyOf(credentials: StoredCredentials): HmacKey {
  const known = KEYS.get(credentials);
  if (known !== undefined) return known;
  const key = new HmacKey(Buffer.from(credentials.secret));
  KEYS.set(credentials, key);
  return key;
}

/** The five headers of a signed request, lower case, in the order in which a missing one is reported. */
export const AUTH_HEADERS = [
  "poly_address",
  "poly_api_key",
  "poly_passphrase",
  "poly_timestamp",
  "poly_signature",
] as const;

export type AuthHeader = (typeof AUTH_HEADERS)[number];

/** Header values by lower-case name, decoded by Node as latin1. */
export type HeaderValues = Readonly<Record<string, string | undefined>>;

/** Maximum difference between a signed request's timestamp and the server's time, in seconds, inclusive. */
export const WINDOW_SECONDS = 30;

/** Description of a failed check; it never contains a secret, a passphrase or a digest. */
export interface Problem extends Pick<ErrorHelp, "hint" | "details"> {
  readonly message: string;
}

/** One set of credentials, found by API key. */
export interface StoredCredentials {
  /** `0x` and 40 lower-case hex digits. */
  readonly address: string;
  readonly secret: string;
  readonly passphrase: string;
}

export type CredentialsLookup = (apiKey: string) => StoredCredentials | undefined;

export interface SignedRequest {
  /** Upper case. */
  readonly method: string;
  /** The raw path relative to `/clob`, without the query: `/orders`. */
  readonly path: string;
  /** The raw request target as sent: `/clob/orders?limit=5`. */
  readonly url: string;
  /** Path prefix of this exchange if it is one of a pool: `/3`. */
  readonly prefix?: string;
  readonly headers: HeaderValues;
  /** Names, with ports, under which the client may know the server; default: its Host header. */
  readonly hosts?: readonly string[];
  /** Node's flat list name, value, name, value, ... */
  readonly rawHeaders: readonly string[];
  /** The bytes received; empty if there is no body. */
  readonly body: Uint8Array;
}

type SignedParts = Readonly<Record<"timestamp" | "method" | "path" | "body", string>>;

/** Returns the text that a request's HMAC covers: `poly_timestamp`, METHOD, path relative to `/clob`, body. */
export const canonicalMessage = ({ timestamp, method, path, body }: SignedParts): string =>
  timestamp + method.toUpperCase() + path + body;

/** Returns the value of `poly_signature`: HMAC-SHA256 of the message, 64 lower-case hex digits. */
export const sign = (secret: string, message: string): string =>
  createHmac("sha256", secret).update(message).digest("hex");

/** What the signature of a request covers besides its time. */
export interface Signable {
  readonly method: string;
  /** Path and query, without the prefix of a pool. */
  readonly target: string;
  /** Path to sign; by default that of the target relative to `/clob`. */
  readonly signedPath?: string | undefined;
  /** Empty if there is none. */
  readonly body: string;
}

/** Returns the five headers of a signed request (specification, "Authentication"); `unixTime` is in seconds. */
export function authHeaders(
  { address, apiKey, secret, passphrase }: StoredCredentials & { readonly apiKey: string },
  { method, target, signedPath, body }: Signable,
  unixTime: number,
): (readonly [AuthHeader, string])[] {
  const timestamp = String(unixTime);
  const path = signedPath ?? target.replace(/\?.*$/s, "").replace(/^\/clob(?=\/)/, "");
  return [
    ["poly_address", address],
    ["poly_api_key", apiKey],
    ["poly_passphrase", passphrase],
    ["poly_timestamp", timestamp],
    ["poly_signature", sign(secret, canonicalMessage({ timestamp, method, path, body }))],
  ];
}

/** Returns a hint for an invalid timestamp; undefined if the mistake is not recognized. */
export const timestampHint = (text: string): string | undefined =>
  isUnixMillis(text) ? `looks like milliseconds: in seconds it is ${text.slice(0, 10)}` : undefined;

/**
 * Returns a problem if a valid timestamp is more than `window` seconds from `serverTime` (Unix seconds).
 * `skewSeconds` in its details is positive if the client's clock is ahead.
 */
export function skewProblem(sent: string, serverTime: number, window: number): Problem | undefined {
  const skew = Number(sent) - serverTime;
  if (skew <= window && skew >= -window) return undefined;
  const side = skew > 0 ? "ahead of" : "behind";
  return {
    message: `timestamp ${sent} is ${Math.abs(skew)} s ${side} the server's time ${serverTime}; at most ${window} s either way are allowed`,
    hint: "synchronise with GET /clob/time",
    details: { serverTime, sent: Number(sent), skewSeconds: skew },
  };
}
