import { isAddress } from "../core/terms.ts";
import { isUnixSeconds } from "../core/time.ts";
import { ApiError } from "./errors.ts";
import { skewProblem, timestampHint } from "./signing.ts";

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
const DERIVATION_WINDOW_SECONDS = 300;

/** Payload of a derivation of credentials; `timestamp` is in Unix seconds, `nonce` 0 if not sent. */
export type DerivationRequest = Readonly<
  Partial<Record<"address" | "signature" | "timestamp" | "nonce", string | number | undefined>>
>;

interface Derivation {
  /** Lower case, like the signature. */
  readonly address: Hex;
  readonly signature: Hex;
  readonly timestamp: string | undefined;
  readonly nonce: bigint;
}

/** A supported signing scheme and the digest that the wallet signs under it. */
interface Scheme {
  readonly name: string;
  readonly hash: Hex;
}

type Hex = `0x${string}`;
type Viem = typeof import("viem/utils");

/**
 * Returns the address, in lower case, of the wallet that requests credentials. The timestamp is part of EIP-712 only: a
 * personal_sign signature passes with any timestamp, and is the only scheme tried without one.
 * @throws ApiError the first reason to refuse it, in the order payload, signature with a high s, timestamp, signer.
 */
export async function verifyDerivation(
  request: DerivationRequest,
  serverTimeSeconds: number,
  { personalSign }: { readonly personalSign: boolean },
): Promise<string> {
  const derivation = parseDerivation(request);
  const { address, signature, timestamp } = derivation;
  if (sOf(signature) > CURVE_ORDER / 2n) {
    throw invalid(
      "the wallet signature is not in its canonical form",
      "s is in the upper half of the curve order",
    );
  }
  const skew =
    timestamp === undefined
      ? undefined
      : skewProblem(timestamp, serverTimeSeconds, DERIVATION_WINDOW_SECONDS);

  const viem = await import("viem/utils");
  const typed =
    timestamp === undefined || skew !== undefined ? [] : typedSchemes(viem, derivation, timestamp);
  const personal = { name: "personal_sign", hash: viem.hashMessage(ATTESTATION) };
  const recovered: { scheme: string; address: string | null }[] = [];
  for (const scheme of [...typed, personal]) {
    const signer = await recover(viem, scheme.hash, signature);
    if (signer === address && (scheme !== personal || personalSign)) return address;
    if (signer === address) {
      const hint = "it is a personal_sign signature, which this server's configuration has switched off";
      throw invalid("the wallet signature is not an EIP-712 signature", hint);
    }
    recovered.push({ scheme: scheme.name, address: signer ?? null });
  }
  if (skew !== undefined) throw new ApiError("TIMESTAMP_OUT_OF_WINDOW", skew.message, skew);
  throw wrongSigner(address, recovered, timestamp === undefined);
}

const invalid = (message: string, hint: string, details?: object): ApiError =>
  new ApiError("INVALID_WALLET_SIGNATURE", message, { hint, ...(details && { details: { ...details } }) });

const BYTES_65 = /^0x[0-9a-fA-F]{130}$/;
const RECOVERY_BYTE = /(?:00|01|1b|1c)$/;
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const rOf = (signature: Hex): bigint => BigInt(signature.slice(0, 66));
const sOf = (signature: Hex): bigint => BigInt(`0x${signature.slice(66, 130)}`);

/** @throws ApiError `INVALID_AUTH_PAYLOAD` */
function parseDerivation({ address, signature, timestamp, nonce = 0 }: DerivationRequest): Derivation {
  if (typeof address !== "string" || !isAddress(address)) {
    throw malformed("address", "is not 0x and 40 hexadecimal digits");
  }
  if (typeof signature !== "string" || !BYTES_65.test(signature)) {
    throw malformed("signature", "is not 0x and 130 hexadecimal digits (65 bytes)");
  }
  const hex = signature.toLowerCase() as Hex;
  if (!RECOVERY_BYTE.test(hex)) {
    throw malformed("signature", "ends in a recovery byte other than 0, 1, 27 or 28");
  }
  for (const part of [rOf(hex), sOf(hex)]) {
    if (part === 0n || part >= CURVE_ORDER) {
      throw malformed("signature", "has an r or s outside the curve: 0 or not below the order");
    }
  }
  const time = timestamp === undefined ? undefined : String(timestamp);
  if (time !== undefined && !isUnixSeconds(time)) {
    throw malformed("timestamp", "is not a Unix time in whole seconds", timestampHint(time));
  }
  if (!DECIMAL.test(String(nonce)) || BigInt(nonce) >= 2n ** 256n) {
    throw malformed("nonce", "is not a whole number from 0 to 2^256 - 1 in decimal");
  }
  return { address: address.toLowerCase() as Hex, signature: hex, timestamp: time, nonce: BigInt(nonce) };
}

const malformed = (field: string, problem: string, hint?: string): ApiError =>
  new ApiError("INVALID_AUTH_PAYLOAD", `${field} ${problem}`, { hint, details: { field } });

function typedSchemes(viem: Viem, { address, nonce }: Derivation, timestamp: string): Scheme[] {
  return CHAIN_IDS.map((chainId) => ({
    name: `EIP-712 with chainId ${chainId}`,
    hash: viem.hashTypedData(clobAuth(address, timestamp, nonce, chainId)),
  }));
}

/** Recovers the signer's address, in lower case; undefined if no curve point has this r. */
async function recover(viem: Viem, hash: Hex, signature: Hex): Promise<string | undefined> {
  try {
    return (await viem.recoverAddress({ hash, signature })).toLowerCase();
  } catch {
    return undefined;
  }
}

function wrongSigner(
  address: string,
  recovered: readonly { scheme: string; address: string | null }[],
  untimed: boolean,
): ApiError {
  const signers = recovered.map((signer) => `${signer.address ?? "no address"} (${signer.scheme})`);
  const typed = untimed ? "; an EIP-712 signature needs the timestamp it was made over" : "";
  const error = `the wallet signature was not made by ${address} over the message of this service`;
  const hint = `recovered ${signers.join(", ")}${typed}`;
  return invalid(error, hint, { address, recovered, expected: EXPECTED });
}
