import type { Transaction } from "../core/chain/transaction.ts";
import { nextNonce } from "../core/rules/chain/send-transaction.ts";
import type { State } from "../core/state.ts";

/** What the next block would look at, in order: not what waits for an earlier nonce. */
export function pendingTransactions(state: State): Transaction[] {
  return [...unminedTransactions(state)].filter(
    ({ content }) => content?.kind !== "call" || content.nonce < nextNonce(state.chain, content.from),
  );
}

/** What no block has yet and one may still have, in order of arrival. */
export function* unminedTransactions({ chain }: State): Generator<Transaction> {
  const { held, fresh, transactions } = chain;
  for (const number of held) {
    const transaction = transactions.get(number);
    if (number < fresh && transaction.status === "PENDING") yield transaction;
  }
  for (let number = fresh; number <= transactions.size; number += 1) {
    const transaction = transactions.get(number);
    if (transaction.status === "PENDING") yield transaction;
  }
}
