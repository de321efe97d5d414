import { keccak256, parseTransaction, recoverAddress, serializeTransaction } from "viem/utils";
import { CHAIN_ID } from "../core/chain/chain.ts";
import type { Address } from "../core/terms.ts";
import { invalidParams, RpcError } from "./json-rpc.ts";

type Hex = `0x${string}`;

/** Modelled types: legacy, with an access list (EIP-2930), and with a fee cap (EIP-1559). */
const TYPES = { legacy: "0x0", eip2930: "0x1", eip1559: "0x2" } as const;

/** Types with blobs (EIP-4844) and with code for the signer (EIP-7702). */
const OTHER_TYPES: ReadonlySet<string> = new Set(["0x03", "0x04"]);

export interface SignedTransaction {
  readonly type: (typeof TYPES)[keyof typeof TYPES];
  /** Undefined if it was signed for any chain. */
  readonly chainId: number | undefined;
  readonly to: Address;
  readonly nonce: number;
  readonly value: bigint;
  readonly gas: bigint;
  /** Wei per gas; both equal the gas price of a transaction without a fee cap. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly input: Hex;
  readonly accessList: readonly object[];
  readonly r: Hex;
  readonly s: Hex;
  /** For legacy transactions it includes the chain id (EIP-155); for others it is the parity. */
  readonly v: bigint;
  readonly yParity: number;
}

/** Result of viem's parser, which omits fields that are zero. */
interface Parsed
  extends Partial<
      Pick<SignedTransaction, "chainId" | "nonce" | "value" | "gas" | "accessList" | "r" | "s" | "v">
    >,
    Partial<Record<"gasPrice" | "maxFeePerGas" | "maxPriorityFeePerGas", bigint>> {
  readonly type: keyof typeof TYPES;
  readonly to?: Hex | null;
  readonly data?: Hex;
  readonly yParity?: number;
}

/** Reads a signed transaction. @throws RpcError if it is invalid or not modelled. */
export function readSigned(raw: Hex): SignedTransaction {
  const parsed = parse(raw);
  const { type, chainId, to, gasPrice = 0n, r, s, accessList = [] } = parsed;
  if (to === undefined || to === null) throw contractCreation();
  if (r === undefined || s === undefined) throw undecodable("it is not signed");
  const yParity = parityOf(parsed);
  const isCapped = type === "eip1559";
  return {
    type: TYPES[type],
    chainId,
    to: to.toLowerCase(),
    nonce: parsed.nonce ?? 0,
    value: parsed.value ?? 0n,
    gas: parsed.gas ?? 0n,
    maxFeePerGas: isCapped ? (parsed.maxFeePerGas ?? 0n) : gasPrice,
    maxPriorityFeePerGas: isCapped ? (parsed.maxPriorityFeePerGas ?? 0n) : gasPrice,
    input: parsed.data ?? "0x",
    accessList,
    r,
    s,
    v: type === "legacy" ? (parsed.v ?? 0n) : BigInt(yParity),
    yParity,
  };
}

/** Recovers the signer of a transaction. @throws RpcError if the signature is invalid or for another chain. */
export async function signerOf(raw: Hex): Promise<Address> {
  const { r, s, v, yParity, ...unsigned } = parse(raw);
  const { chainId } = unsigned;
  if (chainId !== undefined && chainId !== CHAIN_ID) {
    throw new RpcError(
      "TRANSACTION_REJECTED",
      `invalid chain id for signer: have ${chainId} want ${CHAIN_ID}`,
    );
  }
  if (r === undefined || s === undefined || BigInt(s) > HALF_ORDER) {
    throw new RpcError("TRANSACTION_REJECTED", "invalid signature: s is above half the order of the curve");
  }
  const hash = keccak256(serializeTransaction(unsigned as never));
  try {
    const signer = await recoverAddress({ hash, signature: { r, s, yParity: parityOf({ v, yParity }) } });
    return signer.toLowerCase();
  } catch {
    throw new RpcError("TRANSACTION_REJECTED", "invalid signature: no key can have made it");
  }
}

export const signedHash = (raw: Hex): string => keccak256(raw);

/** Half the order of secp256k1's group (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Returns 0 or 1. In legacy transactions v is 27 or 28, or 35 + 2 x chain id and its successor. */
const parityOf = ({ v = 0n, yParity }: { v?: bigint | undefined; yParity?: number | undefined }): number =>
  yParity ?? Number(v < 2n ? v : (v + 1n) % 2n);

function parse(raw: Hex): Parsed {
  if (raw === "0x") throw invalidParams("Empty transaction data");
  const type = raw.slice(0, 4);
  if (OTHER_TYPES.has(type)) throw unmodelledType(type);
  let parsed: Parsed;
  try {
    parsed = parseTransaction(raw) as unknown as Parsed;
    if (serialize(parsed) === raw) return parsed;
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "", message: "unreadable" };
    // The transaction is well-formed except for its fees.
    if (name !== "TipAboveFeeCapError")
      throw undecodable((message.split("\n", 1)[0] as string).slice(0, 200));
    throw new RpcError("TRANSACTION_REJECTED", "max priority fee per gas higher than max fee per gas");
  }
  throw undecodable(parsed.r === undefined ? "it is not signed" : "it is not in its canonical encoding");
}

function serialize({ r, s, v, yParity, ...unsigned }: Parsed): string {
  const signature = unsigned.type === "legacy" ? { r, s, v } : { r, s, yParity: parityOf({ v, yParity }) };
  return serializeTransaction(unsigned as never, signature as never);
}

const undecodable = (why: string): RpcError => invalidParams(`Failed to decode transaction: ${why}`);

const MODELLED = "modelled are transactions of types 0x0, 0x1 and 0x2 to an address";

export const contractCreation = (): RpcError =>
  new RpcError("SERVER_ERROR", `contract creation is not modelled; ${MODELLED}`);

export const unmodelledType = (type: unknown): RpcError =>
  new RpcError("SERVER_ERROR", `transaction type not supported: ${String(type)}; ${MODELLED}`);
