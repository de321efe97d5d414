import { keccak256, parseTransaction, recoverAddress, serializeTransaction } from "viem/utils";
import {
  type Block,
  baseFeeOf,
  blockTermsOf,
  CHAIN_ID,
  type Chain,
  OPERATOR_MAX_FEE,
} from "../core/chain/chain.ts";
import { OPERATOR, ZERO_ADDRESS } from "../core/chain/contracts.ts";
import { callGas, LOGS_OF_MATCH, logCountOf, ownGas, type Transaction } from "../core/chain/transaction.ts";
import { shortened } from "../core/format.ts";
import { nextNonce } from "../core/rules/calls.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { invalidParams, RpcError } from "./json-rpc.ts";
import * as read from "./parameters.ts";

/** Default priority fee, wei: 1 gwei. */
export const TIP = 1_000_000_000;
/** Default gas limit of a block. No block is ever full. */
const GAS_LIMIT = 30_000_000;

/** Returns gas limit and miner of the block with a serial; by default of the next block. */
export function limitsOf(chain: Chain, serial = chain.blocks.next): { gasLimit: number; miner: Address } {
  const { miner, gasLimit } = blockTermsOf(chain, serial);
  return { miner: miner ?? ZERO_ADDRESS, gasLimit: gasLimit ?? GAS_LIMIT };
}

/** Whether a transaction waits for an earlier nonce of its sender. */
export const isQueued = ({ chain }: State, { content }: Transaction): boolean =>
  content?.kind === "call" && content.nonce >= nextNonce(chain, content.from);

/** Returns the transactions for the next block, in order; without those that wait for an earlier nonce. */
export const pendingTransactions = (state: State): Transaction[] =>
  [...unminedTransactions(state)].filter((transaction) => !isQueued(state, transaction));

/** Returns the transactions that are not mined but may be, in order of arrival. */
export function* unminedTransactions({ chain }: State): Generator<Transaction> {
  const { deferred, firstUnprocessed, transactions } = chain;
  for (const number of deferred) {
    const transaction = transactions.get(number);
    if (number < firstUnprocessed && transaction.status === "PENDING") yield transaction;
  }
  for (let number = firstUnprocessed; number <= transactions.size; number += 1) {
    const transaction = transactions.get(number);
    if (transaction.status === "PENDING") yield transaction;
  }
}

/** Returns the sender of a transaction: a wallet or the exchange. */
export const senderOf = ({ content }: Transaction): Address =>
  content?.kind === "call" ? content.from : OPERATOR;

/** Returns the gas that a transaction used, or would use in the next block. */
export function gasUsedOf(transaction: Transaction): number {
  const { content, exception } = transaction;
  if (content?.kind === "call") {
    return exception?.gasUsed || Math.min(content.gas, callGas(content.call, content.input));
  }
  return ownGas(transaction.status === "REVERTED" ? LOGS_OF_MATCH : logCountOf(transaction));
}

/**
 * Returns the fee cap of one of the exchange's own transactions: the usual one, or what a higher base fee requires if it is
 * mined or its fee has been raised.
 */
export function ownFeeCap({ chain }: State, transaction: Transaction, block: Block | null): number {
  const needed = (block?.baseFee ?? baseFeeOf(chain)) + TIP;
  const isRaised = block !== null || transaction.exception?.isBumped;
  return isRaised ? Math.max(OPERATOR_MAX_FEE, needed) : OPERATOR_MAX_FEE;
}

/** Returns the gas price of a transaction, wei; while it is pending, the maximum. */
export function gasPriceOf(state: State, transaction: Transaction, block: Block | null): number {
  const { content, exception } = transaction;
  if (content?.kind === "call") return block === null ? content.maxFeePerGas : (exception?.gasPrice ?? 0);
  return block === null ? ownFeeCap(state, transaction, null) : block.baseFee + TIP;
}

type Hex = `0x${string}`;

/** Modelled types: legacy, with an access list (EIP-2930), and with a fee cap (EIP-1559). */
const TYPES = { legacy: "0x0", eip2930: "0x1", eip1559: "0x2" } as const;
/** Types with blobs (EIP-4844) and with code for the signer (EIP-7702). */
const OTHER_TYPES: ReadonlySet<string> = new Set(["0x03", "0x04"]);
/** The types that a request may give; they make a difference only if it is signed. */
const REQUESTED_TYPES: ReadonlyMap<unknown, keyof typeof TYPES> = new Map(
  (["legacy", "eip2930", "eip1559"] as const).flatMap((type, number) =>
    [number, `0x${number}`, `0x0${number}`].map((text) => [text, type] as const),
  ),
);
/** Fields of types that are not modelled. */
const OTHER_FIELDS = ["authorizationList", "blobVersionedHashes", "blobs", "maxFeePerBlobGas"];

export type CallRequest = ReturnType<typeof readCallRequest>;

/** Reads the parameter of `eth_call` and of the methods that send or sign a transaction. @throws RpcError */
export function readCallRequest(param: unknown, of: string) {
  const fields = read.object(param, of);
  const field = <T>(name: string, reader: (value: unknown, name: string) => T): T | undefined =>
    read.optional(fields[name], `${of}.${name}`, reader);
  const gasPrice = field("gasPrice", read.quantity);
  const type = REQUESTED_TYPES.get(fields.type ?? (gasPrice === undefined ? 2 : 0));
  if (type === undefined) throw unmodelledType(fields.type);
  const other = OTHER_FIELDS.find((name) => fields[name] !== undefined && fields[name] !== null);
  if (other !== undefined) throw unmodelledType(`one with ${other}`);
  const chainId = field("chainId", read.quantity);
  if (chainId !== undefined && chainId !== BigInt(CHAIN_ID)) {
    throw invalidParams(`${of}.chainId: expected ${CHAIN_ID}, found ${chainId}`);
  }
  const to = field("to", read.address);
  if (to === undefined) throw contractCreation();
  return {
    /** Undefined if the client gives no sender. */
    from: field("from", read.address),
    to,
    input: field("input", read.bytes) ?? field("data", read.bytes) ?? "0x",
    value: field("value", read.quantity) ?? 0n,
    nonce: field("nonce", read.quantity) ?? null,
    gas: field("gas", read.quantity),
    type,
    accessList: field("accessList", read.list) ?? [],
    // Wei per gas; both equal the gas price if that is given.
    maxFeePerGas: field("maxFeePerGas", read.quantity) ?? gasPrice,
    maxPriorityFeePerGas: field("maxPriorityFeePerGas", read.quantity) ?? gasPrice,
  };
}

export const callerOf = ({ from }: Pick<CallRequest, "from">): Address => from ?? ZERO_ADDRESS;

/** What viem parses; fields that are zero are absent. */
type Parsed = ReturnType<typeof parseTransaction> & { readonly type: keyof typeof TYPES };

/** Reads a signed transaction. @throws RpcError if it is invalid or not modelled. */
export function readSigned(raw: Hex) {
  const parsed = parse(raw);
  const { type, chainId, to, gasPrice = 0n, nonce = 0, value = 0n, gas = 0n, accessList = [] } = parsed;
  const { r, s, v = 0n, yParity = 0 } = parsed;
  if (to === undefined || to === null) throw contractCreation();
  if (r === undefined || s === undefined) throw undecodable("it is not signed");
  const isCapped = type === "eip1559";
  return {
    type: TYPES[type],
    /** Undefined if it was signed for any chain. */
    chainId,
    to: to.toLowerCase(),
    nonce: BigInt(nonce),
    value,
    gas,
    // Wei per gas; both equal the gas price of a transaction without a fee cap.
    maxFeePerGas: isCapped ? (parsed.maxFeePerGas ?? 0n) : gasPrice,
    maxPriorityFeePerGas: isCapped ? (parsed.maxPriorityFeePerGas ?? 0n) : gasPrice,
    input: parsed.data ?? "0x",
    accessList,
    r,
    s,
    /** For legacy transactions it includes the chain id (EIP-155); for others it is the parity. */
    v: type === "legacy" ? v : BigInt(yParity),
    yParity,
  };
}

/** Half the order of secp256k1's group (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Recovers the signer of a transaction. @throws RpcError if the signature is invalid or for another chain. */
export async function signerOf(raw: Hex): Promise<Address> {
  const refused = (why: string): RpcError => new RpcError("TRANSACTION_REJECTED", why);
  const { r = "0x0", s = "0x0", v: _, yParity = 0, ...unsigned } = parse(raw);
  const { chainId } = unsigned;
  if (chainId !== undefined && chainId !== CHAIN_ID) {
    throw refused(`invalid chain id for signer: have ${chainId} want ${CHAIN_ID}`);
  }
  if (BigInt(s) > HALF_ORDER) throw refused("invalid signature: s is above half the order of the curve");
  const hash = keccak256(serializeTransaction(unsigned as never));
  try {
    return (await recoverAddress({ hash, signature: { r, s, yParity } })).toLowerCase();
  } catch {
    throw refused("invalid signature: no key can have made it");
  }
}

function parse(raw: Hex): Parsed {
  if (raw === "0x") throw invalidParams("Empty transaction data");
  const type = raw.slice(0, 4);
  if (OTHER_TYPES.has(type)) throw unmodelledType(type);
  let parsed: Parsed;
  try {
    parsed = parseTransaction(raw) as Parsed;
    if (serialize(parsed) === raw) return parsed;
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "", message: "unreadable" };
    // The transaction is well-formed except for its fees.
    if (name !== "TipAboveFeeCapError")
      throw undecodable(shortened(message.split("\n", 1)[0] as string, 200));
    throw new RpcError("TRANSACTION_REJECTED", "max priority fee per gas higher than max fee per gas");
  }
  throw undecodable(parsed.r === undefined ? "it is not signed" : "it is not in its canonical encoding");
}

const serialize = ({ r, s, v, yParity, ...unsigned }: Parsed): string =>
  serializeTransaction(unsigned as never, { r, s, v, yParity } as never);

const undecodable = (why: string): RpcError => invalidParams(`Failed to decode transaction: ${why}`);

const MODELLED = "modelled are transactions of types 0x0, 0x1 and 0x2 to an address";

const contractCreation = (): RpcError =>
  new RpcError("SERVER_ERROR", `contract creation is not modelled; ${MODELLED}`);

const unmodelledType = (type: unknown): RpcError =>
  new RpcError("SERVER_ERROR", `transaction type not supported: ${String(type)}; ${MODELLED}`);
