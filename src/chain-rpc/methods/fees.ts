import type { Block } from "../../core/chain/block.ts";
import { baseFeeOf, blockAt, headBlock, headOf } from "../../core/chain/chain.ts";
import type { State } from "../../core/state.ts";
import { readMoment } from "../block-parameter.ts";
import { quantity } from "../hex.ts";
import { optional, readCount } from "../params.ts";
import { GAS_LIMIT, TIP } from "../protocol.ts";
import { transactionsIn } from "../replies/block-reply.ts";
import { gasPriceOf, gasUsedOf } from "../replies/transaction-facts.ts";
import { RpcError } from "../rpc-error.ts";
import { type Methods, open } from "./method.ts";

/** Of how many blocks fees are told at once. */
const MOST_BLOCKS = 1_024;

/** What gas costs. */
export const feeMethods: Methods = {
  eth_gasPrice: open(0, 0, ({ state }) => quantity(baseFeeOf(state.chain) + TIP)),
  eth_maxPriorityFeePerGas: open(0, 0, () => quantity(TIP)),
  eth_feeHistory: open(2, 3, ({ state }, [count, newest, percentiles]) => {
    const moment = readMoment(state, newest, "newest block");
    const last = moment === "pending" ? headBlock(state.chain) : moment;
    const asked = Math.max(1, Math.min(readCount(count, "block count"), MOST_BLOCKS));
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
};

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
