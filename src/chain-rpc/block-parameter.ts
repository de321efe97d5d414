import type { Block } from "../core/chain/block.ts";
import { blockAt, headBlock, headOf } from "../core/chain/chain.ts";
import { blockOfHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { State } from "../core/state.ts";
import { optional, readCount, readHash, readObject } from "./params.ts";
import { RpcError } from "./rpc-error.ts";

/** A block, or what the next one would be made of. */
export type Moment = Block | "pending";

/** The height that a block's number or tag names, which may be above the head. */
export function readHeight(state: State, value: unknown, name: string): number | "pending" {
  switch (typeof value === "string" ? value.toLowerCase() : value) {
    case "latest":
      return headOf(state.chain);
    case "pending":
      return "pending";
    case "safe":
    case "finalized":
      return finalHeight(state);
    case "earliest":
      return 0;
    default:
      return readCount(value, `${name}: a block is latest, pending, safe, finalized, earliest or its number`);
  }
}

/**
 * The block that a tag, a number or an object of EIP-1898 names; the latest when nothing does.
 * @throws RpcError when the chain has none.
 */
export function readMoment(state: State, value: unknown, name = "block"): Moment {
  const { chain } = state;
  if (value === undefined || value === null) return headBlock(chain);
  if (typeof value !== "object") return blockOfHeight(state, readHeight(state, value, name));
  const { blockHash, blockNumber } = readObject(value, name);
  const hash = optional(blockHash, `${name}.blockHash`, readHash);
  if (hash === undefined) return blockOfHeight(state, readHeight(state, blockNumber, `${name}.blockNumber`));
  if (blockNumber !== undefined) {
    throw new RpcError("INVALID_PARAMS", `${name}: give blockHash or blockNumber, not both`);
  }
  const block = blockOfHash(state, hash);
  if (block === undefined) throw new RpcError("RESOURCE_NOT_FOUND", `Resource not found: no block ${hash}`);
  return block;
}

function blockOfHeight({ chain }: State, height: number | "pending"): Moment {
  return height === "pending" ? height : (blockAt(chain, height) ?? outOfRange(headOf(chain), height));
}

/** A height that the chain has not reached. */
export function outOfRange(head: number, height: number): never {
  throw new RpcError(
    "INVALID_PARAMS",
    `BlockOutOfRangeError: block height is ${head} but requested was ${height}`,
  );
}
