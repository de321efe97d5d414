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

/** Query for logs; null matches any address or topic. */
export interface LogQuery {
  readonly addresses: ReadonlySet<Address> | null;
  /** The accepted values of each topic, by its index. */
  readonly topics: readonly (ReadonlySet<string> | null)[];
}

const MAX_TOPICS = 4;
const MAX_VALUES = 1_000;

/** Reads the addresses and topics of a query. @throws RpcError */
export function readLogQuery({ address, topics }: Readonly<Record<string, unknown>>): LogQuery {
  const given = optional(topics, "topics", readList) ?? [];
  if (given.length > MAX_TOPICS) {
    throw invalidParams(`topics: a log has at most ${MAX_TOPICS}, found ${given.length}`);
  }
  return {
    addresses: readAny(address, "address", readAddressParam),
    topics: given.map((topic, index) => readAny(topic, `topics[${index}]`, readHash)),
  };
}

/** Reads one value or a list. Returns null, which matches any, for no value, an empty list and a list that contains null. */
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
  return topics.every((accepted, index) => {
    const topic = log.topics[index];
    return topic !== undefined && (accepted === null || accepted.has(topic));
  });
}

/** Writes the logs of one block as JSON, as clients receive them. */
export class LogTexts {
  readonly block: Block;
  readonly #state: State;
  /** The JSON fields of the block, which all its logs share. */
  readonly #blockFields: string;

  constructor(state: State, block: Block) {
    this.block = block;
    this.#state = state;
    this.#blockFields = `"blockHash":"${blockHash(state, block)}","blockNumber":"${quantity(block.height)}","blockTimestamp":"${quantity(secondsOf(block.at))}"`;
  }

  /** Writes the matching logs of a transaction. No text in them needs escaping. */
  of(transaction: Transaction, logs: readonly Log[], isWanted: (log: Log) => boolean = () => true): string[] {
    const texts: string[] = [];
    let position = "";
    for (const [index, log] of logs.entries()) {
      if (!isWanted(log)) continue;
      if (position === "") position = this.#positionOf(transaction);
      const { address, topics, data } = log;
      const logIndex = quantity(transaction.logsBefore + index);
      texts.push(
        `{"address":"${address}","topics":["${listed(topics)}"],"data":"${data}",${position},"logIndex":"${logIndex}"}`,
      );
    }
    return texts;
  }

  #positionOf(transaction: Transaction): string {
    const hash = transactionHash(this.#state, transaction);
    const position = `"transactionHash":"${hash}","transactionIndex":"${quantity(transaction.place)}",${NOT_REMOVED}`;
    // `join` makes one flat string in memory, which the texts of all logs then share.
    return [this.#blockFields, position].join();
  }
}

/** Writes topics without the first and last quotation mark. Not `join`, which copies them once more. */
function listed(topics: readonly string[]): string {
  let list = topics[0] as string;
  for (let at = 1; at < topics.length; at += 1) list += `","${topics[at]}`;
  return list;
}

const NOT_REMOVED = '"removed":false';

/** Returns the JSON of a log after a reorganization has removed it. */
export const removedText = (log: string): string => log.replace(NOT_REMOVED, '"removed":true');

/** Maximum number of logs in an answer, the limit of public nodes. */
export const MAX_LOGS = 10_000;
const CONTRACT_ADDRESSES: ReadonlySet<string> = new Set(Object.values(CONTRACTS));
const BLOCKS_PER_STEP = 1_000;

/**
 * Finds the logs of a range of blocks that match a query, as JSON, oldest first; those of one transaction in each step. If
 * every log matches, the counts of the blocks show that there are too many before any is written.
 * @throws RpcError if there are too many, with the range of blocks that would fit.
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
  if (matchesAll(query)) yield* assertFew(chain, fromHeight, toHeight);
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
    if (height % BLOCKS_PER_STEP === 0) yield [];
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

const canMatch = ({ addresses }: LogQuery): boolean =>
  addresses === null || [...addresses].some((address) => CONTRACT_ADDRESSES.has(address));

const matchesAll = ({ addresses, topics }: LogQuery): boolean => addresses === null && topics.length === 0;
