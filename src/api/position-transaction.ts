import { DEFAULT_BASE_FEE, OPERATOR_MAX_FEE } from "../core/chain/chain.ts";
import { CONTRACTS, NO_PARENT, TOKEN_UNITS } from "../core/chain/contracts.ts";
import { indexSetOf } from "../core/chain/position-ids.ts";
import { callGas, type PartitionCall, type RedeemCall } from "../core/chain/transaction.ts";
import type { CommandOf } from "../core/commands.ts";
import type { Address } from "../core/terms.ts";
import type { Size } from "../core/units.ts";

/** A split of USDC into full sets, a merge of full sets into USDC, or a redemption of shares. */
export type PositionChange =
  | { readonly kind: "split" | "merge"; readonly size: Size }
  | { readonly kind: "redeem" };

/** Fee cap and priority fee, in wei; the same as of the exchange's own transactions. */
const MAX_FEE = OPERATOR_MAX_FEE;
const TIP = DEFAULT_BASE_FEE;

const BOTH_OUTCOMES = [indexSetOf("YES"), indexSetOf("NO")].map(String);

/** Builds the transaction by which a wallet splits, merges or redeems; deterministic for its inputs. */
export function positionTransaction(
  from: Address,
  condition: string,
  change: PositionChange,
): CommandOf<"sendTransaction"> {
  const call = callOf(condition, change);
  const input = inputOf(call);
  return {
    kind: "sendTransaction",
    from,
    to: CONTRACTS.conditionalTokens,
    nonce: null,
    value: "0",
    gas: callGas(call, input),
    maxFeePerGas: MAX_FEE,
    maxPriorityFeePerGas: TIP,
    input,
    call,
    raw: null,
    hash: null,
  };
}

function callOf(condition: string, change: PositionChange): PartitionCall | RedeemCall {
  const of = { collateral: CONTRACTS.collateral, parent: NO_PARENT, condition };
  if (change.kind === "redeem") return { kind: "redeem", ...of, indexSets: BOTH_OUTCOMES };
  const amount = String(change.size * TOKEN_UNITS);
  return { kind: change.kind, ...of, partition: BOTH_OUTCOMES, amount };
}

/** The first four bytes of the Keccak-256 of each function's signature. */
const SELECTORS = {
  /** splitPosition(address,bytes32,bytes32,uint256[],uint256) */
  split: "72ce4275",
  /** mergePositions(address,bytes32,bytes32,uint256[],uint256) */
  merge: "9e7212ad",
  /** redeemPositions(address,bytes32,bytes32,uint256[]) */
  redeem: "01b7037c",
} as const;

const WORD_BYTES = 32;

/** ABI-encodes the call: its selector, then words of 32 bytes, with a list after all other arguments. */
function inputOf(call: PartitionCall | RedeemCall): string {
  const ids = [word(BigInt(call.collateral)), call.parent.slice(2), call.condition.slice(2)];
  const isRedemption = call.kind === "redeem";
  const list = isRedemption ? call.indexSets : call.partition;
  const amounts = isRedemption ? [] : [word(BigInt(call.amount))];
  const head = ids.length + 1 + amounts.length;
  const words = [
    ...ids,
    word(BigInt(head * WORD_BYTES)),
    ...amounts,
    word(BigInt(list.length)),
    ...list.map((item) => word(BigInt(item))),
  ];
  return `0x${SELECTORS[call.kind]}${words.join("")}`;
}

const word = (value: bigint): string => value.toString(16).padStart(2 * WORD_BYTES, "0");
