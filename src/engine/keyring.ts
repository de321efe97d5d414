import { createHmac } from "node:crypto";
import { uuidOf } from "../core/ids.ts";
import { findAccount } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Exchange } from "./exchange.ts";

export interface CredentialSet {
  readonly address: Address;
  readonly apiKey: string;
  readonly secret: string;
  readonly passphrase: string;
}

/**
 * The API credentials of one exchange. They are not state: a set is a function of (seed, address, number of the
 * derivation), and is valid only while the exchange has that derivation.
 */
export class Keyring {
  readonly #exchange: Exchange;
  readonly #seed: string;
  readonly #byApiKey = new Map<string, { readonly set: CredentialSet; readonly derivation: number }>();
  /** Whether the sets derived before this keyring was made, as in a resumed exchange, have been added. */
  #hasEarlier = false;

  constructor(exchange: Exchange, seed: string) {
    this.#exchange = exchange;
    this.#seed = seed;
  }

  /** Returns the set of the wallet's latest derivation. @throws Error if there is none */
  latest(address: Address): CredentialSet {
    const derivation = this.#derivationsOf(address);
    if (derivation === 0) throw new Error(`${address} has not derived credentials`);
    return this.#add(address, derivation);
  }

  /** Returns the set of an API key; undefined if the exchange has no such derivation. */
  find(apiKey: string): CredentialSet | undefined {
    if (!this.#hasEarlier && !this.#byApiKey.has(apiKey)) this.#addEarlier();
    const entry = this.#byApiKey.get(apiKey);
    if (entry === undefined || entry.derivation > this.#derivationsOf(entry.set.address)) return undefined;
    return entry.set;
  }

  #derivationsOf(address: Address): number {
    return findAccount(this.#exchange.state, address)?.derivations ?? 0;
  }

  #addEarlier(): void {
    this.#hasEarlier = true;
    for (const { address, derivations } of this.#exchange.state.accounts) {
      for (let derivation = 1; derivation <= derivations; derivation += 1) this.#add(address, derivation);
    }
  }

  #add(address: Address, derivation: number): CredentialSet {
    const part = (name: string): string =>
      createHmac("sha256", this.#seed).update(`clobsim ${name}\n${address}\n${derivation}`).digest("hex");
    const apiKey = uuidOf(part("api key"));
    const set = { address, apiKey, secret: part("secret"), passphrase: part("passphrase") };
    this.#byApiKey.set(apiKey, { set, derivation });
    return set;
  }
}
