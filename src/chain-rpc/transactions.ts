import type { Block } from "../core/chain/chain.ts";
import { baseFeeOf, OPERATOR_MAX_FEE } from "../core/chain/chain.ts";
import { OPERATOR } from "../core/chain/contracts.ts";
import type { Transaction } from "../core/chain/transaction.ts";
import { callGas, LOGS_OF_MATCH, logCountOf, ownGas } from "../core/chain/transaction.ts";
import { nextNonce } from "../core/rules/calls.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { TIP } from "./encoding.ts";

/** What the next block would look at, in order: not what waits for an earlier nonce. */
export function pendingTransactions(state: State): Transaction[] {
  return [...unminedTransactions(state)].filter(
    ({ content }) => content?.kind !== "call" || content.nonce < nextNonce(state.chain, content.from),
  );
}

/** What no block has yet and one may still have, in order of arrival. */
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

/** Who sends a transaction: a wallet, or the exchange. */
export const senderOf = ({ content }: Transaction): Address =>
  content?.kind === "call" ? content.from : OPERATOR;

/** The nonce of a transaction: of the exchange's own, its number. */
export const nonceOf = ({ content, number }: Transaction): number =>
  content?.kind === "call" ? content.nonce : number;

/** How much gas a transaction may use. */
export const gasLimitOf = (transaction: Transaction): number =>
  transaction.content?.kind === "call" ? transaction.content.gas : ownGas(logCountOf(transaction));

/** What a transaction has used in its block, or would use in one. */
export function gasUsedOf(transaction: Transaction): number {
  const { content, exception } = transaction;
  if (content?.kind === "call") {
    return exception?.gasUsed || Math.min(content.gas, callGas(content.call, content.input));
  }
  return ownGas(transaction.status === "REVERTED" ? LOGS_OF_MATCH : logCountOf(transaction));
}

/** What the exchange offers for a transaction of its own: its usual limit, or what a base fee above that asks. */
export const ownFeeCap = ({ chain }: State, block: Block | null): number =>
  Math.max(OPERATOR_MAX_FEE, (block?.baseFee ?? baseFeeOf(chain)) + TIP);

/** What a unit of gas costs a transaction, wei: in its block, or at most while it has none. */
export function gasPriceOf(state: State, { content, exception }: Transaction, block: Block | null): number {
  if (content?.kind === "call") return block === null ? content.maxFeePerGas : (exception?.gasPrice ?? 0);
  return block === null ? ownFeeCap(state, null) : block.baseFee + TIP;
}
