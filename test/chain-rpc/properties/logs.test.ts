import { deepStrictEqual } from "node:assert/strict";
import { encodeAbiParameters, encodeEventTopics } from "viem";
import { describe, it } from "vitest";
import type { Log } from "../../../src/chain-rpc/abis.ts";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { logsOf } from "../../../src/chain-rpc/logs.ts";
import { onChainOf } from "../../../src/core/account.ts";
import { CONTRACTS, TOKEN_UNITS, ZERO_ADDRESS } from "../../../src/core/chain/contracts.ts";
import { tokenIdIn } from "../../../src/core/market.ts";
import { sharesIn } from "../../../src/core/rules/ledger.ts";
import type { State } from "../../../src/core/state.ts";
import { anySettlement, histories, type Moves, play } from "../../core/chain/chain-moves.ts";
import { forAll, runs } from "../../support/runs.ts";
import { openNode } from "./node.ts";
import { ABI_OF, blocksOf, decoded, minedIn, Sums } from "./sums.ts";

function played(moves: Moves, node: ChainNode): State {
  play(node.exchange, moves);
  node.exchange.submit({ kind: "mineBlocks", count: 1 });
  return node.state;
}

describe("after any history", () => {
  it("the transfers of all blocks add up to the balances on the chain, of all accounts and contracts", () => {
    forAll(runs(150), [anySettlement, histories(60)], (config, moves) => {
      const state = played(moves, openNode(config));
      const sums = Sums.ofAll(state);
      for (const { address, collateral, holdings } of state.accounts) {
        deepStrictEqual(sums.of("USDC", address), BigInt(onChainOf(collateral)));
        for (const [market, holding] of holdings) {
          for (const outcome of ["YES", "NO"] as const) {
            const held = BigInt(onChainOf(sharesIn(holding, outcome)) * TOKEN_UNITS);
            deepStrictEqual(sums.of(tokenIdIn(state.markets.get(market), outcome), address), held);
          }
        }
      }
      let locked = 0n;
      for (const { onChain, tokenIds } of state.markets) {
        locked += BigInt(onChain.collateral);
        deepStrictEqual(sums.of(tokenIds[0], ZERO_ADDRESS), -BigInt(onChain.yes * TOKEN_UNITS));
        deepStrictEqual(sums.of(tokenIds[1], ZERO_ADDRESS), -BigInt(onChain.no * TOKEN_UNITS));
      }
      deepStrictEqual(sums.of("USDC", CONTRACTS.conditionalTokens), locked);
      deepStrictEqual(sums.of("USDC", CONTRACTS.exchange), 0n);
      deepStrictEqual(sums.of("USDC", ZERO_ADDRESS), -BigInt(state.issued));
    });
  });

  it("each transaction has as many logs as the core has counted, each encoded as a client would encode its values", () => {
    forAll(runs(60), [anySettlement, histories(50)], (config, moves) => {
      const state = played(moves, openNode(config));
      for (const block of blocksOf(state)) {
        let count = 0;
        for (const transaction of minedIn(state, block)) {
          deepStrictEqual(transaction.logsBefore, count);
          const logs = logsOf(state, transaction);
          count += logs.length;
          for (const log of logs) expectEncoded(log);
        }
        deepStrictEqual(block.logs, count);
      }
    });
  });
});

function expectEncoded(log: Log): void {
  const { name, args } = decoded(log);
  const abi = (ABI_OF.get(log.address) ?? []).filter((item) => item.type === "event" && item.name === name);
  const [event] = abi;
  if (event?.type !== "event") throw new Error(`${name} is not an event`);
  deepStrictEqual(encodeEventTopics({ abi, eventName: name, args }), log.topics);
  const unindexed = event.inputs.filter((input) => !("indexed" in input && input.indexed));
  const values = unindexed.map((input) => args[input.name ?? ""]);
  deepStrictEqual(encodeAbiParameters(unindexed, values), log.data);
}
