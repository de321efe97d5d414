import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { keccak256 } from "viem/utils";
import { asHex } from "../api/view.ts";
import { baseFeeOf, CHAIN_ID } from "../core/chain/chain.ts";
import { transactionHash } from "../core/chain/chain-hashes.ts";
import { callGas } from "../core/chain/transaction.ts";
import type { CommandOf } from "../core/commands.ts";
import { shortened } from "../core/format.ts";
import { refusalText, type TransactionRefusal } from "../core/refusals.ts";
import { nextNonce } from "../core/rules/calls.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { ADDRESS } from "./chain-methods.ts";
import { aliased, control, type Methods, type NodeContext, open, param } from "./context.ts";
import { contractCallOf } from "./contracts.ts";
import { invalidParams, RpcError } from "./json-rpc.ts";
import * as read from "./parameters.ts";
import {
  type CallRequest,
  callerOf,
  limitsOf,
  readCallRequest,
  readSigned,
  signerOf,
  TIP,
} from "./transactions.ts";

/** Returns the sender of a transaction, by default the first account. @throws RpcError if the node may not act for it. */
function permittedSender(
  { accounts, impersonated, impersonatesAll }: NodeContext,
  { from = accounts[0] }: CallRequest,
): Address {
  if (from === undefined) throw invalidParams("No Signer available: eth_accounts is empty");
  if (accounts.includes(from) || impersonatesAll || impersonated.has(from)) return from;
  throw invalidParams(`No Signer available: ${from} is neither in eth_accounts nor impersonated`);
}

/** Returns the gas that a call uses, also if it reverts. */
const gasOf = (request: CallRequest): bigint => BigInt(callGas(contractCallOf(request), request.input));

/** Returns the fees of a transaction; by default the next block's base fee and a priority fee. */
function feesOf({ state }: NodeContext, request: CallRequest) {
  const { maxFeePerGas, maxPriorityFeePerGas } = request;
  const [baseFee, defaultTip] = [BigInt(baseFeeOf(state.chain)), BigInt(TIP)];
  const cap = maxFeePerGas ?? baseFee + (maxPriorityFeePerGas ?? defaultTip);
  const tip = maxPriorityFeePerGas ?? (cap < baseFee + defaultTip ? 0n : defaultTip);
  return { maxFeePerGas: cap, maxPriorityFeePerGas: tip };
}

/** A wallet's transaction before its numbers are checked; nonce null means the next one. */
type Submission = Pick<CommandOf<"sendTransaction">, "from" | "to" | "input" | "raw" | "hash"> &
  Pick<CallRequest, "value" | "nonce"> &
  Readonly<Record<"gas" | "maxFeePerGas" | "maxPriorityFeePerGas", bigint>>;

/** Submits a transaction and returns its hash. @throws RpcError if it is refused. */
function submit({ exchange }: NodeContext, sent: Submission): string {
  const { from, to, input, raw, hash, nonce, value } = sent;
  if (sent.gas > BigInt(limitsOf(exchange.state.chain).gasLimit)) {
    throw new RpcError("SERVER_ERROR", "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit");
  }
  const decision = exchange.submit({
    kind: "sendTransaction",
    from,
    to,
    nonce: nonce === null ? null : toSafeInteger("nonce", nonce),
    value: String(value),
    gas: toSafeInteger("gas", sent.gas),
    maxFeePerGas: toSafeInteger("max fee per gas", sent.maxFeePerGas),
    maxPriorityFeePerGas: toSafeInteger("max priority fee per gas", sent.maxPriorityFeePerGas),
    input,
    call: contractCallOf({ to, input, value }),
    raw,
    hash,
  });
  if (!decision.ok) throw refused(decision.refusal as TransactionRefusal, exchange.state);
  const [event] = decision.events;
  if (event?.kind !== "transactionSent") throw new Error("a transaction was accepted without an event");
  return transactionHash(exchange.state, exchange.state.chain.transactions.get(event.transaction));
}

/** Submits an unsigned transaction of a sender. */
function submitUnsigned(node: NodeContext, from: Address, request: CallRequest): string {
  const { gas = gasOf(request) } = request;
  return submit(node, { ...request, ...feesOf(node, request), from, gas, raw: null, hash: null });
}

function toSafeInteger(name: string, value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  const why = `expected at most ${Number.MAX_SAFE_INTEGER}, found ${value}`;
  throw new RpcError("SERVER_ERROR", `${name} too high: ${why}`);
}

const refused = (refusal: TransactionRefusal, state: State): RpcError =>
  new RpcError(
    refusal.code === "INTRINSIC_GAS_TOO_LOW" ? "SERVER_ERROR" : "TRANSACTION_REJECTED",
    refusalText(refusal, state),
  );

const DATA = param("data", read.bytes);

const TYPED_DATA = param("typed data", (value, name) => {
  if (typeof value !== "string") return read.object(value, name);
  try {
    return read.object(JSON.parse(value), name);
  } catch {
    throw invalidParams(`${name}: expected an object or its JSON`);
  }
});

/** Returns the signer of a dev account. @throws RpcError for any other address */
function signerFor({ keyOf }: NodeContext, address: Address): PrivateKeyAccount {
  const key = keyOf(address);
  if (key !== null) return privateKeyToAccount(key);
  throw invalidParams(`No Signer available: the exchange has no key of ${address}`);
}

const sign = (node: NodeContext, address: Address, raw: `0x${string}`): Promise<string> =>
  signerFor(node, address).signMessage({ message: { raw } });

const signTypedData = control([ADDRESS, TYPED_DATA], async (node, address, typedData) => {
  const account = signerFor(node, address);
  try {
    return await account.signTypedData(typedData as never);
  } catch (error) {
    const [why = ""] = (error as Error).message.split("\n", 1);
    throw invalidParams(`typed data: ${shortened(why, 200)}`);
  }
});

/** The methods that send and sign transactions, and impersonate accounts. */
export const sendingMethods: Methods = {
  eth_sendRawTransaction: open([param("transaction", read.bytes)], async (node, raw) => {
    const signed = readSigned(raw);
    return submit(node, { ...signed, from: await signerOf(raw), raw, hash: keccak256(raw) });
  }),
  eth_sendTransaction: control([param("transaction", readCallRequest)], (node, request) =>
    submitUnsigned(node, permittedSender(node, request), request),
  ),
  eth_sendUnsignedTransaction: control([param("transaction", readCallRequest)], (node, request) =>
    submitUnsigned(node, callerOf(request), request),
  ),
  // These sign with the keys of dev accounts and send nothing.
  eth_sign: control([ADDRESS, DATA], sign),
  personal_sign: control([DATA, ADDRESS], (node, data, address) => sign(node, address, data)),
  eth_signTypedData: signTypedData,
  eth_signTypedData_v4: signTypedData,
  eth_signTransaction: control([param("transaction", readCallRequest)], (node, request) => {
    const { accounts, state } = node;
    const from = request.from ?? accounts[0];
    if (from === undefined) throw invalidParams("No Signer available: eth_accounts is empty");
    const { to, value, input, nonce, type } = request;
    if (request.accessList.length > 0)
      throw invalidParams("transaction.accessList is not signed: leave it out");
    const fees = feesOf(node, request);
    return signerFor(node, from).signTransaction({
      ...{ chainId: CHAIN_ID, to: asHex(to), value, data: input, gas: request.gas ?? gasOf(request) },
      nonce: Number(nonce ?? nextNonce(state.chain, from)),
      ...(type === "eip1559" ? { type, ...fees } : { type, gasPrice: fees.maxFeePerGas }),
    });
  }),
  ...aliased({
    impersonateAccount: control([ADDRESS], ({ impersonated }, address) => {
      impersonated.add(address);
    }),
    stopImpersonatingAccount: control([ADDRESS], ({ impersonated }, address) => {
      impersonated.delete(address);
    }),
    autoImpersonateAccount: control([param("enabled", read.boolean)], (node, isOn) => {
      node.impersonatesAll = isOn;
    }),
    setBalance: control([ADDRESS, param("balance", read.quantity)], ({ exchange }, address, wei) => {
      exchange.submit({ kind: "setNativeBalance", address, wei: String(wei) });
    }),
  }),
};
