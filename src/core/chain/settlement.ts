import type { Trade } from "../order.ts";
import type { State } from "../state.ts";
import type { Millis } from "../units.ts";
import type { Block } from "./chain.ts";
import { blockAt, type Chain, confirmationsOf, headOf } from "./chain.ts";
import type { Transaction } from "./transaction.ts";

/** Progress of the settlement of a fill. */
export const SETTLEMENT_STATUSES = ["MATCHED", "MINED", "CONFIRMED", "RETRYING", "FAILED"] as const;
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];

/** Returns the height of the latest final block. */
export const finalHeight = ({ chain, config }: State): number =>
  Math.max(0, headOf(chain) - confirmationsOf(config.settlement));

/** Returns the block of a transaction, or null. */
export const blockOf = (chain: Chain, { block }: Transaction): Block | null =>
  block === 0 ? null : chain.blocks.get(block);

export function settlementStatus(state: State, transaction: Transaction): SettlementStatus {
  switch (transaction.status) {
    case "PENDING":
      return (transaction.exception?.attempts ?? 0) > 0 ? "RETRYING" : "MATCHED";
    case "MINED": {
      const height = blockOf(state.chain, transaction)?.height ?? 0;
      return height <= finalHeight(state) ? "CONFIRMED" : "MINED";
    }
    case "LOST":
      return "MATCHED";
    default:
      return "FAILED";
  }
}

export const tradeStatus = (state: State, { transaction }: Trade): SettlementStatus =>
  settlementStatus(state, state.chain.transactions.get(transaction));

/** Returns when a trade reached its current status. */
export function settledAt(state: State, trade: Trade): Millis {
  const { chain, config } = state;
  const transaction = chain.transactions.get(trade.transaction);
  const block = blockOf(chain, transaction);
  if (transaction.status === "FAILED") return transaction.exception?.endedAt ?? trade.at;
  if (block === null) return trade.at;
  if (settlementStatus(state, transaction) !== "CONFIRMED") return block.at;
  return blockAt(chain, block.height + confirmationsOf(config.settlement))?.at ?? block.at;
}
