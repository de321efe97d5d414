import type { Address } from "../commands.ts";

/** What a wallet's transaction asks of a contract, decoded; amounts of 256 bits as decimal text. */
export type ContractCall =
  /** Native currency to an address that is no contract, with or without data that nobody reads. */
  | { readonly kind: "send" }
  | { readonly kind: "approve"; readonly spender: Address; readonly amount: string }
  | { readonly kind: "transfer"; readonly to: Address; readonly amount: string }
  | { readonly kind: "transferFrom"; readonly from: Address; readonly to: Address; readonly amount: string }
  | { readonly kind: "setApprovalForAll"; readonly operator: Address; readonly approved: boolean }
  | SafeTransferCall
  | PartitionCall
  | RedeemCall
  /** A function that no contract here has; it reverts. */
  | { readonly kind: "unknown"; readonly reason: string };

/** `safeTransferFrom`, or `safeBatchTransferFrom` when it is a batch. */
export interface SafeTransferCall {
  readonly kind: "safeTransfer";
  readonly from: Address;
  readonly to: Address;
  readonly ids: readonly string[];
  readonly amounts: readonly string[];
  readonly isBatch: boolean;
}

/** `splitPosition` and `mergePositions`. */
export interface PartitionCall {
  readonly kind: "split" | "merge";
  readonly collateral: Address;
  readonly parent: string;
  readonly condition: string;
  readonly partition: readonly string[];
  readonly amount: string;
}

/** `redeemPositions`. */
export interface RedeemCall {
  readonly kind: "redeem";
  readonly collateral: Address;
  readonly parent: string;
  readonly condition: string;
  readonly indexSets: readonly string[];
}

/** The parent of every position here: none. */
export const NO_PARENT = `0x${"0".repeat(64)}`;
