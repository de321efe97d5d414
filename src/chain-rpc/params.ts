import { describeValue } from "../api/errors.ts";
import type { Block } from "../core/chain/chain.ts";
import { blockAt, CHAIN_ID, headBlock, headOf } from "../core/chain/chain.ts";
import { blockOfHash } from "../core/chain/chain-hashes.ts";
import { ZERO_ADDRESS } from "../core/chain/contracts.ts";
import { finalHeight } from "../core/chain/settlement.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { readAddress } from "../core/terms.ts";
import { invalidParams, RpcError } from "./json-rpc.ts";
import { contractCreation, unmodelledType } from "./signed-transaction.ts";

/** Returns a reader of values that throws an RpcError if `read` returns null. */
export const reader =
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
export const readHash = reader("32 bytes in hex", (value) => textOf(/^0x[0-9a-fA-F]{64}$/, value));
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
 * Reads a tag, a number or an object of EIP-1898, and returns its block; the latest if it is omitted.
 * @throws RpcError if the chain does not have it.
 */
export function readBlockOrPending(value: unknown, name: string, state: State): BlockOrPending {
  const { chain } = state;
  if (value === undefined || value === null) return headBlock(chain);
  if (typeof value !== "object") return blockOfHeight(state, readHeight(value, name, state));
  const { blockHash, blockNumber } = readObject(value, name);
  const hash = optional(blockHash, `${name}.blockHash`, readHash);
  if (hash === undefined) return blockOfHeight(state, readHeight(blockNumber, `${name}.blockNumber`, state));
  if (blockNumber !== undefined) {
    throw invalidParams(`${name}: give blockHash or blockNumber, not both`);
  }
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

/** Parameters of `eth_call`, `eth_estimateGas` and `eth_sendTransaction`. */
export interface CallRequest {
  /** Undefined if the client gives no sender. */
  readonly from: Address | undefined;
  readonly to: Address;
  readonly input: `0x${string}`;
  readonly value: bigint;
  readonly nonce: bigint | null;
  readonly gas: bigint | undefined;
  /** Wei per gas; both equal the gas price if that is given. */
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
}

/** Accepted types of transactions. Without a signature they make no difference. */
const TYPES: ReadonlySet<unknown> = new Set(["0x0", "0x1", "0x2", "0x00", "0x01", "0x02", 0, 1, 2]);
/** Fields of types that are not modelled. */
const OTHER_FIELDS = ["authorizationList", "blobVersionedHashes", "blobs", "maxFeePerBlobGas"];

/** @throws RpcError */
export function readCallRequest(param: unknown, of: string): CallRequest {
  const fields = readObject(param, of);
  const read = <T>(name: string, reader: (value: unknown, name: string) => T): T | undefined =>
    optional(fields[name], `${of}.${name}`, reader);
  const type = fields.type ?? undefined;
  if (type !== undefined && !TYPES.has(type)) throw unmodelledType(type);
  const other = OTHER_FIELDS.find((name) => fields[name] !== undefined && fields[name] !== null);
  if (other !== undefined) throw unmodelledType(`one with ${other}`);
  const chainId = read("chainId", readQuantity);
  if (chainId !== undefined && chainId !== BigInt(CHAIN_ID)) {
    throw invalidParams(`${of}.chainId: expected ${CHAIN_ID}, found ${chainId}`);
  }
  const gasPrice = read("gasPrice", readQuantity);
  const to = read("to", readAddressParam);
  if (to === undefined) throw contractCreation();
  return {
    from: read("from", readAddressParam),
    to,
    input: read("input", readBytes) ?? read("data", readBytes) ?? "0x",
    value: read("value", readQuantity) ?? 0n,
    nonce: read("nonce", readQuantity) ?? null,
    gas: read("gas", readQuantity),
    maxFeePerGas: read("maxFeePerGas", readQuantity) ?? gasPrice,
    maxPriorityFeePerGas: read("maxPriorityFeePerGas", readQuantity) ?? gasPrice,
  };
}

export const callerOf = ({ from }: Pick<CallRequest, "from">): Address => from ?? ZERO_ADDRESS;
