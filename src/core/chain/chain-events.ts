import type { Address } from "../commands.ts";
import type { SettlementFaultTerms } from "./settlement-fault.ts";
import type { CallContent, CallEffect, HoldReason } from "./transaction.ts";

/** A wallet's transaction has come. */
export interface TransactionSent {
  readonly kind: "transactionSent";
  readonly transaction: number;
  readonly content: CallContent;
  /** The pending transaction of the same nonce that it takes the place of; 0 for none. */
  readonly replaces: number;
}

/** Blocks are to be mined at once. */
export interface BlocksAsked {
  readonly kind: "blocksAsked";
  readonly count: number;
}

/** A block is mined with a run of transactions in order, none of which is out of the ordinary; empty ones may follow. */
export interface BlocksMined {
  readonly kind: "blocksMined";
  /** Of the first of them. */
  readonly height: number;
  /** The last of the run, which goes on where the block before has ended. */
  readonly lastTransaction: number;
  /** How many empty blocks follow. */
  readonly empty: number;
}

/** A block is begun, to be put together transaction by transaction. */
export interface BlockOpened {
  readonly kind: "blockOpened";
  readonly height: number;
  readonly baseFee: number;
}

/** The block that was begun is whole. */
export interface BlockSealed {
  readonly kind: "blockSealed";
  readonly height: number;
}

/** A transaction that is no call is in the block and carried out. */
export interface TransactionMined {
  readonly kind: "transactionMined";
  readonly transaction: number;
}

/** A call is in the block and carried out. */
export interface CallExecuted {
  readonly kind: "callExecuted";
  readonly transaction: number;
  readonly gas: number;
  /** Wei per gas. */
  readonly gasPrice: number;
  /** What it changes in the ledger, now or, after a reorganization, when it was first carried out. */
  readonly effect: CallEffect;
  /** Whether the ledger has that already. */
  readonly isRepeated: boolean;
}

/** A call is in the block and of no effect but its cost. */
export interface CallReverted {
  readonly kind: "callReverted";
  readonly transaction: number;
  readonly gas: number;
  readonly gasPrice: number;
  readonly reason: string;
}

/** A transaction is put off. */
export interface TransactionHeld {
  readonly kind: "transactionHeld";
  readonly transaction: number;
  readonly hold: HoldReason;
  /** The height before which it is not looked at. */
  readonly notBefore: number;
  /** The fault that did it; 0 for none. */
  readonly fault: number;
}

/** A settlement will never be mined, and nobody is told. */
export interface SettlementLost {
  readonly kind: "settlementLost";
  readonly transaction: number;
  readonly fault: number;
}

/** A settlement has failed: the ledger takes its trades back, for all parties at once. */
export interface SettlementFailed {
  readonly kind: "settlementFailed";
  readonly transaction: number;
  readonly reason: string;
  /** Whether a block has it, reverted; else it was given up before. */
  readonly isMined: boolean;
  readonly fault: number;
}

/** The latest blocks are replaced by empty ones; what they held is pending again. */
export interface ChainReorganized {
  readonly kind: "chainReorganized";
  readonly depth: number;
}

export interface SettlementFaultSet extends SettlementFaultTerms {
  readonly kind: "settlementFaultSet";
  readonly number: number;
}

/** A fault is over; all of them when the number is 0. */
export interface SettlementFaultEnded {
  readonly kind: "settlementFaultEnded";
  readonly number: number;
}

/** The exchange raises the fees of its own pending transactions to whatever the base fee is. */
export interface FeesBumped {
  readonly kind: "feesBumped";
  readonly transactions: readonly number[];
}

/** An address has so much of the native currency. */
export interface NativeBalanceSet {
  readonly kind: "nativeBalanceSet";
  readonly address: Address;
  /** Wei, decimal. */
  readonly wei: string;
}

/** What happens on the settlement chain. */
export type ChainEvent =
  | TransactionSent
  | BlocksAsked
  | BlocksMined
  | BlockOpened
  | BlockSealed
  | TransactionMined
  | CallExecuted
  | CallReverted
  | TransactionHeld
  | SettlementLost
  | SettlementFailed
  | ChainReorganized
  | SettlementFaultSet
  | SettlementFaultEnded
  | FeesBumped
  | NativeBalanceSet;
