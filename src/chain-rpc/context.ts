import { type Block, blockAt, type Chain, headOf } from "../core/chain/chain.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Clock, ClockSetting, Slices } from "../engine/clock.ts";
import type { Exchange, Snapshot } from "../engine/exchange.ts";
import { FollowedChain, type LogIndex, type LogQuery } from "./log-search.ts";
import { removedText } from "./logs.ts";
import { optional } from "./parameters.ts";

/** The exchange of a node, with what the node needs to know about its server. */
export interface Host {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  /** Dev accounts, in lower case. The node signs for them. */
  readonly accounts: readonly Address[];
  readonly slices: Slices;
  /** Returns the private key of a dev account; null for other addresses. */
  readonly keyOf: (account: Address) => `0x${string}` | null;
  /** Restarts the exchange. */
  readonly reset: () => void;
}

interface Filter {
  readonly cursor: Cursor;
  /** First height of a filter of logs; null if it began at the head. */
  readonly from: number | null;
  /** Last height of a filter of logs; null if it has no end. */
  readonly to: number | null;
}

/** Returns the data of a node for its clients, which a reset deletes. */
const emptyMemory = () => ({
  /** Addresses besides the dev accounts that may send unsigned transactions, in the order in which they were added. */
  impersonated: new Set<Address>(),
  impersonatesAll: false,
  /** Seconds by which the clock is advanced before each mined block; null for none. */
  secondsBetweenBlocks: null as number | null,
  /** Seconds added by `evm_increaseTime` so far. */
  secondsAdded: 0,
  /** Snapshots of `evm_snapshot`, by numbers from 0. */
  snapshots: new Map<bigint, { exchange: Snapshot; clock: ClockSetting; secondsAdded: number }>(),
  snapshotsTaken: 0n,
  /** Filters by id, the most recently polled last. */
  filters: new Map<string, Filter>(),
  filtersAdded: 0,
});

/** The exchange and the node's own data, as the methods use them. */
export interface NodeContext extends Host, ReturnType<typeof emptyMemory> {
  /** The current state; a later command may replace it. */
  readonly state: State;
  readonly logIndex: LogIndex;
  /** The cursors of filters and subscriptions. */
  readonly cursors: Cursors;
  /** Deletes filters, snapshots and impersonations; subscriptions stay. */
  readonly forget: () => void;
}

export function contextOf(host: Host, logIndex: LogIndex): NodeContext {
  const { exchange } = host;
  const cursors = new Cursors();
  exchange.watchRewind(() => cursors.follow(exchange.state));
  const context: NodeContext = {
    ...host,
    ...emptyMemory(),
    get state() {
      return exchange.state;
    },
    logIndex,
    cursors,
    forget: () => {
      for (const { cursor } of context.filters.values()) cursors.delete(cursor);
      Object.assign(context, emptyMemory());
    },
  };
  return context;
}

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
class Cursors {
  readonly #chain = new FollowedChain();
  readonly #cursors = new Set<Cursor>();
  /** Number of transactions when the chain was last followed. */
  #transactions = 0;

  /** Adds a cursor at the end of the chain. */
  add(state: State, subject: Subject, isFull = false): Cursor {
    this.#follow(state);
    const head = headOf(state.chain);
    const cursor: Cursor =
      typeof subject === "object"
        ? { kind: "logs", query: subject, last: head, checked: 0, reported: [], removed: [] }
        : { kind: subject, isFull, last: subject === "newHeads" ? head : state.chain.transactions.size };
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

export interface Param<Value> {
  readonly name: string;
  /** Whether it may be omitted. */
  readonly isOptional: boolean;
  /** @throws RpcError naming the parameter, what was expected and what was found. */
  readonly read: (value: unknown, name: string, state: State) => Value;
}

export const param = <Value>(name: string, read: Param<Value>["read"]): Param<Value> => ({
  ...{ name, isOptional: false, read },
});

/** A parameter that may be omitted or null. */
export const optionalParam = <Value>(name: string, read: Param<Value>["read"]): Param<Value | undefined> => ({
  ...{ name, isOptional: true },
  read: (value, name, state) => optional(value, name, (given) => read(given, name, state)),
});

type ValuesOf<Params extends readonly Param<unknown>[]> = {
  -readonly [Index in keyof Params]: Params[Index] extends Param<infer Value> ? Value : never;
};

export interface Method {
  readonly params: readonly Param<unknown>[];
  /** Whether it needs the token of the control plane, because it controls the chain or acts for an account. */
  readonly isControl: boolean;
  /** @throws RpcError */
  readonly perform: (node: NodeContext, ...values: never) => unknown;
}

export type Methods = Readonly<Record<string, Method>>;

const method =
  (isControl: boolean) =>
  <const Params extends readonly Param<unknown>[]>(
    params: Params,
    perform: (node: NodeContext, ...values: ValuesOf<Params>) => unknown,
  ): Method => ({ params, isControl, perform });

export const open = method(false);
export const control = method(true);

/** Returns each method under its names in anvil and Hardhat. */
export const aliased = (methods: Methods): Methods =>
  Object.fromEntries(
    Object.entries(methods).flatMap(([name, method]): [string, Method][] => [
      [`anvil_${name}`, method],
      [`hardhat_${name}`, method],
    ]),
  );
