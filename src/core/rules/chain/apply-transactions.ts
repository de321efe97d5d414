import { BLOCK_INTERVAL_MS, type Chain, type ChainWallet, emptyWallet } from "../../chain/chain.ts";
import type { TransactionSent } from "../../chain/chain-events.ts";
import { LOGS_OF_FEE, LOGS_OF_MATCH, logsOfFill } from "../../chain/log-counts.ts";
import {
  awaitsBlock,
  freshOddity,
  type Oddity,
  type Transaction,
  type TransactionContent,
} from "../../chain/transaction.ts";
import type { Address } from "../../commands.ts";
import type { OrderTraded } from "../../events.ts";
import type { Order } from "../../order.ts";
import type { ExchangeConfig, State } from "../../state.ts";
import { type Millis, millis } from "../../units.ts";

/** Adds what settles a trade: a transaction of its own, or the one of the trade before that has the same taker. */
export function addMatch(state: State, event: OrderTraded, taker: Order, maker: Order, at: Millis): void {
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
  fill: Pick<OrderTraded, "matchType" | "price" | "size" | "fee">,
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
  const transaction: Transaction = {
    number,
    firstTrade,
    trades: firstTrade === 0 ? 0 : 1,
    logs: 0,
    fillsA: 0,
    fillsB: 0,
    content,
    status: "PENDING",
    block: 0,
    place: 0,
    logsBefore: 0,
    gasBefore: 0,
    oddity: null,
  };
  if (chain.transactions.add(transaction) !== number) throw new Error(`transaction ${number} is out of turn`);
  if (!awaitsBlock(transaction)) return;
  chain.pending += 1;
  if (!isAhead(chain, content)) awaitBlock(chain, state.config, at);
}

/** Whether a call waits for another one of its wallet, which asks for the block of both. */
const isAhead = ({ wallets }: Chain, content: TransactionContent | null): boolean =>
  content?.kind === "call" && content.nonce > (wallets.get(content.from)?.mined ?? 0);

/** Somebody waits for a block from this moment on. */
export function awaitBlock(chain: Chain, { settlement }: ExchangeConfig, at: Millis): void {
  if (chain.nextBlockAt !== null || settlement === "manual") return;
  chain.nextBlockAt = settlement === "instant" ? at : millis(at + BLOCK_INTERVAL_MS);
}

/** What the chain knows of an address, made on first use; only `apply` may call it. */
export function walletIn(chain: Chain, address: Address): ChainWallet {
  let wallet = chain.wallets.get(address);
  if (wallet === undefined) {
    wallet = emptyWallet();
    chain.wallets.set(address, wallet);
  }
  return wallet;
}

/** What is out of the ordinary about a transaction, to be written to; only `apply` may call it. */
export function oddityOf(transaction: Transaction): Oddity {
  transaction.oddity ??= freshOddity();
  return transaction.oddity;
}

/** Takes in a wallet's transaction, perhaps in the place of another one. */
export function takeIn(
  state: State,
  { transaction: number, content, replaces }: TransactionSent,
  at: Millis,
): void {
  const { chain } = state;
  addContent(state, number, content);
  chain.pendingCalls += 1;
  if (content.hash !== null) chain.signed.set(content.hash, number);
  walletIn(chain, content.from).pending.set(content.nonce, number);
  if (replaces === 0) return;
  const replaced = chain.transactions.get(replaces);
  replaced.status = "REPLACED";
  const oddity = oddityOf(replaced);
  oddity.hold = null;
  oddity.endedAt = at;
  leavePool(chain, replaced);
}

/** A transaction is pending no more; the list of those that were put off is gone through with each block. */
export function leavePool(chain: Chain, transaction: Transaction): void {
  if (awaitsBlock(transaction)) chain.pending -= 1;
  if (transaction.content?.kind === "call") chain.pendingCalls -= 1;
}
