import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { TOPICS } from "../../src/chain-rpc/abis.ts";
import { RpcError } from "../../src/chain-rpc/json-rpc.ts";
import { findLogs, LogIndex, MAX_LOGS } from "../../src/chain-rpc/log-search.ts";
import { headOf } from "../../src/core/chain/chain.ts";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import { money } from "../../src/core/units.ts";
import { Slices } from "../../src/engine/clock.ts";
import { arenaWith } from "../core/chain/chain-moves.ts";
import { addressOf, fundCommand } from "../support/commands.ts";
import { ask, call, openNode } from "./properties/node.ts";
import { rpc } from "./rpc.ts";

const DEPOSITS_PER_BLOCK = 50;

/** Deposits a millionth of a USDC, which creates one log. */
const depositOf = (name: string) => fundCommand(addressOf(name), { collateral: money(1) });

/** Opens a node of a chain with a number of deposits, which create one log each, 50 in a block. */
function nodeWithDeposits(count: number, slices = new Slices()) {
  const node = openNode(arenaWith("manual", "optimistic"), slices);
  const { exchange } = node;
  exchange.submit({ kind: "mineBlocks", count: 1 });
  const before = headOf(node.state.chain);
  for (let number = 1; number <= count; number += 1) {
    exchange.submit(depositOf(`owner${number % 7}`));
    if (number % DEPOSITS_PER_BLOCK === 0) exchange.submit({ kind: "mineBlocks", count: 1 });
  }
  return { node, before };
}

const hex = (height: number): string => `0x${height.toString(16)}`;

/** Counts the turns of the event loop until a promise resolves. */
async function turnsUntil(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  void work.then(() => {
    isDone = true;
  });
  let turns = 0;
  for (; !isDone; turns += 1) await nextTurn();
  return turns;
}

describe("more logs than one answer may have", () => {
  const { node, before } = nodeWithDeposits(MAX_LOGS + 500);
  const head = headOf(node.state.chain);

  const refusalOf = async (params: object) => (await ask(node, "eth_getLogs", params)).error;

  it.each([
    ["without addresses or topics", {}],
    ["of one contract", { address: CONTRACTS.collateral }],
    ["of one event", { topics: [TOPICS.Transfer] }],
  ])("are refused with the range of blocks that fits, queried %s", async (_how, query) => {
    const from = hex(before + 1);
    const error = await refusalOf({ ...query, fromBlock: from, toBlock: "latest" });
    const { to = "" } = (error?.data ?? {}) as { readonly to?: string };
    const message = `query returned more than ${MAX_LOGS} results. Try with this block range [${from}, ${to}].`;
    expect(error).toEqual({ code: -32005, message, data: { from, to } });
    const upTo = (toBlock: string) => ({ ...query, fromBlock: from, toBlock });
    expect(await call<unknown[]>(node, "eth_getLogs", upTo(to))).toHaveLength(MAX_LOGS);
    expect(await refusalOf(upTo(hex(Number(to) + 1)))).not.toBe(undefined);
  });

  it("are refused by the counts of the blocks, before any log is built or looked up", () => {
    class Untouched extends LogIndex {
      override candidates(): never {
        throw new Error("a log was looked up");
      }
    }
    const everything = { addresses: null, topics: [] };
    expect(() => [...findLogs(node.state, new Untouched(), everything, 0, head)]).toThrow(RpcError);
    expect(() => [...findLogs(node.state, new Untouched(), everything, head, head)]).toThrow("looked up");
  });

  it("of a single block are refused with advice", async () => {
    const crowded = openNode(arenaWith("manual", "optimistic"));
    for (let number = 0; number <= MAX_LOGS; number += 1) crowded.exchange.submit(depositOf("alice"));
    crowded.exchange.submit({ kind: "mineBlocks", count: 1 });
    const latest = hex(headOf(crowded.state.chain));
    const asked = call(crowded, "eth_getLogs", { fromBlock: "latest", toBlock: "latest" });
    await expect(asked).rejects.toThrow(`Block ${latest} alone has more: ask for some addresses or topics`);
  });
});

describe("while a long answer is built", () => {
  it.each<[string, ...unknown[]]>([
    ["eth_getLogs", { fromBlock: "0x0", toBlock: "latest" }],
    ["eth_getLogs", { fromBlock: "0x0", toBlock: "latest", address: CONTRACTS.exchange }],
    ["eth_getBlockByNumber", "latest", true],
    ["eth_getBlockByNumber", "latest", false],
    ["eth_getBlockReceipts", "latest"],
  ])("the event loop runs after each item: %s %j", async (method, ...params) => {
    const { node } = nodeWithDeposits(DEPOSITS_PER_BLOCK * 4, new Slices(0));
    expect(await turnsUntil(call(node, method, ...params))).toBeGreaterThanOrEqual(DEPOSITS_PER_BLOCK);
  });

  it("the event loop runs between the calls of a batch", async () => {
    const { node } = nodeWithDeposits(0, new Slices(0));
    const batch = Array.from({ length: 40 }, (_, id) => rpc("eth_chainId", [], id));
    const answer = node.answer(Buffer.from(JSON.stringify(batch)), false);
    expect(await turnsUntil(answer)).toBeGreaterThanOrEqual(40);
  });

  it("the event loop runs while many transactions are indexed", async () => {
    const { node } = nodeWithDeposits(DEPOSITS_PER_BLOCK * 60, new Slices(0));
    const asked = call<unknown[]>(node, "eth_getLogs", {
      fromBlock: "0x0",
      toBlock: "latest",
      topics: [null, null, `0x${addressOf("owner0").slice(2).padStart(64, "0")}`],
    });
    expect(await turnsUntil(asked)).toBeGreaterThan(60);
    expect((await asked).length).toBe(Math.floor((DEPOSITS_PER_BLOCK * 60) / 7));
  });

  it("the answer belongs to a single chain despite a reorganization, a restored snapshot or new blocks", async () => {
    const { node, before } = nodeWithDeposits(DEPOSITS_PER_BLOCK * 4, new Slices(0));
    const { exchange } = node;
    const snapshot = exchange.snapshot();
    const params = { fromBlock: hex(before + 1), toBlock: "latest" };
    for (const change of [
      () => exchange.submit({ kind: "mineBlocks", count: 1 }),
      () => exchange.submit({ kind: "reorganizeChain", depth: 1 }),
      () => exchange.restore(snapshot),
    ]) {
      const asked = call<{ blockHash: string; blockNumber: string }[]>(node, "eth_getLogs", params);
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      change();
      const logs = await asked;
      for (const { blockHash, blockNumber } of logs) {
        const block = await call<{ hash: string }>(node, "eth_getBlockByNumber", blockNumber, false);
        expect(block.hash).toBe(blockHash);
      }
      expect(logs.length).toBeGreaterThan(DEPOSITS_PER_BLOCK * 2);
    }
  });

  it("a filter without an end, polled by two clients at once, reports each change once", async () => {
    const { node } = nodeWithDeposits(0, new Slices(0));
    const id = await call<string>(node, "eth_newFilter", { toBlock: "LATEST" });
    node.exchange.submit(depositOf("alice"));
    node.exchange.submit({ kind: "mineBlocks", count: 1 });
    const answers = await Promise.all([1, 2].map(() => call<unknown[]>(node, "eth_getFilterChanges", id)));
    expect(answers.map((logs) => logs.length).sort()).toEqual([0, 1]);
  });
});
