import { ATTESTATION, type ClobAuth, clobAuth } from "../api/signing.ts";

type Hex = `0x${string}`;

/** A wallet that signs: a viem account or anything with the same methods. */
export interface WalletAccount {
  /** `0x` and 40 hexadecimal digits. */
  readonly address: Hex;
  /** EIP-712. */
  signTypedData(typedData: ClobAuth): Promise<string>;
  /** EIP-191. */
  signMessage(text: { readonly message: string }): Promise<string>;
}

/** How a wallet signs: EIP-712 typed data, or the plain attestation text by EIP-191, without time and nonce. */
export type WalletScheme = "typed-data" | "personal-sign";

/** Contents of the attestation that derives credentials. */
export interface Claim {
  readonly scheme: WalletScheme;
  readonly chainId: number;
  /** Unix seconds. */
  readonly unixTime: number;
  readonly nonce: number | bigint;
}

/** Returns the body of POST /clob/auth/derive-api-key. Rejects if the wallet does not sign. */
export async function attest(
  account: WalletAccount,
  claim: Claim,
): Promise<Readonly<Record<string, string>>> {
  const { address } = account;
  if (claim.scheme === "personal-sign") {
    return { address, signature: await account.signMessage({ message: ATTESTATION }) };
  }
  const timestamp = String(claim.unixTime);
  const nonce = BigInt(claim.nonce);
  const signature = await account.signTypedData(clobAuth(address, timestamp, nonce, claim.chainId));
  return { address, signature, timestamp, nonce: String(nonce) };
}

const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/;

/**
 * Returns the wallet of a private key, which signs in this process. Loads viem on the first call.
 * @throws TypeError if the text is not `0x` and 64 hex digits, without repeating it; RangeError if the key is not valid.
 */
export async function walletOf(privateKey: string): Promise<WalletAccount> {
  if (!PRIVATE_KEY.test(privateKey)) throw new TypeError("a private key is 0x and 64 hexadecimal digits");
  const { privateKeyToAccount } = await import("viem/accounts");
  try {
    return privateKeyToAccount(privateKey as `0x${string}`);
  } catch {
    throw new RangeError("a private key is above 0 and below the order of secp256k1");
  }
}
