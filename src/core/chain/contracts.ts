import type { State } from "../state.ts";
import type { Address } from "../terms.ts";
import type { ChainWallet } from "./chain.ts";

/**
 * Contract addresses on the settlement chain: the last 20 bytes of the Keccak-256 of their names. They do not depend on
 * the seed, so that a client's configuration stays valid with another seed.
 */
export const CONTRACTS = {
  /** ERC-20 token with 6 decimals, the currency of all payments. */
  collateral: "0xaa4da43dba6b6fddb724bb5779199fae5683de91",
  /** ERC-1155 tokens of all outcomes. */
  conditionalTokens: "0x9b9ffc1efc7805e46ab6daab97c650e080751017",
  /** Settles matched trades. */
  exchange: "0x71e8d610ad6c5565deb7dac163bed078e6a7aae8",
} as const satisfies Record<string, Address>;

/** Reports the winning outcome; not a contract, and no private key exists. */
export const ORACLE: Address = "0x18bd3b0be392d94d7916f8b3e352cd10eaf6b45a";
/** Sender of settlements and deposits; no private key exists. */
export const OPERATOR: Address = "0xf8b7571bced06ae2d95a4ae2eda18b400803bb5e";
export const ZERO_ADDRESS: Address = "0x0000000000000000000000000000000000000000";

/** Units of the ERC-1155 tokens in one size unit: a share has six decimals on the chain, as the collateral has. */
export const TOKEN_UNITS = 10_000;

/** Parent collection of every position: none. */
export const NO_PARENT = `0x${"0".repeat(64)}` as const;

/** Allowance that spending does not reduce. */
export const UNLIMITED = (1n << 256n) - 1n;

/** Contracts that a known wallet has approved initially, as after the service's onboarding. */
const SPENDERS: ReadonlySet<Address> = new Set([CONTRACTS.exchange, CONTRACTS.conditionalTokens]);

const isApprovedInitially = ({ config, accountByAddress }: State, owner: Address): boolean =>
  config.approvals !== "required" && accountByAddress.has(owner);

/** Returns the allowance that applies until the owner sets one, in micro-USDC. */
export const initialAllowance = (state: State, owner: Address, spender: Address): bigint =>
  SPENDERS.has(spender) && isApprovedInitially(state, owner) ? UNLIMITED : 0n;

/** Returns how much of the owner's collateral the spender may spend, in micro-USDC. */
export const allowanceOf = (state: State, owner: Address, spender: Address): bigint =>
  state.chain.wallets.get(owner)?.allowances.get(spender) ?? initialAllowance(state, owner, spender);

/** Whether the operator is approved until the owner sets an approval. */
export const isInitialOperator = (state: State, owner: Address, operator: Address): boolean =>
  operator === CONTRACTS.exchange && isApprovedInitially(state, owner);

/** Whether the operator may move the owner's tokens. */
export const isOperator = (state: State, owner: Address, operator: Address): boolean =>
  state.chain.wallets.get(owner)?.operators.get(operator) ?? isInitialOperator(state, owner, operator);

/** Whether a wallet limits what the exchange may move. */
export const isRestricted = ({ allowances, operators }: ChainWallet): boolean =>
  (allowances.get(CONTRACTS.exchange) ?? UNLIMITED) !== UNLIMITED ||
  operators.get(CONTRACTS.exchange) === false;
