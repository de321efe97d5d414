import type { Block } from "../core/chain/chain.ts";
import { baseFeeOf, OPERATOR_MAX_FEE } from "../core/chain/chain.ts";
import { OPERATOR } from "../core/chain/contracts.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import { callGas, LOGS_OF_MATCH, logCountOf, ownGas } from "../core/chain/transaction.ts";
import { nextNonce } from "../core/rules/calls.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { TIP } from "./encoding.ts";

/** Returns the transactions for the next block, in order; without those that wait for an earlier nonce. */
export function pendingTransactions(state: State): Transaction[] {
  return [...unminedTransactions(state)].filter(
    ({ content }) => content?.kind !== "call" || content.nonce < nextNonce(state.chain, content.from),
  );
}

/** Returns the transactions that are not mined but may be, in order of arrival. */
export function* unminedTransactions({ chain }: State): Generator<Transaction> {
  const { deferred, firstUnprocessed, transactions } = chain;
  for (const number of deferred) {
    const transaction = transactions.get(number);
    if (number < firstUnprocessed && transaction.status === "PENDING") yield transaction;
  }
  for (let number = firstUnprocessed; number <= transactions.size; number += 1) {
    const transaction = transactions.get(number);
    if (transaction.status === "PENDING") yield transaction;
  }
}

/** Returns the sender of a transaction: a wallet or the exchange. */
export const senderOf = ({ content }: Transaction): Address =>
  content?.kind === "call" ? content.from : OPERATOR;

/** Returns the nonce of a transaction. For the exchange's own transactions it is their number. */
export const nonceOf = ({ content, number }: Transaction): number =>
  content?.kind === "call" ? content.nonce : number;

export const gasLimitOf = (transaction: Transaction): number =>
  transaction.content?.kind === "call" ? transaction.content.gas : ownGas(logCountOf(transaction));

/** Returns the gas that a transaction used, or would use in the next block. */
export function gasUsedOf(transaction: Transaction): number {
  const { content, exception } = transaction;
  if (content?.kind === "call") {
    return exception?.gasUsed || Math.min(content.gas, callGas(content.call, content.input));
  }
  return ownGas(transaction.status === "REVERTED" ? LOGS_OF_MATCH : logCountOf(transaction));
}

/** Returns the fee cap of the exchange's own transactions: the usual one, or what a higher base fee requires. */
export const ownFeeCap = ({ chain }: State, block: Block | null): number =>
  Math.max(OPERATOR_MAX_FEE, (block?.baseFee ?? baseFeeOf(chain)) + TIP);

/** Returns the gas price of a transaction, wei; while it is pending, the maximum. */
export function gasPriceOf(state: State, { content, exception }: Transaction, block: Block | null): number {
  if (content?.kind === "call") return block === null ? content.maxFeePerGas : (exception?.gasPrice ?? 0);
  return block === null ? ownFeeCap(state, null) : block.baseFee + TIP;
}
