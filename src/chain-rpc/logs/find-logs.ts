import { blockAt, type Chain } from "../../core/chain/chain.ts";
import { CONTRACTS } from "../../core/chain/contracts.ts";
import type { State } from "../../core/state.ts";
import { quantity } from "../hex.ts";
import { type LogReply, logReplies } from "../replies/log-reply.ts";
import { RpcError } from "../rpc-error.ts";
import { endOf, type LogIndex, transactionAt } from "./log-index.ts";
import { isWanted, type LogQuery } from "./log-query.ts";
import { logsOf } from "./logs-of.ts";

/** How many logs one call answers, as public nodes do. */
export const MOST_LOGS = 10_000;
const CONTRACT_ADDRESSES: ReadonlySet<string> = new Set(Object.values(CONTRACTS));
/** How many blocks are counted in one step. */
const BLOCKS_OF_A_STEP = 1_000;

/**
 * The logs of the chain's blocks from one height to another that a query wants, oldest first; undefined where a step has
 * found none. Where every log is wanted, the blocks' own counts say that there are too many before any is made.
 * @throws RpcError for too many, with the range of blocks that would fit.
 */
export function* findLogs(
  state: State,
  index: LogIndex,
  query: LogQuery,
  fromHeight: number,
  toHeight: number,
): Generator<LogReply | undefined, void> {
  const { chain } = state;
  if (fromHeight > toHeight || !canMatch(query)) return;
  if (isForAll(query)) yield* demandFew(chain, fromHeight, toHeight);
  const range = { from: fromHeight === 0 ? 1 : endOf(chain, fromHeight - 1) + 1, to: endOf(chain, toHeight) };
  let found = 0;
  for (const position of index.candidates(state, query.topics, range)) {
    yield;
    const transaction = transactionAt(chain, position);
    if (transaction === undefined) continue;
    const block = chain.blocks.get(transaction.block);
    const logs = logsOf(state, transaction);
    const replies = logReplies(state, block, transaction, logs, (log) => isWanted(query, log));
    found += replies.length;
    if (found > MOST_LOGS) throw tooMany(fromHeight, block.height);
    yield* replies;
  }
}

function* demandFew(chain: Chain, fromHeight: number, toHeight: number): Generator<undefined, void> {
  let count = 0;
  for (let height = fromHeight; height <= toHeight; height += 1) {
    count += blockAt(chain, height)?.logs ?? 0;
    if (count > MOST_LOGS) throw tooMany(fromHeight, height);
    if (height % BLOCKS_OF_A_STEP === 0) yield;
  }
}

/** In the words that clients of public nodes look for, to ask again for what fits. */
function tooMany(fromHeight: number, height: number): RpcError {
  const message = `query returned more than ${MOST_LOGS} results`;
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
