import type { Hex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { ATTESTATION, CLOB_AUTH_TYPES } from "../../src/api/wallet-signature.ts";

/** The private key `number`. */
export const keyOf = (number: number | bigint): Hex => `0x${number.toString(16).padStart(64, "0")}`;

/** The wallet with private key `number`, or with a random key. */
export const wallet = (number?: number | bigint): PrivateKeyAccount =>
  privateKeyToAccount(number === undefined ? generatePrivateKey() : keyOf(number));

/** The EIP-712 signature that proves control of a wallet. */
export const signTyped = (account: PrivateKeyAccount, timestamp: string, nonce: bigint): Promise<string> =>
  account.signTypedData({
    domain: { name: "ClobAuthDomain", version: "1", chainId: 137 },
    types: CLOB_AUTH_TYPES,
    primaryType: "ClobAuth",
    message: { address: account.address, timestamp, nonce, message: ATTESTATION },
  });

/** The EIP-191 signature of the message. */
export const signPersonal = (account: PrivateKeyAccount): Promise<`0x${string}`> =>
  account.signMessage({ message: ATTESTATION });
