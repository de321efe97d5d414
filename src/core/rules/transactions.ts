import { type Building, type Chain, maxFeeOf, miningOf } from "../chain/chain.ts";
import { movesOf, supplyChangesOf } from "../chain/settlement.ts";
import {
  awaitsBlock,
  LOGS_OF_FEE,
  LOGS_OF_MATCH,
  logCountOf,
  logsOfFill,
  newTransaction,
  ownGas,
  type Transaction,
  type TransactionContent,
  TransactionException,
} from "../chain/transaction.ts";
import type { DomainEvent } from "../events.ts";
import type { Order } from "../order.ts";
import type { ExchangeConfig, State } from "../state.ts";
import { WINNING_OUTCOMES, type WinningOutcome } from "../terms.ts";
import { type Millis, millis } from "../units.ts";
import { addMoves, addPendingMoves, changeSupply, type Sign } from "./ledger.ts";

/** Adds a trade to the transaction that settles it, which all trades of one taker order share. */
export function addMatch(
  state: State,
  event: DomainEvent<"orderTraded">,
  taker: Order,
  maker: Order,
  at: Millis,
): void {
  const { transactions } = state.chain;
  if (event.transaction !== transactions.size) {
    const added = newTransaction(event.transaction, null);
    added.firstTrade = event.trade;
    added.logs = LOGS_OF_MATCH;
    addTransaction(state, added, at);
  }
  const transaction = transactions.get(event.transaction);
  transaction.trades += 1;
  addFill(transaction, event, taker, maker, event.fee > 0 && taker.fee === 0);
}

/** Adds the logs and hash of a fill to a match. `isFirstFee`: whether no earlier fill had a fee. */
export function addFill(
  transaction: Transaction,
  fill: Pick<DomainEvent<"orderTraded">, "matchType" | "price" | "size" | "fee">,
  taker: Order,
  maker: Order,
  isFirstFee: boolean,
): void {
  transaction.logs += logsOfFill(fill.matchType);
  if (isFirstFee) transaction.logs += LOGS_OF_FEE;
  mixFill(transaction, taker.account);
  mixFill(transaction, taker.token);
  mixFill(transaction, maker.account);
  mixFill(transaction, maker.token);
  mixFill(transaction, fill.price);
  mixFill(transaction, fill.size);
  mixFill(transaction, fill.fee);
}

/** Mixes a number into the 64-bit hash of the fills of a match. */
function mixFill(transaction: Transaction, value: number): void {
  transaction.fillsA = Math.imul(transaction.fillsA ^ value, 0x01000193);
  const rotated = (transaction.fillsB << 5) | (transaction.fillsB >>> 27);
  transaction.fillsB = Math.imul(rotated ^ value, 0x85ebca6b);
}

/** Adds a transaction other than a match. */
export const addContent = (state: State, number: number, content: TransactionContent): void =>
  addTransaction(state, newTransaction(number, content), content.at);

function addTransaction({ chain, config }: State, transaction: Transaction, at: Millis): void {
  const { number, content } = transaction;
  chain.transactions.addAs(number, transaction);
  if (!awaitsBlock(transaction)) return;
  chain.pending += 1;
  // A call waits for an earlier nonce of its wallet; the call with that nonce schedules the block of both.
  if (content?.kind === "call" && content.nonce > (chain.wallets.get(content.from)?.mined ?? 0)) return;
  scheduleBlock(chain, config, at);
}

/** Schedules the next block as the mining mode requires, unless one is already due. */
export function scheduleBlock(chain: Chain, config: ExchangeConfig, at: Millis): void {
  const { mode, intervalMs } = miningOf(chain, config);
  if (chain.nextBlockAt !== null || mode === "manual") return;
  chain.nextBlockAt = mode === "instant" ? at : millis(at + intervalMs);
}

/** Whether a pending transaction that offers at least `fee` is deferred because the base fee exceeded its offer. */
export const isAnyUnderpriced = ({ deferred, transactions }: Chain, fee = 0): boolean =>
  deferred.some((number) => {
    const transaction = transactions.get(number);
    const { status, exception } = transaction;
    return status === "PENDING" && exception?.hold === "UNDERPRICED" && maxFeeOf(transaction) >= fee;
  });

/** Returns the exception of a transaction, creating it if necessary; only `apply` may call it. */
export function ensureException(transaction: Transaction): TransactionException {
  transaction.exception ??= TransactionException.make({});
  return transaction.exception;
}

/** Updates the counts when a transaction is no longer pending; `deferred` is cleaned up with each block. */
export function removeFromPool(chain: Chain, transaction: Transaction): void {
  if (awaitsBlock(transaction)) chain.pending -= 1;
  if (transaction.content?.kind === "call") chain.pendingCalls -= 1;
}

/** Ends a pending transaction that will not be mined; returns its exception. */
export function endUnmined(
  chain: Chain,
  transaction: Transaction,
  status: "LOST" | "REPLACED" | "DROPPED",
  at: Millis,
): TransactionException {
  removeFromPool(chain, transaction);
  transaction.status = status;
  const exception = ensureException(transaction);
  exception.hold = null;
  exception.endedAt = at;
  return exception;
}

/** Adds one of the exchange's own transactions to a block; does not change pending amounts. */
export function addOwnToBlock(state: State, building: Building, transaction: Transaction): void {
  const { chain } = state;
  transaction.status = "MINED";
  mixOwn(state, transaction);
  const logs = logCountOf(transaction);
  addToBlock(chain, building, transaction, logs, ownGas(logs));
}

/** Adds a transaction to a block: sets its place and updates the totals of the block. */
export function addToBlock(
  chain: Chain,
  building: Building,
  transaction: Transaction,
  logs: number,
  gas: number,
): void {
  transaction.block = chain.blocks.next;
  transaction.place = chain.mined.size - building.first;
  transaction.logsBefore = building.logs;
  transaction.gasBefore = building.gas;
  building.logs += logs;
  building.gas += gas;
  if (awaitsBlock(transaction)) building.isFilled = true;
  if (transaction.exception !== null) transaction.exception.hold = null;
  removeFromPool(chain, transaction);
  chain.mined.add(transaction.number);
  mixMined(chain, transaction);
}

/** Settles the moves of a match or a call on chain; with -1 makes them pending again after a reorganization. */
export function settleMoves(state: State, transaction: Transaction, sign: Sign): void {
  addPendingMoves(state, movesOf(state, transaction), sign === 1 ? -1 : 1);
  for (const change of supplyChangesOf(state, transaction))
    changeSupply(state.markets.get(change.market).onChain, change, sign);
}

/** Mixes one of the exchange's own transactions into the digest. */
export function mixOwn(
  { chain: { digest }, markets }: Pick<State, "chain" | "markets">,
  { content, fillsA, fillsB }: Pick<Transaction, "content" | "fillsA" | "fillsB">,
): void {
  switch (content?.kind) {
    case undefined:
      digest.mix(fillsA);
      digest.mix(fillsB);
      return;
    case "prepare":
      digest.mix(content.market);
      return;
    case "report":
      digest.mix(content.market);
      digest.mix(WINNERS.indexOf(markets.get(content.market).winningOutcome));
      return;
    case "deposit":
      for (const value of [content.account, content.market, content.yes, content.no]) digest.mix(value);
      digest.mixWide(content.collateral);
      digest.mix(content.size);
      return;
    case "call":
      throw new Error("a call is not the exchange's own");
  }
}

const WINNERS: readonly (WinningOutcome | null)[] = WINNING_OUTCOMES;

/** Mixes the number and result of a mined transaction into the digest. */
export function mixMined({ digest }: Chain, { number, status }: Pick<Transaction, "number" | "status">) {
  digest.mix(number);
  digest.mix(status === "MINED" ? 1 : 0);
}

/** Marks a transaction as processed by the block being assembled; returns both. */
export function beginExecution(chain: Chain, number: number) {
  const { building } = chain;
  if (building === null) throw new Error(`transaction ${number} is executed outside a block`);
  building.cursor = number;
  chain.firstUnprocessed = Math.max(chain.firstUnprocessed, number + 1);
  return { building, transaction: chain.transactions.get(number) };
}

/** Undoes a transaction that is in the ledger and not on chain. */
export function undoInLedger(state: State, transaction: Transaction): void {
  const moves = movesOf(state, transaction);
  addMoves(state, moves, -1);
  addPendingMoves(state, moves, -1);
  for (const change of supplyChangesOf(state, transaction)) {
    changeSupply(state.markets.get(change.market).supply, change, -1);
  }
}
