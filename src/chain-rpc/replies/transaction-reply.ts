import type { Block } from "../../core/chain/block.ts";
import { CHAIN_ID } from "../../core/chain/chain.ts";
import { blockHash, transactionHash } from "../../core/chain/chain-hashes.ts";
import { OPERATOR } from "../../core/chain/contracts.ts";
import { ownGas } from "../../core/chain/gas.ts";
import { logCountOf } from "../../core/chain/log-counts.ts";
import { blockOf } from "../../core/chain/settlement.ts";
import type { CallContent, Transaction } from "../../core/chain/transaction.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { State } from "../../core/state.ts";
import { ownInputOf, recipientOf } from "../contracts/own-call.ts";
import { asHex, quantity } from "../hex.ts";
import { secondsOf, TIP } from "../protocol.ts";
import { readSigned } from "../signed-transaction.ts";
import { gasPriceOf, ownFeeCap } from "./transaction-facts.ts";

/** A transaction, in a block or still to come. */
export function transactionReply(state: State, transaction: Transaction): object {
  const { content } = transaction;
  const block = blockOf(state.chain, transaction);
  const hash = transactionHash(state, transaction);
  return {
    ...(content?.kind === "call" ? sentFields(content, hash) : ownFields(state, transaction, block, hash)),
    gasPrice: quantity(gasPriceOf(state, transaction, block)),
    hash,
    ...placeOf(state, transaction, block),
  };
}

function placeOf(state: State, { place }: Transaction, block: Block | null): object {
  if (block === null) return { blockHash: null, blockNumber: null, transactionIndex: null };
  return {
    blockHash: blockHash(state, block),
    blockNumber: quantity(block.height),
    blockTimestamp: quantity(secondsOf(block.at)),
    transactionIndex: quantity(place),
  };
}

/** A wallet's: what was signed, or what a node would have signed for it. */
function sentFields(content: CallContent, hash: string): object {
  const { from, to, nonce, gas, value, input, raw, maxFeePerGas, maxPriorityFeePerGas } = content;
  const common = {
    from,
    to,
    nonce: quantity(nonce),
    gas: quantity(gas),
    value: quantity(BigInt(value)),
    input,
  };
  const fees = {
    maxFeePerGas: quantity(maxFeePerGas),
    maxPriorityFeePerGas: quantity(maxPriorityFeePerGas),
  };
  if (raw === null) return { ...OF_THIS_CHAIN, ...common, ...fees, ...madeUpSignature(hash) };
  const { type, chainId, accessList, r, s, v, yParity } = readSigned(asHex(raw));
  const signature = { r: trimmed(r), s: trimmed(s), v: quantity(v) };
  if (type === "0x0") {
    return {
      type,
      ...(chainId === undefined ? {} : { chainId: quantity(chainId) }),
      ...common,
      ...signature,
    };
  }
  return {
    ...{ ...OF_THIS_CHAIN, type, accessList },
    ...common,
    ...(type === "0x2" ? fees : {}),
    ...{ ...signature, yParity: quantity(yParity) },
  };
}

/** The exchange's own: its numbers are its nonces. */
function ownFields(state: State, transaction: Transaction, block: Block | null, hash: string): object {
  return {
    ...OF_THIS_CHAIN,
    from: OPERATOR,
    to: recipientOf(transaction),
    nonce: quantity(transaction.number),
    gas: quantity(ownGas(logCountOf(transaction))),
    value: "0x0",
    input: ownInputOf(state, transaction),
    maxFeePerGas: quantity(ownFeeCap(state, block)),
    maxPriorityFeePerGas: quantity(TIP),
    ...madeUpSignature(hash),
  };
}

const OF_THIS_CHAIN = { type: "0x2", chainId: quantity(CHAIN_ID), accessList: [] };

/** What nobody has signed has a signature all the same: well-formed, and of nobody's. */
function madeUpSignature(hash: string): object {
  const digits = (name: string): string => sha256Hex(`clobsim signature ${name}\n${hash}`).slice(1);
  const r = digits("r");
  const parity = quantity(Number.parseInt(r.slice(-1), 16) & 1);
  // With 1 for its first digit of 64 a number is below half the order of the curve.
  return { r: `0x1${r}`, s: `0x1${digits("s")}`, v: parity, yParity: parity };
}

/** 32 bytes as a quantity. */
const trimmed = (hex: string): string => quantity(BigInt(hex));
