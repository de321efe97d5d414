import { onChainOf } from "../core/account.ts";
import { headBlock } from "../core/chain/chain.ts";
import { CONTRACTS, TOKEN_UNITS } from "../core/chain/contracts.ts";
import { movesOf, supplyChangesOf, USDC } from "../core/chain/moves.ts";
import { awaitsBlock, type Transaction } from "../core/chain/transaction.ts";
import { marketOfToken, outcomeOf } from "../core/market.ts";
import { holdingOnChain } from "../core/rules/contract-calls.ts";
import { grantDue, sharesIn } from "../core/rules/ledger.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { TOPICS } from "./abis.ts";
import { addressWord } from "./encoding.ts";
import { RpcError } from "./json-rpc.ts";
import type { LogIndex } from "./log-index.ts";
import { endOf, transactionAt } from "./log-index.ts";
import type { BlockOrPending } from "./params.ts";
import { unminedTransactions } from "./transactions.ts";

/** The chain as of one block, or with what is pending. */
export interface BlockView {
  readonly state: State;
  readonly logIndex: LogIndex;
  readonly moment: BlockOrPending;
}

/** The state as of the latest or the pending block: of earlier ones only balances are known. @throws RpcError */
export function presentState({ state, moment }: Pick<BlockView, "state" | "moment">): State {
  const head = headBlock(state.chain);
  if (moment === "pending" || moment === head) return state;
  throw new RpcError(
    "SERVER_ERROR",
    `of past blocks only balances of the collateral and of tokens are kept: asked for block ${moment.height}, the latest is ${head.height}`,
  );
}

/** An address's balance of the collateral, micro-USDC. The tokens' contract holds the collateral of all full sets. */
export function collateralAt(view: BlockView, address: Address): bigint {
  const own = balanceAt(view, address, USDC);
  return BigInt(address === CONTRACTS.conditionalTokens ? own + lockedAt(view) : own);
}

/** An address's balance of a token, in the units of the tokens' contract. */
export function sharesAt(view: BlockView, address: Address, tokenId: bigint): bigint {
  const token = view.state.tokenById.get(String(tokenId));
  return token === undefined ? 0n : BigInt(balanceAt(view, address, token)) * BigInt(TOKEN_UNITS);
}

/**
 * A balance in the core's units: the ledger's for the pending block, the chain's for the latest one. For a past block the
 * later moves are subtracted; shares granted in a market that the account has not touched since are not included.
 */
function balanceAt(view: BlockView, address: Address, token: number): number {
  const { state, moment } = view;
  if (moment === "pending") return holdingInLedger(state, address, token);
  if (moment === headBlock(state.chain)) return holdingOnChain(state, address, token);
  const account = findAccount(state, address);
  if (account === undefined) return 0;
  let balance = token === USDC ? onChainOf(account.collateral) : sharesOnChain(state, address, token);
  const topics = new Set([`0x${addressWord(address)}`]);
  for (const transaction of transactionsAfter(view, endOf(state.chain, moment.height), topics)) {
    for (const move of movesOf(state, transaction)) {
      if (move.account === account.number && move.token === token) balance -= move.amount;
    }
  }
  return balance;
}

function sharesOnChain(state: State, address: Address, token: number): number {
  const holding = findAccount(state, address)?.holdings.get(marketOfToken(token));
  return holding === undefined ? 0 : onChainOf(sharesIn(holding, outcomeOf(token)));
}

function holdingInLedger(state: State, address: Address, token: number): number {
  const account = findAccount(state, address);
  if (account === undefined) return 0;
  if (token === USDC) return account.collateral.balance;
  const market = marketOfToken(token);
  const holding = account.holdings.get(market);
  const balance = holding === undefined ? 0 : sharesIn(holding, outcomeOf(token)).balance;
  return balance + grantDue(account, market);
}

/** The USDC that is locked behind the shares of all markets. */
function lockedAt(view: BlockView): number {
  const { state, moment } = view;
  let locked = 0;
  for (const { supply, onChain } of state.markets) {
    locked += (moment === "pending" ? supply : onChain).collateral;
  }
  if (moment === "pending" || moment === headBlock(state.chain)) return locked;
  for (const transaction of transactionsAfter(view, endOf(state.chain, moment.height), OF_SETS)) {
    for (const { collateral } of supplyChangesOf(state, transaction)) locked -= collateral;
  }
  return locked;
}

const OF_SETS = new Set([TOPICS.PositionSplit, TOPICS.PositionsMerge, TOPICS.PayoutRedemption]);

/** The effective transactions after a position, of those that may have left a log with one of these topics. */
function* transactionsAfter(
  { state, logIndex }: BlockView,
  position: number,
  topics: ReadonlySet<string>,
): Generator<Transaction> {
  const { chain } = state;
  const range = { from: position + 1, to: chain.mined.size };
  for (const next of logIndex.candidates(state, [topics], range)) {
    const transaction = transactionAt(chain, next);
    if (transaction?.status === "MINED") yield transaction;
  }
  for (const transaction of unminedTransactions(state)) if (!awaitsBlock(transaction)) yield transaction;
}
