import type { Block } from "../../core/chain/block.ts";
import { blockAt, headOf } from "../../core/chain/chain.ts";
import { blockOfHash } from "../../core/chain/chain-hashes.ts";
import type { State } from "../../core/state.ts";
import { readHeight, readMoment } from "../block-parameter.ts";
import { quantity } from "../hex.ts";
import { LazyList } from "../lazy-list.ts";
import { readBoolean, readHash } from "../params.ts";
import { pendingTransactions } from "../pending-transactions.ts";
import { blockReply, pendingBlockReply, transactionsIn } from "../replies/block-reply.ts";
import { receiptReply } from "../replies/receipt-reply.ts";
import { type Methods, open } from "./method.ts";

/** Blocks, and how many they are. */
export const blockMethods: Methods = {
  eth_blockNumber: open(0, 0, ({ state }) => quantity(headOf(state.chain))),
  eth_getBlockByNumber: open(2, 2, ({ state, exchange }, [number, isFull]) => {
    const full = readBoolean(isFull, "full transactions");
    const height = readHeight(state, number, "block");
    if (height === "pending") return pendingBlockReply(state, exchange.now, full);
    const block = blockAt(state.chain, height);
    return block === undefined ? null : blockReply(state, block, full);
  }),
  eth_getBlockByHash: open(2, 2, ({ state }, [hash, isFull]) => {
    const full = readBoolean(isFull, "full transactions");
    const block = blockOfHash(state, readHash(hash, "block"));
    return block === undefined ? null : blockReply(state, block, full);
  }),
  eth_getBlockTransactionCountByNumber: open(1, 1, ({ state }, [number]) => {
    const moment = readMoment(state, number);
    return quantity(moment === "pending" ? pendingTransactions(state).length : moment.count);
  }),
  eth_getBlockTransactionCountByHash: open(1, 1, ({ state }, [hash]) => {
    const block = blockOfHash(state, readHash(hash, "block"));
    return block === undefined ? null : quantity(block.count);
  }),
  eth_getBlockReceipts: open(1, 1, ({ state }, [number]) => {
    const block = receiptsBlock(state, number);
    if (block === null) return null;
    return LazyList.of(transactionsIn(state, block), (transaction) => receiptReply(state, transaction));
  }),
};

/** The block whose receipts are asked for, by hash, tag or number; null when the chain does not have it. */
function receiptsBlock(state: State, value: unknown): Block | null {
  if (typeof value === "string" && value.length === 66)
    return blockOfHash(state, value.toLowerCase()) ?? null;
  if (typeof value === "object") {
    const moment = readMoment(state, value);
    return moment === "pending" ? null : moment;
  }
  const height = readHeight(state, value, "block");
  return height === "pending" ? null : (blockAt(state.chain, height) ?? null);
}
