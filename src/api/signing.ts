import { Buffer } from "node:buffer";
import { createHmac, hash } from "node:crypto";
import { isAddress } from "../core/terms.ts";
import { isUnixMillis, isUnixSeconds } from "../core/time.ts";
import { ApiError, type ErrorHelp } from "./errors.ts";

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

/** Caches the HMAC key of each set of credentials, created on first use. */
export class HmacKeys {
  readonly #keys = new WeakMap<object, HmacKey>();

  /** Returns the key made of the text of the secret. */
  of(credentials: StoredCredentials): HmacKey {
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

/** Returns the text that a request's HMAC covers: timestamp, METHOD, path relative to `/clob`, body. */
export function canonicalMessage(parts: {
  /** Unix seconds, the value of `poly_timestamp`. */
  readonly timestamp: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}): string {
  return parts.timestamp + parts.method.toUpperCase() + parts.path + parts.body;
}

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

/** The sentence a wallet signs to derive credentials. */
export const ATTESTATION = "This message attests that I control the given wallet";

/** The chains whose id an EIP-712 signature may carry: Polygon, its test network Amoy, and local development chains. */
export const CHAIN_IDS = [137, 80002, 31337] as const;

export const CLOB_AUTH_TYPES = {
  ClobAuth: [
    { name: "address", type: "address" },
    { name: "timestamp", type: "string" },
    { name: "nonce", type: "uint256" },
    { name: "message", type: "string" },
  ],
} as const;

/** The EIP-712 message by which a wallet claims its credentials (contract, section 2). */
export interface ClobAuth {
  readonly domain: { readonly name: string; readonly version: string; readonly chainId: number };
  readonly types: typeof CLOB_AUTH_TYPES;
  readonly primaryType: "ClobAuth";
  readonly message: {
    readonly address: `0x${string}`;
    /** Unix seconds. */
    readonly timestamp: string;
    readonly nonce: bigint;
    readonly message: string;
  };
}

/** Builds the message that a wallet signs. */
export const clobAuth = (address: Hex, timestamp: string, nonce: bigint, chainId: number): ClobAuth => ({
  domain: { name: "ClobAuthDomain", version: "1", chainId },
  types: CLOB_AUTH_TYPES,
  primaryType: "ClobAuth",
  message: { address, timestamp, nonce, message: ATTESTATION },
});

/** Description of the required signature for the details of an error. */
const EXPECTED = {
  typedData: {
    domain: { name: "ClobAuthDomain", version: "1", chainId: `one of ${CHAIN_IDS.join(", ")}` },
    primaryType: "ClobAuth",
    types: CLOB_AUTH_TYPES,
    message: {
      address: "the wallet's own",
      timestamp: "the one sent, Unix seconds",
      nonce: "the one sent, 0 if none is",
      message: ATTESTATION,
    },
  },
  personalSign: ATTESTATION,
} as const;

/** Maximum difference between an EIP-712 signature's timestamp and the server's time, in seconds, inclusive. */
const DERIVATION_WINDOW = 300;

/** Payload of a derivation of credentials; `timestamp` is in Unix seconds, `nonce` 0 if not sent. */
export type DerivationRequest = Readonly<
  Partial<Record<"address" | "signature" | "timestamp" | "nonce", string | number | undefined>>
>;

type Hex = `0x${string}`;

/**
 * Returns the address, in lower case, of the wallet that requests credentials. The timestamp is part of EIP-712 only: a
 * personal_sign signature passes with any timestamp, and is the only scheme tried without one.
 * @throws ApiError the first reason to refuse it, in the order payload, signature with a high s, timestamp, signer.
 */
export async function verifyDerivation(
  request: DerivationRequest,
  serverTime: number,
  { personalSign }: { readonly personalSign: boolean },
): Promise<string> {
  const { address, signature, s, timestamp, nonce } = parseDerivation(request);
  if (s > CURVE_ORDER / 2n) {
    throw invalid(
      "the wallet signature is not in its canonical form",
      "s is in the upper half of the curve order",
    );
  }
  const skew = timestamp === undefined ? undefined : skewProblem(timestamp, serverTime, DERIVATION_WINDOW);
  const { hashMessage, hashTypedData, recoverAddress } = await import("viem/utils");
  const schemes = [{ scheme: PERSONAL_SIGN, hash: hashMessage(ATTESTATION) }];
  if (timestamp !== undefined && skew === undefined) {
    const typed = CHAIN_IDS.map((chainId) => ({
      scheme: `EIP-712 with chainId ${chainId}`,
      hash: hashTypedData(clobAuth(address, timestamp, nonce, chainId)),
    }));
    schemes.unshift(...typed);
  }
  const recovered: { readonly scheme: string; readonly address: string | null }[] = [];
  for (const { scheme, hash } of schemes) {
    // Fails if no point of the curve has this r.
    const recovering = recoverAddress({ hash, signature });
    const signer = await recovering.then((found) => found.toLowerCase()).catch(() => null);
    if (signer === address && (scheme !== PERSONAL_SIGN || personalSign)) return address;
    if (signer === address) {
      const hint = "it is a personal_sign signature, which this server's configuration has switched off";
      throw invalid("the wallet signature is not an EIP-712 signature", hint);
    }
    recovered.push({ scheme, address: signer });
  }
  if (skew !== undefined) throw new ApiError("TIMESTAMP_OUT_OF_WINDOW", skew.message, skew);
  const signers = recovered.map((signer) => `${signer.address ?? "no address"} (${signer.scheme})`);
  const untimed =
    timestamp === undefined ? "; an EIP-712 signature needs the timestamp it was made over" : "";
  throw invalid(
    `the wallet signature was not made by ${address} over the message of this service`,
    `recovered ${signers.join(", ")}${untimed}`,
    { address, recovered, expected: EXPECTED },
  );
}

const PERSONAL_SIGN = "personal_sign";

const invalid = (message: string, hint: string, details?: ErrorHelp["details"]): ApiError =>
  new ApiError("INVALID_WALLET_SIGNATURE", message, { hint, details });

const BYTES_65 = /^0x[0-9a-fA-F]{130}$/;
const RECOVERY_BYTE = /(?:00|01|1b|1c)$/;
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export const NONCE_RULE = "is not a whole number from 0 to 2^256 - 1 in decimal";
export const isNonce = (nonce: string | number | bigint): boolean =>
  DECIMAL.test(String(nonce)) && BigInt(nonce) < 2n ** 256n;

const HOW_TO_SEND =
  "send address and signature in a JSON body or as the headers poly_address and poly_signature; without a signature, POST /sim/accounts/{address}/credentials derives keys";

/** Returns address and signature in lower case. @throws ApiError `INVALID_AUTH_PAYLOAD` */
function parseDerivation({ address, signature, timestamp, nonce = 0 }: DerivationRequest) {
  if (address === undefined) throw malformed("address", "is missing", HOW_TO_SEND);
  if (signature === undefined) throw malformed("signature", "is missing", HOW_TO_SEND);
  if (typeof address !== "string" || !isAddress(address)) {
    throw malformed("address", "is not 0x and 40 hexadecimal digits", hexHint(address));
  }
  if (typeof signature !== "string" || !BYTES_65.test(signature)) {
    throw malformed("signature", "is not 0x and 130 hexadecimal digits (65 bytes)", hexHint(signature));
  }
  const hex = signature.toLowerCase() as Hex;
  if (!RECOVERY_BYTE.test(hex)) {
    throw malformed("signature", "ends in a recovery byte other than 0, 1, 27 or 28");
  }
  const [r, s] = [BigInt(hex.slice(0, 66)), BigInt(`0x${hex.slice(66, 130)}`)];
  if (r === 0n || r >= CURVE_ORDER || s === 0n || s >= CURVE_ORDER) {
    throw malformed("signature", "has an r or s outside the curve: 0 or not below the order");
  }
  const time = timestamp === undefined ? undefined : String(timestamp);
  if (time !== undefined && !isUnixSeconds(time)) {
    throw malformed("timestamp", "is not a Unix time in whole seconds", timestampHint(time));
  }
  if (!isNonce(nonce)) throw malformed("nonce", NONCE_RULE);
  return { address: address.toLowerCase() as Hex, signature: hex, s, timestamp: time, nonce: BigInt(nonce) };
}

const hexHint = (sent: unknown): string =>
  String(sent).startsWith("0x")
    ? `found ${String(sent).length - 2} characters after 0x`
    : "it must begin with 0x";

const malformed = (field: string, problem: string, hint?: string): ApiError =>
  new ApiError("INVALID_AUTH_PAYLOAD", `${field} ${problem}`, { hint, details: { field } });
