import { onChainOf } from "../account.ts";
import { CONTRACTS, indexSetOf, NO_PARENT, TOKEN_UNITS, ZERO_ADDRESS } from "../chain/contracts.ts";
import { setsOf, USDC } from "../chain/settlement.ts";
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
import { type Address, OUTCOMES, type Outcome, unreachable, type WinningOutcome } from "../terms.ts";
import { FULL_PRICE } from "../units.ts";
import { balanceOf, grantDue } from "./ledger.ts";
import { allowanceOf, isOperator } from "./permissions.ts";

/** Sender of a call, and the native currency sent with it, in wei. */
export interface Caller {
  readonly from: Address;
  readonly value: bigint;
}

/** Effect of a call, or the reason why it reverts, worded as by the real contracts. */
export type CallOutcome =
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

const NOTHING: CallOutcome = { ok: true, moves: [], supply: null };
const reverted = (reason: string): CallOutcome => ({ ok: false, reason });

export interface ChainFacts {
  readonly allowance: (owner: Address, spender: Address) => bigint;
  readonly isOperator: (owner: Address, operator: Address) => boolean;
  readonly holding: (owner: Address, token: number) => number;
  readonly isReported: (market: Market) => boolean;
}

interface CallContext extends ChainFacts, Pick<State, "markets" | "tokenById" | "marketByConditionId"> {}

/** Returns the outcome of a call on the current chain, or under the given facts; does not write the state. */
export function outcomeOfCall(
  state: State,
  caller: Caller,
  call: ContractCall,
  facts: ChainFacts = factsOf(state),
): CallOutcome {
  const { markets, tokenById, marketByConditionId } = state;
  const context: CallContext = { ...facts, markets, tokenById, marketByConditionId };
  if (caller.value > 0n && call.kind !== "send") return reverted("function is not payable");
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

function transferCollateral(context: CallContext, from: Address, to: Address, amount: bigint): CallOutcome {
  if (to === ZERO_ADDRESS) return reverted("ERC20: transfer to the zero address");
  if (amount > BigInt(context.holding(from, USDC))) return reverted(ERC20.notOwned);
  return transferBetween(from, to, [[USDC, Number(amount)]]);
}

function transferShares(context: CallContext, caller: Address, call: SafeTransferCall): CallOutcome {
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

function splitOrMerge(context: CallContext, from: Address, call: PartitionCall): CallOutcome {
  const fault = partitionFault(call.partition.map(BigInt));
  const market = marketOfCondition(context, call);
  if (typeof market === "string") return reverted(market);
  if (fault !== null) return reverted(fault);
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
function redeem(context: CallContext, from: Address, call: RedeemCall): CallOutcome {
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
  OUTCOMES.map((outcome) => [String(indexSetOf(outcome)), outcome]),
);
const ALL_OUTCOMES = 3n;

/** Returns why a list of index sets is not a partition of both outcomes; null if it is. */
function partitionFault(partition: readonly bigint[]): string | null {
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
  return parent === NO_PARENT ? market : "clobsim: positions have no parent collection";
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

export function isReported({ chain }: State, { report }: Market): boolean {
  return report !== 0 && chain.transactions.get(report).status === "MINED";
}

/** Returns the payout of a size unit of each outcome, in micro-USDC. */
export function payoutOf(winningOutcome: WinningOutcome): Readonly<Record<Outcome, number>> {
  const [yes, no] = PAYOUTS[winningOutcome];
  return { YES: (FULL_PRICE * yes) / (yes + no), NO: (FULL_PRICE * no) / (yes + no) };
}
