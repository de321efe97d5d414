import { type Block, blockAt, headOf } from "../core/chain/chain.ts";
import { blockHash, blockOfHash, transactionHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { State } from "../core/state.ts";
import { type Methods, type NodeContext, open, param } from "./context.ts";
import { type LogCursor, newEntries, type Subject } from "./cursors.ts";
import { ChainChanged, invalidParams, LazyList, RpcError } from "./json-rpc.ts";
import { findLogs, readLogQuery } from "./log-search.ts";
import * as read from "./parameters.ts";

/** Maximum number of filters. For a new one above it, the filter polled least recently is deleted. */
const MAX_FILTERS = 1_000;

const FILTER = param("filter", read.object);
const ID = param("filter", read.id("eth_newFilter"));

/** The methods of logs and filters. */
export const filterMethods: Methods = {
  eth_getLogs: open([FILTER], ({ state, logIndex }, fields) => {
    const { from, to } = readRange(state, fields);
    const end = Math.min(to, headOf(state.chain));
    return new LazyList(findLogs(state, logIndex, readLogQuery(fields), from, end));
  }),
  eth_newFilter: open([FILTER], (node, fields) => {
    if (fields.blockHash !== undefined) {
      throw invalidParams("filter: expected no blockHash, because a filter is for new blocks");
    }
    const { from, to } = readRange(node.state, fields);
    const hasFrom = (fields.fromBlock ?? null) !== null;
    const hasEnd = !["latest", "pending"].includes(read.tag(fields.toBlock ?? "latest") as string);
    const range = { from: hasFrom ? from : undefined, to: hasEnd ? to : undefined };
    return addFilter(node, { ...readLogQuery(fields), ...range });
  }),
  eth_newBlockFilter: open([], (node) => addFilter(node, "newHeads")),
  eth_newPendingTransactionFilter: open([], (node) => addFilter(node, "newPendingTransactions")),
  eth_getFilterChanges: open([ID], (node, id) => {
    const { state, filters, cursors } = node;
    cursors.follow(state);
    const cursor = filters.get(id);
    if (cursor === undefined) throw filterNotFound();
    filters.delete(id);
    filters.set(id, cursor);
    if (cursor.kind === "logs") return new LazyList(newLogs(node, cursor));
    const hashOfBlock = (block: Block) => blockHash(state, block);
    return [...newEntries(state.chain, cursor, hashOfBlock, (each) => transactionHash(state, each))];
  }),
  eth_getFilterLogs: open([ID], ({ state, filters, logIndex }, id) => {
    const cursor = filters.get(id);
    if (cursor?.kind !== "logs") throw filterNotFound();
    const head = headOf(state.chain);
    const { from = head, to = head } = cursor.query;
    return new LazyList(findLogs(state, logIndex, cursor.query, from, Math.min(to, head)));
  }),
  eth_uninstallFilter: open([ID], removeFilter),
};

const filterNotFound = (): RpcError => new RpcError("SERVER_ERROR", "filter not found");

/** Adds a filter for new entries, and returns its id. A filter of logs that has a beginning also reports existing blocks. */
function addFilter(node: NodeContext, subject: Subject): string {
  const { state, cursors, filters } = node;
  node.filtersAdded += 1;
  const id = `0x${node.filtersAdded.toString(16)}`;
  filters.set(id, cursors.add(state, subject));
  if (filters.size > MAX_FILTERS) removeFilter(node, filters.keys().next().value as string);
  return id;
}

/** Deletes a filter; returns false if there is none. */
function removeFilter({ cursors, filters }: NodeContext, id: string): boolean {
  const cursor = filters.get(id);
  if (cursor !== undefined) cursors.delete(cursor);
  return filters.delete(id);
}

/**
 * Finds the logs of a filter that are yet to be reported. They count as reported once all were iterated.
 * @throws ChainChanged if another call has reported the same logs meanwhile.
 */
function* newLogs({ state, logIndex }: NodeContext, cursor: LogCursor) {
  const { chain } = state;
  const { query, removed, last: before } = cursor;
  const { from = 0, to = headOf(chain) } = query;
  const last = Math.min(headOf(chain), to);
  const first = Math.max(from, before + 1);
  const firstUnsafe = Math.max(first, finalHeight(state) + 1);
  const reported = cursor.reported.filter(({ block }) => block.height > finalHeight(state));
  yield removed;
  yield* findLogs(state, logIndex, query, first, Math.min(last, firstUnsafe - 1));
  for (let height = firstUnsafe; height <= last; height += 1) {
    const logs: string[] = [];
    for (const found of findLogs(state, logIndex, query, height, height)) {
      logs.push(...(found ?? []));
      yield found;
    }
    if (logs.length > 0) reported.push({ block: blockAt(chain, height) as Block, logs });
  }
  if (cursor.last !== before) throw new ChainChanged();
  Object.assign(cursor, { reported, removed: [], last: Math.max(before, last) });
}

/** Reads a range of heights, both ends included; by default the latest block. The end may be above the head. */
function readRange(state: State, { blockHash, fromBlock, toBlock }: Readonly<Record<string, unknown>>) {
  const hash = read.optional(blockHash, "blockHash", read.hash);
  if (hash !== undefined) {
    if ((fromBlock ?? null) !== null || (toBlock ?? null) !== null) {
      throw invalidParams("cannot specify both blockHash and fromBlock/toBlock, choose one or the other");
    }
    const block = blockOfHash(state, hash);
    if (block === undefined) throw new RpcError("SERVER_ERROR", `unknown block: ${hash}`);
    return { from: block.height, to: block.height };
  }
  const head = headOf(state.chain);
  const from = readHeight(state, fromBlock, "fromBlock");
  if (from > head && read.tag(fromBlock) !== "pending") read.outOfRange(head, from);
  return { from, to: readHeight(state, toBlock, "toBlock") };
}

/** Reads a height, by default the head. The pending block is above the head. */
function readHeight(state: State, value: unknown, name: string): number {
  const height = read.height(value ?? "latest", name, state);
  return height === "pending" ? headOf(state.chain) + 1 : height;
}
