import { type Block, blockAt, type Chain, headOf } from "../core/chain/chain.ts";
import { orderHash } from "../core/chain/chain-hashes.ts";
import { CONTRACTS, ZERO_ADDRESS } from "../core/chain/contracts.ts";
import { tradesOf } from "../core/chain/settlement.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import { numberOf } from "../core/ids.ts";
import { marketOfToken } from "../core/market.ts";
import { FEES, type State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import { countAtMost, countWhile } from "../core/table.ts";
import type { Address } from "../core/terms.ts";
import { type Log, TOPICS } from "./abis.ts";
import { invalidParams, quantity, RpcError } from "./json-rpc.ts";
import { contractIds, LogTexts, logsOf } from "./logs.ts";
import * as read from "./parameters.ts";

/**
 * The blocks of a chain by height, as of the last call of `follow`. A reorganization, a restored snapshot or a reset
 * replaces blocks; a block itself never changes.
 */
export class FollowedChain {
  readonly #blocks: Block[] = [];

  /** Last height; -1 before the first call of `follow`. */
  get top(): number {
    return this.#blocks.length - 1;
  }

  /** Updates the blocks. Returns null if none was replaced, else the height of the last common block, -1 for none. */
  follow(chain: Chain): number | null {
    const { top } = this;
    const isSame = (height: number): boolean => blockAt(chain, height) === this.#blocks[height];
    // By binary search, because chains have no common block after a fork.
    const forkHeight = top >= 0 && isSame(top) ? top : countWhile(top + 1, isSame) - 1;
    this.#blocks.length = forkHeight + 1;
    for (let height = forkHeight + 1; height <= headOf(chain); height += 1) {
      this.#blocks.push(blockAt(chain, height) as Block);
    }
    return forkHeight === top ? null : forkHeight;
  }
}

/** Addresses in almost every transaction; they are not indexed. */
const UNSELECTIVE: ReadonlySet<string> = new Set([
  ZERO_ADDRESS,
  CONTRACTS.conditionalTokens,
  CONTRACTS.exchange,
]);
/** Topics in the logs of every match. */
const MATCH_TOPICS: ReadonlySet<string> = new Set([
  TOPICS.Transfer,
  TOPICS.TransferSingle,
  TOPICS.OrderFilled,
  TOPICS.OrdersMatched,
]);
/** Default number of transactions up to which a range is scanned without the index. */
const MAX_SCANNED = 1_000;
const TRANSACTIONS_PER_STEP = 64;
/** A topic that may be an address. */
const ADDRESS_TOPIC = /^0x0{24}([0-9a-f]{40})$/;

/** Positions of transactions in mining order, ascending, each once. */
type Positions = number[];

/** Positions, both ends included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Accepted topics by index; null accepts any. */
export type TopicSets = readonly (ReadonlySet<string> | null)[];

/** Key, beside topics, of the calls that a wallet sent and of those that sent it native currency. */
export const walletTopic = (address: Address): string => `wallet ${address}`;

/**
 * Index from topics to the transactions that may have a log with them. Matches, which are most transactions, are indexed by
 * their trades, all others by their logs. Each query first adds new blocks and removes orphaned ones.
 */
export class LogIndex {
  readonly #maxScanned: number;
  readonly #chain = new FollowedChain();
  /** By topic; a topic that may be an address is stored as the address. */
  readonly #byTopic = new Map<string, Positions>();
  readonly #matches: Positions = [];
  /** Last indexed position. */
  #indexed = 0;

  constructor(maxScanned = MAX_SCANNED) {
    this.#maxScanned = maxScanned;
  }

  /**
   * Returns the positions of the transactions that may have a log with one of the given topics at each place: all of a
   * small range, else those of the most selective place. They include other and orphaned transactions. The chain may only
   * grow between the steps.
   */
  *candidates(state: State, places: TopicSets, range: Range): Steps<Iterable<number>> {
    const { from, to } = range;
    if (to - from < this.#maxScanned) return all(range);
    yield* this.#update(state);
    let fewest = to - from + 1;
    let shortest: readonly (readonly [Positions, number, number])[] | null = null;
    for (const place of places) {
      const lists = place === null ? null : this.#lists(state, place);
      if (lists === null) continue;
      const parts = lists.map((list) => [list, countAtMost(list, from - 1), countAtMost(list, to)] as const);
      const count = parts.reduce((sum, [, start, end]) => sum + end - start, 0);
      if (count < fewest) [fewest, shortest] = [count, parts];
    }
    if (shortest === null) return all(range);
    const found = shortest.flatMap(([list, start, end]) => list.slice(start, end));
    return shortest.length === 1 ? found : ascending(found);
  }

  /** Returns the positions for some topics as lists that may overlap; null if one of the topics is not indexed. */
  #lists(state: State, topics: Iterable<string>): Positions[] | null {
    const lists: Positions[] = [];
    for (const topic of topics) {
      const key = keyOf(topic);
      if (UNSELECTIVE.has(key)) return null;
      if (MATCH_TOPICS.has(topic)) lists.push(this.#matches);
      const found = [this.#byTopic.get(key), ofOrder(state, topic)];
      lists.push(...found.filter((list) => list !== undefined));
    }
    return lists;
  }

  *#update(state: State): Steps<void> {
    const { chain } = state;
    const forkHeight = this.#chain.follow(chain);
    if (forkHeight !== null) {
      this.#indexed = forkHeight < 0 ? 0 : Math.min(this.#indexed, endOf(chain, forkHeight));
      for (const list of [this.#matches, ...this.#byTopic.values()]) {
        list.length = countAtMost(list, this.#indexed);
      }
    }
    for (const last = endOf(chain, this.#chain.top); this.#indexed < last; ) {
      this.#indexed += 1;
      const transaction = transactionAt(chain, this.#indexed);
      if (transaction !== undefined) this.#add(state, transaction, this.#indexed);
      if (this.#indexed % TRANSACTIONS_PER_STEP === 0) yield;
    }
  }

  #add(state: State, transaction: Transaction, position: number): void {
    const { content } = transaction;
    if (content === null) {
      this.#addMatch(state, transaction, position);
      return;
    }
    if (content.kind === "call") {
      this.#addKey(walletTopic(content.from), position);
      if (content.value !== "0") this.#addKey(walletTopic(content.to), position);
    }
    for (const { topics } of logsOf(state, transaction)) {
      for (const key of topics.map(keyOf)) if (!UNSELECTIVE.has(key)) this.#addKey(key, position);
    }
  }

  #addMatch(state: State, transaction: Transaction, position: number): void {
    if (transaction.status !== "MINED") return;
    const { orders, accounts, markets } = state;
    this.#matches.push(position);
    const addOwner = (order: number): void =>
      this.#addKey(accounts.get(orders.get(order).account).address, position);
    for (const { taker, maker, matchType, fee } of tradesOf(state, transaction)) {
      addOwner(taker);
      addOwner(maker);
      if (fee > 0) {
        this.#addKey(accounts.get(FEES).address, position);
        this.#addKey(TOPICS.FeeCharged, position);
      }
      if (matchType === "COMPLEMENTARY") continue;
      this.#addKey(markets.get(marketOfToken(orders.get(taker).token)).conditionId, position);
      this.#addKey(TOPICS.TransferBatch, position);
      this.#addKey(matchType === "MINT" ? TOPICS.PositionSplit : TOPICS.PositionsMerge, position);
    }
  }

  /** Adds a position that is not below the last one of its key. */
  #addKey(key: string, position: number): void {
    const positions = this.#byTopic.get(key);
    if (positions === undefined) this.#byTopic.set(key, [position]);
    else if (positions.at(-1) !== position) positions.push(position);
  }
}

function* all({ from, to }: Range): Generator<number> {
  for (let position = from; position <= to; position += 1) yield position;
}

const ascending = (positions: Iterable<number>): Positions => [...new Set(positions)].sort((a, b) => a - b);

/** Returns the key of a topic: the address if it may be one, else the topic. */
const keyOf = (topic: string): string => {
  const address = ADDRESS_TOPIC.exec(topic)?.[1];
  return address === undefined ? topic : `0x${address}`;
};

/** Returns the position of the last transaction up to a height. */
export function endOf({ blocks, heights }: Chain, height: number): number {
  const { first, count } = blocks.get(heights.get(height + 1));
  return first + count;
}

/** Returns the transaction mined at a position; undefined if its block was orphaned. */
export function transactionAt(chain: Chain, position: number): Transaction | undefined {
  const transaction = chain.transactions.get(chain.mined.get(position));
  return transaction.block !== 0 && positionOf(chain, transaction) === position ? transaction : undefined;
}

/** Returns the position of a transaction in mining order; it must have a block. */
const positionOf = ({ blocks }: Chain, { block, place }: Transaction): number =>
  blocks.get(block).first + place + 1;

const HASH_DIGITS = 32;

/** Returns the positions of the transactions that filled the order of a hash; the hash ends with the order's id. */
function ofOrder(state: State, hash: string): Positions | undefined {
  const digits = hash.slice(-HASH_DIGITS);
  const id = [0, 8, 12, 16, 20].map((from, index, starts) => digits.slice(from, starts[index + 1])).join("-");
  const order = state.orders.find(numberOf(state.idPrefixes.order, id));
  if (order === undefined || orderHash(state, order.number) !== hash) return undefined;
  const found: number[] = [];
  for (let next = order.lastTrade; next !== 0; ) {
    const trade = state.trades.get(next);
    next = trade.taker === order.number ? trade.takerPrevious : trade.makerPrevious;
    const transaction = state.chain.transactions.get(trade.transaction);
    if (transaction.block !== 0) found.push(positionOf(state.chain, transaction));
  }
  return ascending(found);
}

/** Query for logs; null matches any address or topic. */
export interface LogQuery {
  readonly addresses: ReadonlySet<Address> | null;
  readonly topics: TopicSets;
  /** First and last height of a filter; by default it begins above the head, and has no end. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const MAX_TOPICS = 4;
const MAX_VALUES = 1_000;

/** Reads the addresses and topics of a query. @throws RpcError */
export function readLogQuery({ address, topics }: Readonly<Record<string, unknown>>): LogQuery {
  const given = read.optional(topics, "topics", read.list) ?? [];
  if (given.length > MAX_TOPICS) {
    throw invalidParams(`topics: a log has at most ${MAX_TOPICS}, found ${given.length}`);
  }
  return {
    addresses: readAny(address, "address", read.address),
    topics: given.map((topic, index) => readAny(topic, `topics[${index}]`, read.hash)),
  };
}

/** Reads one value or a list. Returns null, which matches any, for no value, an empty list and a list that contains null. */
function readAny(value: unknown, name: string, read: (value: unknown, name: string) => string) {
  const values = Array.isArray(value) ? value : [value ?? null];
  if (values.length > MAX_VALUES) {
    throw new RpcError("LIMIT_EXCEEDED", `${name}: at most ${MAX_VALUES} values, found ${values.length}`);
  }
  if (values.length === 0 || values.includes(null)) return null;
  return new Set(values.map((each) => read(each, name)));
}

export function isWanted({ addresses, topics }: LogQuery, log: Log): boolean {
  if (addresses !== null && !addresses.has(log.address)) return false;
  return topics.every((accepted, index) => {
    const topic = log.topics[index];
    return topic !== undefined && (accepted === null || accepted.has(topic));
  });
}

/** Maximum number of logs in an answer, the limit of public nodes. */
export const MAX_LOGS = 10_000;
const CONTRACT_ADDRESSES: ReadonlySet<string> = new Set(Object.values(CONTRACTS));
const BLOCKS_PER_STEP = 1_000;

/**
 * Finds the logs of a range of blocks that match a query, as JSON, oldest first; those of one transaction in each step,
 * undefined if it has none. If every log matches, the counts of the blocks show that there are too many before any is written.
 * @throws RpcError if there are too many, with the range of blocks that would fit.
 */
export function* findLogs(
  state: State,
  index: LogIndex,
  query: LogQuery,
  fromHeight: number,
  toHeight: number,
): Generator<readonly string[] | undefined, void> {
  const { chain } = state;
  const { addresses, topics } = query;
  if (fromHeight > toHeight) return;
  if (addresses !== null && ![...addresses].some((address) => CONTRACT_ADDRESSES.has(address))) return;
  if (addresses === null && topics.length === 0) yield* assertFew(chain, fromHeight, toHeight);
  const range = { from: fromHeight === 0 ? 1 : endOf(chain, fromHeight - 1) + 1, to: endOf(chain, toHeight) };
  let found = 0;
  const ids = contractIds(state);
  let texts: LogTexts | null = null;
  for (const position of yield* index.candidates(state, topics, range)) {
    const transaction = transactionAt(chain, position);
    if (transaction === undefined) {
      yield;
      continue;
    }
    const block = chain.blocks.get(transaction.block);
    if (texts?.block !== block) texts = new LogTexts(state, block);
    const logs = texts.of(transaction, logsOf(state, transaction, ids), (log) => isWanted(query, log));
    found += logs.length;
    if (found > MAX_LOGS) throw tooMany(fromHeight, block.height);
    yield logs;
  }
}

function* assertFew(chain: Chain, fromHeight: number, toHeight: number): Steps<void> {
  let count = 0;
  for (let height = fromHeight; height <= toHeight; height += 1) {
    count += blockAt(chain, height)?.logs ?? 0;
    if (count > MAX_LOGS) throw tooMany(fromHeight, height);
    if (height % BLOCKS_PER_STEP === 0) yield;
  }
}

/** Builds the error in the words of public nodes, from which clients read the range that fits. */
function tooMany(fromHeight: number, height: number): RpcError {
  const message = `query returned more than ${MAX_LOGS} results`;
  if (height === fromHeight) {
    const hint = `Block ${quantity(height)} alone has more: ask for some addresses or topics, or by transaction`;
    return new RpcError("LIMIT_EXCEEDED", `${message}. ${hint}`);
  }
  const fitting = { from: quantity(fromHeight), to: quantity(height - 1) };
  const hint = `Try with this block range [${fitting.from}, ${fitting.to}].`;
  return new RpcError("LIMIT_EXCEEDED", `${message}. ${hint}`, fitting);
}
