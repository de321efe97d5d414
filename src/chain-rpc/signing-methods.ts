import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { CHAIN_ID } from "../core/chain/chain.ts";
import { nextNonce } from "../core/rules/calls.ts";
import type { Address } from "../core/terms.ts";
import { control, type Methods, type NodeContext, param } from "./context.ts";
import { feesOf, gasOf } from "./control-methods.ts";
import { RpcError } from "./json-rpc.ts";
import { readAddressParam, readBytes, readCallRequest, readObject } from "./params.ts";

const ADDRESS = param("address", readAddressParam);
const DATA = param("data", readBytes);

/** Typed data of EIP-712, as an object or as its JSON. */
const TYPED_DATA = param("typed data", (value, name) => {
  if (typeof value !== "string") return readObject(value, name);
  try {
    return readObject(JSON.parse(value), name);
  } catch {
    throw new RpcError("INVALID_PARAMS", `${name}: expected an object or its JSON`);
  }
});

/** Whoever signs for a dev account. @throws RpcError for any other address */
function signerFor({ keyOf }: NodeContext, address: Address): PrivateKeyAccount {
  const key = keyOf(address);
  const account = key === null ? null : privateKeyToAccount(key);
  if (account?.address.toLowerCase() === address) return account;
  throw new RpcError("INVALID_PARAMS", `No Signer available: the exchange has no key of ${address}`);
}

const sign = (node: NodeContext, address: Address, raw: `0x${string}`): Promise<string> =>
  signerFor(node, address).signMessage({ message: { raw } });

const signTypedData = control([ADDRESS, TYPED_DATA], async (node, address, typedData) => {
  const account = signerFor(node, address);
  try {
    return await account.signTypedData(typedData as never);
  } catch (error) {
    const [why = ""] = (error as Error).message.split("\n", 1);
    throw new RpcError("INVALID_PARAMS", `typed data: ${why.slice(0, 200)}`);
  }
});

/** The methods that sign in the name of dev accounts, and send nothing. */
export const signingMethods: Methods = {
  eth_sign: control([ADDRESS, DATA], sign),
  personal_sign: control([DATA, ADDRESS], (node, data, address) => sign(node, address, data)),
  eth_signTypedData: signTypedData,
  eth_signTypedData_v4: signTypedData,
  eth_signTransaction: control([param("transaction", readCallRequest)], (node, request) => {
    const { accounts, state } = node;
    const from = request.from ?? accounts[0];
    if (from === undefined)
      throw new RpcError("INVALID_PARAMS", "No Signer available: eth_accounts is empty");
    const { to, value, input, nonce } = request;
    return signerFor(node, from).signTransaction({
      ...{ type: "eip1559", chainId: CHAIN_ID, to: to as `0x${string}`, value, data: input },
      nonce: Number(nonce ?? nextNonce(state.chain, from)),
      gas: request.gas ?? gasOf(request),
      ...feesOf(node, request),
    });
  }),
};
