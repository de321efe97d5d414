import { onChainOf } from "../core/account.ts";
import {
  type Block,
  blockAt,
  type Chain,
  headBlock,
  minedAt,
  type Overwritten,
} from "../core/chain/chain.ts";
import {
  allowanceOf,
  CONTRACTS,
  initialAllowance,
  isInitialOperator,
  isOperator,
  OPERATOR,
  TOKEN_UNITS,
  UNLIMITED,
} from "../core/chain/contracts.ts";
import { movesOf, supplyChangesOf, USDC, visitMoves } from "../core/chain/moves.ts";
import { awaitsBlock, type ContractCall, type Transaction } from "../core/chain/transaction.ts";
import { type Market, marketOfToken, outcomeOf } from "../core/market.ts";
import { nextNonce } from "../core/rules/calls.ts";
import {
  type Caller,
  type CallOutcome,
  type ChainFacts,
  holdingOnChain,
  isReported,
  outcomeOfCall,
} from "../core/rules/contract-calls.ts";
import { grantDue, sharesIn } from "../core/rules/ledger.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { FULL_PRICE, notional } from "../core/units.ts";
import { TOPICS } from "./abis.ts";
import { addressWord } from "./encoding.ts";
import { endOf, type LogIndex, transactionAt, walletTopic } from "./log-index.ts";
import type { BlockOrPending } from "./params.ts";
import { unminedTransactions } from "./transactions.ts";

// What the chain held as of a block is worked out from the one ledger: what is there now, without what later blocks have
// brought, or what the blocks up to then come to. Each reading goes in steps, one for a transaction that it looks at.

/** The chain as of one block, or with what is pending. */
export interface BlockView {
  readonly state: State;
  readonly logIndex: LogIndex;
  readonly moment: BlockOrPending;
}

/** The block that a view is as of, if others follow it; null for the latest and for what is pending. */
export function pastBlock({ state, moment }: Pick<BlockView, "state" | "moment">): Block | null {
  return moment === "pending" || moment === headBlock(state.chain) ? null : moment;
}

/** An address's balance of the collateral, micro-USDC. The tokens' contract holds the collateral of all full sets. */
export function* collateralAt(view: BlockView, address: Address): Steps<bigint> {
  const own = yield* balanceAt(view, address, USDC);
  return BigInt(address === CONTRACTS.conditionalTokens ? own + (yield* lockedAt(view)) : own);
}

/** An address's balance of a token, in the units of the tokens' contract. */
export function* sharesAt(view: BlockView, address: Address, tokenId: bigint): Steps<bigint> {
  const token = view.state.tokenById.get(String(tokenId));
  return token === undefined ? 0n : BigInt(yield* balanceAt(view, address, token)) * BigInt(TOKEN_UNITS);
}

/**
 * A balance in the core's units: the ledger's for the pending block, the chain's for the latest one. For a past block the
 * later moves are subtracted; shares granted in a market that the account has not touched since are not included.
 */
export function* balanceAt(view: BlockView, address: Address, token: number): Steps<number> {
  const { state, moment } = view;
  if (moment === "pending") return holdingInLedger(state, address, token);
  if (moment === headBlock(state.chain)) return holdingOnChain(state, address, token);
  const account = findAccount(state, address);
  if (account === undefined) return 0;
  let balance = token === USDC ? onChainOf(account.collateral) : sharesOnChain(state, address, token);
  for (const transaction of transactionsAfter(view, moment, ofOwner(address))) {
    visitMoves(state, transaction, (owner, moved, amount) => {
      if (owner === account.number && moved === token) balance -= amount;
    });
    yield;
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

function* lockedAt(view: BlockView): Steps<number> {
  const { state, moment } = view;
  let locked = 0;
  for (const { supply, onChain } of state.markets)
    locked += (moment === "pending" ? supply : onChain).collateral;
  const block = pastBlock(view);
  if (block === null) return locked;
  for (const transaction of transactionsAfter(view, block, [OF_SETS])) {
    for (const { collateral } of supplyChangesOf(state, transaction)) locked -= collateral;
    yield;
  }
  return locked;
}

const OF_SETS = new Set([TOPICS.PositionSplit, TOPICS.PositionsMerge, TOPICS.PayoutRedemption]);

/** All USDC that has been issued, micro-USDC. */
export function* issuedAt(view: BlockView): Steps<bigint> {
  const { state } = view;
  const block = pastBlock(view);
  let { issued }: { issued: number } = state;
  if (block === null) return BigInt(issued);
  for (const { content } of transactionsAfter(view, block, [])) {
    if (content?.kind === "deposit")
      issued -= content.market === 0 ? content.collateral : notional(FULL_PRICE, content.size);
    yield;
  }
  return BigInt(issued);
}

/** How much of its collateral an owner lets somebody spend, micro-USDC. */
export function* allowanceAt(view: BlockView, owner: Address, spender: Address): Steps<bigint> {
  const { state } = view;
  const block = pastBlock(view);
  if (block === null) return allowanceOf(state, owner, spender);
  let allowed: bigint | undefined;
  let from = 0;
  const topics = [new Set([TOPICS.Approval]), ...ofOwner(owner)];
  for (const [{ content }, position] of transactionsUpTo(view, block, 1, topics)) {
    if (content?.kind === "call" && content.call.kind === "approve" && content.from === owner) {
      if (content.call.spender === spender) [allowed, from] = [BigInt(content.call.amount), position];
    }
    yield;
  }
  if (allowed === undefined) return initialAllowance(state, owner, spender);
  if (allowed === UNLIMITED) return allowed;
  for (const [transaction] of transactionsUpTo(view, block, from + 1, ofOwner(owner))) {
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
  const block = pastBlock(view);
  if (block === null) return isOperator(state, owner, operator);
  let approved = isInitialOperator(state, owner, operator);
  const topics = [new Set([TOPICS.ApprovalForAll]), ...ofOwner(owner)];
  for (const [{ content }] of transactionsUpTo(view, block, 1, topics)) {
    if (content?.kind === "call" && content.call.kind === "setApprovalForAll" && content.from === owner) {
      if (content.call.operator === operator) approved = content.call.approved;
    }
    yield;
  }
  return approved;
}

export function* isPreparedAt(view: BlockView, { number, conditionId }: Market): Steps<boolean> {
  const block = pastBlock(view);
  if (block === null) return true;
  const topics = [new Set([TOPICS.ConditionPreparation]), new Set([conditionId])];
  for (const [{ content }] of transactionsUpTo(view, block, 1, topics)) {
    if (content?.kind === "prepare" && content.market === number) return true;
    yield;
  }
  return false;
}

export function isReportedAt(view: BlockView, market: Market): boolean {
  const { state } = view;
  if (market.report === 0 || !isReported(state, market)) return false;
  const block = pastBlock(view);
  if (block === null) return true;
  const { transactions, blocks } = state.chain;
  return blocks.get(transactions.get(market.report).block).height <= block.height;
}

class Unread extends Error {
  readonly fact: string;
  readonly read: () => Steps<unknown>;

  constructor(fact: string, read: () => Steps<unknown>) {
    super(fact);
    this.fact = fact;
    this.read = read;
  }
}

/** What a call would do as of a block: of a past one it is asked again with each fact that it has asked for. */
export function* outcomeAt(view: BlockView, caller: Caller, call: ContractCall): Steps<CallOutcome> {
  const { state } = view;
  if (pastBlock(view) === null) return outcomeOfCall(state, caller, call);
  const known = new Map<string, unknown>();
  const fact = <Value>(name: string, read: () => Steps<Value>): Value => {
    if (!known.has(name)) throw new Unread(name, read);
    return known.get(name) as Value;
  };
  const facts: ChainFacts = {
    allowance: (owner, to) => fact(`allowance ${owner} ${to}`, () => allowanceAt(view, owner, to)),
    isOperator: (owner, by) => fact(`operator ${owner} ${by}`, () => isOperatorAt(view, owner, by)),
    holding: (owner, token) => fact(`balance ${owner} ${token}`, () => balanceAt(view, owner, token)),
    isReported: (market) => isReportedAt(view, market),
  };
  for (;;) {
    try {
      return outcomeOfCall(state, caller, call, facts);
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      known.set(error.fact, yield* error.read());
    }
  }
}

/** The nonce of an address's next transaction. The exchange's own transactions have their numbers for nonces. */
export function* nonceAt(view: BlockView, address: Address): Steps<number> {
  const { chain } = view.state;
  const block = pastBlock(view);
  if (address === OPERATOR) {
    if (block !== null) return lastNumberIn(chain, block) + 1;
    return view.moment === "pending" ? chain.transactions.next : chain.firstUnprocessed;
  }
  const mined = chain.wallets.get(address)?.mined ?? 0;
  if (block === null) return view.moment === "pending" ? nextNonce(chain, address) : mined;
  const before = overwrittenAfter(chain, block, address);
  for (const { content, block: serial } of transactionsAfter(view, block, ofWallet(address), isInBlock)) {
    if (before !== undefined && serial > before.blocks) break;
    if (content?.kind === "call" && content.from === address) return content.nonce;
    yield;
  }
  return before?.mined ?? mined;
}

/** The number of the latest transaction that the blocks up to one have. */
function lastNumberIn(chain: Chain, { height }: Block): number {
  for (let at: number = height; at >= 0; at -= 1) {
    const numbers = minedAt(chain, at).map(({ number }) => number);
    if (numbers.length > 0) return numbers.reduce((a, b) => Math.max(a, b));
  }
  return 0;
}

/** What an address has of the native currency, wei; what the exchange has given it for gas it had from the start. */
export function* nativeAt(view: BlockView, address: Address): Steps<bigint> {
  const { chain } = view.state;
  const native = chain.wallets.get(address)?.native ?? 0n;
  const block = pastBlock(view);
  if (block === null) return native;
  const before = overwrittenAfter(chain, block, address);
  let balance = before?.native ?? native;
  for (const transaction of transactionsAfter(view, block, ofWallet(address), isInBlock)) {
    if (before !== undefined && transaction.block > before.blocks) break;
    balance -= nativeChange(transaction, address);
    yield;
  }
  return balance > 0n ? balance : 0n;
}

/** What a transaction in a block has changed of an address's native currency, wei. */
function nativeChange({ content, status, exception }: Transaction, address: Address): bigint {
  if (content?.kind !== "call") return 0n;
  const { gasUsed, gasPrice } = exception ?? { gasUsed: 0, gasPrice: 0 };
  const value = status === "MINED" ? BigInt(content.value) : 0n;
  const paid = content.from === address ? value + BigInt(gasUsed) * BigInt(gasPrice) : 0n;
  return (content.to === address ? value : 0n) - paid;
}

/** What was written over outside any block after a block, and before the block that follows the next; undefined for nothing. */
function overwrittenAfter(chain: Chain, { height }: Block, address: Address): Overwritten | undefined {
  const { serial } = blockAt(chain, height + 1) as Block;
  return chain.overwritten.find((each) => each.address === address && each.blocks >= serial);
}

/** What may stand in each place of the logs of a transaction that is looked for. */
type Places = readonly ReadonlySet<string>[];

const ofOwner = (address: Address): Places => [new Set([`0x${addressWord(address)}`])];
const ofWallet = (address: Address): Places => [new Set([walletTopic(address)])];

const isMined = ({ status }: Transaction): boolean => status === "MINED";
const isInBlock = ({ block }: Transaction): boolean => block !== 0;

/** The transactions behind a block that have taken effect, as far as their logs may be those that are looked for. */
function* transactionsAfter(
  view: BlockView,
  { height }: Block,
  places: Places,
  isOne: (transaction: Transaction) => boolean = isMined,
): Generator<Transaction> {
  const { state, logIndex } = view;
  const { chain } = state;
  const range = { from: endOf(chain, height) + 1, to: chain.mined.size };
  for (const next of logIndex.candidates(state, places, range)) {
    const transaction = transactionAt(chain, next);
    if (transaction !== undefined && isOne(transaction)) yield transaction;
  }
  for (const transaction of unminedTransactions(state)) if (!awaitsBlock(transaction)) yield transaction;
}

/** Those that the blocks up to one have, from a position on, each with its own. */
function* transactionsUpTo(
  { state, logIndex }: BlockView,
  { height }: Block,
  from: number,
  places: Places,
): Generator<readonly [Transaction, number]> {
  const { chain } = state;
  for (const position of logIndex.candidates(state, places, { from, to: endOf(chain, height) })) {
    const transaction = transactionAt(chain, position);
    if (transaction?.status === "MINED") yield [transaction, position];
  }
}
