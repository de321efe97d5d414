import { scheduler } from "node:timers/promises";
import type { NotificationSink } from "../api/chain-rpc.ts";
import { type Block, blockAt, headBlock } from "../core/chain/chain.ts";
import { transactionHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import { quoted } from "../core/format.ts";
import type { State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import type { Log } from "./abis.ts";
import { type Methods, type NodeContext, open, optionalParam, param } from "./context.ts";
import { type Cursor, type EntryCursor, type LogCursor, newEntries, type Subject } from "./cursors.ts";
import { invalidParams, RpcError } from "./json-rpc.ts";
import { isWanted, readLogQuery } from "./log-search.ts";
import { contractIds, LogTexts, logsOf } from "./logs.ts";
import * as read from "./parameters.ts";
import { blockObject, transactionObject, transactionsIn } from "./replies.ts";

const MAX_SUBSCRIPTIONS = 1_000;
const MAX_CACHED_BLOCKS = 4;

/** The logs of one block with their JSON, shared by all subscriptions. */
const noLogs = () => ({ logs: [] as Log[], texts: [] as string[] });
type BlockLogs = ReturnType<typeof noLogs>;

/**
 * The subscriptions of all connected clients. Each has its own cursor, which advances while its client has room: a slow
 * client delays no other, and nothing is queued for it.
 */
export class Subscriptions {
  readonly node: NodeContext;
  readonly #clients = new Set<Subscriber>();
  /** Clients that may have something to send. */
  readonly #ready = new Set<Subscriber>();
  #isSending = false;
  #isWaking = false;
  /** Head of the chain when clients were last woken; null after a rewind. */
  #lastHead: Block | null = null;
  /** Number of transactions when clients were last woken. */
  #lastTransactions = 0;
  /** The latest blocks of which logs were sent. */
  readonly #logs = new Map<Block, BlockLogs>();

  constructor(node: NodeContext) {
    this.node = node;
    const { exchange } = node;
    const wake = (): void => {
      if (!this.#isWaking && this.#clients.size > 0) void this.#wake();
    };
    exchange.watch(wake);
    exchange.watchRewind(() => {
      this.#lastHead = null;
      wake();
    });
  }

  add(client: Subscriber): void {
    this.#clients.add(client);
  }

  delete(client: Subscriber): void {
    this.#clients.delete(client);
    this.#ready.delete(client);
  }

  /** Wakes clients once in a turn of the event loop, however many commands were applied in it. */
  async #wake(): Promise<void> {
    this.#isWaking = true;
    await scheduler.yield();
    this.#isWaking = false;
    const { chain } = this.node.state;
    const head = headBlock(chain);
    const { size } = chain.transactions;
    const isNewHead = head !== this.#lastHead;
    if (!isNewHead && size === this.#lastTransactions) return;
    this.#lastHead = head;
    this.#lastTransactions = size;
    for (const client of this.#clients) {
      if (isNewHead || client.awaitsTransactions) this.#ready.add(client);
    }
    void this.#send();
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#ready.size > 0) await this.node.slices.run(this.#steps());
    this.#isSending = false;
  }

  *#steps(): Steps<void> {
    for (const client of this.#ready) {
      this.#ready.delete(client);
      yield* client.sendNew();
    }
  }

  /** Returns the logs of a block, from the cache or built in steps; none if the block is replaced meanwhile. */
  *logsIn(block: Block): Steps<BlockLogs> {
    const known = this.#logs.get(block);
    if (known !== undefined) return known;
    const { state } = this.node;
    const ids = contractIds(state);
    const writer = new LogTexts(state, block);
    const { logs, texts } = noLogs();
    for (const transaction of transactionsIn(state, block)) {
      const made = logsOf(state, transaction, ids);
      logs.push(...made);
      texts.push(...writer.of(transaction, made));
      yield;
      if (this.node.state !== state || blockAt(state.chain, block.height) !== block) return noLogs();
    }
    this.#logs.set(block, { logs, texts });
    if (this.#logs.size > MAX_CACHED_BLOCKS) this.#logs.delete(this.#logs.keys().next().value as Block);
    return { logs, texts };
  }
}

/** The subscriptions of one client, by ids that count from `0x1` for each client. */
export class Subscriber {
  readonly #hub: Subscriptions;
  readonly #sink: NotificationSink;
  readonly #subscriptions = new Map<string, Cursor>();
  #added = 0;

  constructor(hub: Subscriptions, sink: NotificationSink) {
    this.#hub = hub;
    this.#sink = sink;
    hub.add(this);
  }

  get awaitsTransactions(): boolean {
    for (const { kind } of this.#subscriptions.values()) if (kind === "newPendingTransactions") return true;
    return false;
  }

  /** Adds a subscription and returns its id. @throws RpcError if there are too many. */
  subscribe(subject: Subject, isFull = false): string {
    if (this.#subscriptions.size === MAX_SUBSCRIPTIONS) {
      throw new RpcError("LIMIT_EXCEEDED", `a connection has at most ${MAX_SUBSCRIPTIONS} subscriptions`);
    }
    const { state, cursors } = this.#hub.node;
    this.#added += 1;
    const id = `0x${this.#added.toString(16)}`;
    this.#subscriptions.set(id, cursors.add(state, subject, isFull));
    return id;
  }

  /** Ends a subscription; returns false if there is none of this id. */
  unsubscribe(id: string): boolean {
    const cursor = this.#subscriptions.get(id);
    if (cursor === undefined) return false;
    this.#hub.node.cursors.delete(cursor);
    return this.#subscriptions.delete(id);
  }

  /** Sends new notifications while the sink has room: a slice now, the others in turn with other jobs. */
  async sendPending(): Promise<void> {
    if (this.#subscriptions.size === 0) return;
    await this.#hub.node.slices.run(this.sendNew());
  }

  close(): void {
    for (const id of this.#subscriptions.keys()) this.unsubscribe(id);
    this.#hub.delete(this);
  }

  /** Sends new notifications while the sink has room. A defect ends them. */
  *sendNew(): Steps<void> {
    try {
      for (const [id, cursor] of this.#subscriptions) {
        while (this.#sink.hasRoom && this.#subscriptions.has(id)) {
          const { state, cursors } = this.#hub.node;
          cursors.follow(state);
          const isSent =
            cursor.kind === "logs" ? yield* this.#sendLogs(id, cursor) : this.#sendNext(id, cursor);
          if (!isSent) break;
          yield;
        }
      }
    } catch (defect) {
      this.close();
      this.#sink.fail(defect);
    }
  }

  /** Sends the next block or transaction; returns false if there is none. */
  #sendNext(id: string, cursor: EntryCursor): boolean {
    const { state } = this.#hub.node;
    const { value: text } = newEntries(
      state.chain,
      cursor,
      (block) => headText(state, block),
      (transaction) => pendingText(state, transaction, cursor.isFull),
    ).next();
    if (text !== undefined) this.#sink.send(notification(id, text));
    return text !== undefined;
  }

  /** Sends a removed log or the logs of the next block; returns false if there is neither. */
  *#sendLogs(id: string, cursor: LogCursor): Steps<boolean> {
    const { node } = this.#hub;
    const removed = cursor.removed.shift();
    if (removed !== undefined) {
      this.#sink.send(notification(id, removed));
      return true;
    }
    const block = blockAt(node.state.chain, cursor.last + 1);
    if (block === undefined) return false;
    if (block.logs > 0) {
      const { logs, texts } = yield* this.#hub.logsIn(block);
      node.cursors.follow(node.state);
      const isSame = blockAt(node.state.chain, cursor.last + 1) === block;
      if (!isSame || !this.#subscriptions.has(id)) return true;
      const reported = this.#reportedOf(cursor, block);
      for (; cursor.checked < logs.length; cursor.checked += 1) {
        if (!isWanted(cursor.query, logs[cursor.checked] as Log)) continue;
        if (!this.#sink.hasRoom) return true;
        const text = texts[cursor.checked] as string;
        reported.push(text);
        this.#sink.send(notification(id, text));
      }
    }
    cursor.last += 1;
    cursor.checked = 0;
    return true;
  }

  /** Returns the list of the reported logs of a block, and deletes those of final blocks. */
  #reportedOf(cursor: LogCursor, block: Block): string[] {
    const last = cursor.reported.at(-1);
    if (last?.block === block) return last.logs;
    const final = finalHeight(this.#hub.node.state);
    const reported = { block, logs: [] };
    cursor.reported = [...cursor.reported.filter((each) => each.block.height > final), reported];
    return reported.logs;
  }
}

const notification = (id: string, result: string): string =>
  `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${result}}}`;

/** Writes the header of a block, as nodes report new heads. */
function headText(state: State, block: Block): string {
  const whole = blockObject(state, block, false) as Readonly<Record<string, unknown>>;
  const { transactions, uncles, size, totalDifficulty, withdrawals, ...header } = whole;
  return JSON.stringify(header);
}

/** Writes a transaction as pending, even if it was mined meanwhile. */
const pendingText = (state: State, transaction: Transaction, isFull: boolean): string =>
  JSON.stringify(isFull ? transactionObject(state, transaction, null) : transactionHash(state, transaction));

const KIND = param("subscription", (value) => {
  if (value === "newHeads" || value === "logs" || value === "newPendingTransactions") return value;
  const shown = typeof value === "string" ? quoted(value, 60) : String(value);
  throw new RpcError("METHOD_NOT_FOUND", `no ${shown} subscription in eth namespace`);
});

/** The methods of subscriptions; `client` is null for a request over HTTP. */
export function subscriptionMethods(client: Subscriber | null): Methods {
  const connected = (): Subscriber => {
    if (client !== null) return client;
    throw new RpcError("METHOD_NOT_FOUND", "notifications not supported: subscribe over WebSocket");
  };
  return {
    eth_subscribe: open([KIND, optionalParam("options", (value) => value)], (_node, kind, options) => {
      const subscriber = connected();
      switch (kind) {
        case "logs":
          return subscriber.subscribe(readLogQuery(read.optional(options, "filter", read.object) ?? {}));
        case "newPendingTransactions":
          return subscriber.subscribe(kind, read.optional(options, "full transactions", read.boolean));
        default:
          if (options === undefined) return subscriber.subscribe(kind);
          throw invalidParams(`a subscription to ${kind} has no options`);
      }
    }),
    eth_unsubscribe: open([param("subscription", read.id("eth_subscribe"))], (_node, id) => {
      if (connected().unsubscribe(id)) return true;
      throw new RpcError("SERVER_ERROR", "subscription not found");
    }),
  };
}
