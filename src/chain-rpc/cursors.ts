import { type Block, blockAt, type Chain, headOf } from "../core/chain/chain.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import type { State } from "../core/state.ts";
import { FollowedChain, type LogQuery } from "./log-search.ts";
import { removedText } from "./logs.ts";

/** Position of a filter or a subscription in the chain: what was reported to its client so far. */
export type Cursor = EntryCursor | LogCursor;

export interface EntryCursor {
  readonly kind: "newHeads" | "newPendingTransactions";
  /** Whether whole transactions are reported rather than their hashes. */
  readonly isFull: boolean;
  /** Height of the last reported block, or number of the last reported transaction. */
  last: number;
}

export interface LogCursor {
  readonly kind: "logs";
  readonly query: LogQuery;
  /** Height of the last block whose logs were all reported. */
  last: number;
  /** Number of logs already checked in the block after that. */
  checked: number;
  /** Reported logs of blocks that are not final, oldest first. */
  reported: { readonly block: Block; readonly logs: string[] }[];
  /** Logs of orphaned blocks that are yet to be reported as removed. */
  removed: string[];
}

export type Subject = EntryCursor["kind"] | LogQuery;

/** Advances a cursor over the new blocks, or the new transactions that are or may be mined, and yields their texts. */
export function* newEntries<Text>(
  chain: Chain,
  cursor: EntryCursor,
  textOfBlock: (block: Block) => Text,
  textOfTransaction: (transaction: Transaction) => Text,
): Generator<Text, undefined> {
  const end = cursor.kind === "newHeads" ? headOf(chain) : chain.transactions.size;
  while (cursor.last < end) {
    cursor.last += 1;
    if (cursor.kind === "newHeads") yield textOfBlock(blockAt(chain, cursor.last) as Block);
    else {
      const transaction = chain.transactions.get(cursor.last);
      const { status } = transaction;
      if (status !== "LOST" && status !== "FAILED") yield textOfTransaction(transaction);
    }
  }
}

/** The cursors of one node's clients. */
export class Cursors {
  readonly #chain = new FollowedChain();
  readonly #cursors = new Set<Cursor>();
  /** Number of transactions when the chain was last followed. */
  #transactions = 0;

  /** Adds a cursor at the end of the chain, or at the beginning of a query. */
  add(state: State, subject: Subject, isFull = false): Cursor {
    this.#follow(state);
    const last = subject === "newPendingTransactions" ? state.chain.transactions.size : headOf(state.chain);
    const cursor: Cursor =
      typeof subject === "string"
        ? { kind: subject, isFull, last }
        : { kind: "logs", query: subject, last, checked: 0, reported: [], removed: [] };
    if (cursor.kind === "logs" && cursor.query.from !== undefined) cursor.last = cursor.query.from - 1;
    this.#cursors.add(cursor);
    return cursor;
  }

  delete(cursor: Cursor): void {
    this.#cursors.delete(cursor);
  }

  /**
   * Rewinds the cursors if blocks or transactions were replaced. Must be called after each rewind of the exchange, because
   * numbers of transactions are then used again.
   */
  follow(state: State): void {
    if (this.#cursors.size > 0) this.#follow(state);
  }

  #follow({ chain }: State): void {
    const forkHeight = this.#chain.follow(chain);
    const isRewound = forkHeight !== null || chain.transactions.size < this.#transactions;
    this.#transactions = chain.transactions.size;
    if (!isRewound) return;
    for (const cursor of this.#cursors) rewind(chain, cursor, forkHeight ?? headOf(chain));
  }
}

/**
 * Rewinds a cursor to the last block that was not replaced. Logs of orphaned blocks are to be reported as removed, latest
 * first; not so logs of blocks that the chain no longer has, because a snapshot was restored.
 */
function rewind(chain: Chain, cursor: Cursor, forkHeight: number): void {
  if (cursor.kind === "newPendingTransactions") {
    cursor.last = Math.min(cursor.last, chain.transactions.size);
    return;
  }
  if (cursor.kind === "logs" && cursor.last >= forkHeight) {
    cursor.checked = 0;
    const replaced = cursor.reported.filter(({ block }) => block.height > forkHeight);
    cursor.reported = cursor.reported.filter(({ block }) => block.height <= forkHeight);
    for (const { block, logs } of replaced.reverse())
      if (chain.blocks.find(block.serial) === block) cursor.removed.push(...logs.map(removedText));
  }
  cursor.last = Math.min(cursor.last, forkHeight);
}
