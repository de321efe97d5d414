import type { Block } from "../core/chain/chain.ts";
import { blockAt, type Chain, headOf } from "../core/chain/chain.ts";
import { orderHash } from "../core/chain/chain-hashes.ts";
import { CONTRACTS, ZERO_ADDRESS } from "../core/chain/contracts.ts";
import { tradesOf } from "../core/chain/moves.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import { countWhile } from "../core/count-while.ts";
import { numberOf } from "../core/ids.ts";
import { marketOfToken } from "../core/market.ts";
import { FEES, type State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { TOPICS } from "./abis.ts";
import { logsOf } from "./logs.ts";

/**
 * The blocks of a chain when it was last followed, by height. A reorganization, a restored snapshot or a reset replaces
 * blocks; a block itself never changes.
 */
export class SeenChain {
  readonly #blocks: Block[] = [];

  /** The last height that was followed; -1 before the first time. */
  get top(): number {
    return this.#blocks.length - 1;
  }

  /** Takes in the chain. Where blocks were replaced it answers the height up to which it is unchanged, -1 when nothing is; else null. */
  follow(chain: Chain): number | null {
    const { top } = this;
    const stays = this.#fork(chain);
    this.#blocks.length = stays + 1;
    for (let height = stays + 1; height <= headOf(chain); height += 1) {
      this.#blocks.push(blockAt(chain, height) as Block);
    }
    return stays === top ? null : stays;
  }

  forget(): void {
    this.#blocks.length = 0;
  }

  /** Two chains that have parted never meet again, so that the last block in common is found by halving. */
  #fork(chain: Chain): number {
    const isSame = (height: number): boolean => blockAt(chain, height) === this.#blocks[height];
    return this.top >= 0 && isSame(this.top) ? this.top : countWhile(this.#blocks.length, isSame) - 1;
  }
}

/** Positions of transactions in mining order, ascending, each once. */
class Positions {
  readonly #positions: number[] = [];

  /** Adds one that is not below the last. */
  add(position: number): void {
    if (this.#positions.at(-1) !== position) this.#positions.push(position);
  }

  cut(last: number): void {
    const length = this.#firstAbove(last);
    if (length < this.#positions.length) this.#positions.length = length;
  }

  /** How many there are within a range, both ends included. */
  count(from: number, to: number): number {
    return this.#firstAbove(to) - this.#firstAbove(from - 1);
  }

  within(from: number, to: number): number[] {
    return this.#positions.slice(this.#firstAbove(from - 1), this.#firstAbove(to));
  }

  #firstAbove(position: number): number {
    const positions = this.#positions;
    return countWhile(positions.length, (index) => (positions[index] as number) <= position);
  }
}

/** Addresses in almost every transaction: searching for them narrows nothing. */
const EVERYWHERE: ReadonlySet<string> = new Set([
  ZERO_ADDRESS,
  CONTRACTS.conditionalTokens,
  CONTRACTS.exchange,
]);
const OF_EVERY_MATCH: ReadonlySet<string> = new Set([
  TOPICS.Transfer,
  TOPICS.TransferSingle,
  TOPICS.OrderFilled,
  TOPICS.OrdersMatched,
]);
/** A range of at most so many transactions is scanned rather than looked up. */
const SCANNED = 1_000;
const TRANSACTIONS_OF_A_STEP = 64;
/** Up to how many of them are taken in while somebody waits for an answer. */
const MAX_AT_ONCE = 2_000;
/** What follows 24 zeros in 32 bytes may be an address. */
const ADDRESS = /^0x0{24}([0-9a-f]{40})$/;

/** Places in the order in which transactions were mined, both ends included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** More has been mined than can be taken in at once. */
export class IndexBehind extends Error {
  override readonly name = "IndexBehind";
}

/** What stands among topics for the calls that a wallet has sent, and for those that have brought it native currency. */
export const walletTopic = (address: Address): string => `wallet ${address}`;

/**
 * Which transactions may have left a log with a certain topic. Matches, which are most of them, are indexed by their trades
 * alone, all others by their logs. Each query first takes in new blocks, and drops those that are gone.
 */
export class LogIndex {
  readonly #scanned: number;
  readonly #seen = new SeenChain();
  /** By topics, addresses as such. */
  readonly #byTopic = new Map<string, Positions>();
  readonly #matches = new Positions();
  #through = 0;

  constructor(scanned = SCANNED) {
    this.#scanned = scanned;
  }

  /**
   * The positions of the transactions that may have left a log with one of these topics in each place: all in a small
   * range, else those of the most selective place. There may be others among them, and orphaned ones.
   * @throws IndexBehind where `update` has much to do first.
   */
  candidates(state: State, places: readonly (ReadonlySet<string> | null)[], range: Range): Iterable<number> {
    const { from, to } = range;
    if (to - from < this.#scanned) return all(range);
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

  /** What may have one of these as a topic, as lists that may overlap; null when they narrow nothing. */
  #lists(state: State, topics: Iterable<string>): Positions[] | null {
    const lists: Positions[] = [];
    for (const topic of topics) {
      const address = ADDRESS.exec(topic)?.[1];
      if (address !== undefined && EVERYWHERE.has(`0x${address}`)) return null;
      if (OF_EVERY_MATCH.has(topic)) lists.push(this.#matches);
      const found = [
        this.#byTopic.get(topic),
        address === undefined ? ofOrder(state, topic) : this.#byTopic.get(`0x${address}`),
      ];
      for (const list of found) if (list !== undefined) lists.push(list);
    }
    return lists;
  }

  #catchUp(state: State): void {
    const { mined } = state.chain;
    if (mined.size - this.#through > MAX_AT_ONCE) throw new IndexBehind();
    for (const _step of this.update(state));
  }

  /** Takes in what is new, in steps; the chain may only grow meanwhile. */
  *update(state: State): Steps<void> {
    const { chain } = state;
    const stays = this.#seen.follow(chain);
    if (stays !== null) this.#cut(chain, stays);
    for (const last = endOf(chain, this.#seen.top); this.#through < last; ) {
      this.#through += 1;
      const transaction = transactionAt(chain, this.#through);
      if (transaction !== undefined) this.#add(state, transaction, this.#through);
      if (this.#through % TRANSACTIONS_OF_A_STEP === 0) yield;
    }
  }

  #cut(chain: Chain, stays: number): void {
    this.#through = stays < 0 ? 0 : Math.min(this.#through, endOf(chain, stays));
    for (const positions of this.#byTopic.values()) positions.cut(this.#through);
    this.#matches.cut(this.#through);
  }

  #add(state: State, transaction: Transaction, position: number): void {
    if (transaction.content === null) {
      this.#addMatch(state, transaction, position);
      return;
    }
    const { content } = transaction;
    if (content.kind === "call") {
      this.#note(walletTopic(content.from), position);
      if (content.value !== "0") this.#note(walletTopic(content.to), position);
    }
    for (const { topics } of logsOf(state, transaction)) {
      for (const topic of topics.map(addressIn)) if (!EVERYWHERE.has(topic)) this.#note(topic, position);
    }
  }

  #addMatch(state: State, transaction: Transaction, position: number): void {
    if (transaction.status !== "MINED") return;
    const { orders, accounts, markets } = state;
    this.#matches.add(position);
    const noteOwner = (order: number): void =>
      this.#note(accounts.get(orders.get(order).account).address, position);
    for (const { taker, maker, matchType, fee } of tradesOf(state, transaction)) {
      noteOwner(taker);
      noteOwner(maker);
      if (fee > 0) {
        this.#note(accounts.get(FEES).address, position);
        this.#note(TOPICS.FeeCharged, position);
      }
      if (matchType === "COMPLEMENTARY") continue;
      this.#note(markets.get(marketOfToken(orders.get(taker).token)).conditionId, position);
      this.#note(TOPICS.TransferBatch, position);
      this.#note(matchType === "MINT" ? TOPICS.PositionSplit : TOPICS.PositionsMerge, position);
    }
  }

  #note(topic: string, position: number): void {
    let positions = this.#byTopic.get(topic);
    if (positions === undefined) {
      positions = new Positions();
      this.#byTopic.set(topic, positions);
    }
    positions.add(position);
  }
}

function* all({ from, to }: Range): Generator<number> {
  for (let position = from; position <= to; position += 1) yield position;
}

/** What several lists have within a range, each once, ascending. */
function merged(lists: readonly Positions[], { from, to }: Range): number[] {
  const found = lists.flatMap((list) => list.within(from, to));
  return lists.length === 1 ? found : [...new Set(found)].sort((a, b) => a - b);
}

/** A topic that may be an address as that, any other as it is. */
const addressIn = (topic: string): string => {
  const address = ADDRESS.exec(topic)?.[1];
  return address === undefined ? topic : `0x${address}`;
};

/** The last position up to a height. */
export function endOf({ blocks, heights }: Chain, height: number): number {
  const { first, count } = blocks.get(heights.get(height + 1));
  return first + count;
}

/** The transaction that was mined in a position, unless its block has been orphaned. */
export function transactionAt(
  { transactions, mined, blocks }: Chain,
  position: number,
): Transaction | undefined {
  const transaction = transactions.get(mined.get(position));
  if (transaction.block === 0) return undefined;
  return positionOf({ blocks }, transaction) === position ? transaction : undefined;
}

/** Where a transaction that has a block stands among all that were mined. */
const positionOf = ({ blocks }: Pick<Chain, "blocks">, { block, place }: Transaction): number =>
  blocks.get(block).first + place + 1;

const HASH_DIGITS = 32;

/** The transactions that have filled the order of a hash, which ends in the order's own id. */
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
