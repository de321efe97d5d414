import { baseFeeOf } from "../../core/chain/chain.ts";
import { callGas } from "../../core/chain/gas.ts";
import type { Address } from "../../core/commands.ts";
import { type CallRequest, readCallRequest } from "../call-request.ts";
import type { ChainNode } from "../chain-node.ts";
import { contractCallOf } from "../contracts/contract-call.ts";
import { readAddressParam, readBoolean, readBytes } from "../params.ts";
import { TIP } from "../protocol.ts";
import { RpcError } from "../rpc-error.ts";
import { readSigned, signedHash, signerOf } from "../signed-transaction.ts";
import { submit } from "../submit.ts";
import { control, type Methods, open } from "./method.ts";

const impersonate = control(1, 1, ({ impersonation }, [address]) => {
  impersonation.start(readAddressParam(address, "address"));
  return null;
});
const stopImpersonating = control(1, 1, ({ impersonation }, [address]) => {
  impersonation.stop(readAddressParam(address, "address"));
  return null;
});

/** Transactions of wallets, and in whose name they are taken without a signature. */
export const sendingMethods: Methods = {
  eth_sendRawTransaction: open(1, 1, async (node, [bytes]) => {
    const raw = readBytes(bytes, "transaction");
    const { to, input, nonce, value, gas, maxFeePerGas, maxPriorityFeePerGas } = readSigned(raw);
    const from = await signerOf(raw);
    const hash = signedHash(raw);
    const fees = { gas, maxFeePerGas, maxPriorityFeePerGas };
    return submit(node, { from, to, input, nonce: BigInt(nonce), value, ...fees, raw, hash });
  }),
  eth_sendTransaction: control(1, 1, (node, [transaction]) => {
    const request = readCallRequest(transaction);
    const { to, input, nonce, value } = request;
    const fees = { gas: request.gas ?? gasOf(request), ...feesOf(node, request) };
    return submit(node, {
      ...{ from: senderOf(node, request), to, input, nonce, value, ...fees },
      ...{ raw: null, hash: null },
    });
  }),
  anvil_impersonateAccount: impersonate,
  hardhat_impersonateAccount: impersonate,
  anvil_stopImpersonatingAccount: stopImpersonating,
  hardhat_stopImpersonatingAccount: stopImpersonating,
  anvil_autoImpersonateAccount: control(1, 1, ({ impersonation }, [isOn]) => {
    impersonation.isOfAll = readBoolean(isOn, "enabled");
    return null;
  }),
};

/** In whose name a transaction is taken: the first account's unless it says so. @throws RpcError */
function senderOf({ accounts, impersonation }: ChainNode, { from = accounts[0] }: CallRequest): Address {
  if (from === undefined) throw new RpcError("INVALID_PARAMS", "No Signer available: eth_accounts is empty");
  if (accounts.includes(from) || impersonation.covers(from)) return from;
  throw new RpcError(
    "INVALID_PARAMS",
    `No Signer available: ${from} is none of eth_accounts, and nobody impersonates it`,
  );
}

/** What a call uses whether it is carried out or reverts. */
const gasOf = (request: CallRequest): bigint => BigInt(callGas(contractCallOf(request), request.input));

/** What is offered where a transaction does not say it: the next block's base fee, and a tip. */
function feesOf({ state }: ChainNode, request: CallRequest) {
  const { maxFeePerGas, maxPriorityFeePerGas } = request;
  const offered = BigInt(baseFeeOf(state.chain) + TIP);
  const cap = maxFeePerGas ?? (maxPriorityFeePerGas ?? BigInt(TIP)) + BigInt(baseFeeOf(state.chain));
  const tip = maxPriorityFeePerGas ?? (cap < offered ? 0n : BigInt(TIP));
  return { maxFeePerGas: cap, maxPriorityFeePerGas: tip };
}
