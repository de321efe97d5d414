import { expect, it } from "vitest";
import { METHODS } from "../../src/chain-rpc/chain-node.ts";
import type { Method } from "../../src/chain-rpc/context.ts";
import { code, table } from "../support/markdown.ts";
import { DIFFERENCES } from "./anvil/differences.ts";
import { SCRIPT } from "./anvil/script/all.ts";

/** Methods under several names are told once. */
function namesByMethod(): Map<Method, string[]> {
  const names = new Map<Method, string[]>();
  for (const [name, method] of METHODS) names.set(method, [...(names.get(method) ?? []), name]);
  return names;
}

function methodRow(method: Method, names: readonly string[]): string[] {
  const params = method.params.map(({ name, isOptional }) => (isOptional ? `${name}?` : name));
  return [names.map(code).join(", "), params.join(", "), method.isControl ? "yes" : ""];
}

it("docs/reference/chain.md tells every method of /chain, and where it answers otherwise than anvil", async () => {
  const rows = [...namesByMethod()].map(([method, names]) => methodRow(method, names));
  const page = [
    "# Methods of the settlement chain",
    "<!-- Written by test/chain-rpc/reference.test.ts from the tables of src/chain-rpc: change those, and run it with -u. -->",
    "`/chain` answers these methods of JSON-RPC 2.0, as a node of Ethereum does, over HTTP and over a WebSocket; `eth_subscribe` and `eth_unsubscribe` over a WebSocket alone. What steers the chain, or acts in somebody's name, needs the token of `--sim-token` where there is one. A `?` marks what may be left out.",
    table(
      ["method", "parameters", "needs the token"],
      rows.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
    ),
    "A block is its number, `latest`, `pending`, `safe`, `finalized`, `earliest`, or an object of EIP-1898 with its hash. `evm_setIntervalMining` takes seconds as anvil does, and from 1,000 on the milliseconds that Hardhat takes; blocks are then mined at that interval, empty or not, as the one clock goes on. `anvil_reorg` replaces what is not final: at most two blocks. `anvil_reset` is `POST /sim/reset`. `anvil_setBlockTimestampInterval` moves the one clock before each block that `evm_mine` and `anvil_mine` mine. `anvil_setNonce` drops what waits below the nonce; what an address had before is remembered of the latest 1,000 calls that wrote over it.",
    "Multicall3 is at `0xcA11bde05977b3631167028862bE2a173976CA11`, for reads: `aggregate3`, `aggregate`, `tryAggregate`, `blockAndAggregate`, `tryBlockAndAggregate`, and its questions about blocks and ether.",
    "Of what test clients know these are not modelled: `setCode`, `setStorageAt` and deployments, for there is no EVM; `dumpState` and `loadState`, for an exchange goes on from a state with `--world` and from a history with `--from`; forking, for the chain is the exchange's own.",
    "## What is answered otherwise than by anvil",
    `${SCRIPT.length} requests are sent to anvil and to this chain, side by side, at anvil's default fork. Answers are equal but for this:`,
    DIFFERENCES.map(({ why }) => `- ${why}`).join("\n"),
  ];
  expect(SCRIPT.length).toBeGreaterThanOrEqual(150);
  await expect(`${page.join("\n\n")}\n`).toMatchFileSnapshot("../../docs/reference/chain.md");
});
