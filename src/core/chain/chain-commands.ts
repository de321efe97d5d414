import type { Address } from "../commands.ts";
import type { ContractCall } from "./call.ts";
import type { SettlementFaultTerms } from "./settlement-fault.ts";

/** A wallet's transaction for the settlement chain. */
export interface SendTransaction {
  readonly kind: "sendTransaction";
  readonly from: Address;
  readonly to: Address;
  /** Null takes the next. */
  readonly nonce: number | null;
  /** Wei, decimal. */
  readonly value: string;
  readonly gas: number;
  /** Wei per gas. */
  readonly maxFeePerGas: number;
  readonly maxPriorityFeePerGas: number;
  /** The call as bytes and as what they mean. */
  readonly input: string;
  readonly call: ContractCall;
  /** The signed bytes and their Keccak-256; null without a signature. */
  readonly raw: string | null;
  readonly hash: string | null;
}

/** Mines blocks at once, the first with all that is pending. */
export interface MineBlocks {
  readonly kind: "mineBlocks";
  readonly count: number;
}

/** Replaces the latest blocks by empty ones. */
export interface ReorganizeChain {
  readonly kind: "reorganizeChain";
  readonly depth: number;
}

export interface SetSettlementFault extends SettlementFaultTerms {
  readonly kind: "setSettlementFault";
}

/** Ends a fault, or all of them. */
export interface EndSettlementFault {
  readonly kind: "endSettlementFault";
  /** Null ends all. */
  readonly number: number | null;
}

/** Raises the fees of the exchange's own pending transactions, so that no base fee keeps them out of a block. */
export interface BumpFees {
  readonly kind: "bumpFees";
}

export interface SetNativeBalance {
  readonly kind: "setNativeBalance";
  readonly address: Address;
  /** Wei, decimal. */
  readonly wei: string;
}

/** Mines the block that is due; only the schedule makes it, as the two that follow. */
export interface ProduceBlock {
  readonly kind: "produceBlock";
}

/** Looks at one transaction for the block that is being put together. */
export interface ExecuteTransaction {
  readonly kind: "executeTransaction";
  readonly transaction: number;
}

/** Ends the block that is being put together. */
export interface SealBlock {
  readonly kind: "sealBlock";
}

/** What can be asked of the settlement chain. */
export type ChainCommand =
  | SendTransaction
  | MineBlocks
  | ReorganizeChain
  | SetSettlementFault
  | EndSettlementFault
  | BumpFees
  | SetNativeBalance;
