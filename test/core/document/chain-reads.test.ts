import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { logsOf } from "../../../src/chain-rpc/logs.ts";
import { blockAt, headOf } from "../../../src/core/chain/chain.ts";
import { blockHash, transactionHash, transactionOfHash } from "../../../src/core/chain/chain-hashes.ts";
import { settledAt, tradeStatus } from "../../../src/core/chain/settlement.ts";
import type { State } from "../../../src/core/state.ts";
import { call, openNode } from "../../chain-rpc/properties/node.ts";
import { runs } from "../../support/runs.ts";
import { anySettlement, histories, play } from "../chain/chain-moves.ts";
import { reload } from "./read-back.ts";

/** Returns every hash and log of a chain, and the settlement status of every trade. */
function chainOf(state: State): unknown[] {
  const { chain } = state;
  const transactions = [...chain.transactions].map((transaction) => {
    const hash = transactionHash(state, transaction);
    const logs = transaction.status === "MINED" ? logsOf(state, transaction) : [];
    return [hash, transactionOfHash(state, hash)?.number, logs];
  });
  const blocks = Array.from({ length: headOf(chain) + 1 }, (_, height) => {
    const block = blockAt(chain, height);
    return block && blockHash(state, block);
  });
  const trades = [...state.trades].map((trade) => [tradeStatus(state, trade), settledAt(state, trade)]);
  return [transactions, blocks, trades];
}

/** Returns the answers of a node about every block and its transactions. */
async function answersOf(node: ChainNode): Promise<unknown[]> {
  const answers: unknown[] = [await call(node, "eth_getLogs", { fromBlock: "0x0", toBlock: "latest" })];
  for (let height = 0; height <= headOf(node.state.chain); height += 1) {
    const tag = `0x${height.toString(16)}`;
    answers.push(await call(node, "eth_getBlockByNumber", tag, true));
    answers.push(await call(node, "eth_getBlockReceipts", tag));
  }
  return answers;
}

describe("for any history, the chain of a state read from its document", () => {
  it("has the same hashes, logs and settlements", () => {
    fc.assert(
      fc.property(anySettlement, histories(60), (config, moves) => {
        const node = openNode(config);
        play(node.exchange, moves);
        const written = chainOf(node.state);
        reload(node.exchange);
        expect(chainOf(node.state)).toEqual(written);
      }),
      runs(300),
    );
  });

  it("gives the same blocks, receipts and logs through a node", async () => {
    await fc.assert(
      fc.asyncProperty(anySettlement, histories(60), async (config, moves) => {
        const [one, two] = [openNode(config), openNode(config)];
        for (const { exchange } of [one, two]) play(exchange, moves);
        reload(two.exchange);
        expect(await answersOf(two)).toEqual(await answersOf(one));
      }),
      runs(100),
    );
  });
});
