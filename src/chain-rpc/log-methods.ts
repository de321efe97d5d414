import { headOf } from "../core/chain/chain.ts";
import { blockOfHash } from "../core/chain/chain-hashes.ts";
import type { State } from "../core/state.ts";
import { type Methods, type NodeContext, open, optionalParam, param } from "./context.ts";
import { invalidParams, LazyList, RpcError } from "./json-rpc.ts";
import { findLogs, readLogQuery } from "./log-queries.ts";
import { optional, outOfRange, readBoolean, reader, readHash, readHeight, readObject } from "./params.ts";
import type { Subscriber } from "./subscriptions.ts";

const FILTER = param("filter", readObject);
const readId = (from: string) =>
  reader(`an id returned by ${from}`, (value) => (typeof value === "string" ? value.toLowerCase() : null));
const ID = param("filter", readId("eth_newFilter"));

/** The methods of logs and filters. */
export const logMethods: Methods = {
  eth_getLogs: open([FILTER], ({ state, logIndex }, fields) => {
    const { from, to } = readRange(state, fields);
    return LazyList.ofTexts(findLogs(state, logIndex, readLogQuery(fields), from, to));
  }),
  eth_newFilter: open([FILTER], ({ state, filters }, fields) => {
    if (fields.blockHash !== undefined) {
      throw invalidParams("filter: expected no blockHash, because a filter is for new blocks");
    }
    const { from } = readRange(state, fields);
    const hasFrom = fields.fromBlock !== undefined && fields.fromBlock !== null;
    return filters.add(state, readLogQuery(fields), hasFrom ? from : null, endOfFilter(state, fields));
  }),
  eth_newBlockFilter: open([], ({ state, filters }) => filters.add(state, "newHeads")),
  eth_newPendingTransactionFilter: open([], ({ state, filters }) =>
    filters.add(state, "newPendingTransactions"),
  ),
  eth_getFilterChanges: open([ID], ({ state, filters }, id) => {
    const changes = filters.changes(state, id);
    if (changes === undefined) throw filterNotFound();
    return changes;
  }),
  eth_getFilterLogs: open([ID], allLogs),
  eth_uninstallFilter: open([ID], ({ filters }, id) => filters.remove(id)),
};

/** Finds all logs of a filter's range in the current chain; by default from the latest block on. */
function allLogs({ state, filters, logIndex }: NodeContext, id: string): LazyList {
  const filter = filters.find(id);
  if (filter?.cursor.kind !== "logs") throw filterNotFound();
  const head = headOf(state.chain);
  const to = Math.min(filter.to ?? head, head);
  return LazyList.ofTexts(findLogs(state, logIndex, filter.cursor.query, filter.from ?? head, to));
}

const filterNotFound = (): RpcError => new RpcError("SERVER_ERROR", "filter not found");

/** Reads a range of heights, both ends included; by default the latest block. */
function readRange(
  state: State,
  { blockHash, fromBlock, toBlock }: Readonly<Record<string, unknown>>,
): { readonly from: number; readonly to: number } {
  const hash = optional(blockHash, "blockHash", readHash);
  if (hash !== undefined) {
    if ((fromBlock ?? null) !== null || (toBlock ?? null) !== null) {
      throw invalidParams("cannot specify both blockHash and fromBlock/toBlock, choose one or the other");
    }
    const block = blockOfHash(state, hash);
    if (block === undefined) throw new RpcError("SERVER_ERROR", `unknown block: ${hash}`);
    return { from: block.height, to: block.height };
  }
  const head = headOf(state.chain);
  const from = readHeightOrHead(state, fromBlock, "fromBlock");
  if (from > head && fromBlock !== "pending") outOfRange(head, from);
  return { from, to: Math.min(head, readHeightOrHead(state, toBlock, "toBlock")) };
}

/** Reads the last height of a filter; null if it has no end. */
function endOfFilter(state: State, { toBlock }: Readonly<Record<string, unknown>>): number | null {
  const isOpen = [undefined, null, "latest", "pending"].includes(toBlock as string | null | undefined);
  return isOpen ? null : readHeightOrHead(state, toBlock, "toBlock");
}

/** Reads a height, by default the head. The pending block is above the head. */
function readHeightOrHead(state: State, value: unknown, name: string): number {
  const height = readHeight(value ?? "latest", name, state);
  return height === "pending" ? headOf(state.chain) + 1 : height;
}

const KIND = param("subscription", (value) => {
  if (value === "newHeads" || value === "logs" || value === "newPendingTransactions") return value;
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : String(value);
  throw new RpcError("METHOD_NOT_FOUND", `no ${shown} subscription in eth namespace`);
});
const SUBSCRIPTION = param("subscription", readId("eth_subscribe"));

/** The methods of subscriptions; `client` is null for a request over HTTP. */
export const subscriptionMethods = (client: Subscriber | null): Methods => ({
  eth_subscribe: open([KIND, optionalParam("options", (value) => value)], (_node, kind, options) => {
    const subscriber = requireConnection(client);
    switch (kind) {
      case "logs":
        return subscriber.subscribe(readLogQuery(optional(options, "filter", readObject) ?? {}));
      case "newPendingTransactions":
        return subscriber.subscribe(kind, optional(options, "full transactions", readBoolean) ?? false);
      default:
        if (options === undefined) return subscriber.subscribe(kind);
        throw invalidParams(`a subscription to ${kind} has no options`);
    }
  }),
  eth_unsubscribe: open([SUBSCRIPTION], (_node, id) => {
    if (requireConnection(client).unsubscribe(id)) return true;
    throw new RpcError("SERVER_ERROR", "subscription not found");
  }),
});

function requireConnection(client: Subscriber | null): Subscriber {
  if (client !== null) return client;
  throw new RpcError("METHOD_NOT_FOUND", "notifications not supported: subscribe over WebSocket");
}
