import { atSecond, call, hex, nextBlockAt, ofResult, type Step, secondAfter, sendRaw } from "../step.ts";
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
  atSecond("mining at a second", "evm_mine", START),
  block("the block at that second"),
  atSecond("mining at a second in hex", "evm_mine", START + 1, hex),
  block("the block at the second in hex"),
  call("mining blocks at a second", "evm_mine", (answers) => [
    { timestamp: secondAfter(answers, START + 10), blocks: 1 },
  ]),
  block("the block of that object"),
  call("the height after mining", "eth_blockNumber"),
  call("a timestamp that is over", "evm_setNextBlockTimestamp", [1]),
  call("mining at a second that is over", "evm_mine", [1]),
  atSecond("a timestamp to come", "evm_setNextBlockTimestamp", START + 100),
  call("mining at the timestamp to come", "evm_mine"),
  block("the block at the timestamp to come"),
  atSecond("a timestamp in hex", "evm_setNextBlockTimestamp", START + 200, hex),
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
  await sendRaw("a transfer after the snapshot", capped({ nonce: 7, value: ETHER })),
  call("mining after the snapshot", "evm_mine"),
  call("the nonce after the snapshot", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the height after the snapshot", "eth_blockNumber"),
  ofResult("reverting to the second snapshot", "evm_revert", "a second snapshot"),
  call("the height is back", "eth_blockNumber"),
  call("the nonce is back", "eth_getTransactionCount", [ALICE.address, "latest"]),
  call("the balance of the sender is back", "eth_getBalance", [ALICE.address, "latest"]),
  call("the balance that was set is back", "eth_getBalance", [NOBODY, "latest"]),
  ofResult("the transfer is gone", "eth_getTransactionReceipt", "a transfer after the snapshot"),
  ofResult("reverting to the second snapshot again", "evm_revert", "a second snapshot"),
  ofResult("reverting to the first snapshot", "evm_revert", "a snapshot"),
  call("reverting to an unknown snapshot", "evm_revert", ["0x63"]),
  call("a snapshot after reverting", "evm_snapshot"),
  call("setting a balance under another name", "hardhat_setBalance", [NOBODY, 255]),
  call("the balance that was set in decimal", "eth_getBalance", [NOBODY, "latest"]),
];

/** Filters from creation to removal. */
export const FILTERS: readonly Step[] = [
  call("a filter of blocks", "eth_newBlockFilter"),
  call("a filter of transactions", "eth_newPendingTransactionFilter"),
  call("a filter of logs", "eth_newFilter", [{ fromBlock: "0x0" }]),
  call("a filter of logs to come", "eth_newFilter", [{}]),
  ofResult("no block yet", "eth_getFilterChanges", "a filter of blocks"),
  ofResult("no transaction yet", "eth_getFilterChanges", "a filter of transactions"),
  ofResult("no log yet", "eth_getFilterChanges", "a filter of logs"),
  call("two blocks for the filter", "anvil_mine", [2]),
  ofResult("two blocks", "eth_getFilterChanges", "a filter of blocks"),
  ofResult("no third block", "eth_getFilterChanges", "a filter of blocks"),
  await sendRaw("a transfer for the filter", capped({ nonce: 7 })),
  call("a block for the transfer", "evm_mine"),
  ofResult("a transaction", "eth_getFilterChanges", "a filter of transactions"),
  ofResult("the block of the transaction", "eth_getFilterChanges", "a filter of blocks"),
  ofResult("all logs of the filter", "eth_getFilterLogs", "a filter of logs"),
  ofResult("all logs of the filter of logs to come", "eth_getFilterLogs", "a filter of logs to come"),
  ofResult("the logs of a filter of blocks", "eth_getFilterLogs", "a filter of blocks"),
  ofResult("removing the filter", "eth_uninstallFilter", "a filter of blocks"),
  ofResult("removing a removed filter", "eth_uninstallFilter", "a filter of blocks"),
  ofResult("polling a removed filter", "eth_getFilterChanges", "a filter of blocks"),
  call("polling an unknown filter", "eth_getFilterChanges", ["0x1234"]),
  call("the logs of an unknown filter", "eth_getFilterLogs", ["0x1234"]),
  call("removing an unknown filter", "eth_uninstallFilter", ["0x1234"]),
];
