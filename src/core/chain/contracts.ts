import type { Address } from "../commands.ts";

/**
 * Who lives on the settlement chain besides wallets: the last 20 bytes of the Keccak-256 of their names, whatever the
 * seed, so that a client's configuration survives another one.
 */
export const CONTRACTS = {
  /** The ERC-20 token with 6 decimals that everything is paid in. */
  collateral: "0xaa4da43dba6b6fddb724bb5779199fae5683de91",
  /** The ERC-1155 tokens of all outcomes. */
  conditionalTokens: "0x9b9ffc1efc7805e46ab6daab97c650e080751017",
  /** Settles what was matched. */
  exchange: "0x71e8d610ad6c5565deb7dac163bed078e6a7aae8",
} as const satisfies Record<string, Address>;

/** Reports which outcome won; no contract, and nobody has its key. */
export const ORACLE: Address = "0x18bd3b0be392d94d7916f8b3e352cd10eaf6b45a";
/** Sends what settles trades and gives funds; nobody has its key. */
export const OPERATOR: Address = "0xf8b7571bced06ae2d95a4ae2eda18b400803bb5e";
export const ZERO_ADDRESS: Address = "0x0000000000000000000000000000000000000000";

/** Units of the ERC-1155 tokens in one size unit: a share has six decimals on the chain, as the collateral has. */
export const TOKEN_UNITS = 10_000;
