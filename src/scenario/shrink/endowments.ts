import { tokenOf } from "../../core/market.ts";
import type { ExchangeConfig } from "../../core/state.ts";
import type { Address } from "../../core/terms.ts";
import type { Deed } from "./deeds.ts";

/** Micro-USDC, where the token is 0, or size units of a token, by its number in the history. */
export interface Gift {
  readonly address: Address;
  readonly token: number;
  readonly amount: number;
}

/** What accounts are given: before they do anything else it is what they start with. */
export class Endowments {
  readonly #config: ExchangeConfig;
  readonly #markets: readonly number[];
  readonly #atFirst: boolean;
  readonly #start = new Map<Address, Map<number, number>>();
  readonly #known = new Set<Address>();
  readonly #acted = new Set<Address>();

  /** `atFirst`: whether accounts start with anything; else all of it is given by steps. */
  constructor(config: ExchangeConfig, markets: readonly number[], atFirst: boolean) {
    this.#config = config;
    this.#markets = markets;
    this.#atFirst = atFirst;
  }

  /** Notes what a deed gives, and answers what a step must give. */
  take({ command, means }: Deed): readonly Gift[] {
    if (command === null || !("address" in command)) return [];
    const { address } = command;
    if (command.kind === "deriveCredentials") {
      if (this.#known.has(address)) return [];
      this.#known.add(address);
      const { collateral, everyMarket } = this.#config.faucet;
      return this.#give(address, collateral, this.#everywhere(everyMarket));
    }
    if (command.kind === "fundAccount") {
      const shares = command.tokens.map(({ size }, index) => [means.tokens[index] ?? 0, size] as const);
      const given = shares.filter(([token]) => token > 0);
      return this.#give(address, command.collateral, [...given, ...this.#everywhere(command.everyMarket)]);
    }
    this.#acted.add(address);
    return [];
  }

  /** What an account starts with, by token; USDC under 0. */
  of(address: Address): readonly (readonly [token: number, amount: number])[] {
    return [...(this.#start.get(address) ?? [])].sort(([a], [b]) => a - b);
  }

  #everywhere(size: number): (readonly [token: number, amount: number])[] {
    const outcomes = ["YES", "NO"] as const;
    return this.#markets.flatMap((market) =>
      outcomes.map((outcome) => [tokenOf(market, outcome), size] as const),
    );
  }

  #give(
    address: Address,
    collateral: number,
    shares: readonly (readonly [number, number])[],
  ): readonly Gift[] {
    const gifts = [[0, collateral] as const, ...shares].filter(([, amount]) => amount > 0);
    if (!this.#atFirst || this.#acted.has(address)) {
      return gifts.map(([token, amount]) => ({ address, token, amount }));
    }
    const start = this.#start.get(address) ?? new Map<number, number>();
    for (const [token, amount] of gifts) start.set(token, (start.get(token) ?? 0) + amount);
    this.#start.set(address, start);
    return [];
  }
}
