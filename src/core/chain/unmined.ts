import type { Chain } from "./chain.ts";
import type { Transaction } from "./transaction.ts";

/** What waits for a block, or will never be mined though the ledger counts on it; oldest first. */
export function unminedOf({ held, lost, fresh, transactions }: Chain): Transaction[] {
  const found = [...held, ...lost].sort((a, b) => a - b).map((number) => transactions.get(number));
  for (let number = fresh; number <= transactions.size; number += 1) found.push(transactions.get(number));
  return found.filter(({ status }) => status === "PENDING" || status === "LOST");
}
