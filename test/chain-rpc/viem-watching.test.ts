import type { GetFilterChangesReturnType, Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Seen } from "./seen.ts";
import { ONE, openChain, type ViemChain, watchedReader } from "./viem-clients.ts";

let chain: ViemChain;
let bob: Hex;

beforeAll(async () => {
  chain = await openChain();
  bob = chain.bob.account.address;
});
afterAll(() => chain.close());
beforeEach(() => chain.node.mine({ blocks: 3 }));

/** Sends some USDC to bob. */
const pay = (usdc: bigint): Promise<Hex> =>
  chain.alice.writeContract({
    ...{ ...chain.collateral, functionName: "transfer", args: [bob, usdc * ONE] },
  });

describe("watching", () => {
  it("tells each new block once, in order, those mined at once included", async () => {
    const { reader, node } = chain;
    const head = await reader.getBlockNumber();
    const [blocks, numbers] = [new Seen<bigint>(), new Seen<bigint>()];
    const stops = [
      reader.watchBlocks({
        emitMissed: true,
        emitOnBegin: true,
        onBlock: ({ number }) => blocks.add(number),
      }),
      reader.watchBlockNumber({ emitMissed: true, emitOnBegin: true, onBlockNumber: (n) => numbers.add(n) }),
    ];
    await Promise.all([blocks.count(1), numbers.count(1)]);
    await node.mine({ blocks: 2 });
    await Promise.all([blocks.count(3), numbers.count(3)]);
    await node.mine({ blocks: 1 });
    const expected = [0n, 1n, 2n, 3n].map((above) => head + above);
    expect(await blocks.count(4)).toEqual(expected);
    expect(await numbers.count(4)).toEqual(expected);
    for (const stop of stops) stop();
  });

  it("tells the events of a contract, decoded, that its arguments ask for, and what is taken back", async () => {
    const { node, collateral } = chain;
    const { reader, asked } = watchedReader(chain.api, "eth_getFilterChanges");
    const seen = new Seen<readonly [bigint | undefined, boolean]>();
    const stop = reader.watchContractEvent({
      ...{ ...collateral, eventName: "Transfer", args: { to: bob } },
      onLogs: (logs) => seen.add(...logs.map(({ args, removed }) => [args.value, removed] as const)),
    });
    await asked;
    await chain.bob.writeContract({
      ...{ ...collateral, functionName: "transfer", args: [chain.alice.account.address, 9n * ONE] },
    });
    for (const usdc of [1n, 2n]) await pay(usdc);
    await node.mine({ blocks: 1 });
    await seen.count(2);
    await chain.api.post("/sim/chain/faults", { kind: "reorg", depth: 1 });
    await seen.count(4);
    await node.mine({ blocks: 1 });
    const values = [ONE, 2n * ONE];
    expect(await seen.count(6)).toEqual(
      [false, true, false].flatMap((removed) => values.map((value) => [value, removed])),
    );
    stop();
  });

  it("tells the transactions that come in, before they are mined", async () => {
    const { reader, asked } = watchedReader(chain.api, "eth_getFilterChanges");
    const seen = new Seen<Hex>();
    const stop = reader.watchPendingTransactions({ onTransactions: (hashes) => seen.add(...hashes) });
    await asked;
    const hash = await pay(1n);
    expect(await seen.count(1)).toEqual([hash]);
    expect(await reader.getTransaction({ hash })).toMatchObject({ blockNumber: null });
    stop();
  });
});

describe("a filter", () => {
  it("answers what is new since it was last asked, and all of its range", async () => {
    const { reader, collateral } = chain;
    const fromBlock = (await reader.getBlockNumber()) + 1n;
    const filter = await reader.createContractEventFilter({
      ...{ ...collateral, eventName: "Transfer", args: { to: bob }, fromBlock: fromBlock - 1n },
    });
    const values = (logs: readonly { readonly args: { readonly value?: bigint | undefined } }[]) =>
      logs.map(({ args }) => args.value);
    await chain.mined(await pay(1n));
    expect(values(await reader.getFilterChanges({ filter }))).toEqual([ONE]);
    await chain.mined(await pay(2n));
    expect(values(await reader.getFilterChanges({ filter }))).toEqual([2n * ONE]);
    expect(await reader.getFilterChanges({ filter })).toEqual([]);
    expect(values(await reader.getFilterLogs({ filter }))).toEqual([ONE, 2n * ONE]);
    const query = { ...collateral, eventName: "Transfer", args: { to: bob }, fromBlock } as const;
    expect(await reader.getContractEvents(query)).toEqual(await reader.getFilterLogs({ filter }));
  });

  it("is gone when it was uninstalled, and says so", async () => {
    const { reader } = chain;
    const filter = await reader.createEventFilter();
    expect(await reader.uninstallFilter({ filter })).toBe(true);
    expect(await reader.uninstallFilter({ filter })).toBe(false);
    await expect(reader.getFilterChanges({ filter })).rejects.toThrow("filter not found");
  });

  it("for blocks answers their hashes", async () => {
    const { reader, node } = chain;
    const filter = await reader.createBlockFilter();
    await node.mine({ blocks: 2 });
    const head = await reader.getBlock();
    expect(await reader.getFilterChanges({ filter })).toEqual([head.parentHash, head.hash]);
  });
});

describe("a reorganization", () => {
  it("takes the logs that were told back, removed, before it tells them anew of another block", async () => {
    const { reader, node, collateral } = chain;
    const filter = await reader.createContractEventFilter({ ...collateral, eventName: "Transfer" });
    const changes = async () => marks(await reader.getFilterChanges({ filter }));
    const hash = await pay(1n);
    const before = await chain.mined(hash);
    expect(await changes()).toEqual([[hash, before.blockHash, false]]);
    await chain.api.post("/sim/chain/faults", { kind: "reorg", depth: 1 });
    expect(await changes()).toEqual([[hash, before.blockHash, true]]);
    await expect(reader.getTransactionReceipt({ hash })).rejects.toThrow("could not be found");
    expect((await reader.getBlock({ blockNumber: before.blockNumber })).hash).not.toBe(before.blockHash);
    await node.mine({ blocks: 1 });
    const after = await reader.getTransactionReceipt({ hash });
    expect(after.blockNumber).toBe(before.blockNumber + 1n);
    expect(await changes()).toEqual([[hash, after.blockHash, false]]);
  });
});

/** Of each log its transaction, its block, and whether it was taken back. */
const marks = (logs: GetFilterChangesReturnType<"event">) =>
  logs.map(({ transactionHash, blockHash, removed }) => [transactionHash, blockHash, removed]);
