import { type BaseContract, Contract, WebSocketProvider } from "ethers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CONTRACT_ABIS } from "../../src/index.ts";
import { Collected } from "./collected.ts";
import { type EthersChain, ONE, openEthers } from "./ethers-clients.ts";
import { socketUrl } from "./rpc-socket.ts";

let chain: EthersChain;
let provider: WebSocketProvider;
let collateral: BaseContract;
/** Names of the answered methods. */
let answered: Collected<string>;

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

/** Collects the methods of ethers' calls when their answers arrive. */
function methodsAnsweredTo(asking: WebSocketProvider): Collected<string> {
  const seen = new Collected<string>();
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

describe("ethers over a WebSocket", () => {
  it("reads as it does over HTTP", async () => {
    expect(await provider.getBlockNumber()).toBe(await chain.provider.getBlockNumber());
    expect(await provider.getBalance(chain.bob.address)).toBe(
      await chain.provider.getBalance(chain.bob.address),
    );
  });

  it("reports each block", async () => {
    const head = await provider.getBlockNumber();
    const blocks = new Collected<number>();
    await provider.on("block", (number: number) => blocks.add(number));
    await subscribed(1);
    await chain.mine(2);
    expect(await blocks.count(2)).toEqual([head + 1, head + 2]);
  });

  it("reports the events of a contract, decoded", async () => {
    const values = new Collected<bigint>();
    await collateral.on("Transfer", (_from: string, _to: string, value: bigint) => values.add(value));
    await subscribed(1);
    for (const usdc of [1n, 2n]) await chain.pay(usdc);
    await chain.mine();
    expect(await values.count(2)).toEqual([ONE, 2n * ONE]);
  });

  it("reports pending transactions", async () => {
    const hashes = new Collected<string>();
    await provider.on("pending", (hash: string) => hashes.add(hash));
    await subscribed(1);
    const { hash } = await chain.pay(1n);
    expect(await hashes.count(1)).toEqual([hash]);
  });

  it("unsubscribes when the last listener is removed", async () => {
    const blocks = new Collected<number>();
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
