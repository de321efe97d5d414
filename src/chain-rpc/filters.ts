import type { Block, Chain } from "../core/chain/chain.ts";
import { blockAt, headOf } from "../core/chain/chain.ts";
import { blockHash, transactionHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import type { State } from "../core/state.ts";
import { ChainChanged, LazyList } from "./json-rpc.ts";
import { type LogIndex, SeenChain } from "./log-index.ts";
import { findLogs, type LogQuery, removedText } from "./log-queries.ts";

/** What a client is told of the chain, and how far it has been told: to a height, or to the number of a transaction. */
export type Told =
  | { readonly kind: "newHeads" | "newPendingTransactions"; readonly isFull: boolean; upTo: number }
  | ToldLogs;

export interface ToldLogs {
  readonly kind: "logs";
  readonly query: LogQuery;
  upTo: number;
  /** How many logs of the block above have been looked at. */
  place: number;
  /** What was told of blocks that a reorganization may still take away, oldest first. */
  reported: { readonly block: Block; readonly logs: string[] }[];
  /** Logs of orphaned blocks, to be told as removed. */
  removed: string[];
}

export type Asked = Exclude<Told["kind"], "logs"> | LogQuery;

/** What is new from now on; of a transaction, its hash unless all of it is wanted. */
export function fromNow(chain: Chain, asked: Asked, isFull = false): Told {
  if (typeof asked === "string") return { kind: asked, isFull, upTo: lastOf(chain, asked) };
  return { kind: "logs", query: asked, upTo: headOf(chain), place: 0, reported: [], removed: [] };
}

export const lastOf = (chain: Chain, kind: Told["kind"]): number =>
  kind === "newPendingTransactions" ? chain.transactions.size : headOf(chain);

/**
 * Goes back to what is still so: the chain is unchanged up to a height. Withdraws logs that were told of orphaned blocks, the
 * latest first. Blocks that the chain does not know any more belong to a history that was put back: nothing is withdrawn.
 */
export function putBack({ chain }: State, told: Told, stays: number): void {
  const last = told.kind === "newPendingTransactions" ? chain.transactions.size : stays;
  if (told.kind === "logs" && told.upTo >= stays) {
    told.place = 0;
    const gone = told.reported.filter(({ block }) => block.height > stays);
    told.reported = told.reported.filter(({ block }) => block.height <= stays);
    for (const { block, logs } of gone.reverse())
      if (chain.blocks.find(block.serial) === block) told.removed.push(...logs.map(removedText));
  }
  told.upTo = Math.min(told.upTo, last);
}

/** Whether no block will ever have a transaction. */
export const isGivenUp = ({ status }: Transaction): boolean => status === "LOST" || status === "FAILED";

/** The most filters; the one that was asked the longest time ago is dropped for a new one. */
const MAX_FILTERS = 1_000;

/** What a client asks for again and again; of logs those of a range of blocks. */
interface Filter {
  readonly told: Told;
  /** `from` null: new blocks alone; `to` null: without end. */
  readonly from: number | null;
  readonly to: number | null;
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

  /** Adds a filter for what comes, of logs also for that of existing blocks from `from` on. */
  add(state: State, asked: Asked, from: number | null = null, to: number | null = null): string {
    this.follow(state);
    const told = fromNow(state.chain, asked);
    if (from !== null) told.upTo = from - 1;
    this.#added += 1;
    const id = `0x${this.#added.toString(16)}`;
    this.#filters.set(id, { told, from, to });
    if (this.#filters.size > MAX_FILTERS) this.#filters.delete(this.#filters.keys().next().value as string);
    return id;
  }

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
    const { told, from, to } = filter;
    return told.kind === "logs"
      ? LazyList.ofTexts(newLogs(state, this.#index, told, from, to))
      : new LazyList(newHashes(state, told));
  }

  /**
   * Withdraws what was reported of blocks that are gone, and lets filters report what comes in their place. To be called
   * where the exchange goes back to an earlier moment: afterwards nothing tells its next transactions from those before.
   */
  follow(state: State): void {
    const stays = this.#seen.follow(state.chain);
    for (const { told } of this.#filters.values()) putBack(state, told, stays ?? this.#seen.top);
  }
}

/** @throws ChainChanged where another call has reported the same meanwhile. */
function* newLogs(
  state: State,
  index: LogIndex,
  told: ToldLogs,
  from: number | null,
  to: number | null,
): Generator<readonly string[], void> {
  const { chain } = state;
  const { query, removed, upTo } = told;
  const last = Math.min(headOf(chain), to ?? headOf(chain));
  const first = Math.max(from ?? 0, upTo + 1);
  const firstUnsafe = Math.max(first, finalHeight(state) + 1);
  const reported = told.reported.filter(({ block }) => block.height > finalHeight(state));
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
  if (told.upTo !== upTo) throw new ChainChanged();
  Object.assign(told, { reported, removed: [], upTo: Math.max(upTo, last) });
}

/** Of blocks, or of the transactions that came in since, without those already given up. */
function newHashes(state: State, told: Exclude<Told, ToldLogs>): string[] {
  const { chain } = state;
  const hashes: string[] = [];
  while (told.upTo < lastOf(chain, told.kind)) {
    told.upTo += 1;
    if (told.kind === "newHeads") {
      hashes.push(blockHash(state, blockAt(chain, told.upTo) as Block));
      continue;
    }
    const transaction = chain.transactions.get(told.upTo);
    if (!isGivenUp(transaction)) hashes.push(transactionHash(state, transaction));
  }
  return hashes;
}
