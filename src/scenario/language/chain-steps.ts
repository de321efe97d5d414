import type { PositionChange } from "../../api/position-transaction.ts";
import type { SettlementFaultTerms } from "../../core/chain/settlement-fault.ts";
import type { StepBase } from "./plain-steps.ts";
import type { Placed } from "./scenario.ts";

/** What a wallet does on the chain itself. Its transaction is tried before it is sent, as wallets do. */
export interface CallStep extends StepBase {
  readonly kind: PositionChange["kind"];
  readonly account: string;
  readonly market: string | null;
  readonly change: PositionChange;
  readonly rejects: Placed<string> | null;
}

/** Why a wallet's transaction does not come to the chain: it would have no effect, or no node takes it. */
export const TRANSACTION_CODES = ["TRANSACTION_REVERTED", "TRANSACTION_REFUSED"] as const;
export type TransactionCode = (typeof TRANSACTION_CODES)[number];

/** Mines blocks, whatever the mode. */
export interface MineStep extends StepBase {
  readonly kind: "mine";
  readonly blocks: number;
}

/** Puts empty blocks in the place of the latest ones. */
export interface ReorgStep extends StepBase {
  readonly kind: "reorg";
  readonly depth: number;
  readonly rejects: Placed<string> | null;
}

/** Lets something go wrong with settlements; null ends it: of `failSettlement` what fails them, else everything. */
export interface SettlementFaultStep extends StepBase {
  readonly kind: "failSettlement" | "chainFault";
  readonly fault: SettlementFaultTerms | null;
}

/** Lets the exchange raise the fees of what it has pending. */
export interface BumpStep extends StepBase {
  readonly kind: "bump";
}

/** The steps of the settlement chain. */
export type ChainStep = CallStep | MineStep | ReorgStep | SettlementFaultStep | BumpStep;
