import { describeValue } from "../api/errors.ts";
import { type Block, blockAt, headBlock, headOf } from "../core/chain/chain.ts";
import { blockOfHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { State } from "../core/state.ts";
import { isWord, readAddress } from "../core/terms.ts";
import { invalidParams, RpcError } from "./json-rpc.ts";

// Readers of the parameters of methods, used as `read.hash`.

/** Returns a reader of values that throws an RpcError if `read` returns null. */
const reader =
  <T>(expected: string, read: (value: unknown) => T | null) =>
  (value: unknown, name: string): T => {
    const found = read(value);
    if (found === null) throw invalidParams(`${name}: expected ${expected}, found ${describeValue(value)}`);
    return found;
  };

/** Returns a text that matches a pattern, in lower case; null for any other value. */
const textOf = (pattern: RegExp, value: unknown): string | null =>
  typeof value === "string" && pattern.test(value) ? value.toLowerCase() : null;

const NATURAL = /^(?:0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/;
const WORD_LIMIT = 1n << 256n;

/** Reads a number of at most 256 bits: a hex quantity or, as with anvil, an integer or its decimal text. */
export const quantity = reader("a quantity such as 0x1f, below 2^256", (value) => {
  const isNumber = Number.isSafeInteger(value) && (value as number) >= 0;
  if (!isNumber && textOf(NATURAL, value) === null) return null;
  const number = BigInt(value as string | number);
  return number < WORD_LIMIT ? number : null;
});

/** Returns a reader of quantities up to a maximum. */
export const countUpTo =
  (max: number) =>
  (value: unknown, name: string): number => {
    const number = quantity(value, name);
    if (number <= BigInt(max)) return Number(number);
    throw invalidParams(`${name}: expected at most ${max}, found ${number}`);
  };

/** Reads a quantity up to the largest safe integer. */
export const count = countUpTo(Number.MAX_SAFE_INTEGER);

export const address = reader("an address of 20 bytes", (value) =>
  typeof value === "string" ? readAddress(value) : null,
);
export const isHash = (value: unknown): value is string => typeof value === "string" && isWord(value);
export const hash = reader("32 bytes in hex", (value) => (isHash(value) ? value.toLowerCase() : null));
export const bytes = reader(
  "bytes in hex, two digits each",
  (value) => textOf(/^0x(?:[0-9a-fA-F]{2})*$/, value) as `0x${string}` | null,
);
export const boolean = reader("true or false", (value) => (typeof value === "boolean" ? value : null));
export const object = reader("an object", (value) =>
  typeof value === "object" && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : null,
);
export const list = reader("an array", (value) =>
  Array.isArray(value) ? (value as readonly unknown[]) : null,
);

/** Returns a reader of the ids that a method returns. */
export const id = (from: string) =>
  reader(`an id returned by ${from}`, (value) => (typeof value === "string" ? value.toLowerCase() : null));

/** Reads a value that may be undefined or null. */
export const optional = <T>(
  value: unknown,
  name: string,
  read: (value: unknown, name: string) => T,
): T | undefined => (value === undefined || value === null ? undefined : read(value, name));

/** A block of the chain, or the next one. */
export type BlockOrPending = Block | "pending";

/** Returns the tag of a block in lower case; other values as they are. */
export const tag = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value);

/** Reads a block number or tag. The height may be above the head; above the largest safe integer it is approximate. */
export function height(value: unknown, name: string, state: State): number | "pending" {
  switch (tag(value)) {
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
      return Number(
        quantity(value, `${name}: a block is latest, pending, safe, finalized, earliest or its number`),
      );
  }
}

/**
 * Reads a tag, a number, a hash or an object of EIP-1898, and returns its block; the latest if it is omitted.
 * @throws RpcError if the chain does not have it.
 */
export function blockOrPending(value: unknown, name: string, state: State): BlockOrPending {
  if (value === undefined || value === null) return headBlock(state.chain);
  if (isHash(value)) return blockWithHash(value, name, state);
  if (typeof value !== "object") return blockOfHeight(state, height(value, name, state));
  const { blockHash, blockNumber } = object(value, name);
  if ((blockHash ?? null) === null) {
    return blockOfHeight(state, height(blockNumber, `${name}.blockNumber`, state));
  }
  if (blockNumber === undefined) return blockWithHash(blockHash, `${name}.blockHash`, state);
  throw invalidParams(`${name}: give blockHash or blockNumber, not both`);
}

/** Reads a hash, and returns its block. @throws RpcError if the chain does not have it. */
export function blockWithHash(value: unknown, name: string, state: State): Block {
  const given = hash(value, name);
  const block = blockOfHash(state, given);
  if (block !== undefined) return block;
  throw new RpcError("RESOURCE_NOT_FOUND", `Resource not found: no block ${given}`);
}

function blockOfHeight({ chain }: State, height: number | "pending"): BlockOrPending {
  return height === "pending" ? height : (blockAt(chain, height) ?? outOfRange(headOf(chain), height));
}

export function outOfRange(head: number, height: number): never {
  throw invalidParams(`BlockOutOfRangeError: block height is ${head} but requested was ${BigInt(height)}`);
}
