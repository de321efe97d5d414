import { onChainOf } from "../../core/account.ts";
import { headBlock } from "../../core/chain/chain.ts";
import { CONTRACTS, TOKEN_UNITS } from "../../core/chain/contracts.ts";
import { movesOf, supplyChangesOf, USDC } from "../../core/chain/moves.ts";
import { awaitsBlock, type Transaction } from "../../core/chain/transaction.ts";
import type { Address } from "../../core/commands.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import { holdingOnChain } from "../../core/rules/chain/execute-call.ts";
import { grantDue, sharesIn } from "../../core/rules/ledger.ts";
import { findAccount, type State } from "../../core/state.ts";
import type { ChainNode } from "../chain-node.ts";
import { addressWord } from "../hex.ts";
import { TOPICS } from "../logs/events.ts";
import { endOf, transactionAt } from "../logs/log-index.ts";
import { unminedTransactions } from "../pending-transactions.ts";
import type { Scene } from "./scene.ts";

/** What an address has of the collateral, micro-USDC. The tokens' contract has what is locked behind all shares. */
export function collateralAt(scene: Scene, address: Address): bigint {
  const own = balanceAt(scene, address, USDC);
  return BigInt(address === CONTRACTS.conditionalTokens ? own + lockedAt(scene) : own);
}

/** What an address has of a token by its id, in the units of the tokens' contract. */
export function sharesAt(scene: Scene, address: Address, tokenId: bigint): bigint {
  const token = scene.node.state.tokenById.get(String(tokenId));
  return token === undefined ? 0n : BigInt(balanceAt(scene, address, token)) * BigInt(TOKEN_UNITS);
}

/**
 * In the core's units. Of what is pending the ledger knows, of the latest block the chain; of a past block what later
 * ones have moved is taken back: shares that an account is granted in a market it has not touched by now are not there.
 */
function balanceAt({ node, moment }: Scene, address: Address, token: number): number {
  const { state } = node;
  if (moment === "pending") return holdingInLedger(state, address, token);
  if (moment === headBlock(state.chain)) return holdingOnChain(state, address, token);
  const account = findAccount(state, address);
  if (account === undefined) return 0;
  let balance = token === USDC ? onChainOf(account.collateral) : sharesOnChain(state, address, token);
  const topics = new Set([`0x${addressWord(address)}`]);
  for (const transaction of later(node, endOf(state.chain, moment.height), topics)) {
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
  const held = holding === undefined ? 0 : sharesIn(holding, outcomeOf(token)).balance;
  return held + grantDue(account, market);
}

/** The USDC that is locked behind the shares of all markets. */
function lockedAt({ node, moment }: Scene): number {
  const { state } = node;
  let locked = 0;
  for (const { supply, onChain } of state.markets) {
    locked += (moment === "pending" ? supply : onChain).collateral;
  }
  if (moment === "pending" || moment === headBlock(state.chain)) return locked;
  for (const transaction of later(node, endOf(state.chain, moment.height), OF_SETS)) {
    for (const { collateral } of supplyChangesOf(state, transaction)) locked -= collateral;
  }
  return locked;
}

const OF_SETS = new Set([TOPICS.PositionSplit, TOPICS.PositionsMerge, TOPICS.PayoutRedemption]);

/** What the chain has in effect beyond a position, of all that may have left a log with one of these topics. */
function* later(
  { state, logIndex }: ChainNode,
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
