import { transactionRefusalText } from "../api/transaction-refusals.ts";
import type { SendTransaction } from "../core/chain/chain-commands.ts";
import { transactionHash } from "../core/chain/chain-hashes.ts";
import type { TransactionRefusal } from "../core/refusals.ts";
import type { ChainNode } from "./chain-node.ts";
import { contractCallOf } from "./contracts/contract-call.ts";
import { RpcError } from "./rpc-error.ts";

/** A wallet's transaction, its numbers as they came. */
export interface Unsent extends Pick<SendTransaction, "from" | "to" | "input" | "raw" | "hash"> {
  /** Null takes the next. */
  readonly nonce: bigint | null;
  readonly value: bigint;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Hands a transaction to the chain, and answers its hash. @throws RpcError in a node's words when it is not taken. */
export function submit({ exchange }: ChainNode, sent: Unsent): string {
  const { from, to, input, raw, hash, nonce, value } = sent;
  const decision = exchange.submit({
    kind: "sendTransaction",
    from,
    to,
    nonce: nonce === null ? null : counted("nonce", nonce),
    value: String(value),
    gas: counted("gas", sent.gas),
    maxFeePerGas: counted("max fee per gas", sent.maxFeePerGas),
    maxPriorityFeePerGas: counted("max priority fee per gas", sent.maxPriorityFeePerGas),
    input,
    call: contractCallOf({ to, input, value }),
    raw,
    hash,
  });
  if (!decision.ok) throw refused(decision.refusal as TransactionRefusal);
  const [event] = decision.events;
  if (event?.kind !== "transactionSent") throw new Error("a transaction was taken in without an event");
  return transactionHash(exchange.state, exchange.state.chain.transactions.get(event.transaction));
}

/** A number that the chain counts exactly. */
function counted(name: string, value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw new RpcError(
    "SERVER_ERROR",
    `${name} too high: ${value}, counted are at most ${Number.MAX_SAFE_INTEGER}`,
  );
}

const refused = (refusal: TransactionRefusal): RpcError =>
  new RpcError(
    refusal.code === "INTRINSIC_GAS_TOO_LOW" ? "SERVER_ERROR" : "TRANSACTION_REJECTED",
    transactionRefusalText(refusal),
  );
