import { atSecond, call, hex, mineAt, ofResult, type Step, sendRaw } from "../step.ts";
import {
  ALICE,
  BOB,
  capped,
  DORA,
  ETHER,
  GWEI,
  legacy,
  listed,
  NOBODY,
  ofDora,
  tipAboveCap,
} from "./wallets.ts";

const TRANSFERS = [
  call("ten ether for alice", "anvil_setBalance", [ALICE.address, hex(10n * ETHER)]),
  call("a balance that was set", "eth_getBalance", [ALICE.address, "latest"]),
  call("a transfer of nothing to bob", "anvil_setBalance", [BOB.address, "0x0"]),
  sendRaw("a transfer", capped({ nonce: 0, value: ETHER })),
  ofResult("a pending transfer", "eth_getTransactionByHash", "a transfer"),
  ofResult("no receipt while it is pending", "eth_getTransactionReceipt", "a transfer"),
  call("the nonce while it is pending", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the nonce with what is pending", "eth_getTransactionCount", [ALICE.address, "pending"]),
  atSecond("the second of the next block", "evm_setNextBlockTimestamp", 10_000),
  call("the pending block with the transfer", "eth_getBlockByNumber", ["pending", false]),
  call("the count of the pending block", "eth_getBlockTransactionCountByNumber", ["pending"]),
  sendRaw("the same transfer while it is pending", capped({ nonce: 0, value: ETHER })),
  sendRaw("another that offers too little more", capped({ nonce: 0, value: 7n })),
  call("a block with the transfer", "evm_mine"),
  ofResult("its receipt", "eth_getTransactionReceipt", "a transfer"),
  ofResult("the mined transfer", "eth_getTransactionByHash", "a transfer"),
  call("its block", "eth_getBlockByNumber", ["latest", false]),
  call("its block in full", "eth_getBlockByNumber", ["latest", true]),
  call("its place in its block", "eth_getTransactionByBlockNumberAndIndex", ["latest", "0x0"]),
  call("no second transaction in its block", "eth_getTransactionByBlockNumberAndIndex", ["latest", "0x1"]),
  call("the receipts of its block", "eth_getBlockReceipts", ["latest"]),
  call("the count of its block", "eth_getBlockTransactionCountByNumber", ["latest"]),
  call("the nonce after the transfer", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the pending nonce after the transfer", "eth_getTransactionCount", [ALICE.address, "pending"]),
  call("the nonce before the transfer", "eth_getTransactionCount", [ALICE.address, "earliest"]),
  call("the balance of the sender", "eth_getBalance", [ALICE.address, "latest"]),
  call("the balance of the recipient", "eth_getBalance", [BOB.address, "latest"]),
  sendRaw("a legacy transfer", legacy({ nonce: 1, value: 5n })),
  sendRaw("a transfer with an access list", listed({ nonce: 2 })),
  sendRaw("a transfer below its cap", capped({ nonce: 3, fee: 5n * GWEI, tip: GWEI })),
  mineAt(10_010),
  ofResult("the receipt of the legacy transfer", "eth_getTransactionReceipt", "a legacy transfer"),
  ofResult("the legacy transfer itself", "eth_getTransactionByHash", "a legacy transfer"),
  ofResult("the receipt of the listed", "eth_getTransactionReceipt", "a transfer with an access list"),
  ofResult("the listed itself", "eth_getTransactionByHash", "a transfer with an access list"),
  ofResult("the receipt below its cap", "eth_getTransactionReceipt", "a transfer below its cap"),
  call("a block of three", "eth_getBlockByNumber", ["latest", false]),
];

const REFUSED = [
  sendRaw("the same transfer again", capped({ nonce: 0, value: ETHER })),
  sendRaw("a nonce that is used", capped({ nonce: 0, value: 7n })),
  sendRaw("more than the sender has", capped({ nonce: 4, value: 100n * ETHER })),
  sendRaw("another chain id", capped({ nonce: 4, chainId: 1 })),
  sendRaw("too little gas", capped({ nonce: 4, gas: 20_999n })),
  sendRaw("a tip above its cap", tipAboveCap()),
  sendRaw("bytes that are no transaction", "0x1234"),
  sendRaw("no bytes at all", "0x"),
  sendRaw("half a byte", "0x123"),
  sendRaw("invalid hex", "hello"),
  sendRaw("an unknown type", `0x7f${"00".repeat(20)}`),
];

const GAP = [
  sendRaw("a nonce after the next", capped({ nonce: 5, value: 11n })),
  ofResult("a transfer that waits for another", "eth_getTransactionByHash", "a nonce after the next"),
  call("the pending nonce with a gap", "eth_getTransactionCount", [ALICE.address, "pending"]),
  mineAt(10_020),
  ofResult("its receipt while it waits", "eth_getTransactionReceipt", "a nonce after the next"),
  sendRaw("the nonce between", capped({ nonce: 4, value: 13n })),
  call("the pending nonce without the gap", "eth_getTransactionCount", [ALICE.address, "pending"]),
  mineAt(10_030),
  ofResult("the receipt of the nonce between", "eth_getTransactionReceipt", "the nonce between"),
  ofResult("the receipt of the one that waited", "eth_getTransactionReceipt", "a nonce after the next"),
  call("the nonce without the gap", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the balance of bob after all transfers", "eth_getBalance", [BOB.address, "latest"]),
];

/** Signed transactions: mined, refused, queued. */
export const SENDING: readonly Step[] = await Promise.all([...TRANSFERS, ...REFUSED, ...GAP]);

/** At the end, because anvil accepts the last one and then never mines its sender's later transactions. */
export const FOREIGN: readonly Step[] = [
  await sendRaw("a transfer to replace", capped({ nonce: 100, tip: GWEI })),
  await sendRaw("another that raises only its cap", capped({ nonce: 100, fee: 9n * GWEI, tip: GWEI })),
  await sendRaw("another chain id in the first form", legacy({ nonce: 8, chainId: 1 })),
];

const NAME_FEES = { maxFeePerGas: "0xb2d05e00", maxPriorityFeePerGas: "0xb2d05e00" };
const sendFrom = (title: string, from: string, fields: object): Step =>
  call(title, "eth_sendTransaction", [{ from, to: NOBODY, value: "0x64", gas: "0x5208", ...fields }]);

/** Unsigned transactions of impersonated and dev accounts. */
export const NAMES: readonly Step[] = [
  sendFrom("in an account's name", ALICE.address, NAME_FEES),
  mineAt(15_000),
  ofResult("the receipt of an account", "eth_getTransactionReceipt", "in an account's name"),
  ofResult("the transaction of an account", "eth_getTransactionByHash", "in an account's name"),
  sendFrom("in an account's name without its money", BOB.address, {
    value: hex(9n * ETHER),
  }),
  sendFrom("in a stranger's name", DORA.address, NAME_FEES),
  await sendRaw("a stranger without money", ofDora({ fee: GWEI })),
  call("ether for the stranger", "anvil_setBalance", [DORA.address, hex(ETHER)]),
  call("impersonating the stranger", "anvil_impersonateAccount", [DORA.address]),
  sendFrom("in the impersonated's name", DORA.address, { gasPrice: "0xb2d05e00" }),
  mineAt(15_010),
  ofResult("the receipt of the impersonated", "eth_getTransactionReceipt", "in the impersonated's name"),
  ofResult("the transaction of the impersonated", "eth_getTransactionByHash", "in the impersonated's name"),
  call("the balance of the impersonated", "eth_getBalance", [DORA.address, "latest"]),
  call("the nonce of the impersonated", "eth_getTransactionCount", [DORA.address, "latest"]),
  call("no more impersonating", "anvil_stopImpersonatingAccount", [DORA.address]),
  call("the accounts after impersonating", "eth_accounts"),
  sendFrom("in an account's name after impersonation", DORA.address, NAME_FEES),
  call("impersonating all accounts", "anvil_autoImpersonateAccount", [true]),
  sendFrom("in anybody's name", DORA.address, NAME_FEES),
  call("impersonating no account", "anvil_autoImpersonateAccount", [false]),
  await sendRaw("a cap below the base fee", ofDora({ fee: 1n, nonce: 2 })),
];
