import { OPERATOR } from "../../core/chain/contracts.ts";
import type { Address } from "../../core/commands.ts";
import { nextNonce } from "../../core/rules/chain/send-transaction.ts";
import type { State } from "../../core/state.ts";
import { readMoment } from "../block-parameter.ts";
import { isContract } from "../contracts/abis.ts";
import { presentState } from "../contracts/scene.ts";
import { quantity } from "../hex.ts";
import { readAddressParam } from "../params.ts";
import { type Methods, open } from "./method.ts";

/** Code that does nothing: what the contracts do is not written in it. */
const CODE = "0xfe";

/** What an address has on the chain. */
export const accountMethods: Methods = {
  eth_accounts: open(0, 0, ({ accounts, impersonation }) => [
    ...new Set([...accounts, ...impersonation.addresses]),
  ]),
  eth_getBalance: open(2, 2, (node, [address, block]) => {
    const wallet = readAddressParam(address, "address");
    const { chain } = presentState({ node, moment: readMoment(node.state, block) });
    return quantity(chain.wallets.get(wallet)?.native ?? 0n);
  }),
  eth_getTransactionCount: open(2, 2, (node, [address, block]) => {
    const wallet = readAddressParam(address, "address");
    const moment = readMoment(node.state, block);
    return quantity(nonceOf(presentState({ node, moment }), wallet, moment === "pending"));
  }),
  eth_getCode: open(2, 2, ({ state }, [address, block]) => {
    readMoment(state, block);
    return isContract(readAddressParam(address, "address")) ? CODE : "0x";
  }),
};

function nonceOf({ chain }: State, address: Address, withPending: boolean): number {
  // The exchange's own transactions have their numbers for nonces.
  if (address === OPERATOR) return withPending ? chain.transactions.next : chain.fresh;
  return withPending ? nextNonce(chain, address) : (chain.wallets.get(address)?.mined ?? 0);
}
