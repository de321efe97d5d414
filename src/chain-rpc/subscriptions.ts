import type { Block } from "../core/chain/chain.ts";
import { blockAt, headBlock } from "../core/chain/chain.ts";
import { transactionHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import type { State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Slices } from "../engine/slices.ts";
import type { Log } from "./abis.ts";
import { type Asked, fromNow, isGivenUp, lastOf, putBack, type Told, type ToldLogs } from "./filters.ts";
import { RpcError } from "./json-rpc.ts";
import { SeenChain } from "./log-index.ts";
import { isWanted, LogTexts } from "./log-queries.ts";
import { ContractIds, logsOf } from "./logs.ts";
import { blockReply, transactionReply, transactionsIn } from "./replies.ts";

const MAX_SUBSCRIPTIONS = 1_000;
const MAX_HEADS = 64;
const MAX_BLOCKS_OF_LOGS = 4;

/** Where a client is told what it has subscribed to. */
export interface Sink {
  /** Whether it takes more. Once it does again, it calls `Subscriber.tell`. */
  readonly hasRoom: boolean;
  /** Takes a notification: its JSON, or the bytes of that, which many may share. */
  send(notification: string | Buffer): void;
  /** What is next cannot be told, which is a defect. */
  fail(defect: unknown): void;
}

/** The logs of one block, made once for all who may want them. */
interface BlockLogs {
  readonly logs: readonly Log[];
  readonly texts: readonly string[];
}

const NO_LOGS: BlockLogs = { logs: [], texts: [] };

/** The header of one block, and the notifications of it by the ids of subscriptions: bytes that all clients share. */
interface Head {
  readonly text: string;
  readonly messages: Map<string, Buffer>;
}

/** Keeps what was made lately, and is likely to be wanted by others: so many of them at most. */
function keep<Key, Value>(recent: Map<Key, Value>, max: number, key: Key, value: Value): void {
  recent.set(key, value);
  if (recent.size > max) recent.delete(recent.keys().next().value as Key);
}

/**
 * The clients that want to be told what happens to the chain. Each has its own place in it, from which it is told more
 * when it has room: a slow client holds up nobody, and nothing waits for it in memory. While nobody has subscribed, the
 * exchange is not watched.
 */
export class Subscriptions {
  readonly #exchange: Exchange;
  readonly #slices: Slices;
  readonly #seen = new SeenChain();
  readonly #subscribers = new Set<Subscriber>();
  /** Whoever may have something to be told. */
  readonly #ready = new Set<Subscriber>();
  #isTelling = false;
  #isWoken = false;
  #stopWatching: (() => void)[] = [];
  /** What everybody was told of who had room. */
  #toldBlock: Block | null = null;
  #toldTransactions = 0;
  /** How many transactions there were when the chain was last followed. */
  #transactions = 0;
  readonly #heads = new Map<Block, Head>();
  readonly #logs = new Map<Block, BlockLogs>();

  constructor(exchange: Exchange, slices: Slices) {
    this.#exchange = exchange;
    this.#slices = slices;
  }

  /** A client that may subscribe, until it is closed. */
  connect(sink: Sink): Subscriber {
    return new Subscriber(this, sink);
  }

  get state(): State {
    return this.#exchange.state;
  }

  /** Takes in what a client has subscribed to, and watches the exchange as long as anybody has. */
  update(subscriber: Subscriber): void {
    if (subscriber.size > 0) this.#subscribers.add(subscriber);
    else {
      this.#subscribers.delete(subscriber);
      this.#ready.delete(subscriber);
    }
    if (this.#subscribers.size > 0 && this.#stopWatching.length === 0) this.#watch();
    if (this.#subscribers.size === 0) this.#forget();
  }

  #watch(): void {
    this.#noteTold();
    const wake = (): void => this.#wake();
    const putBack = (): void => {
      this.follow();
      this.#wake();
    };
    this.#stopWatching = [this.#exchange.watch(wake), this.#exchange.watchRewind(putBack)];
  }

  #forget(): void {
    for (const stop of this.#stopWatching) stop();
    this.#stopWatching = [];
    this.#seen.forget();
    this.#heads.clear();
    this.#logs.clear();
  }

  /** Tells a client what is new, now or when others have had their turn. */
  tell(subscriber: Subscriber): void {
    this.#ready.add(subscriber);
    if (!this.#isTelling) void this.#tellReady();
  }

  /** Once in a turn of the event loop, however many commands it has brought. */
  #wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    setImmediate(() => {
      this.#isWoken = false;
      this.#tellNews();
    });
  }

  #tellNews(): void {
    const { chain } = this.state;
    const isNewChain = headBlock(chain) !== this.#toldBlock;
    const hasArrived = chain.transactions.size !== this.#toldTransactions;
    this.#noteTold();
    if (!isNewChain && !hasArrived) return;
    for (const subscriber of this.#subscribers) {
      if (isNewChain || subscriber.awaitsTransactions) this.#ready.add(subscriber);
    }
    if (this.#ready.size > 0 && !this.#isTelling) void this.#tellReady();
  }

  #noteTold(): void {
    const { chain } = this.state;
    this.#toldBlock = headBlock(chain);
    this.#toldTransactions = chain.transactions.size;
  }

  async #tellReady(): Promise<void> {
    this.#isTelling = true;
    try {
      await this.#slices.run(this.#steps());
    } finally {
      this.#isTelling = false;
    }
    if (this.#ready.size > 0) void this.#tellReady();
  }

  *#steps(): Steps<void> {
    for (const subscriber of this.#ready) {
      this.#ready.delete(subscriber);
      try {
        yield* subscriber.news();
      } catch (defect) {
        subscriber.fail(defect);
      }
    }
  }

  /** Takes in the chain as it is: whoever was told of what is gone is told that, and of what stands in its place. */
  follow(): void {
    const { chain } = this.state;
    const stays = this.#seen.follow(chain);
    const isPutBack = stays !== null || chain.transactions.size < this.#transactions;
    this.#transactions = chain.transactions.size;
    if (!isPutBack) return;
    for (const subscriber of this.#subscribers) subscriber.putBack(this.state, stays ?? this.#seen.top);
  }

  /** A head as the subscription of an id is told of it. */
  headMessage(block: Block, id: string): Buffer {
    const head = this.#heads.get(block) ?? { text: headText(this.state, block), messages: new Map() };
    keep(this.#heads, MAX_HEADS, block, head);
    const message = head.messages.get(id) ?? Buffer.from(notification(id, head.text));
    head.messages.set(id, message);
    return message;
  }

  /** The logs of a block, made in steps unless they are those that were asked for last. */
  *logsIn(block: Block): Steps<BlockLogs> {
    const known = this.#logs.get(block);
    if (known !== undefined) return known;
    const { state } = this;
    const ids = new ContractIds(state);
    const source = new LogTexts(state, block);
    const [logs, texts]: [Log[], string[]] = [[], []];
    for (const transaction of transactionsIn(state, block)) {
      const made = logsOf(state, transaction, ids);
      logs.push(...made);
      texts.push(...source.of(transaction, made));
      yield;
      if (this.state !== state || blockAt(state.chain, block.height) !== block) return NO_LOGS;
    }
    keep(this.#logs, MAX_BLOCKS_OF_LOGS, block, { logs, texts });
    return { logs, texts };
  }
}

/** One client: what it has subscribed to, by the ids that count from `0x1` for each. */
export class Subscriber {
  readonly #hub: Subscriptions;
  readonly #sink: Sink;
  readonly #subscriptions = new Map<string, Told>();
  #added = 0;

  constructor(hub: Subscriptions, sink: Sink) {
    this.#hub = hub;
    this.#sink = sink;
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  get awaitsTransactions(): boolean {
    for (const { kind } of this.#subscriptions.values()) if (kind === "newPendingTransactions") return true;
    return false;
  }

  /** @throws RpcError when it has too many subscriptions. */
  subscribe(asked: Asked, isFull = false): string {
    if (this.#subscriptions.size === MAX_SUBSCRIPTIONS) {
      throw new RpcError("LIMIT_EXCEEDED", `a connection has at most ${MAX_SUBSCRIPTIONS} subscriptions`);
    }
    this.#hub.follow();
    this.#added += 1;
    const id = `0x${this.#added.toString(16)}`;
    this.#subscriptions.set(id, fromNow(this.#hub.state.chain, asked, isFull));
    this.#hub.update(this);
    return id;
  }

  /** Ends a subscription; false when there is none of this id. */
  unsubscribe(id: string): boolean {
    const isThere = this.#subscriptions.delete(id);
    if (isThere) this.#hub.update(this);
    return isThere;
  }

  /** Goes on telling, now that the sink has room. */
  tell(): void {
    if (this.#subscriptions.size > 0) this.#hub.tell(this);
  }

  close(): void {
    this.#subscriptions.clear();
    this.#hub.update(this);
  }

  fail(defect: unknown): void {
    this.close();
    this.#sink.fail(defect);
  }

  /** The chain is unchanged up to a height, which may be all of it. */
  putBack(state: State, stays: number): void {
    for (const told of this.#subscriptions.values()) putBack(state, told, stays);
  }

  /** Tells what is new, as long as there is room. */
  *news(): Steps<void> {
    for (const [id, told] of this.#subscriptions) {
      while (this.#sink.hasRoom && this.#subscriptions.has(id)) {
        this.#hub.follow();
        if (!(yield* this.#tellNext(id, told))) break;
        yield;
      }
    }
  }

  /** Tells what comes next of one subscription; false when there is nothing. */
  *#tellNext(id: string, told: Told): Steps<boolean> {
    if (told.kind === "logs") return yield* this.#tellLogs(id, told);
    const { state } = this.#hub;
    if (told.upTo >= lastOf(state.chain, told.kind)) return false;
    told.upTo += 1;
    if (told.kind === "newHeads") {
      this.#sink.send(this.#hub.headMessage(blockAt(state.chain, told.upTo) as Block, id));
      return true;
    }
    const transaction = state.chain.transactions.get(told.upTo);
    if (!isGivenUp(transaction))
      this.#sink.send(notification(id, pendingText(state, transaction, told.isFull)));
    return true;
  }

  *#tellLogs(id: string, told: ToldLogs): Steps<boolean> {
    const { state } = this.#hub;
    const { removed, query } = told;
    const taken = removed.shift();
    if (taken !== undefined) {
      this.#sink.send(notification(id, taken));
      return true;
    }
    const block = blockAt(state.chain, told.upTo + 1);
    if (block === undefined) return false;
    if (block.logs > 0) {
      const { logs, texts } = yield* this.#hub.logsIn(block);
      this.#hub.follow();
      const isSame = blockAt(this.#hub.state.chain, told.upTo + 1) === block;
      if (!isSame || !this.#subscriptions.has(id)) return true;
      const report = this.#reportOf(told, block);
      for (; told.place < logs.length; told.place += 1) {
        if (!isWanted(query, logs[told.place] as Log)) continue;
        if (!this.#sink.hasRoom) return true;
        const text = texts[told.place] as string;
        report.push(text);
        this.#sink.send(notification(id, text));
      }
    }
    told.upTo += 1;
    told.place = 0;
    return true;
  }

  /** Where is noted what is told of a block; of those that are final nothing needs to be known. */
  #reportOf(told: ToldLogs, block: Block): string[] {
    const last = told.reported.at(-1);
    if (last?.block === block) return last.logs;
    const final = finalHeight(this.#hub.state);
    told.reported = told.reported.filter((each) => each.block.height > final);
    const report = { block, logs: [] };
    if (block.height > final) told.reported.push(report);
    return report.logs;
  }
}

const notification = (id: string, result: string): string =>
  `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${id}","result":${result}}}`;

/** A block as nodes tell of a new head: its header. */
function headText(state: State, block: Block): string {
  const { transactions, uncles, size, totalDifficulty, withdrawals, ...header } = blockReply(
    state,
    block,
    false,
  ) as Readonly<Record<string, unknown>>;
  return JSON.stringify(header);
}

/** A transaction as it is told when it comes in, whatever has become of it since. */
function pendingText(state: State, transaction: Transaction, isFull: boolean): string {
  if (!isFull) return JSON.stringify(transactionHash(state, transaction));
  const { blockTimestamp, ...fields } = transactionReply(state, transaction) as Readonly<
    Record<string, unknown>
  >;
  return JSON.stringify({ ...fields, blockHash: null, blockNumber: null, transactionIndex: null });
}
