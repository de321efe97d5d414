import type { Checksums } from "../../api/address.ts";
import type { ClobAuth } from "../../api/wallet-signature.ts";
import type { WalletAccount } from "../../client/wallet.ts";
import { devAddress, namedPrivateKey } from "../../simulation/dev-accounts.ts";

/** A wallet of a scenario: anybody can compute its key from the name. */
export interface Wallet {
  readonly name: string;
  /** Lower case. */
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
  /** Signatures made so far, by what was signed: the same wallet signs the same in every scenario. */
  readonly signatures: Map<string, Promise<string>>;
}

/** The wallets of names, each made once. */
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

/** A wallet that signs; a signature is worked out once, for it takes longer than a request. */
export async function signerOf({ privateKey, signatures }: Wallet): Promise<WalletAccount> {
  const { walletOf } = await import("../../client/wallet.ts");
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

/** What somebody without a name is called, by the address. */
export const strangerName = (address: string): string => `trader-${address.slice(2, 10).toLowerCase()}`;
