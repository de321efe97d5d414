import type { Command } from "../../core/commands.ts";
import { FEES, type State } from "../../core/state.ts";
import type { Address } from "../../core/terms.ts";
import type { ObservedSession } from "./observed-session.ts";

/** Whose command it is, whose transaction, or whom it funds; null where it is nobody's. */
export function addressIn(command: Command): Address | null {
  switch (command.kind) {
    case "placeOrder":
    case "cancelOrder":
    case "cancelAllOrders":
    case "deriveCredentials":
    case "fundAccount":
      return command.address;
    case "sendTransaction":
      return command.from;
    default:
      return null;
  }
}

/** Whether the exchange itself owns an account: its faucet, or what collects its fees. */
export const isHouse = (account: number): boolean => account <= FEES;

/** The accounts of a session, by the names that a scenario gives them. */
export class Parties {
  /** Numbers of those who acted, were funded or were refused, in the order of their first time. */
  readonly actors: readonly number[];
  readonly #names = new Map<number, string>();

  /** `refused` are the accounts whose requests were refused. */
  constructor(
    { acts, end }: ObservedSession,
    devAccounts: readonly Address[],
    refused: readonly number[] = [],
  ) {
    const actors = new Set<number>();
    for (const { command } of acts) {
      const account = accountOf(end, addressIn(command));
      if (account !== undefined) actors.add(account);
    }
    for (const account of refused) actors.add(account);
    this.actors = [...actors];
    for (const [index, address] of devAccounts.entries()) {
      const account = accountOf(end, address);
      if (account !== undefined) this.#names.set(account, `dev-${index}`);
    }
    let wallets = 0;
    for (const account of this.actors) {
      if (this.#names.has(account)) continue;
      wallets += 1;
      this.#names.set(account, `wallet-${wallets}`);
    }
  }

  /** `dev-0` and so on for the dev accounts, `wallet-1` for who else acted, `trader-1` for who only was there before. */
  nameOf(account: number): string {
    return this.#names.get(account) ?? `trader-${account - FEES}`;
  }
}

const accountOf = (state: State, address: Address | null): number | undefined =>
  address === null ? undefined : state.accountByAddress.get(address);
