import { RPC_CODES } from "../api/chain-rpc.ts";
import { describeValue } from "../api/errors.ts";
import { type Block, blockAt, headBlock, headOf } from "../core/chain/chain.ts";
import { blockOfHash } from "../core/chain/chain-hashes.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { State } from "../core/state.ts";
import { runSteps, type Steps } from "../core/steps.ts";
import { isWord, readAddress } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";

export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  /** Additional information for the client; undefined if there is none. */
  readonly data: unknown;

  constructor(code: keyof typeof RPC_CODES, message: string, data?: unknown) {
    super(message);
    this.code = RPC_CODES[code];
    this.data = data;
  }
}

export const invalidParams = (message: string): RpcError => new RpcError("INVALID_PARAMS", message);

/** A list in a result whose JSON is built in steps, because it may be long. */
export class LazyList {
  /** Each step returns the JSON of some items; undefined for none. */
  readonly steps: Iterable<readonly string[] | undefined>;

  constructor(steps: LazyList["steps"]) {
    this.steps = steps;
  }
}

/** Returns a list with one item in each step. */
export const lazyList = <Value>(values: Iterable<Value>, itemOf: (value: Value) => unknown): LazyList =>
  new LazyList(textsOf(values, itemOf));

function* textsOf<Value>(values: Iterable<Value>, itemOf: (value: Value) => unknown): Generator<[string]> {
  for (const value of values) yield [runSteps(jsonInSteps(itemOf(value)))];
}

/** Whether a result is computed in steps. */
export const isSteps = (result: unknown): result is Steps<unknown> =>
  typeof result === "object" && result !== null && "next" in result && typeof result.next === "function";

/** Whether a result is a `LazyList` or has one in a field. */
export const isLazy = (result: unknown): boolean =>
  result instanceof LazyList ||
  (typeof result === "object" &&
    result !== null &&
    Object.values(result).some((value) => value instanceof LazyList));

/** Writes a result as JSON; a `LazyList` takes one step for each of its own. */
export function* jsonInSteps(result: unknown): Steps<string> {
  if (result instanceof LazyList) {
    let list = "";
    for (const texts of result.steps) {
      // Joined at once, because many short strings make garbage collection slow.
      if (texts?.length) list += `${list === "" ? "" : ","}${texts.join()}`;
      yield;
    }
    return `[${list}]`;
  }
  if (!isLazy(result)) return JSON.stringify(result);
  const fields: string[] = [];
  for (const [name, value] of Object.entries(result as object)) {
    if (value !== undefined) fields.push(`${JSON.stringify(name)}:${yield* jsonInSteps(value)}`);
  }
  return `{${fields.join(",")}}`;
}

/** Thrown if the chain was replaced while a result was computed; the call must be performed again. */
export class ChainChanged extends Error {
  override readonly name = "ChainChanged";
}

/** Encodes a number as a JSON-RPC quantity: `0x0`, `0x1f`. */
export const quantity = (value: number | bigint): `0x${string}` => `0x${value.toString(16)}`;

/** Casts a text that begins with `0x` to viem's type. */
export const asHex = (text: string): `0x${string}` => text as `0x${string}`;

export const secondsOf = (at: Millis): number => Math.floor(at / 1000);

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
export const readQuantity = reader("a quantity such as 0x1f", (value) => {
  const isNumber = Number.isSafeInteger(value) && (value as number) >= 0;
  if (!isNumber && textOf(NATURAL, value) === null) return null;
  const number = BigInt(value as string | number);
  return number < WORD_LIMIT ? number : null;
});

/** Returns a reader of quantities up to a maximum. */
export const countUpTo =
  (max: number) =>
  (value: unknown, name: string): number => {
    const number = readQuantity(value, name);
    if (number <= BigInt(max)) return Number(number);
    throw invalidParams(`${name}: expected at most ${max}, found ${number}`);
  };

/** Reads a quantity up to the largest safe integer. */
export const readCount = countUpTo(Number.MAX_SAFE_INTEGER);

export const readAddressParam = reader("an address of 20 bytes", (value) =>
  typeof value === "string" ? readAddress(value) : null,
);
export const isHash = (value: unknown): value is string => typeof value === "string" && isWord(value);
export const readHash = reader("32 bytes in hex", (value) => (isHash(value) ? value.toLowerCase() : null));
export const readBytes = reader(
  "bytes in hex, two digits each",
  (value) => textOf(/^0x(?:[0-9a-fA-F]{2})*$/, value) as `0x${string}` | null,
);
export const readBoolean = reader("true or false", (value) => (typeof value === "boolean" ? value : null));
export const readObject = reader("an object", (value) =>
  typeof value === "object" && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : null,
);
export const readList = reader("an array", (value) =>
  Array.isArray(value) ? (value as readonly unknown[]) : null,
);

/** Returns a reader of the ids that a method returns. */
export const readId = (from: string) =>
  reader(`an id returned by ${from}`, (value) => (typeof value === "string" ? value.toLowerCase() : null));

/** Reads a value that may be undefined or null. */
export const optional = <T>(
  value: unknown,
  name: string,
  read: (value: unknown, name: string) => T,
): T | undefined => (value === undefined || value === null ? undefined : read(value, name));

/** A block of the chain, or the next one. */
export type BlockOrPending = Block | "pending";

/** Reads a block number or tag. The height may be above the head. */
export function readHeight(value: unknown, name: string, state: State): number | "pending" {
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
 * Reads a tag, a number, a hash or an object of EIP-1898, and returns its block; the latest if it is omitted.
 * @throws RpcError if the chain does not have it.
 */
export function readBlockOrPending(value: unknown, name: string, state: State): BlockOrPending {
  if (value === undefined || value === null) return headBlock(state.chain);
  if (isHash(value)) return blockWithHash(state, readHash(value, name));
  if (typeof value !== "object") return blockOfHeight(state, readHeight(value, name, state));
  const { blockHash, blockNumber } = readObject(value, name);
  const hash = optional(blockHash, `${name}.blockHash`, readHash);
  if (hash === undefined) return blockOfHeight(state, readHeight(blockNumber, `${name}.blockNumber`, state));
  if (blockNumber !== undefined) {
    throw invalidParams(`${name}: give blockHash or blockNumber, not both`);
  }
  return blockWithHash(state, hash);
}

function blockWithHash(state: State, hash: string): Block {
  const block = blockOfHash(state, hash);
  if (block === undefined) throw new RpcError("RESOURCE_NOT_FOUND", `Resource not found: no block ${hash}`);
  return block;
}

function blockOfHeight({ chain }: State, height: number | "pending"): BlockOrPending {
  return height === "pending" ? height : (blockAt(chain, height) ?? outOfRange(headOf(chain), height));
}

export function outOfRange(head: number, height: number): never {
  throw invalidParams(`BlockOutOfRangeError: block height is ${head} but requested was ${height}`);
}
