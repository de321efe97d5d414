import { call, type Step } from "../step.ts";
import { capped } from "./wallets.ts";

const of = (title: string, method: string, filter: string): Step =>
  call(title, method, ({ result }) => [result(filter)]);

/** Filters from creation to removal. */
export const FILTERS: readonly Step[] = [
  call("a filter of blocks", "eth_newBlockFilter"),
  call("a filter of transactions", "eth_newPendingTransactionFilter"),
  call("a filter of logs", "eth_newFilter", [{ fromBlock: "0x0" }]),
  call("a filter of logs to come", "eth_newFilter", [{}]),
  of("no block yet", "eth_getFilterChanges", "a filter of blocks"),
  of("no transaction yet", "eth_getFilterChanges", "a filter of transactions"),
  of("no log yet", "eth_getFilterChanges", "a filter of logs"),
  call("two blocks for the filter", "anvil_mine", [2]),
  of("two blocks", "eth_getFilterChanges", "a filter of blocks"),
  of("no third block", "eth_getFilterChanges", "a filter of blocks"),
  call("a transfer for the filter", "eth_sendRawTransaction", [await capped({ nonce: 7 })]),
  call("a block for the transfer", "evm_mine"),
  of("a transaction", "eth_getFilterChanges", "a filter of transactions"),
  of("the block of the transaction", "eth_getFilterChanges", "a filter of blocks"),
  of("all logs of the filter", "eth_getFilterLogs", "a filter of logs"),
  of("all logs of the filter of logs to come", "eth_getFilterLogs", "a filter of logs to come"),
  of("the logs of a filter of blocks", "eth_getFilterLogs", "a filter of blocks"),
  of("removing the filter", "eth_uninstallFilter", "a filter of blocks"),
  of("removing a removed filter", "eth_uninstallFilter", "a filter of blocks"),
  of("polling a removed filter", "eth_getFilterChanges", "a filter of blocks"),
  call("polling an unknown filter", "eth_getFilterChanges", ["0x1234"]),
  call("the logs of an unknown filter", "eth_getFilterLogs", ["0x1234"]),
  call("removing an unknown filter", "eth_uninstallFilter", ["0x1234"]),
];
