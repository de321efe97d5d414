import { onChainOf } from "../account.ts";
import { type Chain, type ChainWallet, emptyWallet, initialRestricted, minedAt } from "../chain/chain.ts";
import {
  CONTRACTS,
  INDEX_SETS,
  NO_PARENT,
  TOKEN_UNITS,
  UNLIMITED,
  ZERO_ADDRESS,
} from "../chain/contracts.ts";
import { movesOf, setsOf, USDC } from "../chain/settlement.ts";
import type {
  CallContent,
  CallEffect,
  ContractCall,
  Move,
  PartitionCall,
  RedeemCall,
  SafeTransferCall,
  Transaction,
} from "../chain/transaction.ts";
import { type Market, marketOfToken, tokenOf } from "../market.ts";
import { findAccount, type State } from "../state.ts";
import { type Address, OUTCOMES, type Outcome, unreachable, type WinningOutcome } from "../terms.ts";
import { FULL_PRICE } from "../units.ts";
import { balanceOf, grantDue } from "./ledger.ts";

/** Sender of a call, and the native currency sent with it, in wei. */
export interface Caller {
  readonly from: Address;
  readonly value: bigint;
}

/** Effect of a call, or the reason why it reverts, worded as by the real contracts. */
export type CallResult =
  | { readonly ok: true; readonly moves: readonly Transfer[]; readonly supply: CallEffect["supply"] }
  | { readonly ok: false; readonly reason: string };

/** Change of a balance by address, which may not have an account yet. */
export interface Transfer extends Omit<Move, "account"> {
  readonly address: Address;
}

export const ERC20 = {
  notAllowed: "ERC20: transfer amount exceeds allowance",
  notOwned: "ERC20: transfer amount exceeds balance",
};
export const ERC1155 = {
  notAllowed: "ERC1155: need operator approval for 3rd party transfers.",
  notOwned: "ERC1155: insufficient balance for transfer",
};

/** Whether a settlement fails for this reason because a wallet does not permit the exchange to transfer its funds. */
export const isNotAllowed = (reason: string): boolean =>
  [ERC20, ERC1155].some(({ notAllowed }) => reason.startsWith(notAllowed));

export const NOT_PAYABLE = "function is not payable";
export const NO_PARENT_COLLECTION = "clobsim: positions have no parent collection";

const NOTHING: CallResult = { ok: true, moves: [], supply: null };
const reverted = (reason: string): CallResult => ({ ok: false, reason });

export interface ChainFacts {
  readonly allowance: (owner: Address, spender: Address) => bigint;
  readonly isOperator: (owner: Address, operator: Address) => boolean;
  readonly holding: (owner: Address, token: number) => number;
  readonly isReported: (market: Market) => boolean;
}

interface CallContext extends ChainFacts, Pick<State, "markets" | "tokenById" | "marketByConditionId"> {}

/** Returns the result of a call on the current chain, or under the given facts; does not write the state. */
export function resultOfCall(
  state: State,
  caller: Caller,
  call: ContractCall,
  facts: ChainFacts = factsOf(state),
): CallResult {
  const context: CallContext = { ...state, ...facts };
  if (caller.value > 0n && call.kind !== "send") return reverted(NOT_PAYABLE);
  switch (call.kind) {
    case "send":
    case "approve":
    case "setApprovalForAll":
      return NOTHING;
    case "transfer":
      return transferCollateral(context, caller.from, call.to, BigInt(call.amount));
    case "transferFrom": {
      const amount = BigInt(call.amount);
      if (amount > context.allowance(call.from, caller.from)) return reverted(ERC20.notAllowed);
      return transferCollateral(context, call.from, call.to, amount);
    }
    case "safeTransfer":
      return transferShares(context, caller.from, call);
    case "split":
    case "merge":
      return splitOrMerge(context, caller.from, call);
    case "redeem":
      return redeem(context, caller.from, call);
    case "unknown":
      return reverted(call.reason);
    default:
      throw unreachable(call);
  }
}

/** Returns a wallet's balance on chain of USDC, or of a token including the grant not yet minted. */
export function holdingOnChain(state: State, address: Address, token: number): number {
  const account = findAccount(state, address);
  const due = token === USDC ? 0 : grantDue(account, marketOfToken(token));
  return onChainOf(balanceOf(account, token)) + due;
}

const factsOf = (state: State): ChainFacts => ({
  allowance: (owner, spender) => allowanceOf(state, owner, spender),
  isOperator: (owner, operator) => isOperator(state, owner, operator),
  holding: (owner, token) => holdingOnChain(state, owner, token),
  isReported: (market) => isReported(state, market),
});

function transferCollateral(context: CallContext, from: Address, to: Address, amount: bigint): CallResult {
  if (to === ZERO_ADDRESS) return reverted("ERC20: transfer to the zero address");
  if (amount > BigInt(context.holding(from, USDC))) return reverted(ERC20.notOwned);
  return transferBetween(from, to, [[USDC, Number(amount)]]);
}

function transferShares(context: CallContext, caller: Address, call: SafeTransferCall): CallResult {
  const { from, to, ids, amounts } = call;
  if (to === ZERO_ADDRESS) return reverted("ERC1155: target address must be non-zero");
  if (ids.length !== amounts.length) return reverted("ERC1155: IDs and values must have same lengths");
  if (caller !== from && !context.isOperator(from, caller)) return reverted(ERC1155.notAllowed);
  const moved = new Map<number, number>();
  for (const [index, id] of ids.entries()) {
    const amount = BigInt(amounts[index] as string);
    if (amount === 0n) continue;
    const token = context.tokenById.get(id);
    if (token === undefined) return reverted(ERC1155.notOwned);
    const before = moved.get(token) ?? 0;
    if (amount > BigInt(context.holding(from, token) - before) * UNIT) return reverted(ERC1155.notOwned);
    const shares = sharesOf(amount);
    if (shares === null) return reverted(NOT_WHOLE_UNITS);
    moved.set(token, before + shares);
  }
  return transferBetween(from, to, [...moved]);
}

/** Returns the moves from one address to another; none if they are the same. */
function transferBetween(
  from: Address,
  to: Address,
  amounts: readonly (readonly [token: number, amount: number])[],
): CallResult {
  if (from === to) return NOTHING;
  const moves = amounts
    .filter(([, amount]) => amount > 0)
    .flatMap(([token, amount]) => [
      { address: from, token, amount: -amount },
      { address: to, token, amount },
    ]);
  return { ok: true, moves, supply: null };
}

function splitOrMerge(context: CallContext, from: Address, call: PartitionCall): CallResult {
  const problem = partitionProblem(call.partition.map(BigInt));
  const market = marketOfCondition(context, call);
  if (typeof market === "string") return reverted(market);
  if (problem !== null) return reverted(problem);
  const amount = BigInt(call.amount);
  const isSplit = call.kind === "split";
  const token = (outcome: Outcome) => tokenOf(market.number, outcome);
  if (isSplit) {
    if (amount > BigInt(context.holding(from, USDC))) return reverted(ERC20.notOwned);
    if (amount > context.allowance(from, CONTRACTS.conditionalTokens)) return reverted(ERC20.notAllowed);
  } else {
    const held = Math.min(context.holding(from, token("YES")), context.holding(from, token("NO")));
    if (amount > BigInt(held) * UNIT) return reverted("ERC1155: burn amount exceeds balance");
  }
  const shares = sharesOf(amount);
  if (shares === null) return reverted(NOT_WHOLE_UNITS);
  if (shares === 0) return NOTHING;
  const size = isSplit ? shares : -shares;
  return {
    ok: true,
    moves: [
      { address: from, token: USDC, amount: -size * FULL_PRICE },
      { address: from, token: token("YES"), amount: size },
      { address: from, token: token("NO"), amount: size },
    ],
    supply: setsOf(market.number, size),
  };
}

/** Burns all shares of the given outcomes and pays them out. */
function redeem(context: CallContext, from: Address, call: RedeemCall): CallResult {
  const market = marketOfCondition(context, call);
  if (typeof market === "string") return reverted(market);
  const { winningOutcome } = market;
  if (winningOutcome === null || !context.isReported(market))
    return reverted("result for condition not received yet");
  const payout = payoutOf(winningOutcome);
  const burnt = { YES: 0, NO: 0 };
  for (const indexSet of call.indexSets) {
    const outcome = OUTCOME_OF.get(indexSet);
    if (outcome === undefined) return reverted("got invalid index set");
    burnt[outcome] = context.holding(from, tokenOf(market.number, outcome));
  }
  const paid = burnt.YES * payout.YES + burnt.NO * payout.NO;
  const moves = [
    { address: from, token: tokenOf(market.number, "YES"), amount: -burnt.YES },
    { address: from, token: tokenOf(market.number, "NO"), amount: -burnt.NO },
    { address: from, token: USDC, amount: paid },
  ];
  return {
    ok: true,
    moves: moves.filter(({ amount }) => amount !== 0),
    supply: { market: market.number, yes: -burnt.YES, no: -burnt.NO, collateral: -paid },
  };
}

const OUTCOME_OF: ReadonlyMap<string, Outcome> = new Map(
  OUTCOMES.map((outcome) => [String(INDEX_SETS[outcome]), outcome]),
);
const ALL_OUTCOMES = 3n;

/** Returns why a list of index sets is not a partition of both outcomes; null if it is. */
function partitionProblem(partition: readonly bigint[]): string | null {
  if (partition.length < 2) return "got empty or singleton partition";
  let free = ALL_OUTCOMES;
  for (const indexSet of partition) {
    if (indexSet <= 0n || indexSet >= ALL_OUTCOMES) return "got invalid index set";
    if ((indexSet & free) !== indexSet) return "partition not disjoint";
    free ^= indexSet;
  }
  return null;
}

/** Returns the market of a call's condition, or the reason why the call reverts. */
function marketOfCondition(
  { markets, marketByConditionId }: CallContext,
  { condition, collateral, parent }: Pick<PartitionCall, "condition" | "collateral" | "parent">,
): Market | string {
  const market = markets.find(marketByConditionId.get(condition) ?? 0);
  if (market === undefined) return "condition not prepared yet";
  if (collateral !== CONTRACTS.collateral)
    return "clobsim: positions are backed by the exchange's collateral only";
  return parent === NO_PARENT ? market : NO_PARENT_COLLECTION;
}

const UNIT = BigInt(TOKEN_UNITS);
const NOT_WHOLE_UNITS = `clobsim: shares move in multiples of ${TOKEN_UNITS}, which is 0.01 share`;

/** Converts an amount of the tokens' contract to size units; null if it is not a multiple. */
const sharesOf = (amount: bigint): number | null => (amount % UNIT === 0n ? Number(amount / UNIT) : null);

/** Payout numerators of each outcome in the oracle's report; the denominator is their sum. */
export const PAYOUTS: Readonly<Record<WinningOutcome, readonly [yes: number, no: number]>> = {
  YES: [1, 0],
  NO: [0, 1],
  SPLIT: [1, 1],
};

export const isReported = ({ chain }: State, { report }: Market): boolean =>
  report !== 0 && chain.transactions.get(report).status === "MINED";

/** Returns the payout of a size unit of each outcome, in micro-USDC. */
export function payoutOf(winningOutcome: WinningOutcome): Readonly<Record<Outcome, number>> {
  const [yes, no] = PAYOUTS[winningOutcome];
  return { YES: (FULL_PRICE * yes) / (yes + no), NO: (FULL_PRICE * no) / (yes + no) };
}

// Permissions: allowances of collateral, and approvals of operators of tokens.

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
export function ensureWallet({ wallets }: Pick<Chain, "wallets">, address: Address): ChainWallet {
  const wallet = wallets.get(address) ?? emptyWallet(address);
  wallets.set(address, wallet);
  return wallet;
}

/** Applies the changes of permissions by an executed transaction: granted, revoked or spent. */
export function changePermissions(state: State, wallets: Wallets, transaction: Transaction): void {
  const { content } = transaction;
  if (content?.kind === "call") changeByCall(wallets, content);
  if (content !== null || wallets.restricted === 0) return;
  // A match spends collateral that its parties have allowed to the exchange.
  for (const { account, token, amount } of movesOf(state, transaction)) {
    if (token !== USDC || amount >= 0) continue;
    const { address } = state.accounts.get(account);
    spendAllowance(wallets, address, CONTRACTS.exchange, BigInt(-amount));
  }
}

export const hasPermissions = ({ wallets }: Chain): boolean =>
  [...wallets.values()].some(hasExplicitPermissions);

const hasExplicitPermissions = ({ allowances, operators }: ChainWallet): boolean =>
  allowances.size + operators.size > 0;

/** Restores the permissions after the block of `height`, the latest that a reorganization keeps: replays all up to it. */
export function restorePermissions(state: State, height: number): void {
  const { chain, config } = state;
  const restored: Wallets = { wallets: new Map(), restricted: initialRestricted(config.approvals) };
  for (let at = 1; at <= height; at += 1) {
    for (const transaction of minedAt(chain, at))
      if (transaction.status === "MINED") changePermissions(state, restored, transaction);
  }
  for (const wallet of chain.wallets.values()) {
    if (!hasExplicitPermissions(wallet)) continue;
    const { allowances, operators } = restored.wallets.get(wallet.address) ?? emptyWallet(wallet.address);
    wallet.allowances = allowances;
    wallet.operators = operators;
  }
  chain.restricted = restored.restricted;
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

/** Reduces an allowance by the amount spent, unless it is unlimited. */
function spendAllowance(wallets: Wallets, owner: Address, spender: Address, amount: bigint): void {
  const allowed = wallets.wallets.get(owner)?.allowances.get(spender);
  if (allowed === undefined || allowed === UNLIMITED) return;
  setPermission(wallets, owner, ({ allowances }) => allowances.set(spender, allowed - amount));
}

function setPermission(wallets: Wallets, owner: Address, change: (wallet: ChainWallet) => void): void {
  const wallet = ensureWallet(wallets, owner);
  const before = isRestricted(wallet);
  change(wallet);
  wallets.restricted += Number(isRestricted(wallet)) - Number(before);
}
