import type { Block } from "../core/chain/chain.ts";
import { baseFeeOf, blockAt, CHAIN_ID, headBlock, headOf } from "../core/chain/chain.ts";
import { blockHash, blockOfHash, transactionOfHash } from "../core/chain/chain-hashes.ts";
import { OPERATOR } from "../core/chain/contracts.ts";
import { callGas } from "../core/chain/transaction.ts";
import { nextNonce } from "../core/rules/calls.ts";
import { outcomeOfCall } from "../core/rules/contract-calls.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { reverted } from "./abis.ts";
import { presentState } from "./balances.ts";
import { control, type Methods, open } from "./context.ts";
import { answerCall, contractCallOf, isContract } from "./contracts.ts";
import { GAS_LIMIT, quantity, secondsOf, TIP } from "./encoding.ts";
import { LazyList, RpcError } from "./json-rpc.ts";
import {
  callerOf,
  optional,
  readAddressParam,
  readBoolean,
  readCallRequest,
  readCount,
  readHash,
  readHeight,
  readMoment,
} from "./params.ts";
import { blockReply, pendingBlockReply, receiptReply, transactionReply, transactionsIn } from "./replies.ts";
import { gasPriceOf, gasUsedOf, pendingTransactions } from "./transactions.ts";

/** The block whose receipts are asked for, by hash, tag or number; null when the chain does not have it. */
function receiptsBlock(state: State, value: unknown): Block | null {
  if (typeof value === "string" && value.length === 66)
    return blockOfHash(state, value.toLowerCase()) ?? null;
  if (typeof value === "object") {
    const moment = readMoment(state, value);
    return moment === "pending" ? null : moment;
  }
  const height = readHeight(state, value, "block");
  return height === "pending" ? null : (blockAt(state.chain, height) ?? null);
}

function transactionIn(state: State, block: Block | undefined, place: number): object | null {
  if (block === undefined || place >= block.count) return null;
  const { transactions, mined } = state.chain;
  return transactionReply(state, transactions.get(mined.get(block.first + place + 1)));
}

/** Code that does nothing: what the contracts do is not written in it. */
const CODE = "0xfe";

function nonceOf({ chain }: State, address: Address, withPending: boolean): number {
  // The exchange's own transactions have their numbers for nonces.
  if (address === OPERATOR) return withPending ? chain.transactions.next : chain.firstUnprocessed;
  return withPending ? nextNonce(chain, address) : (chain.wallets.get(address)?.mined ?? 0);
}

/** Refuses overrides of state and blocks that are not empty. @throws RpcError */
function refuseOverrides(overrides: readonly unknown[]): void {
  for (const override of overrides) {
    if (override === null || (typeof override === "object" && Object.keys(override).length === 0)) continue;
    throw new RpcError("INVALID_PARAMS", "overrides of state and blocks are not modelled");
  }
}

/** The most blocks that one fee history covers. */
const MAX_HISTORY_BLOCKS = 1_024;

function blockIn({ chain }: State, height: number): Block {
  const block = blockAt(chain, height);
  if (block === undefined) throw new Error(`the chain has no block ${height}`);
  return block;
}

function readPercentiles(value: unknown, name: string): number[] {
  const isRising = (percentile: unknown, index: number, all: readonly unknown[]): boolean =>
    typeof percentile === "number" &&
    percentile >= (index === 0 ? 0 : Number(all[index - 1])) &&
    percentile <= 100;
  if (Array.isArray(value) && value.length <= 100 && value.every(isRising)) return value;
  throw new RpcError("INVALID_PARAMS", `${name}: expected numbers from 0 to 100, ascending`);
}

/** What the transactions of a block paid above its base fee, at some percentiles of the gas it has used. */
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

/** The methods that read the chain: the node itself, blocks, transactions, accounts, fees, and what a call would do. */
export const chainMethods: Methods = {
  eth_chainId: open(0, 0, () => quantity(CHAIN_ID)),
  net_version: open(0, 0, () => String(CHAIN_ID)),
  web3_clientVersion: open(0, 0, ({ version }) => `clobsim/v${version}`),
  eth_syncing: open(0, 0, () => false),
  anvil_nodeInfo: control(0, 0, ({ state }) => {
    const head = headBlock(state.chain);
    const baseFee = baseFeeOf(state.chain);
    return {
      currentBlockNumber: quantity(head.height),
      currentBlockTimestamp: secondsOf(head.at),
      currentBlockHash: blockHash(state, head),
      hardFork: "London",
      transactionOrder: "fifo",
      environment: {
        baseFee: quantity(baseFee),
        chainId: CHAIN_ID,
        gasLimit: quantity(GAS_LIMIT),
        gasPrice: quantity(baseFee + TIP),
      },
      forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
    };
  }),

  eth_blockNumber: open(0, 0, ({ state }) => quantity(headOf(state.chain))),
  eth_getBlockByNumber: open(2, 2, ({ state, exchange }, [number, isFull]) => {
    const full = readBoolean(isFull, "full transactions");
    const height = readHeight(state, number, "block");
    if (height === "pending") return pendingBlockReply(state, exchange.now, full);
    const block = blockAt(state.chain, height);
    return block === undefined ? null : blockReply(state, block, full);
  }),
  eth_getBlockByHash: open(2, 2, ({ state }, [hash, isFull]) => {
    const full = readBoolean(isFull, "full transactions");
    const block = blockOfHash(state, readHash(hash, "block"));
    return block === undefined ? null : blockReply(state, block, full);
  }),
  eth_getBlockTransactionCountByNumber: open(1, 1, ({ state }, [number]) => {
    const moment = readMoment(state, number);
    return quantity(moment === "pending" ? pendingTransactions(state).length : moment.count);
  }),
  eth_getBlockTransactionCountByHash: open(1, 1, ({ state }, [hash]) => {
    const block = blockOfHash(state, readHash(hash, "block"));
    return block === undefined ? null : quantity(block.count);
  }),
  eth_getBlockReceipts: open(1, 1, ({ state }, [number]) => {
    const block = receiptsBlock(state, number);
    if (block === null) return null;
    return LazyList.of(transactionsIn(state, block), (transaction) => receiptReply(state, transaction));
  }),

  eth_getTransactionByHash: open(1, 1, ({ state }, [hash]) => {
    const transaction = transactionOfHash(state, readHash(hash, "transaction"));
    if (transaction === undefined) return null;
    // What was given up, replaced or lost, no node knows of.
    const isKnown = transaction.block !== 0 || transaction.status === "PENDING";
    return isKnown ? transactionReply(state, transaction) : null;
  }),
  eth_getTransactionByBlockNumberAndIndex: open(2, 2, ({ state }, [number, index]) => {
    const height = readHeight(state, number, "block");
    const place = readCount(index, "index");
    if (height !== "pending") return transactionIn(state, blockAt(state.chain, height), place);
    const transaction = pendingTransactions(state)[place];
    return transaction === undefined ? null : transactionReply(state, transaction);
  }),
  eth_getTransactionByBlockHashAndIndex: open(2, 2, ({ state }, [hash, index]) =>
    transactionIn(state, blockOfHash(state, readHash(hash, "block")), readCount(index, "index")),
  ),
  eth_getTransactionReceipt: open(1, 1, ({ state }, [hash]) => {
    const transaction = transactionOfHash(state, readHash(hash, "transaction"));
    return transaction === undefined ? null : receiptReply(state, transaction);
  }),

  eth_accounts: open(0, 0, ({ accounts, impersonated }) => [...new Set([...accounts, ...impersonated])]),
  eth_getBalance: open(2, 2, (node, [address, block]) => {
    const wallet = readAddressParam(address, "address");
    const { chain } = presentState({ state: node.state, moment: readMoment(node.state, block) });
    return quantity(chain.wallets.get(wallet)?.native ?? 0n);
  }),
  eth_getTransactionCount: open(2, 2, (node, [address, block]) => {
    const wallet = readAddressParam(address, "address");
    const moment = readMoment(node.state, block);
    return quantity(nonceOf(presentState({ state: node.state, moment }), wallet, moment === "pending"));
  }),
  eth_getCode: open(2, 2, ({ state }, [address, block]) => {
    readMoment(state, block);
    return isContract(readAddressParam(address, "address")) ? CODE : "0x";
  }),

  eth_gasPrice: open(0, 0, ({ state }) => quantity(baseFeeOf(state.chain) + TIP)),
  eth_maxPriorityFeePerGas: open(0, 0, () => quantity(TIP)),
  eth_feeHistory: open(2, 3, ({ state }, [count, newest, percentiles]) => {
    const moment = readMoment(state, newest, "newest block");
    const last = moment === "pending" ? headBlock(state.chain) : moment;
    const asked = Math.max(1, Math.min(readCount(count, "block count"), MAX_HISTORY_BLOCKS));
    const shares = optional(percentiles, "percentiles", readPercentiles) ?? [];
    const oldest = Math.max(0, last.height - asked + 1);
    const blocks = Array.from({ length: last.height - oldest + 1 }, (_, index) =>
      blockIn(state, oldest + index),
    );
    const next =
      last.height === headOf(state.chain) ? baseFeeOf(state.chain) : blockIn(state, last.height + 1).baseFee;
    return {
      oldestBlock: quantity(oldest),
      baseFeePerGas: [...blocks.map(({ baseFee }) => baseFee), next].map(quantity),
      gasUsedRatio: blocks.map(({ gas }) => gas / Math.max(GAS_LIMIT, gas)),
      reward: shares.length === 0 ? [] : blocks.map((block) => rewardsIn(state, block, shares)),
    };
  }),

  eth_call: open(1, 4, (node, [transaction, block, ...overrides]) => {
    refuseOverrides(overrides);
    const moment = readMoment(node.state, block);
    const request = readCallRequest(transaction);
    const has = node.state.chain.wallets.get(callerOf(request))?.native ?? 0n;
    if (request.value > has) {
      throw new RpcError(
        "TRANSACTION_REJECTED",
        `Insufficient funds for gas * price + value: have ${has} want ${request.value}`,
      );
    }
    return answerCall({ state: node.state, logIndex: node.logIndex, moment }, request);
  }),
  eth_estimateGas: open(1, 4, (node, [transaction, block, ...overrides]) => {
    refuseOverrides(overrides);
    const state = presentState({ state: node.state, moment: readMoment(node.state, block) });
    const request = readCallRequest(transaction);
    const call = contractCallOf(request);
    const outcome = outcomeOfCall(state, { from: callerOf(request), value: request.value }, call);
    if (!outcome.ok) throw reverted(outcome.reason);
    return quantity(callGas(call, request.input));
  }),
};
