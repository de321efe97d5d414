import type { Block } from "../../core/chain/block.ts";
import { blockAt } from "../../core/chain/chain.ts";
import { blockOfHash, transactionOfHash } from "../../core/chain/chain-hashes.ts";
import type { State } from "../../core/state.ts";
import { readHeight } from "../block-parameter.ts";
import { readCount, readHash } from "../params.ts";
import { pendingTransactions } from "../pending-transactions.ts";
import { receiptReply } from "../replies/receipt-reply.ts";
import { transactionReply } from "../replies/transaction-reply.ts";
import { type Methods, open } from "./method.ts";

/** Transactions and their receipts. */
export const transactionMethods: Methods = {
  eth_getTransactionByHash: open(1, 1, ({ state }, [hash]) => {
    const transaction = transactionOfHash(state, readHash(hash, "transaction"));
    if (transaction === undefined) return null;
    // What was given up, replaced or lost, no node knows of.
    const isKnown = transaction.block !== 0 || transaction.status === "PENDING";
    return isKnown ? transactionReply(state, transaction) : null;
  }),
  eth_getTransactionByBlockNumberAndIndex: open(2, 2, ({ state }, [number, index]) => {
    const height = readHeight(state, number, "block");
    const place = readCount(index, "index");
    if (height !== "pending") return transactionIn(state, blockAt(state.chain, height), place);
    const transaction = pendingTransactions(state)[place];
    return transaction === undefined ? null : transactionReply(state, transaction);
  }),
  eth_getTransactionByBlockHashAndIndex: open(2, 2, ({ state }, [hash, index]) =>
    transactionIn(state, blockOfHash(state, readHash(hash, "block")), readCount(index, "index")),
  ),
  eth_getTransactionReceipt: open(1, 1, ({ state }, [hash]) => {
    const transaction = transactionOfHash(state, readHash(hash, "transaction"));
    return transaction === undefined ? null : receiptReply(state, transaction);
  }),
};

function transactionIn(state: State, block: Block | undefined, place: number): object | null {
  if (block === undefined || place >= block.count) return null;
  const { transactions, mined } = state.chain;
  return transactionReply(state, transactions.get(mined.get(block.first + place + 1)));
}
