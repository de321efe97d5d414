import type { Block } from "../core/chain/chain.ts";
import { blockAt, type Chain } from "../core/chain/chain.ts";
import { blockHash, transactionHash } from "../core/chain/chain-hashes.ts";
import { CONTRACTS } from "../core/chain/contracts.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Log } from "./abis.ts";
import { quantity, secondsOf } from "./encoding.ts";
import { invalidParams, RpcError } from "./json-rpc.ts";
import { endOf, type LogIndex, transactionAt } from "./log-index.ts";
import { ContractIds, logsOf } from "./logs.ts";
import { optional, readAddressParam, readHash, readList } from "./params.ts";

/** Which logs are wanted; null stands for any. */
export interface LogQuery {
  readonly addresses: ReadonlySet<Address> | null;
  /** For each place, what may stand there. */
  readonly topics: readonly (ReadonlySet<string> | null)[];
}

const MAX_TOPICS = 4;
const MAX_VALUES = 1_000;

/** Reads what addresses and topics a client asks for. @throws RpcError */
export function readLogQuery({ address, topics }: Readonly<Record<string, unknown>>): LogQuery {
  const places = optional(topics, "topics", readList) ?? [];
  if (places.length > MAX_TOPICS) {
    throw invalidParams(`topics: a log has at most ${MAX_TOPICS}, found ${places.length}`);
  }
  return {
    addresses: readAny(address, "address", readAddressParam),
    topics: places.map((place, index) => readAny(place, `topics[${index}]`, readHash)),
  };
}

/** One value or a list of them; nothing, an empty list, or one that has a null in it, is any. */
function readAny(
  value: unknown,
  name: string,
  read: (value: unknown, name: string) => string,
): ReadonlySet<string> | null {
  const values = Array.isArray(value) ? value : [value ?? null];
  if (values.length > MAX_VALUES) {
    throw new RpcError("LIMIT_EXCEEDED", `${name}: at most ${MAX_VALUES} values, found ${values.length}`);
  }
  if (values.length === 0 || values.includes(null)) return null;
  return new Set(values.map((each) => read(each, name)));
}

export function isWanted({ addresses, topics }: LogQuery, log: Log): boolean {
  if (addresses !== null && !addresses.has(log.address)) return false;
  return topics.every((place, index) => {
    if (place === null) return index < log.topics.length;
    const topic = log.topics[index];
    return topic !== undefined && place.has(topic);
  });
}

/** The logs of one block's transactions as clients see them, each as JSON. */
export class LogTexts {
  readonly block: Block;
  readonly #state: State;
  /** What all of them say of their block. */
  readonly #ofBlock: string;

  constructor(state: State, block: Block) {
    this.block = block;
    this.#state = state;
    this.#ofBlock = `"blockHash":"${blockHash(state, block)}","blockNumber":"${quantity(block.height)}","blockTimestamp":"${quantity(secondsOf(block.at))}"`;
  }

  /** Of a transaction's logs those that are wanted, where they stand in the block. No text in them needs escaping. */
  of(transaction: Transaction, logs: readonly Log[], isWanted: (log: Log) => boolean = () => true): string[] {
    const texts: string[] = [];
    let place = "";
    for (const [index, log] of logs.entries()) {
      if (!isWanted(log)) continue;
      if (place === "") place = this.#placeOf(transaction);
      const { address, topics, data } = log;
      const logIndex = quantity(transaction.logsBefore + index);
      texts.push(
        `{"address":"${address}","topics":["${listed(topics)}"],"data":"${data}",${place},"logIndex":"${logIndex}"}`,
      );
    }
    return texts;
  }

  #placeOf(transaction: Transaction): string {
    const hash = transactionHash(this.#state, transaction);
    const place = `"transactionHash":"${hash}","transactionIndex":"${quantity(transaction.place)}",${IN_CHAIN}`;
    // Joined, it is one text in memory before it becomes a part of many.
    return [this.#ofBlock, place].join();
  }
}

/** Topics between the first quotation mark and the last; `join` copies them once more. */
function listed(topics: readonly string[]): string {
  let list = topics[0] as string;
  for (let at = 1; at < topics.length; at += 1) list += `","${topics[at]}`;
  return list;
}

const IN_CHAIN = '"removed":false';

/** The same log when a reorganization has taken it out of the chain. */
export const removedText = (log: string): string => log.replace(IN_CHAIN, '"removed":true');

/** How many logs one call answers, as public nodes do. */
export const MAX_LOGS = 10_000;
const CONTRACT_ADDRESSES: ReadonlySet<string> = new Set(Object.values(CONTRACTS));
const BLOCKS_OF_A_STEP = 1_000;

/**
 * The logs of the chain's blocks from one height to another that a query wants, as JSON, oldest first: those of one
 * transaction a step. Where every log is wanted, the blocks' own counts say that there are too many before any is made.
 * @throws RpcError for too many, with the range of blocks that would fit.
 */
export function* findLogs(
  state: State,
  index: LogIndex,
  query: LogQuery,
  fromHeight: number,
  toHeight: number,
): Generator<readonly string[], void> {
  const { chain } = state;
  if (fromHeight > toHeight || !canMatch(query)) return;
  if (isForAll(query)) yield* assertFew(chain, fromHeight, toHeight);
  const range = { from: fromHeight === 0 ? 1 : endOf(chain, fromHeight - 1) + 1, to: endOf(chain, toHeight) };
  let found = 0;
  const ids = new ContractIds(state);
  let texts: LogTexts | null = null;
  for (const position of index.candidates(state, query.topics, range)) {
    const transaction = transactionAt(chain, position);
    if (transaction === undefined) {
      yield [];
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

function* assertFew(chain: Chain, fromHeight: number, toHeight: number): Generator<readonly string[], void> {
  let count = 0;
  for (let height = fromHeight; height <= toHeight; height += 1) {
    count += blockAt(chain, height)?.logs ?? 0;
    if (count > MAX_LOGS) throw tooMany(fromHeight, height);
    if (height % BLOCKS_OF_A_STEP === 0) yield [];
  }
}

/** In the words that clients of public nodes look for, to ask again for what fits. */
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

const canMatch = ({ addresses }: LogQuery): boolean =>
  addresses === null || [...addresses].some((address) => CONTRACT_ADDRESSES.has(address));

const isForAll = ({ addresses, topics }: LogQuery): boolean => addresses === null && topics.length === 0;
