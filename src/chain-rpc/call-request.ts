import { CHAIN_ID } from "../core/chain/chain.ts";
import { ZERO_ADDRESS } from "../core/chain/contracts.ts";
import type { Address } from "../core/commands.ts";
import { optional, readAddressParam, readBytes, readObject, readQuantity } from "./params.ts";
import { RpcError } from "./rpc-error.ts";
import { contractCreation, unmodelledType } from "./signed-transaction.ts";

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
export function readCallRequest(param: unknown): CallRequest {
  const fields = readObject(param, "transaction");
  const read = <T>(name: string, reader: (value: unknown, name: string) => T): T | undefined =>
    optional(fields[name], `transaction.${name}`, reader);
  const type = fields.type ?? undefined;
  if (type !== undefined && !TYPES.has(type)) throw unmodelledType(type);
  const other = OF_OTHER_TYPES.find((name) => fields[name] !== undefined && fields[name] !== null);
  if (other !== undefined) throw unmodelledType(`one with ${other}`);
  const chainId = read("chainId", readQuantity);
  if (chainId !== undefined && chainId !== BigInt(CHAIN_ID)) {
    throw new RpcError("INVALID_PARAMS", `transaction.chainId: expected ${CHAIN_ID}, found ${chainId}`);
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

/** Who asks when nobody says. */
export const callerOf = ({ from }: CallRequest): Address => from ?? ZERO_ADDRESS;
