import type { Block } from "../core/chain/chain.ts";
import { blockAt, headOf } from "../core/chain/chain.ts";
import { blockHash, transactionHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { State } from "../core/state.ts";
import {
  type Cursor,
  type Cursors,
  type EntryCursor,
  type LogCursor,
  nextEntry,
  type Subject,
} from "./cursors.ts";
import { ChainChanged, LazyList } from "./json-rpc.ts";
import type { LogIndex } from "./log-index.ts";
import { findLogs } from "./log-queries.ts";

/** Maximum number of filters. For a new one above it, the filter polled least recently is deleted. */
const MAX_FILTERS = 1_000;

interface Filter {
  readonly cursor: Cursor;
  /** First height of a filter of logs; null if it began at the head. */
  readonly from: number | null;
  /** Last height of a filter of logs; null if it has no end. */
  readonly to: number | null;
}

/** The filters of one node's clients. */
export class Filters {
  readonly #index: LogIndex;
  readonly #cursors: Cursors;
  /** By id, the most recently polled last. */
  readonly #filters = new Map<string, Filter>();
  #added = 0;

  constructor(index: LogIndex, cursors: Cursors) {
    this.#index = index;
    this.#cursors = cursors;
  }

  /** Adds a filter for new entries, and returns its id. A filter of logs with `from` also reports existing blocks. */
  add(state: State, subject: Subject, from: number | null = null, to: number | null = null): string {
    const cursor = this.#cursors.add(state, subject);
    if (from !== null) cursor.last = from - 1;
    this.#added += 1;
    const id = `0x${this.#added.toString(16)}`;
    this.#filters.set(id, { cursor, from, to });
    if (this.#filters.size > MAX_FILTERS) this.remove(this.#filters.keys().next().value as string);
    return id;
  }

  find(id: string): Filter | undefined {
    return this.#filters.get(id);
  }

  /** Deletes a filter; returns false if there is none. */
  remove(id: string): boolean {
    const filter = this.#filters.get(id);
    if (filter !== undefined) this.#cursors.delete(filter.cursor);
    return this.#filters.delete(id);
  }

  clear(): void {
    for (const id of this.#filters.keys()) this.remove(id);
    this.#added = 0;
  }

  /**
   * Returns new entries since a filter was last polled: logs, or hashes of blocks or transactions; undefined for an unknown
   * filter. Logs count as reported once the list was iterated to its end.
   */
  changes(state: State, id: string): LazyList | readonly string[] | undefined {
    this.#cursors.follow(state);
    const filter = this.#filters.get(id);
    if (filter === undefined) return undefined;
    this.#filters.delete(id);
    this.#filters.set(id, filter);
    const { cursor, from, to } = filter;
    return cursor.kind === "logs"
      ? LazyList.ofTexts(newLogs(state, this.#index, cursor, from, to))
      : newHashes(state, cursor);
  }
}

/** @throws ChainChanged if another call has reported the same logs meanwhile. */
function* newLogs(
  state: State,
  index: LogIndex,
  cursor: LogCursor,
  from: number | null,
  to: number | null,
): Generator<readonly string[], void> {
  const { chain } = state;
  const { query, removed, last: before } = cursor;
  const last = Math.min(headOf(chain), to ?? headOf(chain));
  const first = Math.max(from ?? 0, before + 1);
  const firstUnsafe = Math.max(first, finalHeight(state) + 1);
  const reported = cursor.reported.filter(({ block }) => block.height > finalHeight(state));
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
  if (cursor.last !== before) throw new ChainChanged();
  Object.assign(cursor, { reported, removed: [], last: Math.max(before, last) });
}

function newHashes(state: State, cursor: EntryCursor): string[] {
  const next = (): string | undefined =>
    nextEntry(
      state.chain,
      cursor,
      (block) => blockHash(state, block),
      (transaction) => transactionHash(state, transaction),
    );
  const hashes: string[] = [];
  for (let hash = next(); hash !== undefined; hash = next()) hashes.push(hash);
  return hashes;
}
