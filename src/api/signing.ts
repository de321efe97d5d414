import { Buffer } from "node:buffer";
import { createHmac, hash } from "node:crypto";
import type { ErrorHelp } from "./errors.ts";

/** Bytes of a SHA-256 block: what must be free before a message that is to be authenticated. */
export const BLOCK = 64;
const DIGEST = 32;

/**
 * A key of HMAC-SHA256 as its two padded blocks (RFC 2104). With the blocks kept and no object made, a digest costs
 * half of what `createHmac` takes.
 */
export class HmacKey {
  readonly #inner: Buffer;
  /** The outer block, with room for the inner digest. */
  readonly #outer: Buffer;

  constructor(key: Uint8Array) {
    const block = Buffer.alloc(BLOCK);
    block.set(key.length > BLOCK ? hash("sha256", key, "buffer") : key);
    this.#inner = Buffer.from(block.map((byte) => byte ^ 0x36));
    this.#outer = Buffer.alloc(BLOCK + DIGEST);
    this.#outer.set(block.map((byte) => byte ^ 0x5c));
  }

  /** The digest, 64 lower-case hex digits, of the message that follows one free block in `room`. */
  hexOf(room: Buffer): string {
    room.set(this.#inner);
    this.#outer.write(hash("sha256", room), BLOCK, "hex");
    return hash("sha256", this.#outer);
  }

  hex(text: string, bytes: Uint8Array): string {
    const length = Buffer.byteLength(text);
    const room = Buffer.allocUnsafe(BLOCK + length + bytes.length);
    room.write(text, BLOCK);
    room.set(bytes, BLOCK + length);
    return this.hexOf(room);
  }
}

/** The HMAC keys of sets of credentials, made when a set first signs. */
export class HmacKeys {
  readonly #keys = new WeakMap<object, HmacKey>();

  /** The key that is the text of the set's secret. */
  of(credentials: { readonly secret: string }): HmacKey {
    let key = this.#keys.get(credentials);
    if (key === undefined) {
      key = new HmacKey(Buffer.from(credentials.secret));
      this.#keys.set(credentials, key);
    }
    return key;
  }
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

/** Header values by lower-case name, as Node decodes them (latin1). */
export type HeaderValues = Readonly<Record<string, string | undefined>>;

/** How far a signed request's timestamp may be from the server's time, in seconds, either way, inclusive. */
export const WINDOW_SECONDS = 30;

/** What is wrong with a request, without its code; it never holds a secret, a passphrase or a digest. */
export interface Problem extends Pick<ErrorHelp, "hint" | "details"> {
  readonly message: string;
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
  /** What the client had to send before that, where the exchange is one of a pool: `/3`. */
  readonly prefix?: string;
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

const TIMESTAMP = /^(0|[1-9][0-9]{0,10})$/;
const MILLISECONDS = /^[1-9][0-9]{12}$/;

/** True for Unix seconds written as this service reads them: at most 11 digits, no sign, no leading zero. */
export const isTimestamp = (text: string): boolean => TIMESTAMP.test(text);

/** What to say to a client whose timestamp is not one; undefined when nothing is certain. */
export const timestampHint = (text: string): string | undefined =>
  MILLISECONDS.test(text) ? `looks like milliseconds: in seconds it is ${text.slice(0, 10)}` : undefined;

/**
 * What is wrong with a valid timestamp that is further than `window` seconds from `serverTime` (Unix seconds); in the details,
 * `skewSeconds` is positive when the client's clock is ahead.
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
