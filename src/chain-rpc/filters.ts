import type { Block } from "../core/chain/chain.ts";
import { blockAt, headOf } from "../core/chain/chain.ts";
import { blockHash, transactionHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import type { State } from "../core/state.ts";
import { ChainChanged, LazyList } from "./json-rpc.ts";
import type { LogIndex } from "./log-index.ts";
import { SeenChain } from "./log-index.ts";
import type { LogQuery } from "./log-queries.ts";
import { findLogs, removedText } from "./log-queries.ts";

/** The most filters; the one that was asked the longest time ago is dropped for a new one. */
const MAX_FILTERS = 1_000;

/** What a client waits for: logs, blocks, or transactions that come in. */
type Filter = LogFilter | HashFilter;

interface HashFilter {
  readonly kind: "blocks" | "transactions";
  /** The height, or the number of a transaction, up to which it has reported. */
  reportedTo: number;
}

/** Logs of a range of blocks. */
interface LogFilter {
  readonly kind: "logs";
  readonly query: LogQuery;
  /** `from` null: new blocks alone; `to` null: without end. */
  readonly from: number | null;
  readonly to: number | null;
  /** The height up to which it has reported. */
  reportedTo: number;
  /** What it has reported of blocks that a reorganization may still take away, oldest first. */
  reported: { readonly block: Block; readonly logs: readonly string[] }[];
  /** Logs of orphaned blocks, to be reported as removed. */
  removed: string[];
}

/** The filters of one node's clients, and what each has reported. */
export class Filters {
  readonly #index: LogIndex;
  readonly #seen = new SeenChain();
  /** By id, the one that was asked last at the end. */
  readonly #filters = new Map<string, Filter>();
  #added = 0;

  constructor(index: LogIndex) {
    this.#index = index;
  }

  /** Adds a filter for logs of existing blocks, from `from` on, and of new ones. */
  addLogs(state: State, query: LogQuery, from: number | null, to: number | null): string {
    const reportedTo = from === null ? headOf(state.chain) : from - 1;
    return this.#add(state, { kind: "logs", query, from, to, reportedTo, reported: [], removed: [] });
  }

  /** Adds a filter for hashes of what comes. */
  addHashes(state: State, kind: HashFilter["kind"]): string {
    return this.#add(state, { kind, reportedTo: lastOf(state, kind) });
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
   * What is new since a filter was last asked: logs, or hashes of blocks or transactions; undefined for an unknown filter.
   * It counts as reported when all of it was iterated.
   */
  changes(state: State, id: string): LazyList | undefined {
    this.follow(state);
    const filter = this.#filters.get(id);
    if (filter === undefined) return undefined;
    this.#filters.delete(id);
    this.#filters.set(id, filter);
    return filter.kind === "logs"
      ? LazyList.ofTexts(newLogs(state, this.#index, filter))
      : new LazyList(newHashes(state, filter));
  }

  #add(state: State, filter: Filter): string {
    this.follow(state);
    this.#added += 1;
    const id = `0x${this.#added.toString(16)}`;
    this.#filters.set(id, filter);
    if (this.#filters.size > MAX_FILTERS) this.#filters.delete(this.#filters.keys().next().value as string);
    return id;
  }

  /**
   * Withdraws what was reported of blocks that are gone, and lets filters report what comes in their place. To be called
   * where the exchange goes back to an earlier moment: afterwards nothing tells its next transactions from those before.
   */
  follow(state: State): void {
    const { chain } = state;
    const { top } = this.#seen;
    const stays = this.#seen.follow(chain);
    for (const filter of this.#filters.values()) {
      const last = filter.kind === "transactions" ? chain.transactions.size : stays;
      filter.reportedTo = Math.min(filter.reportedTo, last);
      if (filter.kind === "logs" && stays !== top) withdraw(state, filter, stays);
    }
  }
}

/**
 * Withdraws what was reported of orphaned blocks above a height, the latest first. Blocks that the chain does not know any
 * more belong to a history that was put back: there is nothing to withdraw.
 */
export function withdraw(
  { chain }: State,
  filter: Pick<LogFilter, "reported" | "removed">,
  stays: number,
): void {
  const gone = filter.reported.filter(({ block }) => block.height > stays);
  filter.reported = filter.reported.filter(({ block }) => block.height <= stays);
  for (const { block, logs } of gone.reverse()) {
    if (chain.blocks.find(block.serial) !== block) continue;
    filter.removed.push(...logs.map(removedText));
  }
}

/** @throws ChainChanged where another call has reported the same meanwhile. */
function* newLogs(state: State, index: LogIndex, filter: LogFilter): Generator<readonly string[], void> {
  const { chain } = state;
  const { query, removed, reportedTo, from, to } = filter;
  const last = Math.min(headOf(chain), to ?? headOf(chain));
  const first = Math.max(from ?? 0, reportedTo + 1);
  const firstUnsafe = Math.max(first, finalHeight(state) + 1);
  const reported = filter.reported.filter(({ block }) => block.height > finalHeight(state));
  yield removed;
  yield* findLogs(state, index, query, first, Math.min(last, firstUnsafe - 1));
  for (let height = firstUnsafe; height <= last; height += 1) {
    const logs: string[] = [];
    for (const found of findLogs(state, index, query, height, height)) {
      logs.push(...found);
      yield found;
    }
    if (logs.length > 0) reported.push({ block: blockAt(chain, height) as Block, logs });
  }
  if (filter.reportedTo !== reportedTo) throw new ChainChanged();
  Object.assign(filter, { reported, removed: [], reportedTo: Math.max(reportedTo, last) });
}

/** Whether no block will ever have a transaction. */
export const isGivenUp = ({ status }: Transaction): boolean => status === "LOST" || status === "FAILED";

const lastOf = ({ chain }: State, kind: HashFilter["kind"]): number =>
  kind === "blocks" ? headOf(chain) : chain.transactions.size;

/** Of blocks, or of the transactions that came in since, without those already given up. */
function newHashes(state: State, filter: HashFilter): string[] {
  const { chain } = state;
  const hashes: string[] = [];
  while (filter.reportedTo < lastOf(state, filter.kind)) {
    filter.reportedTo += 1;
    if (filter.kind === "blocks") {
      hashes.push(blockHash(state, blockAt(chain, filter.reportedTo) as Block));
      continue;
    }
    const transaction = chain.transactions.get(filter.reportedTo);
    if (!isGivenUp(transaction)) hashes.push(transactionHash(state, transaction));
  }
  return hashes;
}
