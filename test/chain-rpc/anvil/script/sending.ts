import { call, mineAt, type Step, secondAfter } from "../step.ts";
import { ALICE, BOB, capped, ETHER, GWEI, legacy, listed, tipAboveCap } from "./wallets.ts";

const send = async (title: string, raw: Promise<string> | string): Promise<Step> =>
  call(title, "eth_sendRawTransaction", [await raw]);
const ofHash = (title: string, method: string, sent: string): Step =>
  call(title, method, ({ result }) => [result(sent)]);

const TRANSFERS = [
  call("ten ether for alice", "anvil_setBalance", [ALICE.address, `0x${(10n * ETHER).toString(16)}`]),
  call("a balance that was set", "eth_getBalance", [ALICE.address, "latest"]),
  call("a transfer of nothing to bob", "anvil_setBalance", [BOB.address, "0x0"]),
  send("a transfer", capped({ nonce: 0, value: ETHER })),
  ofHash("a pending transfer", "eth_getTransactionByHash", "a transfer"),
  ofHash("no receipt while it is pending", "eth_getTransactionReceipt", "a transfer"),
  call("the nonce while it is pending", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the nonce with what is pending", "eth_getTransactionCount", [ALICE.address, "pending"]),
  call("the second of the next block", "evm_setNextBlockTimestamp", (answers) => [
    secondAfter(answers, 10_000),
  ]),
  call("the pending block with the transfer", "eth_getBlockByNumber", ["pending", false]),
  call("the count of the pending block", "eth_getBlockTransactionCountByNumber", ["pending"]),
  send("the same transfer while it is pending", capped({ nonce: 0, value: ETHER })),
  send("another that offers too little more", capped({ nonce: 0, value: 7n })),
  call("a block with the transfer", "evm_mine"),
  ofHash("its receipt", "eth_getTransactionReceipt", "a transfer"),
  ofHash("the mined transfer", "eth_getTransactionByHash", "a transfer"),
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
  send("a legacy transfer", legacy({ nonce: 1, value: 5n })),
  send("a transfer with an access list", listed({ nonce: 2 })),
  send("a transfer below its cap", capped({ nonce: 3, fee: 5n * GWEI, tip: GWEI })),
  mineAt(10_010),
  ofHash("the receipt of the legacy transfer", "eth_getTransactionReceipt", "a legacy transfer"),
  ofHash("the legacy transfer itself", "eth_getTransactionByHash", "a legacy transfer"),
  ofHash("the receipt of the listed", "eth_getTransactionReceipt", "a transfer with an access list"),
  ofHash("the listed itself", "eth_getTransactionByHash", "a transfer with an access list"),
  ofHash("the receipt below its cap", "eth_getTransactionReceipt", "a transfer below its cap"),
  call("a block of three", "eth_getBlockByNumber", ["latest", false]),
];

const REFUSED = [
  send("the same transfer again", capped({ nonce: 0, value: ETHER })),
  send("a nonce that is used", capped({ nonce: 0, value: 7n })),
  send("more than the sender has", capped({ nonce: 4, value: 100n * ETHER })),
  send("another chain id", capped({ nonce: 4, chainId: 1 })),
  send("too little gas", capped({ nonce: 4, gas: 20_999n })),
  send("a tip above its cap", tipAboveCap()),
  send("bytes that are no transaction", "0x1234"),
  send("no bytes at all", "0x"),
  send("half a byte", "0x123"),
  send("invalid hex", "hello"),
  send("an unknown type", `0x7f${"00".repeat(20)}`),
];

const GAP = [
  send("a nonce after the next", capped({ nonce: 5, value: 11n })),
  ofHash("a transfer that waits for another", "eth_getTransactionByHash", "a nonce after the next"),
  call("the pending nonce with a gap", "eth_getTransactionCount", [ALICE.address, "pending"]),
  mineAt(10_020),
  ofHash("its receipt while it waits", "eth_getTransactionReceipt", "a nonce after the next"),
  send("the nonce between", capped({ nonce: 4, value: 13n })),
  call("the pending nonce without the gap", "eth_getTransactionCount", [ALICE.address, "pending"]),
  mineAt(10_030),
  ofHash("the receipt of the nonce between", "eth_getTransactionReceipt", "the nonce between"),
  ofHash("the receipt of the one that waited", "eth_getTransactionReceipt", "a nonce after the next"),
  call("the nonce without the gap", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the balance of bob after all transfers", "eth_getBalance", [BOB.address, "latest"]),
];

/** Signed transactions: mined, refused, queued. */
export const SENDING: readonly Step[] = await Promise.all([...TRANSFERS, ...REFUSED, ...GAP]);

/** At the end, because anvil accepts it and then never mines its sender's later transactions. */
export const FOREIGN: readonly Step[] = [
  await send("another chain id in the first form", legacy({ nonce: 8, chainId: 1 })),
];
