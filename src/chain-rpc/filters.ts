import type { Block } from "../core/chain/chain.ts";
import { blockAt, headOf } from "../core/chain/chain.ts";
import { blockHash, transactionHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { State } from "../core/state.ts";
import { ChainChanged } from "./json-rpc.ts";
import type { LogIndex } from "./log-index.ts";
import { Lineage } from "./log-index.ts";
import type { LogQuery, LogReply } from "./log-queries.ts";
import { findLogs } from "./log-queries.ts";

/** How many filters are kept; whoever was asked the longest time ago makes room. */
const MOST_FILTERS = 1_000;

/** What a client waits for: logs, blocks, or transactions that come in. */
export type Filter = LogFilter | BlockFilter | TransactionFilter;

interface BlockFilter {
  readonly kind: "blocks";
  /** The height up to which it has told. */
  toldTo: number;
}

interface TransactionFilter {
  readonly kind: "transactions";
  /** The number up to which it has told. */
  toldTo: number;
}

/** Logs of a range of blocks. */
export interface LogFilter {
  readonly kind: "logs";
  readonly query: LogQuery;
  /** Null when it is for what is to come alone, and when it goes on for ever. */
  readonly from: number | null;
  readonly to: number | null;
  /** The height up to which it has told. */
  toldTo: number;
  /** What it has told of blocks that a reorganization may still take away, oldest first. */
  told: { readonly block: Block; readonly logs: readonly LogReply[] }[];
  /** What it must yet take back. */
  removed: LogReply[];
}

/** The filters of one node's clients, and what each has been told. */
export class Filters {
  readonly #index: LogIndex;
  readonly #lineage = new Lineage();
  /** By id, the one that was asked last at the end. */
  readonly #filters = new Map<string, Filter>();
  #added = 0;

  constructor(index: LogIndex) {
    this.#index = index;
  }

  /** Waits for logs: of the blocks that are there, if it says from where, and of those to come. */
  addLogs(state: State, query: LogQuery, from: number | null, to: number | null): string {
    const toldTo = from === null ? headOf(state.chain) : from - 1;
    return this.#add(state, { kind: "logs", query, from, to, toldTo, told: [], removed: [] });
  }

  addBlocks(state: State): string {
    return this.#add(state, { kind: "blocks", toldTo: headOf(state.chain) });
  }

  addTransactions(state: State): string {
    return this.#add(state, { kind: "transactions", toldTo: state.chain.transactions.size });
  }

  /** The filter of an id, if there is one. */
  find(id: string): Filter | undefined {
    return this.#filters.get(id);
  }

  /** Forgets a filter; false when there was none. */
  remove(id: string): boolean {
    return this.#filters.delete(id);
  }

  /**
   * What is new since a filter was last asked: logs, or hashes of blocks or transactions; undefined when there is none. It
   * has been told when all of it was taken.
   */
  changes(state: State, id: string): Iterable<unknown> | undefined {
    this.#follow(state);
    const filter = this.#filters.get(id);
    if (filter === undefined) return undefined;
    this.#filters.delete(id);
    this.#filters.set(id, filter);
    switch (filter.kind) {
      case "logs":
        return newLogs(state, this.#index, filter);
      case "blocks":
        return newBlocks(state, filter);
      case "transactions":
        return newTransactions(state, filter);
    }
  }

  #add(state: State, filter: Filter): string {
    this.#follow(state);
    this.#added += 1;
    const id = `0x${this.#added.toString(16)}`;
    this.#filters.set(id, filter);
    if (this.#filters.size > MOST_FILTERS) this.#filters.delete(this.#filters.keys().next().value as string);
    return id;
  }

  /** Sees to it that what was told of blocks that are gone is taken back, or told anew of those in their place. */
  #follow(state: State): void {
    const { chain } = state;
    const { top } = this.#lineage;
    const stays = this.#lineage.follow(chain);
    if (stays === top) return;
    for (const filter of this.#filters.values()) {
      if (filter.kind === "transactions") filter.toldTo = Math.min(filter.toldTo, chain.transactions.size);
      else filter.toldTo = Math.min(filter.toldTo, stays);
      if (filter.kind === "logs") takeBack(state, filter, stays);
    }
  }
}

/**
 * Takes back what was told of blocks above a height, the latest first, when they were orphaned: the chain still knows
 * those. A history that was put back to an earlier moment never had them, and there is nothing to take back.
 */
function takeBack({ chain }: State, filter: LogFilter, stays: number): void {
  const gone = filter.told.filter(({ block }) => block.height > stays);
  filter.told = filter.told.filter(({ block }) => block.height <= stays);
  for (const { block, logs } of gone.reverse()) {
    if (chain.blocks.find(block.serial) !== block) continue;
    filter.removed.push(...logs.map((log) => ({ ...log, removed: true })));
  }
}

/** @throws ChainChanged where somebody else was told of the same meanwhile. */
function* newLogs(state: State, index: LogIndex, filter: LogFilter): Generator<LogReply | undefined, void> {
  const { chain } = state;
  const { query, removed, toldTo, from, to } = filter;
  const last = Math.min(headOf(chain), to ?? headOf(chain));
  const first = Math.max(from ?? 0, toldTo + 1);
  const firstUnsafe = Math.max(first, finalHeight(state) + 1);
  const told = filter.told.filter(({ block }) => block.height > finalHeight(state));
  yield* removed;
  yield* findLogs(state, index, query, first, Math.min(last, firstUnsafe - 1));
  for (let height = firstUnsafe; height <= last; height += 1) {
    const logs: LogReply[] = [];
    for (const log of findLogs(state, index, query, height, height)) {
      if (log !== undefined) logs.push(log);
      yield log;
    }
    if (logs.length > 0) told.push({ block: blockAt(chain, height) as Block, logs });
  }
  if (filter.toldTo !== toldTo) throw new ChainChanged();
  Object.assign(filter, { told, removed: [], toldTo: Math.max(toldTo, last) });
}

function newBlocks(state: State, filter: BlockFilter): string[] {
  const { chain } = state;
  const hashes: string[] = [];
  for (; filter.toldTo < headOf(chain); filter.toldTo += 1) {
    hashes.push(blockHash(state, blockAt(chain, filter.toldTo + 1) as Block));
  }
  return hashes;
}

/** What has come in since, unless it is given up already. */
function newTransactions(state: State, filter: TransactionFilter): string[] {
  const { transactions } = state.chain;
  const hashes: string[] = [];
  for (; filter.toldTo < transactions.size; filter.toldTo += 1) {
    const transaction = transactions.get(filter.toldTo + 1);
    const { status } = transaction;
    if (status !== "LOST" && status !== "FAILED") hashes.push(transactionHash(state, transaction));
  }
  return hashes;
}
