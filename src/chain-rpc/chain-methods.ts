import { keccak256 } from "viem/utils";
import { type Block, baseFeeOf, blockAt, CHAIN_ID, headBlock, headOf } from "../core/chain/chain.ts";
import { blockHash, blockOfHash, transactionOfHash } from "../core/chain/chain-hashes.ts";
import { callGas, intrinsicGas, logCountOf, ownGas, type Transaction } from "../core/chain/transaction.ts";
import type { State } from "../core/state.ts";
import type { Steps } from "../core/steps.ts";
import { reverted } from "./abis.ts";
import { BlockView } from "./block-view.ts";
import { control, type Methods, open, optionalParam, param } from "./context.ts";
import { answerCall, CONTRACT_AT, contractCallOf } from "./contracts.ts";
import { invalidParams, lazyList, quantity, RpcError, secondsOf } from "./json-rpc.ts";
import * as read from "./parameters.ts";
import {
  BLOB_BASE_FEE,
  blockObject,
  pendingBlockObject,
  receiptObject,
  recipientOf,
  transactionObject,
  transactionsIn,
} from "./replies.ts";
import {
  type CallRequest,
  callerOf,
  gasPriceOf,
  gasUsedOf,
  isQueued,
  limitsOf,
  pendingTransactions,
  readCallRequest,
  senderOf,
  TIP,
  unminedTransactions,
} from "./transactions.ts";

/** Reads a hash, tag, number or an object of EIP-1898, and returns its block; null if the chain does not have it. */
function readReceiptsBlock(value: unknown, name: string, state: State): Block | null {
  if (read.isHash(value)) return readBlockHash(value, name, state);
  const block =
    typeof value === "object" ? read.blockOrPending(value, name, state) : readBlock(value, name, state);
  return block === "pending" ? null : block;
}

/** Reads a number or tag, and returns its block; null if the chain does not have it. */
function readBlock(value: unknown, name: string, state: State): read.BlockOrPending | null {
  const height = read.height(value, name, state);
  return height === "pending" ? height : (blockAt(state.chain, height) ?? null);
}

/** Reads a hash, and returns its block; null if the chain does not have it. */
const readBlockHash = (value: unknown, name: string, state: State): Block | null =>
  blockOfHash(state, read.hash(value, name)) ?? null;

const BY_NUMBER = param("block", readBlock);
const BY_HASH = param("block", readBlockHash);
const KNOWN_BY_HASH = param("block", read.blockWithHash);
const STATE_BLOCK = param("block", read.blockOrPending);
const IS_FULL = param("full transactions", read.boolean);
const INDEX = param("index", read.count);
const STATE_BLOCK_OR_HEAD = { ...STATE_BLOCK, isOptional: true };
export const ADDRESS = param("address", read.address);
const REQUEST = param("transaction", readCallRequest);
export const TRANSACTION = param("transaction", (value, name, state) =>
  transactionOfHash(state, read.hash(value, name)),
);
/** Overrides of state and blocks. They must be empty. */
const OVERRIDE = optionalParam("overrides", (value) => {
  if (typeof value === "object" && Object.keys(value as object).length === 0) return;
  throw invalidParams("overrides of state and blocks are not modelled");
});

function transactionIn(state: State, block: Block | null, index: number): object | null {
  if (block === null || index >= block.count) return null;
  const { transactions, mined } = state.chain;
  return transactionObject(state, transactions.get(mined.get(block.first + index + 1)));
}

const MAX_HISTORY_BLOCKS = 1_024;

function readPercentiles(value: unknown, name: string): readonly number[] {
  const isAscending = (percentile: unknown, index: number, all: readonly unknown[]): boolean =>
    typeof percentile === "number" && percentile >= Number(all[index - 1] ?? 0) && percentile <= 100;
  if (Array.isArray(value) && value.length <= 100 && value.every(isAscending)) return value;
  throw invalidParams(`${name}: expected numbers from 0 to 100, ascending`);
}

const ACCOUNTS = open([], ({ accounts, impersonated }) => [...new Set([...accounts, ...impersonated])]);
const BLOCK_COUNT = param("block count", read.count);
const NEWEST = param("newest block", read.blockOrPending);
const PERCENTILES = optionalParam("percentiles", readPercentiles);

/** Returns the priority fees of a block's transactions at some percentiles of its used gas. */
function rewardsIn(state: State, block: Block, percentiles: readonly number[]): string[] {
  const paid = Array.from(transactionsIn(state, block), (transaction) => ({
    tip: gasPriceOf(state, transaction, block) - block.baseFee,
    gas: gasUsedOf(transaction),
  })).sort((a, b) => a.tip - b.tip);
  let [index, gas] = [0, paid[0]?.gas ?? 0];
  return percentiles.map((percentile) => {
    for (; index < paid.length - 1 && gas < (block.gas * percentile) / 100; gas += paid[index]?.gas ?? 0)
      index += 1;
    return quantity(paid[index]?.tip ?? 0);
  });
}

/** Checks that the caller has the ether that it sends, but not that it could pay gas. @throws RpcError */
function* requireEther(view: BlockView, { from, value }: CallRequest): Steps<void> {
  const balance = value === 0n ? 0n : yield* view.native(callerOf({ from }));
  if (value <= balance) return;
  const why = `have ${balance} want ${value}`;
  throw new RpcError("TRANSACTION_REJECTED", `Insufficient funds for gas * price + value: ${why}`);
}

type BySenderAndNonce<Value> = Record<string, Record<string, Value>>;

/** Returns the transactions that wait for a block, and those that wait for an earlier nonce. */
function* poolOf<Value>(state: State, replyOf: (transaction: Transaction) => Value) {
  const pending: BySenderAndNonce<Value> = {};
  const queued: BySenderAndNonce<Value> = {};
  for (const transaction of unminedTransactions(state)) {
    yield;
    const part = isQueued(state, transaction) ? queued : pending;
    const { content, number } = transaction;
    const nonce = content?.kind === "call" ? content.nonce : number;
    const sender = senderOf(transaction);
    part[sender] ??= {};
    (part[sender] as Record<string, Value>)[nonce] = replyOf(transaction);
  }
  return { pending, queued };
}

/** Describes a transaction in one line, like Geth's `txpool_inspect`. */
function summaryOf(state: State, transaction: Transaction): string {
  const { content } = transaction;
  const isCall = content?.kind === "call";
  const [value, gas] = isCall ? [content.value, content.gas] : ["0", ownGas(logCountOf(transaction))];
  return `${recipientOf(transaction)}: ${value} wei + ${gas} gas × ${gasPriceOf(state, transaction, null)} wei`;
}

/** The methods that read the chain: node, blocks, transactions, accounts, fees, calls. */
export const chainMethods: Methods = {
  eth_chainId: open([], () => quantity(CHAIN_ID)),
  net_version: open([], () => String(CHAIN_ID)),
  eth_networkId: open([], () => String(CHAIN_ID)),
  // The node has no peers and does not mine.
  net_listening: open([], () => true),
  net_peerCount: open([], () => "0x0"),
  eth_protocolVersion: open([], () => 1),
  eth_mining: open([], () => false),
  eth_hashrate: open([], () => "0x0"),
  eth_coinbase: open([], ({ state }) => limitsOf(state.chain).miner),
  eth_blobBaseFee: open([], () => BLOB_BASE_FEE),
  web3_sha3: open([param("data", read.bytes)], (_node, data) => keccak256(data)),
  web3_clientVersion: open([], ({ version }) => `clobsim/v${version}`),
  eth_syncing: open([], () => false),
  anvil_nodeInfo: control([], ({ state }) => {
    const head = headBlock(state.chain);
    const baseFee = baseFeeOf(state.chain);
    return {
      currentBlockNumber: quantity(head.height),
      currentBlockTimestamp: secondsOf(head.at),
      currentBlockHash: blockHash(state, head),
      hardFork: "Prague",
      transactionOrder: "fifo",
      environment: {
        baseFee: quantity(baseFee),
        chainId: CHAIN_ID,
        gasLimit: quantity(limitsOf(state.chain).gasLimit),
        gasPrice: quantity(baseFee + TIP),
      },
      forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
    };
  }),

  eth_blockNumber: open([], ({ state }) => quantity(headOf(state.chain))),
  eth_getBlockByNumber: open([BY_NUMBER, IS_FULL], ({ state, exchange }, block, isFull) => {
    if (block === "pending") return pendingBlockObject(state, exchange.now, isFull);
    return block === null ? null : blockObject(state, block, isFull);
  }),
  eth_getBlockByHash: open([BY_HASH, IS_FULL], ({ state }, block, isFull) =>
    block === null ? null : blockObject(state, block, isFull),
  ),
  eth_getBlockTransactionCountByNumber: open([STATE_BLOCK], ({ state }, block) =>
    quantity(block === "pending" ? pendingTransactions(state).length : block.count),
  ),
  eth_getBlockTransactionCountByHash: open([BY_HASH], (_node, block) =>
    block === null ? null : quantity(block.count),
  ),
  eth_getBlockReceipts: open([param("block", readReceiptsBlock)], ({ state }, block) =>
    block === null ? null : lazyList(transactionsIn(state, block), (each) => receiptObject(state, each)),
  ),

  eth_getTransactionByHash: open([TRANSACTION], ({ state }, transaction) => {
    // Nodes do not know transactions that were dropped, replaced or lost.
    const isKnown =
      transaction !== undefined && (transaction.block !== 0 || transaction.status === "PENDING");
    return isKnown ? transactionObject(state, transaction) : null;
  }),
  eth_getTransactionByBlockNumberAndIndex: open([BY_NUMBER, INDEX], ({ state }, block, index) => {
    if (block !== "pending") return transactionIn(state, block, index);
    const transaction = pendingTransactions(state)[index];
    return transaction === undefined ? null : transactionObject(state, transaction);
  }),
  eth_getTransactionByBlockHashAndIndex: open([BY_HASH, INDEX], ({ state }, block, index) =>
    transactionIn(state, block, index),
  ),
  eth_getTransactionReceipt: open([TRANSACTION], ({ state }, transaction) =>
    transaction === undefined ? null : receiptObject(state, transaction),
  ),

  eth_getUncleCountByBlockNumber: open([STATE_BLOCK], () => "0x0"),
  eth_getUncleCountByBlockHash: open([KNOWN_BY_HASH], () => "0x0"),
  eth_getUncleByBlockNumberAndIndex: open([BY_NUMBER, INDEX], () => null),
  eth_getUncleByBlockHashAndIndex: open([KNOWN_BY_HASH, INDEX], () => null),

  eth_accounts: ACCOUNTS,
  eth_requestAccounts: ACCOUNTS,
  eth_getBalance: open([ADDRESS, STATE_BLOCK], function* (node, address, block) {
    return quantity(yield* new BlockView(node, block).native(address));
  }),
  eth_getTransactionCount: open([ADDRESS, STATE_BLOCK], function* (node, address, block) {
    return quantity(yield* new BlockView(node, block).nonce(address));
  }),
  // The code of all contracts is an invalid opcode, because there is no EVM.
  eth_getCode: open([ADDRESS, STATE_BLOCK], (_node, address) => (CONTRACT_AT.has(address) ? "0xfe" : "0x")),

  eth_gasPrice: open([], ({ state }) => quantity(baseFeeOf(state.chain) + TIP)),
  eth_maxPriorityFeePerGas: open([], () => quantity(TIP)),
  eth_feeHistory: open([BLOCK_COUNT, NEWEST, PERCENTILES], ({ state }, count, newest, percentiles = []) => {
    const { chain } = state;
    const last = newest === "pending" ? headBlock(chain) : newest;
    const length = Math.max(1, Math.min(count, MAX_HISTORY_BLOCKS));
    const oldest = Math.max(0, last.height - length + 1);
    const recent = { length: last.height - oldest + 1 };
    const blocks = Array.from(recent, (_, index) => blockAt(chain, oldest + index) as Block);
    const next = blockAt(chain, last.height + 1)?.baseFee ?? baseFeeOf(chain);
    return {
      oldestBlock: quantity(oldest),
      baseFeePerGas: [...blocks.map(({ baseFee }) => baseFee), next].map(quantity),
      baseFeePerBlobGas: [...blocks, null].map(() => BLOB_BASE_FEE),
      blobGasUsedRatio: blocks.map(() => 0),
      gasUsedRatio: blocks.map(({ gas, serial }) => gas / Math.max(limitsOf(chain, serial).gasLimit, gas)),
      reward: percentiles.length === 0 ? [] : blocks.map((block) => rewardsIn(state, block, percentiles)),
    };
  }),

  txpool_status: open([], function* ({ state }) {
    const { pending, queued } = yield* poolOf(state, () => true);
    const count = (of: typeof pending) => quantity(Object.values(of).flatMap(Object.keys).length);
    return { pending: count(pending), queued: count(queued) };
  }),
  txpool_content: open([], ({ state }) => poolOf(state, (each) => transactionObject(state, each))),
  txpool_contentFrom: open([ADDRESS], function* ({ state }, address) {
    const { pending, queued } = yield* poolOf(state, (each) => transactionObject(state, each));
    return { pending: pending[address] ?? {}, queued: queued[address] ?? {} };
  }),
  txpool_inspect: open([], ({ state }) => poolOf(state, (transaction) => summaryOf(state, transaction))),

  eth_call: open([REQUEST, STATE_BLOCK_OR_HEAD, OVERRIDE, OVERRIDE], function* (node, request, block) {
    const { gas, input } = request;
    if (gas !== undefined && gas < intrinsicGas(input)) {
      throw new RpcError("SERVER_ERROR", "intrinsic gas too high -- CallGasCostMoreThanGasLimit");
    }
    const view = new BlockView(node, block);
    yield* requireEther(view, request);
    if (gas !== undefined && gas < callGas(contractCallOf(request), input)) {
      throw new RpcError("INTERNAL_ERROR", "EVM error OutOfGas");
    }
    return yield* answerCall(view, request);
  }),
  eth_estimateGas: open([REQUEST, STATE_BLOCK_OR_HEAD, OVERRIDE, OVERRIDE], function* (node, request, block) {
    const { gas, input, value } = request;
    const call = contractCallOf(request);
    const needed = callGas(call, input);
    // As in anvil, a transfer to a wallet is not executed.
    if (call.kind === "send" && input === "0x") return quantity(needed);
    const view = new BlockView(node, block);
    yield* requireEther(view, request);
    if (gas !== undefined && gas < needed) {
      throw new RpcError("TRANSACTION_REJECTED", `Out of gas: gas required exceeds allowance: ${gas}`);
    }
    const result = yield* view.resultOf({ from: callerOf(request), value }, call);
    if (!result.ok) throw reverted(result.reason);
    return quantity(needed);
  }),
};
