import type { GetFilterChangesReturnType, Hex } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { Collected } from "./collected.ts";
import { bob, ONE, socketClient, useChain, watchedReader } from "./viem-clients.ts";

const chain = await useChain();
beforeEach(() => chain.node.mine({ blocks: 3 }));

/** Functions that open a client; `ready` waits until the node knows what it watches, in a number of ways. */
const OPENINGS = {
  "polling over HTTP": () => {
    const { reader, asked } = watchedReader(chain.api, "eth_getFilterChanges");
    return { reader, ready: (): Promise<unknown> => asked };
  },
  "a subscription over a WebSocket": () => {
    const { client, subscribed } = socketClient(chain.api);
    return { reader: client, ready: (): Promise<unknown> => subscribed.count(1) };
  },
};

describe.each(Object.entries(OPENINGS))("watching by %s", (_how, open) => {
  it("reports the matching events of a contract, decoded, and their removal", async () => {
    const { node, collateral } = chain;
    const { reader, ready } = open();
    const seen = new Collected<readonly [bigint | undefined, boolean]>();
    const stop = reader.watchContractEvent({
      ...{ ...collateral, eventName: "Transfer", args: { to: bob } },
      onLogs: (logs) => seen.add(...logs.map(({ args, removed }) => [args.value, removed] as const)),
    });
    await ready();
    const args = [chain.alice.account.address, 9n * ONE] as const;
    await chain.bob.writeContract({ ...collateral, functionName: "transfer", args });
    for (const usdc of [1n, 2n]) await chain.pay(usdc);
    await node.mine({ blocks: 1 });
    await seen.count(2);
    await chain.reorganize(1);
    await seen.count(4);
    await node.mine({ blocks: 1 });
    const values = [ONE, 2n * ONE];
    expect(await seen.count(6)).toEqual(
      [false, true, false].flatMap((removed) => values.map((value) => [value, removed])),
    );
    stop();
  });

  it("reports pending transactions before they are mined", async () => {
    const { reader, ready } = open();
    const seen = new Collected<Hex>();
    const stop = reader.watchPendingTransactions({ onTransactions: (hashes) => seen.add(...hashes) });
    await ready();
    const hash = await chain.pay(1n);
    expect(await seen.count(1)).toEqual([hash]);
    expect(await reader.getTransaction({ hash })).toMatchObject({ blockNumber: null });
    stop();
  });
});

describe("a filter", () => {
  it("returns what is new since it was last polled, and its whole range, until it is uninstalled", async () => {
    const { reader, collateral } = chain;
    const fromBlock = await reader.getBlockNumber();
    const query = { ...collateral, eventName: "Transfer", args: { to: bob }, fromBlock } as const;
    const filter = await reader.createContractEventFilter(query);
    const values = (logs: readonly { readonly args: { readonly value?: bigint | undefined } }[]) =>
      logs.map(({ args }) => args.value);
    for (const usdc of [1n, 2n]) {
      await chain.mined(await chain.pay(usdc));
      expect(values(await reader.getFilterChanges({ filter }))).toEqual([usdc * ONE]);
    }
    expect(await reader.getFilterChanges({ filter })).toEqual([]);
    expect(values(await reader.getFilterLogs({ filter }))).toEqual([ONE, 2n * ONE]);
    expect(await reader.getContractEvents(query)).toEqual(await reader.getFilterLogs({ filter }));
    expect(await reader.uninstallFilter({ filter })).toBe(true);
    expect(await reader.uninstallFilter({ filter })).toBe(false);
    await expect(reader.getFilterChanges({ filter })).rejects.toThrow("filter not found");
  });

  it("reports logs of a reorganization as removed, and then again with their new block", async () => {
    const { reader, node, collateral } = chain;
    const filter = await reader.createContractEventFilter({ ...collateral, eventName: "Transfer" });
    const changes = async () => marks(await reader.getFilterChanges({ filter }));
    const hash = await chain.pay(1n);
    const before = await chain.mined(hash);
    expect(await changes()).toEqual([[hash, before.blockHash, false]]);
    await chain.reorganize(1);
    expect(await changes()).toEqual([[hash, before.blockHash, true]]);
    await expect(reader.getTransactionReceipt({ hash })).rejects.toThrow("could not be found");
    expect((await reader.getBlock({ blockNumber: before.blockNumber })).hash).not.toBe(before.blockHash);
    await node.mine({ blocks: 1 });
    const after = await reader.getTransactionReceipt({ hash });
    expect(after.blockNumber).toBe(before.blockNumber + 1n);
    expect(await changes()).toEqual([[hash, after.blockHash, false]]);
  });
});

/** Returns transaction, block and removal of each log. */
const marks = (logs: GetFilterChangesReturnType<"event">) =>
  logs.map(({ transactionHash, blockHash, removed }) => [transactionHash, blockHash, removed]);
