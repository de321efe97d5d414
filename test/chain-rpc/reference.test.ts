import { expect, it } from "vitest";
import { METHODS } from "../../src/chain-rpc/chain-node.ts";
import type { Method } from "../../src/chain-rpc/context.ts";
import { code, table } from "../support/markdown.ts";
import { DIFFERENCES } from "./anvil/differences.ts";
import { SCRIPT } from "./anvil/script.ts";

/** Differences from anvil that need a running clock, trades, or more than one node. */
const OTHER_DIFFERENCES = [
  "`evm_setNextBlockTimestamp` advances the exchange's clock to that second, and what is due earlier happens, blocks included. The next block has that timestamp only if it is mined while the clock is still in that second, as with `--clock frozen`",
  "`pending`: the block and the nonces include all pending transactions. Balances of collateral and tokens are those of the ledger: they include trades that are not mined, and not the calls of wallets. Ether, allowances, approvals and the results of calls are those of the latest block",
  "`anvil_reorg` returns the transactions of replaced blocks to the pool, and the next block mines them; anvil drops them",
  "a transaction that was mined cannot be sent again after `anvil_setNonce` lowered the nonce; anvil mines it twice, with one hash",
  "`eth_call` and `eth_estimateGas` read no fees, so a caller needs no ether for gas",
  "ether that would exceed a uint256 is received, and the balance stays the maximum; in an EVM the transfer fails",
  "access lists cost no gas. Transactions that the node signs or sends unsigned have none",
  "nobody gets the tips, also not the miner set by `anvil_setCoinbase`",
  "nonces of the exchange's operator are the numbers of transactions; transactions that are sent in its name count their own, from 0",
];

function namesByMethod(): Map<Method, string[]> {
  const names = new Map<Method, string[]>();
  for (const [name, method] of METHODS) names.set(method, [...(names.get(method) ?? []), name]);
  return names;
}

function methodRow(method: Method, names: readonly string[]): string[] {
  const params = method.params.map(({ name, isOptional }) => (isOptional ? `${name}?` : name));
  return [names.map(code).join(", "), params.join(", "), method.isControl ? "yes" : ""];
}

it("docs/reference/chain.md lists every method of /chain, and the differences from anvil", async () => {
  const rows = [...namesByMethod()].map(([method, names]) => methodRow(method, names));
  const page = [
    "# Methods of the settlement chain",
    "<!-- Written by test/chain-rpc/reference.test.ts from the tables of src/chain-rpc: change those, and run it with -u. -->",
    "`/chain` answers these JSON-RPC 2.0 methods like an Ethereum node, over HTTP and WebSocket; `eth_subscribe` and `eth_unsubscribe` only over WebSocket. With `--sim-token`, methods that control the chain or act for an account need the token. A `?` marks an optional parameter.",
    table(
      ["method", "parameters", "needs the token"],
      rows.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
    ),
    "A block is a number, `latest`, `pending`, `safe`, `finalized`, `earliest`, its hash, or an EIP-1898 object. `evm_setIntervalMining` takes seconds like anvil, and from 1,000 on milliseconds like Hardhat; blocks are then mined at that interval of virtual time, empty or not. `anvil_reorg` replaces blocks that are not final: at most two. `anvil_reset` is `POST /sim/reset`. `anvil_setBlockTimestampInterval` advances the exchange's clock before each block of `evm_mine` and `anvil_mine`. `anvil_setNonce` drops pending transactions below the nonce. Queries as of a past block know the values overwritten by the latest 1,000 calls of `anvil_setNonce` and `anvil_setBalance` since the exchange was opened.",
    "Multicall3 is at `0xcA11bde05977b3631167028862bE2a173976CA11`, for reads: `aggregate3`, `aggregate`, `tryAggregate`, `blockAndAggregate`, `tryBlockAndAggregate`, and its functions for blocks and ether.",
    "These features of test nodes are missing: `setCode`, `setStorageAt` and deployments, because there is no EVM; `dumpState` and `loadState`, because `--world` opens a state and `--from` continues a history; forking, because the chain belongs to the exchange.",
    "## Differences from anvil",
    `${SCRIPT.length} requests are sent to anvil, with its default fork, and to this chain. The answers are equal, with these exceptions:`,
    DIFFERENCES.map(({ why }) => `- ${why}`).join("\n"),
    "Differences that these requests do not show:",
    OTHER_DIFFERENCES.map((why) => `- ${why}`).join("\n"),
  ];
  expect(SCRIPT.length).toBeGreaterThanOrEqual(150);
  await expect(`${page.join("\n\n")}\n`).toMatchFileSnapshot("../../docs/reference/chain.md");
});
