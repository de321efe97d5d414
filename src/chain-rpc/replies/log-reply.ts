import type { Block } from "../../core/chain/block.ts";
import { blockHash, transactionHash } from "../../core/chain/chain-hashes.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import type { State } from "../../core/state.ts";
import { quantity } from "../hex.ts";
import type { Log } from "../logs/log.ts";
import { secondsOf } from "../protocol.ts";

/** A log as clients see it. */
export interface LogReply extends Log {
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly blockTimestamp: string;
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly logIndex: string;
  /** Whether a reorganization has taken it out of the chain. */
  readonly removed: boolean;
}

/** Of a transaction's logs those that are wanted, where they stand in its block. */
export function logReplies(
  state: State,
  block: Block,
  transaction: Transaction,
  logs: readonly Log[],
  isWanted: (log: Log) => boolean = () => true,
): LogReply[] {
  const replies: LogReply[] = [];
  let place: Omit<LogReply, keyof Log | "logIndex"> | null = null;
  for (const [index, log] of logs.entries()) {
    if (!isWanted(log)) continue;
    place ??= {
      blockHash: blockHash(state, block),
      blockNumber: quantity(block.height),
      blockTimestamp: quantity(secondsOf(block.at)),
      transactionHash: transactionHash(state, transaction),
      transactionIndex: quantity(transaction.place),
      removed: false,
    };
    replies.push({ ...log, ...place, logIndex: quantity(transaction.logsBefore + index) });
  }
  return replies;
}
