import { type Building, type Chain, miningOf } from "../chain/chain.ts";
import { movesOf, supplyChangesOf } from "../chain/moves.ts";
import {
  awaitsBlock,
  LOGS_OF_FEE,
  LOGS_OF_MATCH,
  logCountOf,
  logsOfFill,
  newException,
  newTransaction,
  ownGas,
  type Transaction,
  type TransactionContent,
  type TransactionException,
} from "../chain/transaction.ts";
import type { EventOf } from "../events.ts";
import type { Digest } from "../hash.ts";
import type { Order } from "../order.ts";
import type { ExchangeConfig, State } from "../state.ts";
import type { WinningOutcome } from "../terms.ts";
import { type Millis, millis } from "../units.ts";
import { addMoves, addPendingMoves, changeSupply, type Sign } from "./ledger.ts";

/** Adds what settles a trade: a transaction of its own, or the one of the trade before that has the same taker. */
export function addMatch(
  state: State,
  event: EventOf<"orderTraded">,
  taker: Order,
  maker: Order,
  at: Millis,
): void {
  const { transactions } = state.chain;
  const isNew = event.transaction !== transactions.size;
  if (isNew) addTransaction(state, event.transaction, null, at, event.trade);
  const transaction = transactions.get(event.transaction);
  if (isNew) transaction.logs = LOGS_OF_MATCH;
  else transaction.trades += 1;
  noteFill(transaction, event, taker, maker, event.fee > 0 && taker.fee === 0);
}

/** Counts the logs of one more fill of a match, and names it. `isFirstFee`: whether none before it has cost a fee. */
export function noteFill(
  transaction: Transaction,
  fill: Pick<EventOf<"orderTraded">, "matchType" | "price" | "size" | "fee">,
  taker: Order,
  maker: Order,
  isFirstFee: boolean,
): void {
  transaction.logs += logsOfFill(fill.matchType);
  if (isFirstFee) transaction.logs += LOGS_OF_FEE;
  nameFill(transaction, taker.account);
  nameFill(transaction, taker.token);
  nameFill(transaction, maker.account);
  nameFill(transaction, maker.token);
  nameFill(transaction, fill.price);
  nameFill(transaction, fill.size);
  nameFill(transaction, fill.fee);
}

/** Takes one more number into the 64 bits that name the fills of a match. */
function nameFill(transaction: Transaction, value: number): void {
  transaction.fillsA = Math.imul(transaction.fillsA ^ value, 0x01000193);
  transaction.fillsB = Math.imul(
    ((transaction.fillsB << 5) | (transaction.fillsB >>> 27)) ^ value,
    0x85ebca6b,
  );
}

/** Adds a transaction that is told by its content. */
export function addContent(state: State, number: number, content: TransactionContent): void {
  addTransaction(state, number, content, content.at, 0);
}

function addTransaction(
  state: State,
  number: number,
  content: TransactionContent | null,
  at: Millis,
  firstTrade: number,
): void {
  const { chain } = state;
  const transaction = newTransaction(number, content);
  transaction.firstTrade = firstTrade;
  transaction.trades = firstTrade === 0 ? 0 : 1;
  if (chain.transactions.add(transaction) !== number) throw new Error(`transaction ${number} is out of turn`);
  if (!awaitsBlock(transaction)) return;
  chain.pending += 1;
  if (!isAhead(chain, content)) awaitBlock(chain, state.config, at);
}

/** Whether a call waits for another one of its wallet, which asks for the block of both. */
const isAhead = ({ wallets }: Chain, content: TransactionContent | null): boolean =>
  content?.kind === "call" && content.nonce > (wallets.get(content.from)?.mined ?? 0);

/** Somebody waits for a block from this moment on. */
export function awaitBlock(chain: Chain, config: ExchangeConfig, at: Millis): void {
  const { mode, intervalMs } = miningOf(chain, config);
  if (chain.nextBlockAt !== null || mode === "manual") return;
  chain.nextBlockAt = mode === "instant" ? at : millis(at + intervalMs);
}

/** Whether a base fee above what it offers keeps something out of blocks. */
export const isAnyUnderpriced = ({ deferred, transactions }: Chain): boolean =>
  deferred.some((number) => {
    const { status, exception } = transactions.get(number);
    return status === "PENDING" && exception?.hold === "UNDERPRICED";
  });

/** What is out of the ordinary about a transaction, to be written to; only `apply` may call it. */
export function exceptionOf(transaction: Transaction): TransactionException {
  transaction.exception ??= newException();
  return transaction.exception;
}

/** A transaction is pending no more; the list of those that were put off is gone through with each block. */
export function leavePool(chain: Chain, transaction: Transaction): void {
  if (awaitsBlock(transaction)) chain.pending -= 1;
  if (transaction.content?.kind === "call") chain.pendingCalls -= 1;
}

/** Puts a transaction of the exchange's own into a block; what is on its way with it is none of its business. */
export function includeOwn(state: State, building: Building, transaction: Transaction): void {
  const { chain } = state;
  transaction.status = "MINED";
  mixOwn(state, transaction);
  const logs = logCountOf(transaction);
  include(chain, building, transaction, logs, ownGas(logs));
}

/** Puts a transaction into a block: its place, and what it adds to what the block sums up. */
export function include(
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
  leavePool(chain, transaction);
  chain.mined.add(transaction.number);
  mixMined(chain, transaction);
}

/** What a match or a call has moved comes to the chain, or is on its way again when its block is replaced. */
export function settleMoves(state: State, transaction: Transaction, sign: Sign): void {
  addPendingMoves(state, movesOf(state, transaction), sign === 1 ? -1 : 1);
  for (const change of supplyChangesOf(state, transaction))
    changeSupply(state.markets.get(change.market).onChain, change, sign);
}

/** Takes in what a transaction of the exchange's own says. */
export function mixOwn(
  { chain, markets }: Pick<State, "chain" | "markets">,
  { content, fillsA, fillsB }: Pick<Transaction, "content" | "fillsA" | "fillsB">,
): void {
  if (content === null) {
    chain.digest.mix(fillsA);
    chain.digest.mix(fillsB);
  } else mixContent(chain.digest, markets, content);
}

/** Takes in that a block has a transaction. */
export function mixMined(
  { digest }: Chain,
  { number, status }: Pick<Transaction, "number" | "status">,
): void {
  digest.mix(number);
  digest.mix(status === "MINED" ? 1 : 0);
}

/** Takes in what the content of a transaction says. */
function mixContent(digest: Digest, markets: State["markets"], content: TransactionContent): void {
  switch (content.kind) {
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
    default:
      throw new Error("a call is not the exchange's own");
  }
}

const WINNERS: readonly (WinningOutcome | null)[] = ["YES", "NO", "SPLIT"];

/** The transaction that the block looks at now. */
export function lookedAt(chain: Chain, number: number): { building: Building; transaction: Transaction } {
  const { building } = chain;
  if (building === null) throw new Error(`transaction ${number} is looked at outside any block`);
  building.cursor = number;
  chain.firstUnprocessed = Math.max(chain.firstUnprocessed, number + 1);
  return { building, transaction: chain.transactions.get(number) };
}

/** Takes what is in the ledger and not on the chain out of the ledger. */
export function takeOut(state: State, transaction: Transaction): void {
  const moves = movesOf(state, transaction);
  addMoves(state, moves, -1);
  addPendingMoves(state, moves, -1);
  for (const change of supplyChangesOf(state, transaction)) {
    changeSupply(state.markets.get(change.market).supply, change, -1);
  }
}
