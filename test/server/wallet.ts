import { readFileSync } from "node:fs";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

/** The message that a wallet signs, from the API contract. */
export const TEXT = "This message attests that I control the given wallet";

interface AuthVectors {
  readonly privateKey: `0x${string}`;
  readonly address: `0x${string}`;
  readonly personalSign: `0x${string}`;
  readonly typedData: readonly {
    readonly chainId: number;
    readonly timestamp: string;
    readonly nonce: number;
    readonly signature: `0x${string}`;
  }[];
  readonly hmac: readonly {
    readonly secret: string;
    readonly timestamp: string;
    readonly method: "GET" | "POST" | "DELETE";
    readonly path: string;
    readonly body: string;
    readonly signature: string;
  }[];
}

/** Known valid signatures. */
export const AUTH_VECTORS = JSON.parse(
  readFileSync(new URL("../../fixtures/vectors/auth-vectors.json", import.meta.url), "utf8"),
) as AuthVectors;

/** The wallet with private key `number`, or with a random key. */
export const wallet = (number?: number | bigint): PrivateKeyAccount =>
  privateKeyToAccount(
    number === undefined ? generatePrivateKey() : `0x${number.toString(16).padStart(64, "0")}`,
  );

/** Values signed with the message. */
export interface Claim {
  readonly timestamp: string;
  readonly chainId?: number;
  readonly nonce?: bigint;
  /** Replaces the message of the service. */
  readonly message?: string;
}

/** The EIP-712 signature that proves control of a wallet. */
export const signTyped = (
  account: PrivateKeyAccount,
  { timestamp, chainId = 137, nonce = 0n, message = TEXT }: Claim,
): Promise<`0x${string}`> =>
  account.signTypedData({
    domain: { name: "ClobAuthDomain", version: "1", chainId },
    types: {
      ClobAuth: [
        { name: "address", type: "address" },
        { name: "timestamp", type: "string" },
        { name: "nonce", type: "uint256" },
        { name: "message", type: "string" },
      ],
    },
    primaryType: "ClobAuth",
    message: { address: account.address, timestamp, nonce, message },
  });

/** An address with every letter in the other case. */
export const swapCase = (address: string): string =>
  address.replace(/[a-f]/gi, (digit) => {
    const lower = digit.toLowerCase();
    return digit === lower ? digit.toUpperCase() : lower;
  });

/** The EIP-191 signature of the message. */
export const signPersonal = (account: PrivateKeyAccount, message = TEXT): Promise<`0x${string}`> =>
  account.signMessage({ message });
