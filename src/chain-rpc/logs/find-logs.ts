import { CONTRACTS } from "../../core/chain/contracts.ts";
import type { State } from "../../core/state.ts";
import { type LogReply, logReplies } from "../replies/log-reply.ts";
import { RpcError } from "../rpc-error.ts";
import { endOf, type LogIndex, transactionAt } from "./log-index.ts";
import { isWanted, type LogQuery } from "./log-query.ts";
import { logsOf } from "./logs-of.ts";
import type { Positions } from "./positions.ts";

/** How many logs one call answers. */
export const MOST_LOGS = 100_000;
/** Up to how many transactions are looked through rather than looked up. */
const SCANNED = 1_000;
const CONTRACT_ADDRESSES: ReadonlySet<string> = new Set(Object.values(CONTRACTS));

/** The logs of the chain's blocks from one height to another that a query wants, oldest first. @throws RpcError for too many. */
export function findLogs(
  state: State,
  index: LogIndex,
  query: LogQuery,
  fromHeight: number,
  toHeight: number,
): LogReply[] {
  const { chain } = state;
  const found: LogReply[] = [];
  if (fromHeight > toHeight || !canMatch(query)) return found;
  const range = { from: fromHeight === 0 ? 1 : endOf(chain, fromHeight - 1) + 1, to: endOf(chain, toHeight) };
  for (const position of candidates(state, index, query.topics, range)) {
    const transaction = transactionAt(chain, position);
    if (transaction === undefined) continue;
    const block = chain.blocks.get(transaction.block);
    const logs = logsOf(state, transaction);
    found.push(...logReplies(state, block, transaction, logs, (log) => isWanted(query, log)));
    if (found.length > MOST_LOGS) {
      throw new RpcError(
        "LIMIT_EXCEEDED",
        `query returned more than ${MOST_LOGS} results: ask for fewer blocks at once`,
      );
    }
  }
  return found;
}

/** Positions among all that were mined, both ends included. */
interface Range {
  readonly from: number;
  readonly to: number;
}

const canMatch = ({ addresses }: LogQuery): boolean =>
  addresses === null || [...addresses].some((address) => CONTRACT_ADDRESSES.has(address));

/**
 * Where the transactions may be that have left a log with one of these topics in each place: everywhere in a small range,
 * else where the most telling place points. There may be others among them.
 */
export function candidates(
  state: State,
  index: LogIndex,
  places: LogQuery["topics"],
  range: Range,
): Iterable<number> {
  if (range.to - range.from < SCANNED) return all(range);
  let fewest = range.to - range.from + 1;
  let shortest: Positions[] | null = null;
  for (const place of places) {
    const lists = place === null ? null : index.lists(state, place);
    if (lists === null) continue;
    const count = lists.reduce((sum, list) => sum + list.count(range.from, range.to), 0);
    if (count >= fewest) continue;
    fewest = count;
    shortest = lists;
  }
  return shortest === null ? all(range) : merged(shortest, range);
}

function* all({ from, to }: Range): Generator<number> {
  for (let position = from; position <= to; position += 1) yield position;
}

/** What several lists have within a range, each once, ascending. */
function merged(lists: readonly Positions[], { from, to }: Range): number[] {
  const found = lists.flatMap((list) => list.within(from, to));
  return lists.length === 1 ? found : [...new Set(found)].sort((a, b) => a - b);
}
