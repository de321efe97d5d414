import { type Block, blockAt, type Chain, headOf } from "../core/chain/chain.ts";
import { orderHash } from "../core/chain/chain-hashes.ts";
import { CONTRACTS, ZERO_ADDRESS } from "../core/chain/contracts.ts";
import { tradesOf } from "../core/chain/settlement.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import { numberOf } from "../core/ids.ts";
import { marketOfToken } from "../core/market.ts";
import { FEES, type State } from "../core/state.ts";
import { runSteps, type Steps } from "../core/steps.ts";
import { countAtMost, countWhile } from "../core/table.ts";
import type { Address } from "../core/terms.ts";
import { TOPICS } from "./abis.ts";
import { logsOf } from "./logs.ts";

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
    const forkHeight = this.#forkHeight(chain);
    this.#blocks.length = forkHeight + 1;
    for (let height = forkHeight + 1; height <= headOf(chain); height += 1) {
      this.#blocks.push(blockAt(chain, height) as Block);
    }
    return forkHeight === top ? null : forkHeight;
  }

  /** Finds the last common block by binary search, because chains have no common block after a fork. */
  #forkHeight(chain: Chain): number {
    const isSame = (height: number): boolean => blockAt(chain, height) === this.#blocks[height];
    return this.top >= 0 && isSame(this.top) ? this.top : countWhile(this.#blocks.length, isSame) - 1;
  }
}

/** Positions of transactions in mining order, ascending, each once. */
class Positions {
  readonly #positions: number[] = [];

  /** Adds a position that is not below the last one. */
  add(position: number): void {
    if (this.#positions.at(-1) !== position) this.#positions.push(position);
  }

  cut(last: number): void {
    const length = this.#firstAbove(last);
    if (length < this.#positions.length) this.#positions.length = length;
  }

  /** Number of positions within a range, both ends included. */
  count(from: number, to: number): number {
    return this.#firstAbove(to) - this.#firstAbove(from - 1);
  }

  within(from: number, to: number): number[] {
    return this.#positions.slice(this.#firstAbove(from - 1), this.#firstAbove(to));
  }

  #firstAbove(position: number): number {
    return countAtMost(this.#positions, position);
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
/** Maximum number of transactions indexed within a query. */
const MAX_INDEXED_AT_ONCE = 2_000;
/** A topic that may be an address. */
const ADDRESS_TOPIC = /^0x0{24}([0-9a-f]{40})$/;

/** Positions in mining order, both ends included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Thrown if `LogIndex.update` must be run first, because too many transactions are not indexed yet. */
export class IndexBehind extends Error {
  override readonly name = "IndexBehind";
}

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
  readonly #matches = new Positions();
  /** Last indexed position. */
  #indexed = 0;

  constructor(maxScanned = MAX_SCANNED) {
    this.#maxScanned = maxScanned;
  }

  /**
   * Returns the positions of the transactions that may have a log with one of the given topics at each place: all of a
   * small range, else those of the most selective place. They include other and orphaned transactions.
   * @throws IndexBehind if `update` must be run first.
   */
  candidates(state: State, places: readonly (ReadonlySet<string> | null)[], range: Range): Iterable<number> {
    const { from, to } = range;
    if (to - from < this.#maxScanned) return all(range);
    this.#catchUp(state);
    let fewest = to - from + 1;
    let shortest: Positions[] | null = null;
    for (const place of places) {
      const lists = place === null ? null : this.#lists(state, place);
      if (lists === null) continue;
      const count = lists.reduce((sum, list) => sum + list.count(from, to), 0);
      if (count >= fewest) continue;
      fewest = count;
      shortest = lists;
    }
    return shortest === null ? all(range) : merged(shortest, range);
  }

  /** Returns the positions for some topics as lists that may overlap; null if one of the topics is not indexed. */
  #lists(state: State, topics: Iterable<string>): Positions[] | null {
    const lists: Positions[] = [];
    for (const topic of topics) {
      const key = keyOf(topic);
      if (UNSELECTIVE.has(key)) return null;
      if (MATCH_TOPICS.has(topic)) lists.push(this.#matches);
      for (const list of [this.#byTopic.get(key), ofOrder(state, topic)]) {
        if (list !== undefined) lists.push(list);
      }
    }
    return lists;
  }

  #catchUp(state: State): void {
    const { mined } = state.chain;
    if (mined.size - this.#indexed > MAX_INDEXED_AT_ONCE) throw new IndexBehind();
    runSteps(this.update(state));
  }

  /** Updates the index in steps; meanwhile the chain may only grow. */
  *update(state: State): Steps<void> {
    const { chain } = state;
    const forkHeight = this.#chain.follow(chain);
    if (forkHeight !== null) this.#cut(chain, forkHeight);
    for (const last = endOf(chain, this.#chain.top); this.#indexed < last; ) {
      this.#indexed += 1;
      const transaction = transactionAt(chain, this.#indexed);
      if (transaction !== undefined) this.#add(state, transaction, this.#indexed);
      if (this.#indexed % TRANSACTIONS_PER_STEP === 0) yield;
    }
  }

  #cut(chain: Chain, forkHeight: number): void {
    this.#indexed = forkHeight < 0 ? 0 : Math.min(this.#indexed, endOf(chain, forkHeight));
    for (const positions of this.#byTopic.values()) positions.cut(this.#indexed);
    this.#matches.cut(this.#indexed);
  }

  #add(state: State, transaction: Transaction, position: number): void {
    if (transaction.content === null) {
      this.#addMatch(state, transaction, position);
      return;
    }
    const { content } = transaction;
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
    this.#matches.add(position);
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

  #addKey(key: string, position: number): void {
    let positions = this.#byTopic.get(key);
    if (positions === undefined) {
      positions = new Positions();
      this.#byTopic.set(key, positions);
    }
    positions.add(position);
  }
}

function* all({ from, to }: Range): Generator<number> {
  for (let position = from; position <= to; position += 1) yield position;
}

/** Merges the positions of several lists within a range, each once, ascending. */
function merged(lists: readonly Positions[], { from, to }: Range): number[] {
  const found = lists.flatMap((list) => list.within(from, to));
  return lists.length === 1 ? found : [...new Set(found)].sort((a, b) => a - b);
}

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
export function transactionAt(
  { transactions, mined, blocks }: Chain,
  position: number,
): Transaction | undefined {
  const transaction = transactions.get(mined.get(position));
  if (transaction.block === 0) return undefined;
  return positionOf({ blocks }, transaction) === position ? transaction : undefined;
}

/** Returns the position of a transaction in mining order; it must have a block. */
const positionOf = ({ blocks }: Pick<Chain, "blocks">, { block, place }: Transaction): number =>
  blocks.get(block).first + place + 1;

const HASH_DIGITS = 32;

/** Returns the positions of the transactions that filled the order of a hash; the hash ends with the order's id. */
function ofOrder(state: State, hash: string): Positions | undefined {
  const digits = hash.slice(-HASH_DIGITS);
  const id = [0, 8, 12, 16, 20].map((from, index, starts) => digits.slice(from, starts[index + 1])).join("-");
  const order = state.orders.find(numberOf(state.idPrefixes.order, id));
  if (order === undefined || orderHash(state, order.number) !== hash) return undefined;
  const found = new Set<number>();
  for (let next = order.lastTrade; next !== 0; ) {
    const trade = state.trades.get(next);
    next = trade.taker === order.number ? trade.takerPrevious : trade.makerPrevious;
    const transaction = state.chain.transactions.get(trade.transaction);
    if (transaction.block !== 0) found.add(positionOf(state.chain, transaction));
  }
  const positions = new Positions();
  for (const position of [...found].sort((a, b) => a - b)) positions.add(position);
  return positions;
}
