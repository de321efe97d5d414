import { call, nextBlockAt, type Step, secondAfter } from "../step.ts";
import { ALICE, capped, ETHER, NOBODY } from "./wallets.ts";

/** Start of these blocks, in seconds after the first block. */
const START = 20_000;
const block = (title: string): Step => call(title, "eth_getBlockByNumber", ["latest", false]);

/** The added seconds, which anvil counts from its own clock until a time is set. */
export const ADDING_TIME: readonly Step[] = [
  call("an hour later", "evm_increaseTime", [3600]),
  call("another hour in hex", "evm_increaseTime", ["0xe10"]),
  call("adding no time", "evm_increaseTime", [0]),
];

/** Mining, time and snapshots. */
export const MINING: readonly Step[] = [
  call("mining at a second", "evm_mine", (answers) => [secondAfter(answers, START)]),
  block("the block at that second"),
  call("mining at a second in hex", "evm_mine", (answers) => [
    `0x${secondAfter(answers, START + 1).toString(16)}`,
  ]),
  block("the block at the second in hex"),
  call("mining blocks at a second", "evm_mine", (answers) => [
    { timestamp: secondAfter(answers, START + 10), blocks: 1 },
  ]),
  block("the block of that object"),
  call("the height after mining", "eth_blockNumber"),
  call("a timestamp that is over", "evm_setNextBlockTimestamp", [1]),
  call("mining at a second that is over", "evm_mine", [1]),
  call("a timestamp to come", "evm_setNextBlockTimestamp", (answers) => [secondAfter(answers, START + 100)]),
  call("mining at the timestamp to come", "evm_mine"),
  block("the block at the timestamp to come"),
  call("a timestamp in hex", "evm_setNextBlockTimestamp", (answers) => [
    `0x${secondAfter(answers, START + 200).toString(16)}`,
  ]),
  call("mining with null", "evm_mine", [null]),
  call("mining no block", "anvil_mine", ["0x0"]),
  call("the height after no block", "eth_blockNumber"),
  nextBlockAt(START + 300),
  call("mining one block", "anvil_mine"),
  block("the block of anvil_mine"),
  call("the node's info", "anvil_nodeInfo"),
  call("mining three blocks", "anvil_mine", ["0x3", "0xa"]),
  call("mining three blocks under another name", "hardhat_mine", [3]),
  call("the height after three blocks", "eth_blockNumber"),
  call("a snapshot", "evm_snapshot"),
  call("a second snapshot", "evm_snapshot"),
  call("the height at the snapshot", "eth_blockNumber"),
  call("a balance set after the snapshot", "anvil_setBalance", [NOBODY, "0x7b"]),
  call("a transfer after the snapshot", "eth_sendRawTransaction", [await capped({ nonce: 7, value: ETHER })]),
  call("mining after the snapshot", "evm_mine"),
  call("the nonce after the snapshot", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the height after the snapshot", "eth_blockNumber"),
  call("reverting to the second snapshot", "evm_revert", ({ result }) => [result("a second snapshot")]),
  call("the height is back", "eth_blockNumber"),
  call("the nonce is back", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the balance of the sender is back", "eth_getBalance", [ALICE.address, "latest"]),
  call("the balance that was set is back", "eth_getBalance", [NOBODY, "latest"]),
  call("the transfer is gone", "eth_getTransactionReceipt", ({ result }) => [
    result("a transfer after the snapshot"),
  ]),
  call("reverting to the second snapshot again", "evm_revert", ({ result }) => [result("a second snapshot")]),
  call("reverting to the first snapshot", "evm_revert", ({ result }) => [result("a snapshot")]),
  call("reverting to an unknown snapshot", "evm_revert", ["0x63"]),
  call("a snapshot after reverting", "evm_snapshot"),
  call("setting a balance under another name", "hardhat_setBalance", [NOBODY, 255]),
  call("the balance that was set in decimal", "eth_getBalance", [NOBODY, "latest"]),
];
