import type { State } from "../state.ts";
import type { Address } from "../terms.ts";
import type { ChainWallet } from "./chain.ts";

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

/** The parent of every position here: none. */
export const NO_PARENT = `0x${"0".repeat(64)}`;

/** An allowance that is never used up. */
export const UNLIMITED = (1n << 256n) - 1n;

/** Who has the permission of a wallet that the exchange knows until it says otherwise, as the service's onboarding leaves it. */
const SPENDERS: ReadonlySet<Address> = new Set([CONTRACTS.exchange, CONTRACTS.conditionalTokens]);

const isApprovedAtFirst = ({ config, accountByAddress }: State, owner: Address): boolean =>
  config.approvals !== "required" && accountByAddress.has(owner);

/** How much of its collateral an owner that has said nothing of it lets somebody spend, in micro-USDC. */
export const initialAllowance = (state: State, owner: Address, spender: Address): bigint =>
  SPENDERS.has(spender) && isApprovedAtFirst(state, owner) ? UNLIMITED : 0n;

/** How much of its collateral an owner lets somebody spend, in micro-USDC. */
export const allowanceOf = (state: State, owner: Address, spender: Address): bigint =>
  state.chain.wallets.get(owner)?.allowances.get(spender) ?? initialAllowance(state, owner, spender);

/** Whether an owner that has said nothing of it lets somebody move its tokens. */
export const isInitialOperator = (state: State, owner: Address, operator: Address): boolean =>
  operator === CONTRACTS.exchange && isApprovedAtFirst(state, owner);

/** Whether an owner lets somebody move its tokens. */
export const isOperator = (state: State, owner: Address, operator: Address): boolean =>
  state.chain.wallets.get(owner)?.operators.get(operator) ?? isInitialOperator(state, owner, operator);

/** Whether a wallet does not let the exchange move all that it has. */
export const isRestricted = ({ allowances, operators }: ChainWallet): boolean =>
  (allowances.get(CONTRACTS.exchange) ?? UNLIMITED) !== UNLIMITED ||
  operators.get(CONTRACTS.exchange) === false;
