import { decodeEventLog, parseAbi } from "viem";
import { CONTRACT_ABIS } from "../../../src/api/contracts.ts";
import type { Log } from "../../../src/chain-rpc/abis.ts";
import { logsOf } from "../../../src/chain-rpc/logs.ts";
import type { Block } from "../../../src/core/chain/chain.ts";
import { blockAt, headOf } from "../../../src/core/chain/chain.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import type { Transaction } from "../../../src/core/chain/transaction.ts";
import type { State } from "../../../src/core/state.ts";

/** Published ABI of each contract, by address. */
export const ABI_OF = new Map(
  (["collateral", "conditionalTokens", "exchange"] as const).map((name) => [
    CONTRACTS[name] as string,
    parseAbi(CONTRACT_ABIS[name] as readonly string[]),
  ]),
);

/** Returns the blocks of the chain, oldest first. */
export function* blocksOf({ chain }: State): Generator<Block> {
  for (let height = 0; height <= headOf(chain); height += 1) yield blockAt(chain, height) as Block;
}

/** Returns the transactions of a block, in order. */
export const minedIn = ({ chain }: State, { first, count }: Block): Transaction[] =>
  Array.from({ length: count }, (_, place) => chain.transactions.get(chain.mined.get(first + place + 1)));

/** Decodes a log with the published ABI. */
export function decoded({ address, topics, data }: Log): { name: string; args: Record<string, unknown> } {
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
export class Sums {
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
