import type { Address } from "../core/commands.ts";

/** In whose name transactions are taken without a signature, beside the accounts whose keys everybody may know. */
export class Impersonation {
  readonly #addresses = new Set<Address>();
  /** Whether in anybody's. */
  isOfAll = false;

  /** In the order in which they were added. */
  get addresses(): readonly Address[] {
    return [...this.#addresses];
  }

  start(address: Address): void {
    this.#addresses.add(address);
  }

  stop(address: Address): void {
    this.#addresses.delete(address);
  }

  covers(address: Address): boolean {
    return this.isOfAll || this.#addresses.has(address);
  }
}
