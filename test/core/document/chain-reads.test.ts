import { expect, it } from "vitest";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { headOf } from "../../../src/core/chain/chain.ts";
import { transactionHash, transactionOfHash } from "../../../src/core/chain/chain-hashes.ts";
import { settledAt, tradeStatus } from "../../../src/core/chain/settlement.ts";
import { call, openNode } from "../../chain-rpc/properties/node.ts";
import { forAllAsync, runs } from "../../support/runs.ts";
import { anySettlement, histories, play } from "../chain/chain-moves.ts";
import { reload } from "./read-back.ts";

/** Returns the answers of a node about every block and its transactions, and the settlement of every trade. */
async function chainOf(node: ChainNode): Promise<unknown[]> {
  const { state } = node;
  const answers: unknown[] = [await call(node, "eth_getLogs", { fromBlock: "0x0", toBlock: "latest" })];
  for (let height = 0; height <= headOf(state.chain); height += 1) {
    const tag = `0x${height.toString(16)}`;
    answers.push(await call(node, "eth_getBlockByNumber", tag, true));
    answers.push(await call(node, "eth_getBlockReceipts", tag));
  }
  const found = [...state.chain.transactions].map((transaction) => {
    const hash = transactionHash(state, transaction);
    return [hash, transactionOfHash(state, hash)?.number];
  });
  const trades = [...state.trades].map((trade) => [tradeStatus(state, trade), settledAt(state, trade)]);
  return [...answers, found, trades];
}

it("for any history, the chain of a state read from its document is the same through a node", async () => {
  await forAllAsync(runs(300), [anySettlement, histories(60)], async (config, moves) => {
    const node = openNode(config);
    play(node.exchange, moves);
    const written = await chainOf(node);
    reload(node.exchange);
    expect(await chainOf(node)).toEqual(written);
  });
});
