import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Collected } from "./collected.ts";
import { bob, openChain, socketClient, type ViemChain } from "./viem-clients.ts";

let chain: ViemChain;
let reader: ReturnType<typeof socketClient>["client"];
let subscribed: Collected<string>;

beforeAll(async () => {
  chain = await openChain();
});
afterAll(() => chain.close());
beforeEach(async () => {
  await chain.node.mine({ blocks: 3 });
  ({ client: reader, subscribed } = socketClient(chain.api));
});

describe("viem over a WebSocket", () => {
  it("reads as it does over HTTP", async () => {
    expect(await reader.getBlock()).toEqual(await chain.reader.getBlock());
    const query = { ...chain.collateral, functionName: "balanceOf", args: [bob] } as const;
    expect(await reader.readContract(query)).toBe(await chain.usdc(bob));
    await expect(reader.getBlock({ blockNumber: 10n ** 9n })).rejects.toThrow("could not be found");
  });

  it("watches blocks and their numbers", async () => {
    const head = await reader.getBlockNumber();
    const [blocks, numbers] = [new Collected<bigint>(), new Collected<bigint>()];
    const stops = [
      reader.watchBlocks({ onBlock: ({ number }) => blocks.add(number) }),
      reader.watchBlockNumber({ onBlockNumber: (number) => numbers.add(number) }),
    ];
    await subscribed.count(2);
    await chain.node.mine({ blocks: 2 });
    const expected = [head + 1n, head + 2n];
    expect(await numbers.count(2)).toEqual(expected);
    expect(await blocks.count(2)).toEqual(expected);
    for (const stop of stops) stop();
  });

  it("watches events of any contract", async () => {
    const seen = new Collected<string>();
    const event = chain.collateral.abi.find((item) => item.type === "event" && item.name === "Transfer");
    const stop = reader.watchEvent({
      ...(event?.type === "event" && { event }),
      onLogs: (logs) => seen.add(...logs.map(({ transactionHash }) => transactionHash as string)),
    });
    await subscribed.count(1);
    const hash = await chain.pay(1n);
    await chain.node.mine({ blocks: 1 });
    expect(await seen.count(1)).toEqual([hash]);
    stop();
  });

  it("waits for a receipt", async () => {
    const hash = await chain.pay(1n);
    const waiting = reader.waitForTransactionReceipt({ hash });
    await chain.node.mine({ blocks: 1 });
    expect((await waiting).transactionHash).toBe(hash);
  });
});
