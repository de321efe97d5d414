import type { Address } from "../commands.ts";
import type { Chain, ChainWallet } from "./chain.ts";
import { CONTRACTS } from "./contracts.ts";

/** An allowance that is never used up. */
export const UNLIMITED = (1n << 256n) - 1n;

/** Who is taken to have a wallet's permission until it says otherwise, as the service's onboarding leaves it. */
const SPENDERS: ReadonlySet<Address> = new Set([CONTRACTS.exchange, CONTRACTS.conditionalTokens]);

/** How much of its collateral an owner lets somebody spend, in micro-USDC. */
export const allowanceOf = ({ wallets }: Chain, owner: Address, spender: Address): bigint =>
  wallets.get(owner)?.allowances.get(spender) ?? (SPENDERS.has(spender) ? UNLIMITED : 0n);

/** Whether an owner lets somebody move its tokens. */
export const isOperator = ({ wallets }: Chain, owner: Address, operator: Address): boolean =>
  wallets.get(owner)?.operators.get(operator) ?? operator === CONTRACTS.exchange;

/** Whether a wallet does not let the exchange move all that it has. */
export const isRestricted = ({ allowances, operators }: ChainWallet): boolean =>
  (allowances.get(CONTRACTS.exchange) ?? UNLIMITED) !== UNLIMITED ||
  operators.get(CONTRACTS.exchange) === false;
