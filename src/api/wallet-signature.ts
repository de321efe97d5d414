import { type AuthRefusal, isAddress, isTimestamp, refusal, refuseSkew, timestampHint } from "./signing.ts";

/** The sentence a wallet signs to derive credentials. */
export const ATTESTATION = "This message attests that I control the given wallet";

/** The chains whose id an EIP-712 signature may carry: Polygon, its test network Amoy, and local development chains. */
export const CHAIN_IDS = [137, 80002, 31337] as const;

/** The EIP-712 type of the signed message. */
export const CLOB_AUTH_TYPES = {
  ClobAuth: [
    { name: "address", type: "address" },
    { name: "timestamp", type: "string" },
    { name: "nonce", type: "uint256" },
    { name: "message", type: "string" },
  ],
} as const;

/** What a wallet must sign, as details show it to somebody whose signature was not that. */
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

/** How far the timestamp of an EIP-712 signature may be from the server's time, in seconds, either way, inclusive. */
export const DERIVATION_WINDOW_SECONDS = 300;

/** What a client sends to derive credentials, unparsed; null counts as not sent. */
export interface DerivationRequest {
  readonly address?: unknown;
  readonly signature?: unknown;
  /** Unix seconds, a string or a number. */
  readonly timestamp?: unknown;
  /** A number or a decimal string, below 2^256; 0 if not sent. */
  readonly nonce?: unknown;
}

/** Why a derivation is refused: status 400 for the payload, 401 for the others. */
export type DerivationCode = "INVALID_AUTH_PAYLOAD" | "TIMESTAMP_OUT_OF_WINDOW" | "INVALID_WALLET_SIGNATURE";

interface Derivation {
  /** Lower case, like the signature. */
  readonly address: Hex;
  readonly signature: Hex;
  readonly timestamp: string | undefined;
  readonly nonce: bigint;
}

/** A way to have made the signature, and the digest the wallet signed in that way. */
interface Scheme {
  readonly name: string;
  readonly hash: Hex;
}

type Hex = `0x${string}`;
type Malformed = AuthRefusal<"INVALID_AUTH_PAYLOAD">;
type Viem = typeof import("viem/utils");

/**
 * Decides which wallet asks for credentials: its address in lower case, or the first reason to refuse it, in the order
 * payload, signature with a high s, timestamp, signer. The timestamp belongs to EIP-712 alone: a personal_sign
 * signature passes whatever is sent with it, and without a timestamp nothing else is tried.
 */
export async function verifyDerivation(
  request: DerivationRequest,
  serverTimeSeconds: number,
  { personalSign }: { readonly personalSign: boolean },
): Promise<{ readonly ok: true; readonly address: string } | AuthRefusal<DerivationCode>> {
  const derivation = parseDerivation(request);
  if ("ok" in derivation) return derivation;
  const { address, signature, timestamp } = derivation;
  if (sOf(signature) > CURVE_ORDER / 2n) {
    const error = "the wallet signature is not in its canonical form";
    return refusal("INVALID_WALLET_SIGNATURE", error, "s is in the upper half of the curve order");
  }
  const skew =
    timestamp === undefined ? undefined : refuseSkew(timestamp, serverTimeSeconds, DERIVATION_WINDOW_SECONDS);

  const viem = await import("viem/utils");
  const typed =
    timestamp === undefined || skew !== undefined ? [] : typedSchemes(viem, derivation, timestamp);
  const personal = { name: "personal_sign", hash: viem.hashMessage(ATTESTATION) };
  const recovered: { scheme: string; address: string | null }[] = [];
  for (const scheme of [...typed, personal]) {
    const signer = await recover(viem, scheme.hash, signature);
    if (signer !== address) recovered.push({ scheme: scheme.name, address: signer ?? null });
    else if (scheme === personal && !personalSign) return switchedOff();
    else return { ok: true, address };
  }
  return skew ?? wrongSigner(address, recovered, timestamp === undefined);
}

const BYTES_65 = /^0x[0-9a-fA-F]{130}$/;
const RECOVERY_BYTE = /(?:00|01|1b|1c)$/;
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const rOf = (signature: Hex): bigint => BigInt(signature.slice(0, 66));
const sOf = (signature: Hex): bigint => BigInt(`0x${signature.slice(66, 130)}`);

function parseDerivation(request: DerivationRequest): Derivation | Malformed {
  const { address, signature } = request;
  if (typeof address !== "string" || !isAddress(address)) {
    return malformed("address", "is not 0x and 40 hexadecimal digits");
  }
  if (typeof signature !== "string" || !BYTES_65.test(signature)) {
    return malformed("signature", "is not 0x and 130 hexadecimal digits (65 bytes)");
  }
  const hex = signature.toLowerCase() as Hex;
  if (!RECOVERY_BYTE.test(hex)) {
    return malformed("signature", "ends in a recovery byte other than 0, 1, 27 or 28");
  }
  for (const part of [rOf(hex), sOf(hex)]) {
    if (part === 0n || part >= CURVE_ORDER) {
      return malformed("signature", "has an r or s outside the curve: 0 or not below the order");
    }
  }
  const timestamp = readTimestamp(request.timestamp);
  if (typeof timestamp === "object") return timestamp;
  const nonce = readNonce(request.nonce);
  if (typeof nonce === "object") return nonce;
  return { address: address.toLowerCase() as Hex, signature: hex, timestamp, nonce };
}

function readTimestamp(sent: unknown): string | undefined | Malformed {
  if (sent === undefined || sent === null) return undefined;
  const text = typeof sent === "number" ? String(sent) : sent;
  if (typeof text === "string" && isTimestamp(text)) return text;
  const hint = typeof text === "string" ? timestampHint(text) : undefined;
  return malformed("timestamp", "is not a Unix time in whole seconds", hint);
}

function readNonce(sent: unknown): bigint | Malformed {
  if (sent === undefined || sent === null) return 0n;
  if (typeof sent === "number") {
    if (Number.isSafeInteger(sent) && sent >= 0) return BigInt(sent);
    const hint = sent > Number.MAX_SAFE_INTEGER ? "send a large nonce as a decimal string" : undefined;
    return malformed("nonce", "is not a whole number from 0 to 2^53 - 1", hint);
  }
  if (typeof sent === "string" && DECIMAL.test(sent) && BigInt(sent) < 2n ** 256n) return BigInt(sent);
  return malformed("nonce", "is not a whole number from 0 to 2^256 - 1 in decimal");
}

const malformed = (field: string, problem: string, hint?: string): Malformed =>
  refusal("INVALID_AUTH_PAYLOAD", `${field} ${problem}`, hint, { field });

function typedSchemes(viem: Viem, { address, nonce }: Derivation, timestamp: string): Scheme[] {
  return CHAIN_IDS.map((chainId) => ({
    name: `EIP-712 with chainId ${chainId}`,
    hash: viem.hashTypedData({
      domain: { name: "ClobAuthDomain", version: "1", chainId },
      types: CLOB_AUTH_TYPES,
      primaryType: "ClobAuth",
      message: { address, timestamp, nonce, message: ATTESTATION },
    }),
  }));
}

/** The address that made the signature, in lower case; undefined when no curve point has this r. */
async function recover(viem: Viem, hash: Hex, signature: Hex): Promise<string | undefined> {
  try {
    return (await viem.recoverAddress({ hash, signature })).toLowerCase();
  } catch {
    return undefined;
  }
}

function switchedOff(): AuthRefusal<"INVALID_WALLET_SIGNATURE"> {
  const hint = "it is a personal_sign signature, which this server's configuration has switched off";
  return refusal("INVALID_WALLET_SIGNATURE", "the wallet signature is not an EIP-712 signature", hint);
}

function wrongSigner(
  address: string,
  recovered: readonly { scheme: string; address: string | null }[],
  untimed: boolean,
): AuthRefusal<"INVALID_WALLET_SIGNATURE"> {
  const signers = recovered.map((signer) => `${signer.address ?? "no address"} (${signer.scheme})`);
  const typed = untimed ? "; an EIP-712 signature needs the timestamp it was made over" : "";
  const error = `the wallet signature was not made by ${address} over the message of this service`;
  const hint = `recovered ${signers.join(", ")}${typed}`;
  return refusal("INVALID_WALLET_SIGNATURE", error, hint, { address, recovered, expected: EXPECTED });
}
