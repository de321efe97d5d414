import { CONTRACTS, NO_PARENT, TOKEN_UNITS, UNLIMITED } from "../core/chain/contracts.ts";
import type { ContractCall } from "../core/chain/transaction.ts";
import type { CommandOf } from "../core/commands.ts";
import { type Market, marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { Stream } from "../core/random.ts";
import type { State } from "../core/state.ts";
import type { Call } from "./reference/wallet.ts";

const SIZES = [0, 1, 100, 777, 5000];
const GAS = 500_000;
const GWEI = 1_000_000_000;

/** Draws a wallet's call on the settlement chain. Most calls succeed. */
export function callCommand(
  random: Stream,
  from: string,
  market: Market,
  to: string,
): CommandOf<"sendTransaction"> {
  const amount = random.pick(SIZES);
  const { conditionId: condition } = market;
  const sets = { collateral: CONTRACTS.collateral, parent: NO_PARENT, condition };
  const tokens = String(amount * TOKEN_UNITS);
  const calls: readonly ContractCall[] = [
    { kind: "split", ...sets, partition: ["1", "2"], amount: tokens },
    { kind: "merge", ...sets, partition: ["1", "2"], amount: tokens },
    { kind: "redeem", ...sets, indexSets: ["1", "2"] },
    { kind: "transfer", to, amount: tokens },
    {
      kind: "safeTransfer",
      from,
      to,
      ids: [tokenIdIn(market, random.oneIn(2) ? "YES" : "NO")],
      amounts: [tokens],
      isBatch: false,
    },
  ];
  return sendTransaction(from, random.pick(calls));
}

const ALLOWANCES = [0, 300_000, 5_000_000, UNLIMITED];

/** Draws a wallet's approval of what contracts may transfer from it. */
export function approvalCommand(random: Stream, from: string): CommandOf<"sendTransaction"> {
  const spender = random.oneIn(3) ? CONTRACTS.conditionalTokens : CONTRACTS.exchange;
  const call: ContractCall = random.oneIn(3)
    ? { kind: "setApprovalForAll", operator: CONTRACTS.exchange, approved: !random.oneIn(3) }
    : { kind: "approve", spender, amount: String(random.pick(ALLOWANCES)) };
  return sendTransaction(from, call);
}

const sendTransaction = (from: string, call: ContractCall): CommandOf<"sendTransaction"> => ({
  kind: "sendTransaction",
  from,
  to: CONTRACTS.conditionalTokens,
  nonce: null,
  value: "0",
  gas: GAS,
  maxFeePerGas: 300 * GWEI,
  maxPriorityFeePerGas: GWEI,
  input: "0x",
  call,
  raw: null,
  hash: null,
});

/** Returns the call in the terms of the reference exchange. */
export function referenceCall(
  { from, call }: CommandOf<"sendTransaction">,
  { tokenById, marketByConditionId }: State,
): Call {
  switch (call.kind) {
    case "split":
    case "merge":
      return {
        kind: call.kind,
        from,
        market: marketByConditionId.get(call.condition) ?? 0,
        size: Number(call.amount) / TOKEN_UNITS,
      };
    case "redeem":
      return { kind: "redeem", from, market: marketByConditionId.get(call.condition) ?? 0 };
    case "transfer":
      return { kind: "pay", from, to: call.to, amount: Number(call.amount) };
    case "safeTransfer": {
      const token = tokenById.get(call.ids[0] ?? "") ?? 0;
      const size = Number(call.amounts[0]) / TOKEN_UNITS;
      return {
        kind: "give",
        from,
        to: call.to,
        market: marketOfToken(token),
        outcome: outcomeOf(token),
        size,
      };
    }
    case "approve": {
      const spender = call.spender === CONTRACTS.exchange ? "exchange" : "tokens";
      const amount = call.amount === String(UNLIMITED) ? null : Number(call.amount);
      return { kind: "allow", from, spender, amount };
    }
    case "setApprovalForAll":
      return { kind: "allowShares", from, isAllowed: call.approved };
    default:
      throw new Error(`histories do not draw calls of kind ${call.kind}`);
  }
}
