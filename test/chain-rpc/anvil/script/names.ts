import { call, mineAt, type Step } from "../step.ts";
import { ALICE, BOB, DORA, ETHER, GWEI, NOBODY, ofDora } from "./wallets.ts";

const FEES = { maxFeePerGas: "0xb2d05e00", maxPriorityFeePerGas: "0xb2d05e00" };
const ofHash = (title: string, method: string, sent: string): Step =>
  call(title, method, ({ result }) => [result(sent)]);
const send = (title: string, from: string, fields: object): Step =>
  call(title, "eth_sendTransaction", [{ from, to: NOBODY, value: "0x64", gas: "0x5208", ...fields }]);

/** Unsigned transactions of impersonated and dev accounts. */
export const NAMES: readonly Step[] = [
  send("in an account's name", ALICE.address, FEES),
  mineAt(15_000),
  ofHash("the receipt of an account", "eth_getTransactionReceipt", "in an account's name"),
  ofHash("the transaction of an account", "eth_getTransactionByHash", "in an account's name"),
  send("in an account's name without its money", BOB.address, { value: `0x${(9n * ETHER).toString(16)}` }),
  send("in a stranger's name", DORA.address, FEES),
  call("a stranger without money", "eth_sendRawTransaction", [await ofDora({ fee: GWEI })]),
  call("ether for the stranger", "anvil_setBalance", [DORA.address, `0x${ETHER.toString(16)}`]),
  call("impersonating the stranger", "anvil_impersonateAccount", [DORA.address]),
  send("in the impersonated's name", DORA.address, { gasPrice: "0xb2d05e00" }),
  mineAt(15_010),
  ofHash("the receipt of the impersonated", "eth_getTransactionReceipt", "in the impersonated's name"),
  ofHash("the transaction of the impersonated", "eth_getTransactionByHash", "in the impersonated's name"),
  call("the balance of the impersonated", "eth_getBalance", [DORA.address, "latest"]),
  call("the nonce of the impersonated", "eth_getTransactionCount", [DORA.address, "latest"]),
  call("no more impersonating", "anvil_stopImpersonatingAccount", [DORA.address]),
  call("the accounts after impersonating", "eth_accounts"),
  send("in an account's name after impersonation", DORA.address, FEES),
  call("impersonating all accounts", "anvil_autoImpersonateAccount", [true]),
  send("in anybody's name", DORA.address, FEES),
  call("impersonating no account", "anvil_autoImpersonateAccount", [false]),
  call("a cap below the base fee", "eth_sendRawTransaction", [await ofDora({ fee: 1n, nonce: 2 })]),
];
