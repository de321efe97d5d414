import type { Building, Chain } from "../../chain/chain.ts";
import type {
  CallExecuted,
  CallReverted,
  SettlementFailed,
  SettlementLost,
  TransactionHeld,
  TransactionMined,
} from "../../chain/chain-events.ts";
import { CONTRACTS } from "../../chain/contracts.ts";
import { ownGas } from "../../chain/gas.ts";
import { LOGS_OF_MATCH, logsOfCall } from "../../chain/log-counts.ts";
import { movesOf, supplyChangesOf, tradesOf, USDC } from "../../chain/moves.ts";
import type { Transaction } from "../../chain/transaction.ts";
import type { State } from "../../state.ts";
import type { Millis } from "../../units.ts";
import { mixCall, payForCall, spendAllowance, takeEffect } from "./apply-calls.ts";
import { include, includeOwn, settleMatch } from "./apply-inclusion.ts";
import { leavePool, oddityOf } from "./apply-transactions.ts";
import { addMoves, addPendingMoves } from "./balances.ts";
import { notePending } from "./pending.ts";
import { changeSupply } from "./supply.ts";

/** A transaction of the exchange's own is carried out. */
export function mineTransaction(state: State, event: TransactionMined): void {
  const { building, transaction } = lookedAt(state.chain, event.transaction);
  if (state.chain.restricted > 0) spendAllowances(state, transaction);
  if (transaction.content === null) settleMatch(state, transaction, 1);
  includeOwn(state, building, transaction);
}

/** A transaction is put off. */
export function holdTransaction({ chain }: State, event: TransactionHeld): void {
  const isFresh = event.transaction >= chain.fresh;
  const { transaction } = lookedAt(chain, event.transaction);
  if (isFresh) chain.held.push(event.transaction);
  const oddity = oddityOf(transaction);
  oddity.hold = event.hold;
  oddity.notBefore = event.notBefore;
  if (event.hold === "UNFUNDED" || event.hold === "RETRIED") oddity.attempts += 1;
  if (event.hold === "DELAYED") oddity.delayedBy = event.fault;
  if (event.hold !== "UNDERPRICED") strike(chain, transaction, event.fault);
}

/** A settlement is lost: the ledger goes on counting on it. */
export function loseSettlement({ chain }: State, event: SettlementLost, at: Millis): void {
  const { transaction } = lookedAt(chain, event.transaction);
  leavePool(chain, transaction);
  transaction.status = "LOST";
  const oddity = oddityOf(transaction);
  oddity.hold = null;
  oddity.endedAt = at;
  oddity.reason = "it was never mined";
  chain.lost.push(event.transaction);
  strike(chain, transaction, event.fault);
}

/** A settlement has failed: the ledger takes all its trades back at once. */
export function failSettlement(state: State, event: SettlementFailed, at: Millis): void {
  const { chain } = state;
  const transaction = chain.transactions.get(event.transaction);
  const oddity = oddityOf(transaction);
  oddity.reason = event.reason;
  oddity.endedAt = at;
  takeOut(state, transaction);
  if (event.isMined) {
    const { building } = lookedAt(chain, event.transaction);
    transaction.status = "REVERTED";
    include(chain, building, transaction, 0, ownGas(LOGS_OF_MATCH));
  } else {
    if (transaction.status === "PENDING") leavePool(chain, transaction);
    else chain.lost = chain.lost.filter((number) => number !== event.transaction);
    transaction.status = "FAILED";
    oddity.hold = null;
  }
  strike(chain, transaction, event.fault);
}

/** A call is carried out. */
export function executeCall(state: State, event: CallExecuted): void {
  const { building, transaction, content } = calledIn(state.chain, event.transaction);
  const oddity = oddityOf(transaction);
  transaction.status = "MINED";
  const { effect } = event;
  if (event.isRepeated) addPendingMoves(state, effect.moves, -1);
  else addMoves(state, effect.moves, 1);
  if (effect.supply !== null) {
    const market = state.markets.get(effect.supply.market);
    changeSupply(market.onChain, effect.supply);
    if (!event.isRepeated) changeSupply(market.supply, effect.supply);
  }
  oddity.effect = effect;
  payForCall(state.chain, transaction, content, event.gas, event.gasPrice);
  takeEffect(state.chain, content);
  mixCall(state.chain, content, event.gas, event.gasPrice);
  include(state.chain, building, transaction, logsOfCall(content.call, effect), event.gas);
}

/** A call reverts: it costs gas and does nothing; what the ledger had of it before is taken back. */
export function revertCall(state: State, event: CallReverted, at: Millis): void {
  const { building, transaction, content } = calledIn(state.chain, event.transaction);
  const oddity = oddityOf(transaction);
  if (oddity.effect !== null) takeOut(state, transaction);
  oddity.effect = null;
  oddity.reason = event.reason;
  oddity.endedAt = at;
  transaction.status = "REVERTED";
  payForCall(state.chain, transaction, content, event.gas, event.gasPrice);
  mixCall(state.chain, content, event.gas, event.gasPrice);
  include(state.chain, building, transaction, 0, event.gas);
}

/** What the exchange was allowed to take shrinks by what it takes. */
function spendAllowances(state: State, transaction: Transaction): void {
  if (transaction.content !== null) return;
  for (const { account, token, amount } of movesOf(state, transaction)) {
    if (token !== USDC || amount >= 0) continue;
    const { address } = state.accounts.get(account);
    spendAllowance(state.chain, address, CONTRACTS.exchange, BigInt(-amount));
  }
}

/** The transaction that the block looks at now. */
function lookedAt(chain: Chain, number: number): { building: Building; transaction: Transaction } {
  const { building } = chain;
  if (building === null) throw new Error(`transaction ${number} is looked at outside any block`);
  building.cursor = number;
  chain.fresh = Math.max(chain.fresh, number + 1);
  return { building, transaction: chain.transactions.get(number) };
}

function calledIn(chain: Chain, number: number) {
  const { building, transaction } = lookedAt(chain, number);
  const { content } = transaction;
  if (content?.kind !== "call") throw new Error(`transaction ${number} is no call`);
  return { building, transaction, content };
}

/** Takes what is in the ledger and not on the chain out of the ledger. */
function takeOut(state: State, transaction: Transaction): void {
  const moves = movesOf(state, transaction);
  addMoves(state, moves, -1);
  if (transaction.content === null) unsettle(state, transaction);
  else addPendingMoves(state, moves, -1);
  for (const change of supplyChangesOf(state, transaction)) {
    changeSupply(state.markets.get(change.market).supply, change, -1);
  }
}

/** The fills of a match are on their way no more. */
function unsettle(state: State, transaction: Transaction): void {
  for (const trade of tradesOf(state, transaction)) {
    notePending(state, trade, state.orders.get(trade.taker), state.orders.get(trade.maker), -1);
  }
}

/** A fault has befallen a settlement once more. */
function strike(chain: Chain, transaction: Transaction, number: number): void {
  if (number === 0) return;
  oddityOf(transaction).fault = number;
  chain.faults = chain.faults.flatMap((fault) => {
    if (fault.number !== number) return [fault];
    const struck = fault.struck + 1;
    return struck === fault.times ? [] : [{ ...fault, struck }];
  });
}
