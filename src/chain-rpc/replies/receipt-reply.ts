import { blockHash, transactionHash } from "../../core/chain/chain-hashes.ts";
import { blockOf } from "../../core/chain/settlement.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import type { State } from "../../core/state.ts";
import { recipientOf } from "../contracts/own-call.ts";
import { asHex, quantity } from "../hex.ts";
import { logsOf } from "../logs/logs-of.ts";
import { readSigned } from "../signed-transaction.ts";
import { bloomOf } from "./bloom.ts";
import { logReplies } from "./log-reply.ts";
import { gasPriceOf, gasUsedOf, senderOf } from "./transaction-facts.ts";

/** What came of a transaction; null while no block has it. */
export function receiptReply(state: State, transaction: Transaction): object | null {
  const block = blockOf(state.chain, transaction);
  if (block === null) return null;
  const { status, place, gasBefore, content } = transaction;
  const gasUsed = gasUsedOf(transaction);
  const logs = logReplies(state, block, transaction, logsOf(state, transaction));
  const raw = content?.kind === "call" ? content.raw : null;
  return {
    type: raw === null ? "0x2" : readSigned(asHex(raw)).type,
    status: status === "MINED" ? "0x1" : "0x0",
    cumulativeGasUsed: quantity(gasBefore + gasUsed),
    logs,
    logsBloom: bloomOf(logs.length),
    transactionHash: transactionHash(state, transaction),
    transactionIndex: quantity(place),
    blockHash: blockHash(state, block),
    blockNumber: quantity(block.height),
    gasUsed: quantity(gasUsed),
    effectiveGasPrice: quantity(gasPriceOf(state, transaction, block)),
    from: senderOf(transaction),
    to: recipientOf(transaction),
    contractAddress: null,
  };
}
