import type { WalletAccount } from "./derive.ts";

const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/;

/**
 * The wallet of a private key, which signs in this process; viem is loaded when it is asked for.
 * @throws TypeError when the text is not 32 bytes in hex, without repeating it; RangeError when the curve has no such key.
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
