import { nameOf } from "../api/errors.ts";
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

type Name = string;

const wrong = (name: Name, expected: string, found: unknown): RpcError =>
  invalidParams(`${name}: expected ${expected}, found ${nameOf(found)}`);

const HEX_QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;
const DECIMAL_QUANTITY = /^[0-9]{1,78}$/;
const WORD_LIMIT = 1n << 256n;

/** A number of at most 256 bits: a hex quantity or, as anvil takes them, a whole number or its decimal text. */
export function readQuantity(value: unknown, name: Name): bigint {
  const isText = typeof value === "string" && (HEX_QUANTITY.test(value) || DECIMAL_QUANTITY.test(value));
  if (isText || (Number.isSafeInteger(value) && (value as number) >= 0)) {
    const number = BigInt(value as string | number);
    if (number < WORD_LIMIT) return number;
  }
  throw wrong(name, "a quantity such as 0x1f", value);
}

/** The same, small enough to be counted exactly: at most 2^53 - 1, or less. */
export function readCount(value: unknown, name: Name, most: number = Number.MAX_SAFE_INTEGER): number {
  const number = readQuantity(value, name);
  if (number <= BigInt(most)) return Number(number);
  throw invalidParams(`${name}: at most ${most}, found ${number}`);
}

export function readAddressParam(value: unknown, name: Name): Address {
  const address = typeof value === "string" ? readAddress(value) : null;
  if (address === null) throw wrong(name, "an address of 20 bytes", value);
  return address;
}

const WORD = /^0x[0-9a-fA-F]{64}$/;
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/;

/** 32 bytes, in lower case. */
export function readHash(value: unknown, name: Name): string {
  if (typeof value === "string" && WORD.test(value)) return value.toLowerCase();
  throw wrong(name, "32 bytes in hex", value);
}

/** Any bytes, in lower case. */
export function readBytes(value: unknown, name: Name): `0x${string}` {
  if (typeof value === "string" && BYTES.test(value)) return value.toLowerCase() as `0x${string}`;
  throw wrong(name, "bytes in hex, two digits each", value);
}

export function readBoolean(value: unknown, name: Name): boolean {
  if (typeof value === "boolean") return value;
  throw wrong(name, "true or false", value);
}

export function readObject(value: unknown, name: Name): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw wrong(name, "an object", value);
}

/** What may be left out, as undefined or null. */
export const optional = <T>(
  value: unknown,
  name: Name,
  read: (value: unknown, name: Name) => T,
): T | undefined => (value === undefined || value === null ? undefined : read(value, name));

/** A block, or what the next one would be made of. */
export type BlockOrPending = Block | "pending";

/** The height that a block's number or tag names, which may be above the head. */
export function readHeight(value: unknown, name: Name, state: State): number | "pending" {
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
export function readMoment(value: unknown, name: Name, state: State): BlockOrPending {
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

/** What a client asks to be called, estimated or sent in somebody's name. */
export interface CallRequest {
  /** Undefined when it does not say who asks. */
  readonly from: Address | undefined;
  readonly to: Address;
  readonly input: `0x${string}`;
  readonly value: bigint;
  readonly nonce: bigint | null;
  readonly gas: bigint | undefined;
  /** Wei per gas; both are the gas price where that was given. */
  readonly maxFeePerGas: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
}

/** Types that are modelled as they are asked for; which one makes no difference without a signature. */
const TYPES: ReadonlySet<unknown> = new Set(["0x0", "0x1", "0x2", "0x00", "0x01", "0x02", 0, 1, 2]);
const OF_OTHER_TYPES = ["authorizationList", "blobVersionedHashes", "blobs", "maxFeePerBlobGas"];

/** Reads the object that `eth_call`, `eth_estimateGas` and `eth_sendTransaction` take. @throws RpcError */
export function readCallRequest(param: unknown, of: Name): CallRequest {
  const fields = readObject(param, of);
  const read = <T>(name: string, reader: (value: unknown, name: string) => T): T | undefined =>
    optional(fields[name], `${of}.${name}`, reader);
  const type = fields.type ?? undefined;
  if (type !== undefined && !TYPES.has(type)) throw unmodelledType(type);
  const other = OF_OTHER_TYPES.find((name) => fields[name] !== undefined && fields[name] !== null);
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
