import { onChainOf } from "../account.ts";
import {
  allowanceOf,
  CONTRACTS,
  isOperator,
  NO_PARENT,
  TOKEN_UNITS,
  ZERO_ADDRESS,
} from "../chain/contracts.ts";
import { setsOf, USDC } from "../chain/moves.ts";
import type {
  CallEffect,
  ContractCall,
  Move,
  PartitionCall,
  RedeemCall,
  SafeTransferCall,
} from "../chain/transaction.ts";
import { type Market, marketOfToken, tokenOf } from "../market.ts";
import { findAccount, type State } from "../state.ts";
import type { Address, Outcome, WinningOutcome } from "../terms.ts";
import { FULL_PRICE } from "../units.ts";
import { unreachable } from "../unreachable.ts";
import { balanceOf, grantDue } from "./ledger.ts";

/** Who calls what, with how much of the native currency. */
export interface Caller {
  readonly from: Address;
  readonly value: bigint;
}

/** What a call would do, or why it reverts, in the words of the contracts that it stands for. */
export type CallOutcome =
  | { readonly ok: true; readonly moves: readonly Transfer[]; readonly supply: CallEffect["supply"] }
  | { readonly ok: false; readonly reason: string };

/** A move between addresses, which need not have an account yet. */
export interface Transfer extends Omit<Move, "account"> {
  readonly address: Address;
}

/** Why the contracts refuse a transfer. */
export const ERC20 = {
  notAllowed: "ERC20: transfer amount exceeds allowance",
  notOwned: "ERC20: transfer amount exceeds balance",
};
export const ERC1155 = {
  notAllowed: "ERC1155: need operator approval for 3rd party transfers.",
  notOwned: "ERC1155: insufficient balance for transfer",
};

const NOTHING: CallOutcome = { ok: true, moves: [], supply: null };
const reverted = (reason: string): CallOutcome => ({ ok: false, reason });

/** What decides a call: who has what, and who may. */
export interface ChainFacts {
  readonly allowance: (owner: Address, spender: Address) => bigint;
  readonly isOperator: (owner: Address, operator: Address) => boolean;
  /** USDC, or a token with what is granted there. */
  readonly holding: (owner: Address, token: number) => number;
  readonly isReported: (market: Market) => boolean;
}

/** A call that is looked at: the exchange's markets, and the facts of a moment. */
interface Looked extends ChainFacts, Pick<State, "markets" | "tokenById" | "marketByConditionId"> {}

/** What a call would do on the chain, as it stands unless other facts are given; reads only. */
export function outcomeOfCall(
  state: State,
  caller: Caller,
  call: ContractCall,
  facts: ChainFacts = factsOf(state),
): CallOutcome {
  const { markets, tokenById, marketByConditionId } = state;
  const looked: Looked = { ...facts, markets, tokenById, marketByConditionId };
  if (caller.value > 0n && call.kind !== "send") return reverted("function is not payable");
  switch (call.kind) {
    case "send":
    case "approve":
    case "setApprovalForAll":
      return NOTHING;
    case "transfer":
      return transferCollateral(looked, caller.from, call.to, BigInt(call.amount));
    case "transferFrom": {
      const amount = BigInt(call.amount);
      if (amount > looked.allowance(call.from, caller.from)) return reverted(ERC20.notAllowed);
      return transferCollateral(looked, call.from, call.to, amount);
    }
    case "safeTransfer":
      return transferShares(looked, caller.from, call);
    case "split":
    case "merge":
      return splitOrMerge(looked, caller.from, call);
    case "redeem":
      return redeem(looked, caller.from, call);
    case "unknown":
      return reverted(call.reason);
    default:
      throw unreachable(call);
  }
}

/** What a wallet holds on the chain of USDC, or of a token with what it is granted there. */
export function holdingOnChain(state: State, address: Address, token: number): number {
  const account = findAccount(state, address);
  const due = account === undefined || token === USDC ? 0 : grantDue(account, marketOfToken(token));
  return onChainOf(balanceOf(account, token)) + due;
}

/** The facts of the chain as it stands. */
const factsOf = (state: State): ChainFacts => ({
  allowance: (owner, spender) => allowanceOf(state, owner, spender),
  isOperator: (owner, operator) => isOperator(state, owner, operator),
  holding: (owner, token) => holdingOnChain(state, owner, token),
  isReported: (market) => isReported(state, market),
});

function transferCollateral(looked: Looked, from: Address, to: Address, amount: bigint): CallOutcome {
  if (to === ZERO_ADDRESS) return reverted("ERC20: transfer to the zero address");
  if (amount > BigInt(looked.holding(from, USDC))) return reverted(ERC20.notOwned);
  return moving(from, to, [[USDC, Number(amount)]]);
}

function transferShares(looked: Looked, caller: Address, call: SafeTransferCall): CallOutcome {
  const { from, to, ids, amounts } = call;
  if (to === ZERO_ADDRESS) return reverted("ERC1155: target address must be non-zero");
  if (ids.length !== amounts.length) return reverted("ERC1155: IDs and values must have same lengths");
  if (caller !== from && !looked.isOperator(from, caller)) return reverted(ERC1155.notAllowed);
  const moved = new Map<number, number>();
  for (const [index, id] of ids.entries()) {
    const amount = BigInt(amounts[index] as string);
    if (amount === 0n) continue;
    const token = looked.tokenById.get(id);
    if (token === undefined) return reverted(ERC1155.notOwned);
    const before = moved.get(token) ?? 0;
    if (amount > BigInt(looked.holding(from, token) - before) * UNIT) return reverted(ERC1155.notOwned);
    const shares = sharesOf(amount);
    if (shares === null) return reverted(OFF_THE_GRID);
    moved.set(token, before + shares);
  }
  return moving(from, to, [...moved]);
}

/** What leaves one address and comes to another; to itself nothing moves. */
function moving(
  from: Address,
  to: Address,
  amounts: readonly (readonly [token: number, amount: number])[],
): CallOutcome {
  if (from === to) return NOTHING;
  const moves = amounts
    .filter(([, amount]) => amount > 0)
    .flatMap(([token, amount]) => [
      { address: from, token, amount: -amount },
      { address: to, token, amount },
    ]);
  return { ok: true, moves, supply: null };
}

function splitOrMerge(looked: Looked, from: Address, call: PartitionCall): CallOutcome {
  const fault = faultOfPartition(call.partition.map(BigInt));
  const market = marketOfCondition(looked, call);
  if (typeof market === "string") return reverted(market);
  if (fault !== null) return reverted(fault);
  const amount = BigInt(call.amount);
  const isSplit = call.kind === "split";
  const refusal = isSplit ? whyNoSplit(looked, from, amount) : whyNoMerge(looked, from, market, amount);
  if (refusal !== null) return reverted(refusal);
  const shares = sharesOf(amount);
  if (shares === null) return reverted(OFF_THE_GRID);
  if (shares === 0) return NOTHING;
  const size = isSplit ? shares : -shares;
  const token = (outcome: Outcome) => tokenOf(market.number, outcome);
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

function whyNoSplit(looked: Looked, from: Address, amount: bigint): string | null {
  if (amount > BigInt(looked.holding(from, USDC))) return ERC20.notOwned;
  const allowance = looked.allowance(from, CONTRACTS.conditionalTokens);
  return amount > allowance ? ERC20.notAllowed : null;
}

function whyNoMerge(looked: Looked, from: Address, { number }: Market, amount: bigint): string | null {
  const held = Math.min(
    looked.holding(from, tokenOf(number, "YES")),
    looked.holding(from, tokenOf(number, "NO")),
  );
  return amount > BigInt(held) * UNIT ? "ERC1155: burn amount exceeds balance" : null;
}

/** Burns all that the caller holds of the named outcomes, for what they pay. */
function redeem(looked: Looked, from: Address, call: RedeemCall): CallOutcome {
  const market = marketOfCondition(looked, call);
  if (typeof market === "string") return reverted(market);
  const payout = payoutPerShare(market, looked.isReported(market));
  if (payout === null) return reverted("result for condition not received yet");
  const outcomes = new Set<Outcome>();
  for (const indexSet of call.indexSets) {
    const outcome = OUTCOME_OF.get(indexSet);
    if (outcome === undefined) return reverted("got invalid index set");
    outcomes.add(outcome);
  }
  const burnt = { YES: 0, NO: 0 };
  for (const outcome of outcomes) burnt[outcome] = looked.holding(from, tokenOf(market.number, outcome));
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

/** The index sets of a market with two outcomes: one bit each. */
const OUTCOME_OF: ReadonlyMap<string, Outcome> = new Map([
  ["1", "YES"],
  ["2", "NO"],
]);
const ALL_OUTCOMES = 3n;

/** Why a list of index sets is no partition of both outcomes; null when it is one. */
function faultOfPartition(partition: readonly bigint[]): string | null {
  if (partition.length < 2) return "got empty or singleton partition";
  let free = ALL_OUTCOMES;
  for (const indexSet of partition) {
    if (indexSet <= 0n || indexSet >= ALL_OUTCOMES) return "got invalid index set";
    if ((indexSet & free) !== indexSet) return "partition not disjoint";
    free ^= indexSet;
  }
  return null;
}

/** The market whose condition a call names, or why there is none. */
function marketOfCondition(
  { markets, marketByConditionId }: Looked,
  { condition, collateral, parent }: Pick<PartitionCall, "condition" | "collateral" | "parent">,
): Market | string {
  const market = markets.find(marketByConditionId.get(condition) ?? 0);
  if (market === undefined) return "condition not prepared yet";
  if (collateral !== CONTRACTS.collateral)
    return "clobsim: positions are backed by the exchange's collateral only";
  return parent === NO_PARENT ? market : "clobsim: positions have no parent collection";
}

const UNIT = BigInt(TOKEN_UNITS);
const OFF_THE_GRID = `clobsim: shares move in multiples of ${TOKEN_UNITS}, which is 0.01 share`;

/** An amount of the tokens' contract in size units, or null when it is between two of them. */
const sharesOf = (amount: bigint): number | null => (amount % UNIT === 0n ? Number(amount / UNIT) : null);

/** What a share of each outcome pays, as the oracle's report has it: numerators over their sum. */
export const PAYOUTS: Readonly<Record<WinningOutcome, readonly [yes: number, no: number]>> = {
  YES: [1, 0],
  NO: [0, 1],
  SPLIT: [1, 1],
};

/** Whether the chain has the report of how a market ended. */
export function isReported({ chain }: State, { report }: Market): boolean {
  return report !== 0 && chain.transactions.get(report).status === "MINED";
}

/** What a size unit of each outcome pays, in micro-USDC; null before the chain has the report. */
function payoutPerShare(
  { winningOutcome }: Market,
  isReported: boolean,
): Readonly<Record<Outcome, number>> | null {
  return winningOutcome === null || !isReported ? null : payoutOf(winningOutcome);
}

/** What a size unit of each outcome pays when a market ends like this, in micro-USDC. */
export function payoutOf(winningOutcome: WinningOutcome): Readonly<Record<Outcome, number>> {
  const [yes, no] = PAYOUTS[winningOutcome];
  return { YES: (FULL_PRICE * yes) / (yes + no), NO: (FULL_PRICE * no) / (yes + no) };
}
