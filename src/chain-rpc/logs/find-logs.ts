import { CONTRACTS } from "../../core/chain/contracts.ts";
import type { State } from "../../core/state.ts";
import { type LogReply, logReplies } from "../replies/log-reply.ts";
import { RpcError } from "../rpc-error.ts";
import { endOf, type LogIndex, transactionAt } from "./log-index.ts";
import { isWanted, type LogQuery } from "./log-query.ts";
import { logsOf } from "./logs-of.ts";

/** How many logs one call answers. */
export const MOST_LOGS = 100_000;
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
  for (const position of index.candidates(state, query.topics, range)) {
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

const canMatch = ({ addresses }: LogQuery): boolean =>
  addresses === null || [...addresses].some((address) => CONTRACT_ADDRESSES.has(address));
