import { onChainOf } from "../core/account.ts";
import {
  type Block,
  blockAt,
  type Chain,
  emptyWallet,
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
  type CallResult,
  type ChainFacts,
  holdingOnChain,
  initialAllowance,
  isInitialOperator,
  isOperator,
  isReported,
  resultOfCall,
} from "../core/rules/contract-calls.ts";
import { balanceOf, grantDue } from "../core/rules/ledger.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { FULL_PRICE, notional } from "../core/units.ts";
import { addressWord, TOPICS } from "./abis.ts";
import type { NodeContext } from "./context.ts";
import { endOf, type LogIndex, type TopicSets, transactionAt, walletTopic } from "./log-search.ts";
import type * as read from "./parameters.ts";
import { unminedTransactions } from "./transactions.ts";

// Past values are not stored. They are computed from the ledger, either by subtracting later transactions or by adding up
// earlier ones, in one step for each transaction.

/** The chain as of one block, or with its pending transactions. */
export class BlockView {
  readonly state: State;
  readonly block: read.BlockOrPending;
  readonly #logIndex: LogIndex;

  constructor({ state, logIndex }: Pick<NodeContext, "state" | "logIndex">, block: read.BlockOrPending) {
    this.state = state;
    this.#logIndex = logIndex;
    this.block = block;
  }

  /** The block if others follow it; null for the latest and the pending one. */
  get #past(): Block | null {
    const { state, block } = this;
    return block === "pending" || block === headBlock(state.chain) ? null : block;
  }

  /** Returns an address's balance of the collateral, micro-USDC. The tokens' contract holds that of all full sets. */
  *collateral(address: Address): Steps<bigint> {
    const own = yield* this.#balance(address, USDC);
    return BigInt(address === CONTRACTS.conditionalTokens ? own + (yield* this.#locked()) : own);
  }

  /** Returns an address's balance of a token, in units of the tokens' contract. */
  *shares(address: Address, tokenId: bigint): Steps<bigint> {
    const token = this.state.tokenById.get(String(tokenId));
    return token === undefined ? 0n : BigInt(yield* this.#balance(address, token)) * BigInt(TOKEN_UNITS);
  }

  /**
   * Returns a balance in the core's units: the ledger's for the pending block, the chain's for the latest. For a past block
   * later moves are subtracted, and shares granted in a market that the account has not touched since are not included.
   */
  *#balance(address: Address, token: number): Steps<number> {
    const { state, block } = this;
    if (block === headBlock(state.chain)) return holdingOnChain(state, address, token);
    const account = findAccount(state, address);
    if (account === undefined) return 0;
    if (block === "pending") {
      const due = token === USDC ? 0 : grantDue(account, marketOfToken(token));
      return balanceOf(account, token).balance + due;
    }
    let balance = onChainOf(balanceOf(account, token));
    yield* this.#visitAfter(block, ofOwner(address), (transaction) =>
      visitMoves(state, transaction, (owner, moved, amount) => {
        if (owner === account.number && moved === token) balance -= amount;
      }),
    );
    return balance;
  }

  *#locked(): Steps<number> {
    const { state, block } = this;
    let locked = 0;
    for (const { supply, onChain } of state.markets)
      locked += (block === "pending" ? supply : onChain).collateral;
    const past = this.#past;
    if (past === null) return locked;
    yield* this.#visitAfter(past, [SET_TOPICS], (transaction) => {
      for (const { collateral } of supplyChangesOf(state, transaction)) locked -= collateral;
    });
    return locked;
  }

  /** Returns the total supply of USDC, micro-USDC. */
  *issued(): Steps<bigint> {
    const past = this.#past;
    let { issued }: { issued: number } = this.state;
    if (past === null) return BigInt(issued);
    yield* this.#visitAfter(past, [], ({ content }) => {
      if (content?.kind === "deposit")
        issued -= content.market === 0 ? content.collateral : notional(FULL_PRICE, content.size);
    });
    return BigInt(issued);
  }

  /** Returns the allowance of a spender, micro-USDC. */
  *allowance(owner: Address, spender: Address): Steps<bigint> {
    const { state } = this;
    const past = this.#past;
    if (past === null) return allowanceOf(state, owner, spender);
    let allowed = initialAllowance(state, owner, spender);
    let approvedAt = 0;
    const topics = [new Set([TOPICS.Approval]), ...ofOwner(owner)];
    yield* this.#visitUpTo(past, 1, topics, ({ content }, position) => {
      if (content?.kind === "call" && content.call.kind === "approve" && content.from === owner) {
        if (content.call.spender === spender) [allowed, approvedAt] = [BigInt(content.call.amount), position];
      }
    });
    if (approvedAt === 0 || allowed === UNLIMITED) return allowed;
    yield* this.#visitUpTo(past, approvedAt + 1, ofOwner(owner), (transaction) => {
      allowed -= spentIn(state, transaction, owner, spender);
    });
    return allowed;
  }

  *isOperator(owner: Address, operator: Address): Steps<boolean> {
    const { state } = this;
    const past = this.#past;
    if (past === null) return isOperator(state, owner, operator);
    let approved = isInitialOperator(state, owner, operator);
    const topics = [new Set([TOPICS.ApprovalForAll]), ...ofOwner(owner)];
    yield* this.#visitUpTo(past, 1, topics, ({ content }) => {
      if (content?.kind === "call" && content.call.kind === "setApprovalForAll" && content.from === owner) {
        if (content.call.operator === operator) approved = content.call.approved;
      }
    });
    return approved;
  }

  *isPrepared({ number, conditionId }: Market): Steps<boolean> {
    const past = this.#past;
    if (past === null) return true;
    const topics = [new Set([TOPICS.ConditionPreparation]), new Set([conditionId])];
    let isPrepared = false;
    yield* this.#visitUpTo(past, 1, topics, ({ content }) => {
      isPrepared ||= content?.kind === "prepare" && content.market === number;
    });
    return isPrepared;
  }

  isReported(market: Market): boolean {
    const { state } = this;
    if (market.report === 0 || !isReported(state, market)) return false;
    const past = this.#past;
    if (past === null) return true;
    const { transactions, blocks } = state.chain;
    return blocks.get(transactions.get(market.report).block).height <= past.height;
  }

  /** Returns the result of a call as of a block. For a past block it is computed again after each fact that was missing. */
  *resultOf(caller: Caller, call: ContractCall): Steps<CallResult> {
    const { state } = this;
    if (this.#past === null) return resultOfCall(state, caller, call);
    const known = new Map<string, unknown>();
    for (;;) {
      let missing: { readonly name: string; readonly read: () => Steps<unknown> } | undefined;
      const fact = <Value>(name: string, read: () => Steps<Value>, otherwise: Value): Value => {
        if (known.has(name)) return known.get(name) as Value;
        missing ??= { name, read };
        return otherwise;
      };
      const facts: ChainFacts = {
        allowance: (owner, to) => fact(`allowance ${owner} ${to}`, () => this.allowance(owner, to), 0n),
        isOperator: (owner, by) => fact(`operator ${owner} ${by}`, () => this.isOperator(owner, by), false),
        holding: (owner, token) => fact(`balance ${owner} ${token}`, () => this.#balance(owner, token), 0),
        isReported: (market) => this.isReported(market),
      };
      const result = resultOfCall(state, caller, call, facts);
      if (missing === undefined) return result;
      known.set(missing.name, yield* missing.read());
    }
  }

  /** Returns the nonce of an address's next transaction. For the exchange's own transactions it is their number. */
  *nonce(address: Address): Steps<number> {
    const { chain } = this.state;
    const past = this.#past;
    if (address === OPERATOR) {
      if (past !== null) return lastNumberUpTo(chain, past) + 1;
      return this.block === "pending" ? chain.transactions.next : chain.firstUnprocessed;
    }
    if (past !== null) return (yield* this.#wallet(past, address)).mined;
    return this.block === "pending" ? nextNonce(chain, address) : (chain.wallets.get(address)?.mined ?? 0);
  }

  /**
   * Returns the balance of native currency, wei. Gas money from the exchange counts from the start. If the balance was set,
   * transfers that are undone or received later may take it out of the range of a uint256; it is then that limit.
   */
  *native(address: Address): Steps<bigint> {
    const past = this.#past;
    const wallet = past === null ? this.state.chain.wallets.get(address) : yield* this.#wallet(past, address);
    const native = wallet?.native ?? 0n;
    if (native < 0n) return 0n;
    return native < UNLIMITED ? native : UNLIMITED;
  }

  /** Returns the number of mined calls of a wallet, and its balance of native currency, as of a past block. */
  *#wallet(past: Block, address: Address) {
    const { chain } = this.state;
    const overwritten = overwrittenAfter(chain, past, address);
    let { mined, native } = overwritten ?? chain.wallets.get(address) ?? emptyWallet(address);
    const undo = ({ content, status, exception, block: serial }: Transaction): void => {
      if (content?.kind !== "call" || (overwritten !== undefined && serial > overwritten.blocks)) return;
      const value = status === "MINED" ? BigInt(content.value) : 0n;
      if (content.to === address) native -= value;
      if (content.from !== address) return;
      mined = Math.min(mined, content.nonce);
      const { gasUsed, gasPrice } = exception ?? { gasUsed: 0, gasPrice: 0 };
      native += value + BigInt(gasUsed) * BigInt(gasPrice);
    };
    yield* this.#visitAfter(past, [new Set([walletTopic(address)])], undo, isInBlock);
    return { mined, native };
  }

  /** Visits the transactions after a block that have taken effect and may have logs with the given topics, one in each step. */
  *#visitAfter({ height }: Block, topics: TopicSets, visit: Visit, isIncluded = isMined): Steps<void> {
    const { chain } = this.state;
    yield* this.#visitBetween(topics, endOf(chain, height) + 1, chain.mined.size, visit, isIncluded);
    for (const transaction of unminedTransactions(this.state)) {
      if (!awaitsBlock(transaction)) visit(transaction, 0);
      yield;
    }
  }

  /** Visits the mined transactions from a position up to a block, one in each step. */
  #visitUpTo({ height }: Block, from: number, topics: TopicSets, visit: Visit): Steps<void> {
    return this.#visitBetween(topics, from, endOf(this.state.chain, height), visit, isMined);
  }

  *#visitBetween(
    topics: TopicSets,
    from: number,
    to: number,
    visit: Visit,
    isIncluded: (transaction: Transaction) => boolean,
  ): Steps<void> {
    const { state } = this;
    for (const position of yield* this.#logIndex.candidates(state, topics, { from, to })) {
      const transaction = transactionAt(state.chain, position);
      if (transaction !== undefined && isIncluded(transaction)) visit(transaction, position);
      yield;
    }
  }
}

const SET_TOPICS = new Set([TOPICS.PositionSplit, TOPICS.PositionsMerge, TOPICS.PayoutRedemption]);

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

/** Returns the largest number of a transaction in the latest non-empty block up to one. */
function lastNumberUpTo(chain: Chain, { height }: Block): number {
  for (let at: number = height; at >= 0; at -= 1) {
    const numbers = minedAt(chain, at).map(({ number }) => number);
    if (numbers.length > 0) return numbers.reduce((a, b) => Math.max(a, b));
  }
  return 0;
}

/** Returns a wallet before its first overwrite since the block after the given one was mined; undefined if there was none. */
function overwrittenAfter(chain: Chain, { height }: Block, address: Address): Overwritten | undefined {
  const { serial } = blockAt(chain, height + 1) as Block;
  return chain.overwritten.find((each) => each.address === address && each.blocks >= serial);
}

const ofOwner = (address: Address): TopicSets => [new Set([`0x${addressWord(address)}`])];

const isMined = ({ status }: Transaction): boolean => status === "MINED";

const isInBlock = ({ block }: Transaction): boolean => block !== 0;

type Visit = (transaction: Transaction, position: number) => void;
