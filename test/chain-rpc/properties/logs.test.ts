import { deepStrictEqual } from "node:assert/strict";
import { decodeEventLog, encodeAbiParameters, encodeEventTopics, parseAbi } from "viem";
import { describe, it } from "vitest";
import { CONTRACT_ABIS } from "../../../src/api/contracts.ts";
import type { Log } from "../../../src/chain-rpc/abis.ts";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { logsOf } from "../../../src/chain-rpc/logs.ts";
import { transactionsIn } from "../../../src/chain-rpc/replies.ts";
import { onChainOf } from "../../../src/core/account.ts";
import { type Block, blockAt, headOf } from "../../../src/core/chain/chain.ts";
import { CONTRACTS, TOKEN_UNITS, ZERO_ADDRESS } from "../../../src/core/chain/contracts.ts";
import { tokenIdIn } from "../../../src/core/market.ts";
import { sharesIn } from "../../../src/core/rules/ledger.ts";
import type { State } from "../../../src/core/state.ts";
import { anySettlement, histories, type Moves, play } from "../../core/chain/chain-moves.ts";
import { forAll, runs } from "../../support/runs.ts";
import { openNode } from "./node.ts";

/** Published ABI of each contract, by address. */
const ABI_OF = new Map(
  (["collateral", "conditionalTokens", "exchange"] as const).map((name) => [
    CONTRACTS[name] as string,
    parseAbi(CONTRACT_ABIS[name] as readonly string[]),
  ]),
);

/** Returns the blocks of the chain, oldest first. */
function* blocksOf({ chain }: State): Generator<Block> {
  for (let height = 0; height <= headOf(chain); height += 1) yield blockAt(chain, height) as Block;
}

/** Decodes a log with the published ABI. */
function decoded({ address, topics, data }: Log): { name: string; args: Record<string, unknown> } {
  const abi = ABI_OF.get(address) ?? [];
  const { eventName, args } = decodeEventLog({
    abi,
    topics: topics as [`0x${string}`],
    data: data as `0x${string}`,
    strict: true,
  });
  return { name: eventName ?? "", args: args as unknown as Record<string, unknown> };
}

/** Arguments of the events of transfers; that of USDC has no id. */
interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly id?: bigint;
  readonly value: bigint;
  readonly ids?: readonly bigint[];
  readonly values?: readonly bigint[];
}

/** Adds up the transfers of all blocks; returns the balance of an asset and an address, in the contracts' units. */
function sumsOf(state: State): (asset: string | bigint, address: string) => bigint {
  const sums = new Map<string, bigint>();
  const sumOf = (asset: string | bigint, address: string) =>
    sums.get(`${asset} ${address.toLowerCase()}`) ?? 0n;
  for (const block of blocksOf(state)) {
    for (const log of [...transactionsIn(state, block)].flatMap((transaction) =>
      logsOf(state, transaction),
    )) {
      const { name, args } = decoded(log);
      if (!name.startsWith("Transfer")) continue;
      const { from, to, id = "USDC", value, ids = [id], values = [value] } = args as unknown as Transfer;
      for (const [index, asset] of ids.entries()) {
        const amount = values[index] ?? 0n;
        sums.set(`${asset} ${from.toLowerCase()}`, sumOf(asset, from) - amount);
        sums.set(`${asset} ${to.toLowerCase()}`, sumOf(asset, to) + amount);
      }
    }
  }
  return sumOf;
}

function played(moves: Moves, node: ChainNode): State {
  play(node.exchange, moves);
  node.exchange.submit({ kind: "mineBlocks", count: 1 });
  return node.state;
}

describe("after any history", () => {
  it("the transfers of all blocks add up to the balances on the chain, of all accounts and contracts", () => {
    forAll(runs(150), [anySettlement, histories(60)], (config, moves) => {
      const state = played(moves, openNode(config));
      const sumOf = sumsOf(state);
      for (const { address, collateral, holdings } of state.accounts) {
        deepStrictEqual(sumOf("USDC", address), BigInt(onChainOf(collateral)));
        for (const [market, holding] of holdings) {
          for (const outcome of ["YES", "NO"] as const) {
            const held = BigInt(onChainOf(sharesIn(holding, outcome)) * TOKEN_UNITS);
            deepStrictEqual(sumOf(tokenIdIn(state.markets.get(market), outcome), address), held);
          }
        }
      }
      let locked = 0n;
      for (const { onChain, tokenIds } of state.markets) {
        locked += BigInt(onChain.collateral);
        deepStrictEqual(sumOf(tokenIds[0], ZERO_ADDRESS), -BigInt(onChain.yes * TOKEN_UNITS));
        deepStrictEqual(sumOf(tokenIds[1], ZERO_ADDRESS), -BigInt(onChain.no * TOKEN_UNITS));
      }
      deepStrictEqual(sumOf("USDC", CONTRACTS.conditionalTokens), locked);
      deepStrictEqual(sumOf("USDC", CONTRACTS.exchange), 0n);
      deepStrictEqual(sumOf("USDC", ZERO_ADDRESS), -BigInt(state.issued));
    });
  });

  it("each transaction has as many logs as the core has counted, each encoded as a client would encode its values", () => {
    forAll(runs(60), [anySettlement, histories(50)], (config, moves) => {
      const state = played(moves, openNode(config));
      for (const block of blocksOf(state)) {
        let count = 0;
        for (const transaction of transactionsIn(state, block)) {
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
