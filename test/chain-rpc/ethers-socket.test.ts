import { type BaseContract, Contract, WebSocketProvider } from "ethers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CONTRACT_ABIS } from "../../src/index.ts";
import { type EthersChain, ONE, openEthers } from "./ethers-clients.ts";
import { socketUrl } from "./rpc-socket.ts";
import { Seen } from "./seen.ts";

let chain: EthersChain;
let provider: WebSocketProvider;
let collateral: BaseContract;
/** The methods that were answered. */
let answered: Seen<string>;

beforeAll(async () => {
  chain = await openEthers(1);
});
afterAll(() => chain.close());
beforeEach(async () => {
  await chain.mine(3);
  provider = new WebSocketProvider(socketUrl(chain.api), undefined, { cacheTimeout: -1 });
  collateral = new Contract(await chain.collateral.getAddress(), CONTRACT_ABIS.collateral, provider);
  answered = methodsAnsweredTo(provider);
});
afterEach(() => provider.destroy());

/** What ethers says of its calls when their answers come. */
function methodsAnsweredTo(asking: WebSocketProvider): Seen<string> {
  const seen = new Seen<string>();
  const methods = new Map<number, string>();
  asking.on("debug", ({ action, payload, result }) => {
    if (action === "sendRpcPayload") methods.set(payload.id, payload.method);
    if (action === "receiveRpcResult") {
      for (const { id } of [result].flat()) seen.add(methods.get(id) ?? "");
    }
  });
  return seen;
}

const subscribed = (count: number): Promise<unknown> =>
  answered.until((all) => all.filter((method) => method === "eth_subscribe").length >= count);

const pay = (usdc: bigint) => chain.collateral.transfer(chain.bob.address, usdc * ONE);

describe("ethers over a WebSocket", () => {
  it("reads as it does over HTTP", async () => {
    expect(await provider.getBlockNumber()).toBe(await chain.provider.getBlockNumber());
    expect(await provider.getBalance(chain.bob.address)).toBe(
      await chain.provider.getBalance(chain.bob.address),
    );
  });

  it("tells each block", async () => {
    const head = await provider.getBlockNumber();
    const blocks = new Seen<number>();
    await provider.on("block", (number: number) => blocks.add(number));
    await subscribed(1);
    await chain.mine(2);
    expect(await blocks.count(2)).toEqual([head + 1, head + 2]);
  });

  it("tells the events of a contract, decoded", async () => {
    const values = new Seen<bigint>();
    await collateral.on("Transfer", (_from: string, _to: string, value: bigint) => values.add(value));
    await subscribed(1);
    for (const usdc of [1n, 2n]) await pay(usdc);
    await chain.mine();
    expect(await values.count(2)).toEqual([ONE, 2n * ONE]);
  });

  it("tells the transactions that come in", async () => {
    const hashes = new Seen<string>();
    await provider.on("pending", (hash: string) => hashes.add(hash));
    await subscribed(1);
    const { hash } = await pay(1n);
    expect(await hashes.count(1)).toEqual([hash]);
  });

  it("stops telling when nobody listens any more", async () => {
    const blocks = new Seen<number>();
    await provider.on("block", (number: number) => blocks.add(number));
    await subscribed(1);
    await chain.mine();
    await blocks.count(1);
    await provider.off("block");
    await answered.until((all) => all.includes("eth_unsubscribe"));
    await chain.mine();
    await provider.getBlockNumber();
    expect((await blocks.count(1)).length).toBe(1);
  });
});
