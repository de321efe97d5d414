import { type Chain, type ChainWallet, emptyWallet, initialRestricted, minedAt } from "../chain/chain.ts";
import { CONTRACTS, UNLIMITED } from "../chain/contracts.ts";
import { movesOf, USDC } from "../chain/settlement.ts";
import type { CallContent, Transaction } from "../chain/transaction.ts";
import type { State } from "../state.ts";
import type { Address } from "../terms.ts";

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

export const isOperator = (state: State, owner: Address, operator: Address): boolean =>
  state.chain.wallets.get(owner)?.operators.get(operator) ?? isInitialOperator(state, owner, operator);

/** Whether a wallet limits what the exchange may move. */
export const isRestricted = ({ allowances, operators }: ChainWallet): boolean =>
  (allowances.get(CONTRACTS.exchange) ?? UNLIMITED) !== UNLIMITED ||
  operators.get(CONTRACTS.exchange) === false;

type Wallets = Pick<Chain, "wallets" | "restricted">;

/** Returns the wallet of an address, creating it if necessary; only `apply` may call it with the chain of a state. */
export function walletIn({ wallets }: Pick<Chain, "wallets">, address: Address): ChainWallet {
  let wallet = wallets.get(address);
  if (wallet === undefined) {
    wallet = emptyWallet(address);
    wallets.set(address, wallet);
  }
  return wallet;
}

/** Applies the changes of permissions by an executed transaction: granted, revoked or spent. */
export function changePermissions(state: State, wallets: Wallets, transaction: Transaction): void {
  const { content } = transaction;
  if (content === null) spendInMatch(state, wallets, transaction);
  else if (content.kind === "call") changeByCall(wallets, content);
}

/** Returns the permissions after the block of a height. Replays all blocks up to it. */
function permissionsAt(state: State, height: number): Wallets {
  const { chain } = state;
  const wallets: Wallets = {
    wallets: new Map(),
    restricted: initialRestricted(state.config.approvals),
  };
  for (let at = 1; at <= height; at += 1) {
    for (const transaction of minedAt(chain, at)) {
      if (transaction.status === "MINED") changePermissions(state, wallets, transaction);
    }
  }
  return wallets;
}

export const hasPermissions = ({ wallets }: Chain): boolean =>
  [...wallets.values()].some(hasExplicitPermissions);

const hasExplicitPermissions = ({ allowances, operators }: ChainWallet): boolean =>
  allowances.size + operators.size > 0;

/** Restores the permissions after the block of `height`, the latest that a reorganization keeps. */
export function restorePermissions(state: State, height: number): void {
  const { chain } = state;
  const { wallets, restricted } = permissionsAt(state, height);
  for (const wallet of chain.wallets.values()) {
    if (!hasExplicitPermissions(wallet)) continue;
    const { allowances, operators } = wallets.get(wallet.address) ?? emptyWallet(wallet.address);
    wallet.allowances = allowances;
    wallet.operators = operators;
  }
  chain.restricted = restricted;
}

function changeByCall(wallets: Wallets, { from, call }: CallContent): void {
  switch (call.kind) {
    case "approve":
      setPermission(wallets, from, ({ allowances }) => allowances.set(call.spender, BigInt(call.amount)));
      break;
    case "setApprovalForAll":
      setPermission(wallets, from, ({ operators }) => operators.set(call.operator, call.approved));
      break;
    case "transferFrom":
      spendAllowance(wallets, call.from, from, BigInt(call.amount));
      break;
    case "split":
      spendAllowance(wallets, from, CONTRACTS.conditionalTokens, BigInt(call.amount));
      break;
    default:
      break;
  }
}

/** Reduces allowances of the exchange by the collateral that a match spends. */
function spendInMatch(state: State, wallets: Wallets, transaction: Transaction): void {
  if (wallets.restricted === 0) return;
  for (const { account, token, amount } of movesOf(state, transaction)) {
    if (token !== USDC || amount >= 0) continue;
    const { address } = state.accounts.get(account);
    spendAllowance(wallets, address, CONTRACTS.exchange, BigInt(-amount));
  }
}

/** Reduces an allowance by the amount spent, unless it is unlimited. */
function spendAllowance(wallets: Wallets, owner: Address, spender: Address, amount: bigint): void {
  const allowed = wallets.wallets.get(owner)?.allowances.get(spender);
  if (allowed === undefined || allowed === UNLIMITED) return;
  setPermission(wallets, owner, ({ allowances }) => allowances.set(spender, allowed - amount));
}

function setPermission(wallets: Wallets, owner: Address, change: (wallet: ChainWallet) => void): void {
  const wallet = walletIn(wallets, owner);
  const before = isRestricted(wallet);
  change(wallet);
  wallets.restricted += Number(isRestricted(wallet)) - Number(before);
}
