import { createPublicClient, type Hex, webSocket } from "viem";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { socketUrl } from "./rpc-socket.ts";
import { Seen } from "./seen.ts";
import { ONE, openChain, POLLING_MS, type ViemChain } from "./viem-clients.ts";

/** viem over a WebSocket, and each subscription that the node has answered it. */
function socketClient(url: string) {
  const subscribed = new Seen<string>();
  const transport = webSocket(url, { reconnect: false });
  const client = createPublicClient({
    chain: foundry,
    cacheTime: 0,
    pollingInterval: POLLING_MS,
    transport: (options) => {
      const made = transport(options);
      const { subscribe } = made.value as NonNullable<typeof made.value>;
      const noted: typeof subscribe = async (given) => {
        const answer = await subscribe(given);
        subscribed.add(answer.subscriptionId);
        return answer;
      };
      return { ...made, value: { ...made.value, subscribe: noted } as typeof made.value };
    },
  });
  return { client, subscribed };
}

let chain: ViemChain;
let bob: Hex;
let reader: ReturnType<typeof socketClient>["client"];
let subscribed: Seen<string>;

beforeAll(async () => {
  chain = await openChain();
  bob = chain.bob.account.address;
});
afterAll(() => chain.close());
beforeEach(async () => {
  await chain.node.mine({ blocks: 3 });
  ({ client: reader, subscribed } = socketClient(socketUrl(chain.api)));
});

const pay = (usdc: bigint): Promise<Hex> =>
  chain.alice.writeContract({
    ...{ ...chain.collateral, functionName: "transfer", args: [bob, usdc * ONE] },
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
    const [blocks, numbers] = [new Seen<bigint>(), new Seen<bigint>()];
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

  it("watches the events of a contract, decoded, that its arguments ask for, and what is taken back", async () => {
    const seen = new Seen<readonly [bigint | undefined, boolean]>();
    const stop = reader.watchContractEvent({
      ...{ ...chain.collateral, eventName: "Transfer", args: { to: bob } },
      onLogs: (logs) => seen.add(...logs.map(({ args, removed }) => [args.value, removed] as const)),
    });
    await subscribed.count(1);
    await chain.bob.writeContract({
      ...{ ...chain.collateral, functionName: "transfer", args: [chain.alice.account.address, 9n * ONE] },
    });
    for (const usdc of [1n, 2n]) await pay(usdc);
    await chain.node.mine({ blocks: 1 });
    await seen.count(2);
    await chain.api.post("/sim/chain/faults", { kind: "reorg", depth: 1 });
    await seen.count(4);
    await chain.node.mine({ blocks: 1 });
    expect(await seen.count(6)).toEqual([
      [ONE, false],
      [2n * ONE, false],
      [ONE, true],
      [2n * ONE, true],
      [ONE, false],
      [2n * ONE, false],
    ]);
    stop();
  });

  it("watches events of any contract", async () => {
    const seen = new Seen<string>();
    const event = chain.collateral.abi.find((item) => item.type === "event" && item.name === "Transfer");
    const stop = reader.watchEvent({
      ...(event?.type === "event" && { event }),
      onLogs: (logs) => seen.add(...logs.map(({ transactionHash }) => transactionHash as string)),
    });
    await subscribed.count(1);
    const hash = await pay(1n);
    await chain.node.mine({ blocks: 1 });
    expect(await seen.count(1)).toEqual([hash]);
    stop();
  });

  it("watches the transactions that come in, before they are mined", async () => {
    const seen = new Seen<Hex>();
    const stop = reader.watchPendingTransactions({ onTransactions: (hashes) => seen.add(...hashes) });
    await subscribed.count(1);
    const hash = await pay(1n);
    expect(await seen.count(1)).toEqual([hash]);
    expect(await reader.getTransaction({ hash })).toMatchObject({ blockNumber: null });
    stop();
  });

  it("waits for a receipt", async () => {
    const hash = await pay(1n);
    const waiting = reader.waitForTransactionReceipt({ hash });
    await chain.node.mine({ blocks: 1 });
    expect((await waiting).transactionHash).toBe(hash);
  });
});
