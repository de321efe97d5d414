import fc from "fast-check";
import { decodeFunctionResult, encodeFunctionData, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { CONTRACT_ABIS } from "../../../src/api/contract-abis.ts";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import type { Block } from "../../../src/core/chain/chain.ts";
import { blockAt, headBlock } from "../../../src/core/chain/chain.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import { anySettlement } from "../../core/chain/chain-moves.ts";
import { call, histories, make, openNode, runs } from "./played.ts";
import { Sums } from "./sums.ts";

const TOKENS = parseAbi(CONTRACT_ABIS.conditionalTokens);
const COLLATERAL = parseAbi(CONTRACT_ABIS.collateral);

/** What everybody had when a block was the latest, as the transfers up to then come to. */
interface Recorded {
  readonly block: Block;
  readonly sums: Sums;
  readonly owners: readonly string[];
  readonly shares: readonly { readonly owner: string; readonly id: bigint }[];
}

function record({ state }: ChainNode): Recorded {
  const accounts = [...state.accounts];
  const shares = accounts.flatMap(({ address, holdings }) =>
    [...holdings.keys()].flatMap((market) =>
      state.markets.get(market).tokenIds.map((id) => ({ owner: address, id: BigInt(id) })),
    ),
  );
  const owners = [...accounts.map(({ address }) => address), CONTRACTS.conditionalTokens];
  return { block: headBlock(state.chain), sums: Sums.ofAll(state), owners, shares };
}

async function usdcAt(node: ChainNode, owner: string, block: string): Promise<bigint> {
  const args = [owner as `0x${string}`] as const;
  const data = encodeFunctionData({ abi: COLLATERAL, functionName: "balanceOf", args });
  const result = await call<`0x${string}`>(node, "eth_call", { to: CONTRACTS.collateral, data }, block);
  return decodeFunctionResult({ abi: COLLATERAL, functionName: "balanceOf", data: result });
}

async function sharesAt(
  node: ChainNode,
  shares: Recorded["shares"],
  block: string,
): Promise<readonly bigint[]> {
  const args = [shares.map(({ owner }) => owner as `0x${string}`), shares.map(({ id }) => id)] as const;
  const data = encodeFunctionData({ abi: TOKENS, functionName: "balanceOfBatch", args });
  const result = await call<`0x${string}`>(
    node,
    "eth_call",
    { to: CONTRACTS.conditionalTokens, data },
    block,
  );
  return decodeFunctionResult({ abi: TOKENS, functionName: "balanceOfBatch", data: result });
}

describe("whatever has happened since", () => {
  it("a balance at a block is what it was when that block was the latest", async () => {
    await fc.assert(
      fc.asyncProperty(anySettlement, histories(60), async (config, moves) => {
        const node = openNode(config);
        const records: Recorded[] = [];
        for (const move of moves) {
          const before = headBlock(node.state.chain);
          make(node, move);
          if (headBlock(node.state.chain) !== before) records.push(record(node));
        }
        for (const { block, sums, owners, shares } of records) {
          const { chain } = node.state;
          if (blockAt(chain, block.height) !== block || headBlock(chain) === block) continue;
          const tag = `0x${block.height.toString(16)}`;
          for (const owner of owners) expect(await usdcAt(node, owner, tag)).toBe(sums.of("USDC", owner));
          const held = await sharesAt(node, shares, tag);
          expect(held).toEqual(shares.map(({ owner, id }) => sums.of(String(id), owner)));
        }
      }),
      runs(60),
    );
  });
});
