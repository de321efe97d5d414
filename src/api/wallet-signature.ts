import { isAddress } from "../core/terms.ts";
import { isUnixSeconds } from "../core/time.ts";
import { ApiError, type ErrorHelp } from "./errors.ts";
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
  // Fails if no point of the curve has this r.
  const signerOf = (hash: Hex): Promise<string | null> =>
    recoverAddress({ hash, signature }).then(
      (found) => found.toLowerCase(),
      () => null,
    );
  const recovered: { readonly scheme: string; readonly address: string | null }[] = [];
  for (const { scheme, hash } of schemes) {
    const signer = await signerOf(hash);
    if (signer === address && (scheme !== PERSONAL_SIGN || personalSign)) return address;
    if (signer === address) {
      const hint = "it is a personal_sign signature, which this server's configuration has switched off";
      throw invalid("the wallet signature is not an EIP-712 signature", hint);
    }
    recovered.push({ scheme, address: signer });
  }
  if (skew !== undefined) throw new ApiError("TIMESTAMP_OUT_OF_WINDOW", skew.message, skew);
  const signers = recovered.map((signer) => `${signer.address ?? "no address"} (${signer.scheme})`);
  const hints = [`recovered ${signers.join(", ")}`];
  if (timestamp === undefined) hints.push("an EIP-712 signature needs the timestamp it was made over");
  else {
    for (const { hint, typedData } of mistakesIn(address, timestamp, nonce)) {
      if ((await signerOf(hashTypedData(typedData))) !== address) continue;
      hints.unshift(hint);
      break;
    }
  }
  throw invalid(
    `the wallet signature was not made by ${address} over the message of this service`,
    hints.join("; "),
    { address, recovered, expected: EXPECTED },
  );
}

/** Ids of other chains, which a wallet may sign by mistake: main networks, then test networks. */
const OTHER_CHAIN_IDS = [1, 10, 56, 8453, 42161, 1337, 80001, 11155111];

/** Yields messages that the wallet may have signed instead, each with one mistake. Few, because recovering a signer takes 1 to 3 ms. */
function* mistakesIn(address: Hex, timestamp: string, nonce: bigint) {
  for (const chainId of OTHER_CHAIN_IDS) {
    const hint = `chainId ${chainId} was signed: would match with one of ${CHAIN_IDS.join(", ")}`;
    yield { hint, typedData: clobAuth(address, timestamp, nonce, chainId) };
  }
  for (const chainId of CHAIN_IDS) {
    for (const signed of [0n, 1n]) {
      if (signed === nonce) continue;
      const hint = `nonce ${signed} was signed, nonce ${nonce} was sent: send the one that is signed`;
      yield { hint, typedData: clobAuth(address, timestamp, signed, chainId) };
    }
    // A client that reads its clock twice can sign one second and send the next.
    for (const signed of [Number(timestamp) - 1, Number(timestamp) + 1]) {
      const hint = `timestamp ${signed} was signed, ${timestamp} was sent: send the one that is signed`;
      yield { hint, typedData: clobAuth(address, String(signed), nonce, chainId) };
    }
  }
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
