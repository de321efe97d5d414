import type { ClobAuth } from "../../api/signing.ts";
import type { Checksums } from "../../api/view.ts";
import type { WalletAccount } from "../../client/client.ts";
import { devAddress, namedPrivateKey } from "../../simulation/world-accounts.ts";

/** A wallet of a scenario, whose key is derived from its name. */
export interface Wallet {
  readonly name: string;
  /** Lower case. */
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
  /** Cached signatures by signed message, because every scenario signs the same. */
  readonly signatures: Map<string, Promise<string>>;
}

/** Wallets by name, created on first use. */
export class Wallets {
  readonly checksums: Checksums = new Map();
  readonly #byName = new Map<string, Wallet>();

  of(name: string): Wallet {
    let wallet = this.#byName.get(name);
    if (wallet === undefined) {
      const privateKey = namedPrivateKey(name);
      wallet = { name, privateKey, address: devAddress(privateKey), signatures: new Map() };
      this.#byName.set(name, wallet);
    }
    return wallet;
  }
}

/** Returns a signing account that caches signatures, because signing takes longer than a request. */
export async function signerOf({ privateKey, signatures }: Wallet): Promise<WalletAccount> {
  const { walletOf } = await import("../../client/client.ts");
  const account = await walletOf(privateKey);
  return {
    address: account.address,
    signMessage: (text) => account.signMessage(text),
    signTypedData: (data: ClobAuth) => {
      const { timestamp, nonce } = data.message;
      const key = `${timestamp} ${nonce} ${data.domain.chainId}`;
      const signature = signatures.get(key) ?? account.signTypedData(data);
      signatures.set(key, signature);
      return signature;
    },
  };
}

/** Returns a name for an address that has none. */
export const strangerName = (address: string): string => `trader-${address.slice(2, 10).toLowerCase()}`;
