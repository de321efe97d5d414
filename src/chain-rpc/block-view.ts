import { onChainOf } from "../core/account.ts";
import {
  type Block,
  blockAt,
  type Chain,
  headBlock,
  minedAt,
  type Overwritten,
} from "../core/chain/chain.ts";
import { CONTRACTS, OPERATOR, TOKEN_UNITS, UNLIMITED } from "../core/chain/contracts.ts";
import { movesOf, supplyChangesOf, USDC, visitMoves } from "../core/chain/settlement.ts";
import { awaitsBlock, type ContractCall, type Transaction } from "../core/chain/transaction.ts";
import { type Market, marketOfToken } from "../core/market.ts";
import { nextNonce } from "../core/rules/calls.ts";
import {
  allowanceOf,
  type Caller,
  type CallOutcome,
  type ChainFacts,
  holdingOnChain,
  initialAllowance,
  isInitialOperator,
  isOperator,
  isReported,
  outcomeOfCall,
} from "../core/rules/contract-calls.ts";
import { balanceOf, grantDue } from "../core/rules/ledger.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { FULL_PRICE, notional } from "../core/units.ts";
import { addressWord, TOPICS } from "./abis.ts";
import type { BlockOrPending } from "./json-rpc.ts";
import { endOf, type LogIndex, type TopicSets, transactionAt, walletTopic } from "./log-search.ts";
import { unminedTransactions } from "./transactions.ts";

// Past values are not stored. They are computed from the ledger, either by subtracting later transactions or by adding up
// earlier ones, in one step for each transaction.

/** The chain as of one block, or with its pending transactions. */
export interface BlockView {
  readonly state: State;
  readonly logIndex: LogIndex;
  readonly block: BlockOrPending;
}

/** Returns the block of a view if others follow it; null for the latest and the pending one. */
function pastBlock({ state, block }: BlockView): Block | null {
  return block === "pending" || block === headBlock(state.chain) ? null : block;
}

/** Returns an address's balance of the collateral, micro-USDC. The tokens' contract holds that of all full sets. */
export function* collateralAt(view: BlockView, address: Address): Steps<bigint> {
  const own = yield* balanceAt(view, address, USDC);
  return BigInt(address === CONTRACTS.conditionalTokens ? own + (yield* lockedAt(view)) : own);
}

/** Returns an address's balance of a token, in units of the tokens' contract. */
export function* sharesAt(view: BlockView, address: Address, tokenId: bigint): Steps<bigint> {
  const token = view.state.tokenById.get(String(tokenId));
  return token === undefined ? 0n : BigInt(yield* balanceAt(view, address, token)) * BigInt(TOKEN_UNITS);
}

/**
 * Returns a balance in the core's units: the ledger's for the pending block, the chain's for the latest. For a past block
 * later moves are subtracted, and shares granted in a market that the account has not touched since are not included.
 */
function* balanceAt(view: BlockView, address: Address, token: number): Steps<number> {
  const { state, block } = view;
  if (block === headBlock(state.chain)) return holdingOnChain(state, address, token);
  const account = findAccount(state, address);
  if (account === undefined) return 0;
  if (block === "pending") {
    const due = token === USDC ? 0 : grantDue(account, marketOfToken(token));
    return balanceOf(account, token).balance + due;
  }
  let balance = onChainOf(balanceOf(account, token));
  for (const transaction of transactionsAfter(view, block, ofOwner(address))) {
    visitMoves(state, transaction, (owner, moved, amount) => {
      if (owner === account.number && moved === token) balance -= amount;
    });
    yield;
  }
  return balance;
}

function* lockedAt(view: BlockView): Steps<number> {
  const { state, block } = view;
  let locked = 0;
  for (const { supply, onChain } of state.markets)
    locked += (block === "pending" ? supply : onChain).collateral;
  const past = pastBlock(view);
  if (past === null) return locked;
  for (const transaction of transactionsAfter(view, past, [SET_TOPICS])) {
    for (const { collateral } of supplyChangesOf(state, transaction)) locked -= collateral;
    yield;
  }
  return locked;
}

const SET_TOPICS = new Set([TOPICS.PositionSplit, TOPICS.PositionsMerge, TOPICS.PayoutRedemption]);

/** Returns the total supply of USDC, micro-USDC. */
export function* issuedAt(view: BlockView): Steps<bigint> {
  const past = pastBlock(view);
  let { issued }: { issued: number } = view.state;
  if (past === null) return BigInt(issued);
  for (const { content } of transactionsAfter(view, past, [])) {
    if (content?.kind === "deposit")
      issued -= content.market === 0 ? content.collateral : notional(FULL_PRICE, content.size);
    yield;
  }
  return BigInt(issued);
}

/** Returns the allowance of a spender, micro-USDC. */
export function* allowanceAt(view: BlockView, owner: Address, spender: Address): Steps<bigint> {
  const { state } = view;
  const past = pastBlock(view);
  if (past === null) return allowanceOf(state, owner, spender);
  let allowed: bigint | undefined;
  let from = 0;
  const topics = [new Set([TOPICS.Approval]), ...ofOwner(owner)];
  for (const [{ content }, position] of transactionsUpTo(view, past, 1, topics)) {
    if (content?.kind === "call" && content.call.kind === "approve" && content.from === owner) {
      if (content.call.spender === spender) [allowed, from] = [BigInt(content.call.amount), position];
    }
    yield;
  }
  if (allowed === undefined) return initialAllowance(state, owner, spender);
  if (allowed === UNLIMITED) return allowed;
  for (const [transaction] of transactionsUpTo(view, past, from + 1, ofOwner(owner))) {
    allowed -= spentIn(state, transaction, owner, spender);
    yield;
  }
  return allowed;
}

function spentIn(state: State, transaction: Transaction, owner: Address, spender: Address): bigint {
  const { content } = transaction;
  if (content === null) {
    if (spender !== CONTRACTS.exchange) return 0n;
    let spent = 0;
    const account = findAccount(state, owner)?.number;
    for (const move of movesOf(state, transaction))
      if (move.account === account && move.token === USDC && move.amount < 0) spent -= move.amount;
    return BigInt(spent);
  }
  if (content.kind !== "call") return 0n;
  const { call, from } = content;
  if (call.kind === "transferFrom" && call.from === owner && from === spender) return BigInt(call.amount);
  const isSplit = call.kind === "split" && from === owner && spender === CONTRACTS.conditionalTokens;
  return isSplit ? BigInt(call.amount) : 0n;
}

export function* isOperatorAt(view: BlockView, owner: Address, operator: Address): Steps<boolean> {
  const { state } = view;
  const past = pastBlock(view);
  if (past === null) return isOperator(state, owner, operator);
  let approved = isInitialOperator(state, owner, operator);
  const topics = [new Set([TOPICS.ApprovalForAll]), ...ofOwner(owner)];
  for (const [{ content }] of transactionsUpTo(view, past, 1, topics)) {
    if (content?.kind === "call" && content.call.kind === "setApprovalForAll" && content.from === owner) {
      if (content.call.operator === operator) approved = content.call.approved;
    }
    yield;
  }
  return approved;
}

export function* isPreparedAt(view: BlockView, { number, conditionId }: Market): Steps<boolean> {
  const past = pastBlock(view);
  if (past === null) return true;
  const topics = [new Set([TOPICS.ConditionPreparation]), new Set([conditionId])];
  for (const [{ content }] of transactionsUpTo(view, past, 1, topics)) {
    if (content?.kind === "prepare" && content.market === number) return true;
    yield;
  }
  return false;
}

export function isReportedAt(view: BlockView, market: Market): boolean {
  const { state } = view;
  if (market.report === 0 || !isReported(state, market)) return false;
  const past = pastBlock(view);
  if (past === null) return true;
  const { transactions, blocks } = state.chain;
  return blocks.get(transactions.get(market.report).block).height <= past.height;
}

/** Returns the outcome of a call as of a block. For a past block it is computed again after each fact that was missing. */
export function* outcomeAt(view: BlockView, caller: Caller, call: ContractCall): Steps<CallOutcome> {
  const { state } = view;
  if (pastBlock(view) === null) return outcomeOfCall(state, caller, call);
  const known = new Map<string, unknown>();
  for (;;) {
    let missing: { readonly name: string; readonly read: () => Steps<unknown> } | undefined;
    const fact = <Value>(name: string, read: () => Steps<Value>, otherwise: Value): Value => {
      if (known.has(name)) return known.get(name) as Value;
      missing ??= { name, read };
      return otherwise;
    };
    const facts: ChainFacts = {
      allowance: (owner, to) => fact(`allowance ${owner} ${to}`, () => allowanceAt(view, owner, to), 0n),
      isOperator: (owner, by) => fact(`operator ${owner} ${by}`, () => isOperatorAt(view, owner, by), false),
      holding: (owner, token) => fact(`balance ${owner} ${token}`, () => balanceAt(view, owner, token), 0),
      isReported: (market) => isReportedAt(view, market),
    };
    const outcome = outcomeOfCall(state, caller, call, facts);
    if (missing === undefined) return outcome;
    known.set(missing.name, yield* missing.read());
  }
}

/** Returns the nonce of an address's next transaction. For the exchange's own transactions it is their number. */
export function* nonceAt(view: BlockView, address: Address): Steps<number> {
  const { chain } = view.state;
  const past = pastBlock(view);
  if (address === OPERATOR) {
    if (past !== null) return lastNumberUpTo(chain, past) + 1;
    return view.block === "pending" ? chain.transactions.next : chain.firstUnprocessed;
  }
  const mined = chain.wallets.get(address)?.mined ?? 0;
  if (past === null) return view.block === "pending" ? nextNonce(chain, address) : mined;
  const before = overwrittenAfter(chain, past, address);
  for (const { content, block: serial } of transactionsAfter(view, past, ofWallet(address), isInBlock)) {
    if (before !== undefined && serial > before.blocks) break;
    if (content?.kind === "call" && content.from === address) return content.nonce;
    yield;
  }
  return before?.mined ?? mined;
}

/** Returns the largest number of a transaction in the latest non-empty block up to one. */
function lastNumberUpTo(chain: Chain, { height }: Block): number {
  for (let at: number = height; at >= 0; at -= 1) {
    const numbers = minedAt(chain, at).map(({ number }) => number);
    if (numbers.length > 0) return numbers.reduce((a, b) => Math.max(a, b));
  }
  return 0;
}

/** Returns the balance of native currency, wei. Gas money from the exchange counts from the start. */
export function* nativeAt(view: BlockView, address: Address): Steps<bigint> {
  const { chain } = view.state;
  const native = chain.wallets.get(address)?.native ?? 0n;
  const past = pastBlock(view);
  if (past === null) return native;
  const before = overwrittenAfter(chain, past, address);
  let balance = before?.native ?? native;
  for (const transaction of transactionsAfter(view, past, ofWallet(address), isInBlock)) {
    if (before !== undefined && transaction.block > before.blocks) break;
    balance -= nativeChange(transaction, address);
    yield;
  }
  return balance > 0n ? balance : 0n;
}

/** Returns the change of an address's native currency by a mined transaction, wei. */
function nativeChange({ content, status, exception }: Transaction, address: Address): bigint {
  if (content?.kind !== "call") return 0n;
  const { gasUsed, gasPrice } = exception ?? { gasUsed: 0, gasPrice: 0 };
  const value = status === "MINED" ? BigInt(content.value) : 0n;
  const paid = content.from === address ? value + BigInt(gasUsed) * BigInt(gasPrice) : 0n;
  return (content.to === address ? value : 0n) - paid;
}

/** Returns a wallet before its first overwrite since the block after the given one was mined; undefined if there was none. */
function overwrittenAfter(chain: Chain, { height }: Block, address: Address): Overwritten | undefined {
  const { serial } = blockAt(chain, height + 1) as Block;
  return chain.overwritten.find((each) => each.address === address && each.blocks >= serial);
}

const ofOwner = (address: Address): TopicSets => [new Set([`0x${addressWord(address)}`])];
const ofWallet = (address: Address): TopicSets => [new Set([walletTopic(address)])];

const isMined = ({ status }: Transaction): boolean => status === "MINED";
const isInBlock = ({ block }: Transaction): boolean => block !== 0;

/** Returns the transactions after a block that have taken effect and may have logs with the given topics. */
function* transactionsAfter(
  view: BlockView,
  { height }: Block,
  topics: TopicSets,
  isIncluded: (transaction: Transaction) => boolean = isMined,
): Generator<Transaction> {
  const { state, logIndex } = view;
  const { chain } = state;
  const range = { from: endOf(chain, height) + 1, to: chain.mined.size };
  for (const position of logIndex.candidates(state, topics, range)) {
    const transaction = transactionAt(chain, position);
    if (transaction !== undefined && isIncluded(transaction)) yield transaction;
  }
  for (const transaction of unminedTransactions(state)) if (!awaitsBlock(transaction)) yield transaction;
}

/** Returns the mined transactions from a position up to a block, each with its position. */
function* transactionsUpTo(
  { state, logIndex }: BlockView,
  { height }: Block,
  from: number,
  topics: TopicSets,
): Generator<readonly [Transaction, number]> {
  const { chain } = state;
  for (const position of logIndex.candidates(state, topics, { from, to: endOf(chain, height) })) {
    const transaction = transactionAt(chain, position);
    if (transaction?.status === "MINED") yield [transaction, position];
  }
}
