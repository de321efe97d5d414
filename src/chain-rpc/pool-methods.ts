import type { Transaction } from "../core/chain/transaction.ts";
import { nextNonce } from "../core/rules/calls.ts";
import type { State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import { type Methods, open, param } from "./context.ts";
import { quantity } from "./encoding.ts";
import { readAddressParam } from "./params.ts";
import { recipientOf, transactionReply } from "./replies.ts";
import { gasLimitOf, gasPriceOf, nonceOf, senderOf, unminedTransactions } from "./transactions.ts";

/** What waits for a block, and what waits for an earlier nonce of its sender. */
interface Pool<Value> {
  readonly pending: Record<string, Record<string, Value>>;
  readonly queued: Record<string, Record<string, Value>>;
}

/** Whether a transaction waits for an earlier nonce of its sender. */
const isQueued = ({ chain }: State, { content }: Transaction): boolean =>
  content?.kind === "call" && content.nonce >= nextNonce(chain, content.from);

/** What is pending, by sender and nonce. */
function* poolOf<Value>(
  state: State,
  shownAs: (transaction: Transaction) => Value,
  isListed: (transaction: Transaction) => boolean = () => true,
): Steps<Pool<Value>> {
  const pool: Pool<Value> = { pending: {}, queued: {} };
  for (const transaction of unminedTransactions(state)) {
    yield;
    if (!isListed(transaction)) continue;
    const part = isQueued(state, transaction) ? pool.queued : pool.pending;
    const sender = senderOf(transaction);
    part[sender] ??= {};
    (part[sender] as Record<string, Value>)[nonceOf(transaction)] = shownAs(transaction);
  }
  return pool;
}

/** A transaction in a line, as Geth's inspection has it. */
function summaryOf(state: State, transaction: Transaction): string {
  const value = transaction.content?.kind === "call" ? transaction.content.value : "0";
  const price = gasPriceOf(state, transaction, null);
  return `${recipientOf(transaction)}: ${value} wei + ${gasLimitOf(transaction)} gas × ${price} wei`;
}

/** What waits for a block; the exchange's own transactions have their numbers for nonces. */
export const poolMethods: Methods = {
  txpool_status: open([], function* ({ state }) {
    let [pending, queued] = [0, 0];
    for (const transaction of unminedTransactions(state)) {
      if (isQueued(state, transaction)) queued += 1;
      else pending += 1;
      yield;
    }
    return { pending: quantity(pending), queued: quantity(queued) };
  }),
  txpool_content: open([], ({ state }) =>
    poolOf(state, (transaction) => transactionReply(state, transaction)),
  ),
  txpool_contentFrom: open([param("address", readAddressParam)], function* ({ state }, address) {
    const reply = (transaction: Transaction) => transactionReply(state, transaction);
    const { pending, queued } = yield* poolOf(state, reply, (each) => senderOf(each) === address);
    return { pending: pending[address] ?? {}, queued: queued[address] ?? {} };
  }),
  txpool_inspect: open([], ({ state }) => poolOf(state, (transaction) => summaryOf(state, transaction))),
};
