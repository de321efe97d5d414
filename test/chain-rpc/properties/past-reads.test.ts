import { type Abi, decodeFunctionResult, encodeFunctionData, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { CONTRACT_ABIS } from "../../../src/api/contracts.ts";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { unminedTransactions } from "../../../src/chain-rpc/transactions.ts";
import type { Block } from "../../../src/core/chain/chain.ts";
import { blockAt, headBlock } from "../../../src/core/chain/chain.ts";
import { blockHash as blockHashOf } from "../../../src/core/chain/chain-hashes.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import { awaitsBlock } from "../../../src/core/chain/transaction.ts";
import { anySettlement, histories, type Moves, play } from "../../core/chain/chain-moves.ts";
import { forAllAsync, runs } from "../../support/runs.ts";
import { call, openNode } from "./node.ts";
import { Sums } from "./sums.ts";

const TOKENS = parseAbi(CONTRACT_ABIS.conditionalTokens);
const EXCHANGE = parseAbi(CONTRACT_ABIS.exchange);
const COLLATERAL = parseAbi(CONTRACT_ABIS.collateral);

/** Balances when a block was the latest, added up from the transfers until then. */
interface Recorded {
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
  return { sums: Sums.ofAll(state), owners, shares };
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

/** A read that is performed as of several blocks. */
interface Question {
  readonly method: string;
  readonly first: unknown;
}

const read = (method: string, first: unknown): Question => ({ method, first });
const readContract = (to: string, abi: Abi, functionName: string, ...args: readonly unknown[]): Question =>
  read("eth_call", { to, data: encodeFunctionData({ abi, functionName, args }) });

/** Returns reads of all wallets, markets and contracts. */
function questionsOf({ state }: ChainNode): Question[] {
  const { collateral, conditionalTokens, exchange } = CONTRACTS;
  const wallets = [...state.accounts].filter(({ address }) => state.chain.wallets.has(address));
  return [
    readContract(collateral, COLLATERAL, "totalSupply"),
    ...[...state.markets].flatMap(({ conditionId, tokenIds }) => [
      readContract(conditionalTokens, TOKENS, "getOutcomeSlotCount", conditionId),
      readContract(conditionalTokens, TOKENS, "payoutDenominator", conditionId),
      readContract(conditionalTokens, TOKENS, "payoutNumerators", conditionId, 1n),
      readContract(exchange, EXCHANGE, "getComplement", BigInt(tokenIds[1])),
    ]),
    ...wallets.flatMap(({ address }) => [
      read("eth_getTransactionCount", address),
      read("eth_getBalance", address),
      readContract(collateral, COLLATERAL, "allowance", address, exchange),
      readContract(collateral, COLLATERAL, "allowance", address, conditionalTokens),
      readContract(conditionalTokens, TOKENS, "isApprovedForAll", address, exchange),
      read("eth_estimateGas", {
        ...{ from: address, to: collateral },
        data: encodeFunctionData({
          abi: COLLATERAL,
          functionName: "transfer",
          args: [exchange, 900_000_000n],
        }),
      }),
    ]),
  ];
}

const answersTo = (node: ChainNode, questions: readonly Question[], block: unknown): Promise<unknown[]> =>
  Promise.all(
    questions.map(({ method, first }) =>
      call(node, method, first, block).catch((error: Error) => error.message),
    ),
  );

/** Plays a history and asks at each block while it is the latest; returns the answers at those that are past in the end. */
async function played<Answer>(
  node: ChainNode,
  moves: Moves,
  ask: () => Promise<Answer>,
): Promise<{ readonly block: Block; readonly answer: Answer }[]> {
  const answers: { readonly block: Block; readonly answer: Answer }[] = [];
  for (const move of moves) {
    const before = headBlock(node.state.chain);
    play(node.exchange, [move]);
    const block = headBlock(node.state.chain);
    // An overwritten value counts as of the latest block.
    const isOverwritten = move.kind === "nonce" || move.kind === "ether";
    if (isOverwritten && answers.at(-1)?.block === before) answers.pop();
    // A grant is in effect before a block has it, so that the latest block then shows more than its own transactions.
    const hasGrant = [...unminedTransactions(node.state)].some((transaction) => !awaitsBlock(transaction));
    if ((block !== before || isOverwritten) && !hasGrant) answers.push({ block, answer: await ask() });
  }
  const { chain } = node.state;
  return answers.filter(({ block }) => block !== headBlock(chain) && blockAt(chain, block.height) === block);
}

/** Excludes histories with both reorganizations and overwritten values: a value overwritten at a replaced block also applies at the block before. */
const withoutBoth = (moves: Moves): Moves =>
  moves.some(({ kind }) => kind === "nonce" || kind === "ether")
    ? moves.filter(({ kind }) => kind !== "reorganize")
    : moves;

const tagOf = ({ height }: Block): string => `0x${height.toString(16)}`;

describe("after any history", () => {
  it("a balance at a block is what it was when that block was the latest", async () => {
    await forAllAsync(runs(30), [anySettlement, histories(60)], async (config, moves) => {
      const node = openNode(config);
      for (const { block, answer } of await played(node, moves, async () => record(node))) {
        const { sums, owners, shares } = answer;
        const tag = tagOf(block);
        for (const owner of owners) expect(await usdcAt(node, owner, tag)).toBe(sums.of("USDC", owner));
        const held = await sharesAt(node, shares, tag);
        expect(held).toEqual(shares.map(({ owner, id }) => sums.of(String(id), owner)));
      }
    });
  });

  it("nonces, ether, permissions, supply and payouts at a block are what they were when it was the latest", async () => {
    await forAllAsync(runs(30), [anySettlement, histories(60)], async (config, moves) => {
      const node = openNode(config);
      const ask = async () => {
        const questions = questionsOf(node);
        return { questions, answers: await answersTo(node, questions, "latest") };
      };
      for (const { block, answer } of await played(node, withoutBoth(moves), ask)) {
        const blockHash = blockHashOf(node.state, block);
        for (const tag of [tagOf(block), { blockHash }, tagOf(block)])
          expect(await answersTo(node, answer.questions, tag)).toEqual(answer.answers);
      }
    });
  });
});
