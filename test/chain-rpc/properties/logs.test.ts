import { deepStrictEqual } from "node:assert/strict";
import { decodeEventLog, encodeAbiParameters, encodeEventTopics, parseAbi } from "viem";
import { describe, it } from "vitest";
import { CONTRACT_ABIS } from "../../../src/api/contracts.ts";
import type { Log } from "../../../src/chain-rpc/abis.ts";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { logsOf } from "../../../src/chain-rpc/logs.ts";
import { onChainOf } from "../../../src/core/account.ts";
import { type Block, blockAt, headOf } from "../../../src/core/chain/chain.ts";
import { CONTRACTS, TOKEN_UNITS, ZERO_ADDRESS } from "../../../src/core/chain/contracts.ts";
import type { Transaction } from "../../../src/core/chain/transaction.ts";
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

/** Returns the transactions of a block, in order. */
const minedIn = ({ chain }: State, { first, count }: Block): Transaction[] =>
  Array.from({ length: count }, (_, place) => chain.transactions.get(chain.mined.get(first + place + 1)));

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

/** Balances as the sum of all transfers, by asset and address, in the contracts' units. */
class Sums {
  readonly #sums = new Map<string, bigint>();

  of(asset: string, address: string): bigint {
    return this.#sums.get(`${asset} ${address}`) ?? 0n;
  }

  /** Adds up the transfers of all blocks. */
  static ofAll(state: State): Sums {
    const sums = new Sums();
    for (const block of blocksOf(state)) {
      for (const log of minedIn(state, block).flatMap((transaction) => logsOf(state, transaction))) {
        sums.#addLog(log);
      }
    }
    return sums;
  }

  #addLog(log: Log): void {
    const { name, args } = decoded(log);
    const { from, to } = args as { from: string; to: string };
    if (name === "Transfer") this.#move("USDC", from, to, args.value as bigint);
    if (name === "TransferSingle") this.#move(String(args.id), from, to, args.value as bigint);
    if (name === "TransferBatch") {
      for (const [index, id] of (args.ids as bigint[]).entries()) {
        this.#move(String(id), from, to, (args.values as bigint[])[index] ?? 0n);
      }
    }
  }

  #move(asset: string, from: string, to: string, amount: bigint): void {
    this.#add(asset, from, -amount);
    this.#add(asset, to, amount);
  }

  #add(asset: string, address: string, amount: bigint): void {
    const key = `${asset} ${address.toLowerCase()}`;
    this.#sums.set(key, (this.#sums.get(key) ?? 0n) + amount);
  }
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
