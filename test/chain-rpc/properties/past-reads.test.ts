import { deepStrictEqual } from "node:assert/strict";
import { type Abi, encodeFunctionData } from "viem";
import { it } from "vitest";
import type { ChainNode } from "../../../src/chain-rpc/chain-node.ts";
import { unminedTransactions } from "../../../src/chain-rpc/transactions.ts";
import { onChainOf } from "../../../src/core/account.ts";
import type { Block } from "../../../src/core/chain/chain.ts";
import { blockAt, headBlock } from "../../../src/core/chain/chain.ts";
import { blockHash as blockHashOf } from "../../../src/core/chain/chain-hashes.ts";
import { CONTRACTS, conditionIdOf } from "../../../src/core/chain/contracts.ts";
import { awaitsBlock } from "../../../src/core/chain/transaction.ts";
import { anySettlement, histories, type Moves, play } from "../../core/chain/chain-moves.ts";
import { forAllAsync, runs } from "../../support/runs.ts";
import { COLLATERAL, EXCHANGE, TOKENS } from "../viem-clients.ts";
import { call, openNode } from "./node.ts";

/** A read that is performed as of several blocks. */
interface Question {
  readonly method: string;
  readonly first: unknown;
}

const read = (method: string, first: unknown): Question => ({ method, first });
const readContract = (to: string, abi: Abi, functionName: string, ...args: readonly unknown[]): Question =>
  read("eth_call", { to, data: encodeFunctionData({ abi, functionName, args }) });

/** Returns reads of all accounts, wallets, markets and contracts. */
function questionsOf({ state }: ChainNode): Question[] {
  const { collateral, conditionalTokens, exchange } = CONTRACTS;
  const accounts = [...state.accounts];
  const wallets = accounts.filter(({ address }) => state.chain.wallets.has(address));
  const held = accounts.flatMap(({ address, holdings }) =>
    [...holdings.keys()].flatMap((market) =>
      state.markets.get(market).tokenIds.map((id) => [address, BigInt(id)] as const),
    ),
  );
  const [owners, ids] = [held.map(([owner]) => owner), held.map(([, id]) => id)];
  return [
    readContract(collateral, COLLATERAL, "totalSupply"),
    readContract(conditionalTokens, TOKENS, "balanceOfBatch", owners, ids),
    ...[...accounts.map(({ address }) => address), conditionalTokens].map((owner) =>
      readContract(collateral, COLLATERAL, "balanceOf", owner),
    ),
    // Of the next market.
    readContract(
      conditionalTokens,
      TOKENS,
      "getOutcomeSlotCount",
      conditionIdOf(state.config.seed, state.markets.size + 1),
    ),
    ...[...state.markets].flatMap(({ conditionId, tokenIds }) => [
      readContract(conditionalTokens, TOKENS, "getOutcomeSlotCount", conditionId),
      readContract(conditionalTokens, TOKENS, "payoutDenominator", conditionId),
      readContract(conditionalTokens, TOKENS, "payoutNumerators", conditionId, 1n),
      readContract(exchange, EXCHANGE, "getComplement", BigInt(tokenIds[1])),
    ]),
    ...wallets.flatMap(({ address, collateral: owned }) => [
      read("eth_getTransactionCount", address),
      read("eth_getBalance", address),
      readContract(collateral, COLLATERAL, "allowance", address, exchange),
      readContract(collateral, COLLATERAL, "allowance", address, conditionalTokens),
      readContract(conditionalTokens, TOKENS, "isApprovedForAll", address, exchange),
      // All that the wallet has can be transferred, and no more.
      ...[0n, 1n].map((more) => {
        const args = [exchange, BigInt(onChainOf(owned)) + more] as const;
        const data = encodeFunctionData({ abi: COLLATERAL, functionName: "transfer", args });
        return read("eth_estimateGas", { from: address, to: collateral, data });
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

const sent = { kind: "call", by: 1, to: 2, market: 0, outcome: "YES", gwei: 2, nonce: null } as const;
const mined = { kind: "mine", count: 1 } as const;

/** Changes that are rare by chance: a wallet spends what it approved and stops an operator; markets are opened and reported. */
const RARE: Moves = [
  ...([{ ...sent, call: "approve", amount: 3_000 }, mined] as const),
  ...([{ ...sent, call: "split", amount: 500 }, mined] as const),
  ...([{ ...sent, call: "operator", amount: 0 }, mined] as const),
  ...([{ kind: "end", market: 2, how: "YES" }, mined, { kind: "open", like: 0 }, mined] as const),
];

const tagOf = ({ height }: Block): string => `0x${height.toString(16)}`;

it("balances, nonces, ether, permissions, supply and payouts at a block are what they were when it was the latest", async () => {
  await forAllAsync(runs(40), [anySettlement, histories(60)], async (config, moves) => {
    const node = openNode(config);
    const ask = async () => {
      const questions = questionsOf(node);
      return { questions, answers: await answersTo(node, questions, "latest") };
    };
    for (const { block, answer } of await played(node, [...RARE, ...withoutBoth(moves)], ask)) {
      const blockHash = blockHashOf(node.state, block);
      for (const tag of [tagOf(block), { blockHash }, tagOf(block)])
        deepStrictEqual(await answersTo(node, answer.questions, tag), answer.answers);
    }
  });
});
