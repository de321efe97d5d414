import { createHmac } from "node:crypto";
import { uuidOf } from "../core/ids.ts";
import type { Address } from "../core/terms.ts";
import type { Exchange } from "./exchange.ts";

/** One set of API credentials. */
export interface CredentialSet {
  readonly address: Address;
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

/**
 * The credentials of one exchange. Nothing here is state: a set is a function of (seed, address, how many times the
 * address has derived), and holds only while the exchange remembers that derivation.
 */
export class Keyring {
  readonly #exchange: Exchange;
  readonly #seed: string;
  readonly #byApiKey = new Map<string, { readonly set: CredentialSet; readonly derivation: number }>();
  /** Whether the sets are in there that were derived before anybody asked, as those are of an exchange that was kept. */
  #hasEarlier = false;

  constructor(exchange: Exchange, seed: string) {
    this.#exchange = exchange;
    this.#seed = seed;
  }

  /** The set of the wallet's latest derivation. @throws Error when it never derived. */
  latest(address: Address): CredentialSet {
    const derivation = this.#derivationsOf(address);
    if (derivation === 0) throw new Error(`${address} has not derived credentials`);
    return this.#add(address, derivation);
  }

  /** The set of an API key, or undefined when the exchange knows of no such derivation. */
  find(apiKey: string): CredentialSet | undefined {
    if (!this.#hasEarlier && !this.#byApiKey.has(apiKey)) this.#addEarlier();
    const entry = this.#byApiKey.get(apiKey);
    if (entry === undefined || entry.derivation > this.#derivationsOf(entry.set.address)) return undefined;
    return entry.set;
  }

  #derivationsOf(address: Address): number {
    const { state } = this.#exchange;
    const number = state.accountByAddress.get(address);
    return number === undefined ? 0 : state.accounts.get(number).derivations;
  }

  #addEarlier(): void {
    this.#hasEarlier = true;
    for (const { address, derivations } of this.#exchange.state.accounts) {
      for (let derivation = 1; derivation <= derivations; derivation += 1) this.#add(address, derivation);
    }
  }

  #add(address: Address, derivation: number): CredentialSet {
    const set = this.#make(address, derivation);
    this.#byApiKey.set(set.apiKey, { set, derivation });
    return set;
  }

  #make(address: Address, derivation: number): CredentialSet {
    const part = (name: string): string =>
      createHmac("sha256", this.#seed).update(`clobsim ${name}\n${address}\n${derivation}`).digest("hex");
    return {
      address,
      apiKey: uuidOf(part("api key")),
      secret: part("secret"),
      passphrase: part("passphrase"),
    };
  }
}
