import { type Hex, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import { openTrader } from "../client/open.ts";
import { wallet } from "../server/wallet.ts";
import { BOB, bob, ONE, openChain, type ViemChain } from "./viem-clients.ts";

let chain: ViemChain;

beforeAll(async () => {
  chain = await openChain();
});
afterAll(() => chain.close());

/** Returns the time of the exchange, Unix seconds. */
async function exchangeTime(): Promise<bigint> {
  await chain.api.get("/clob/time");
  return BigInt(chain.api.now);
}

const transfer = (to: Hex, usdc: bigint) =>
  ({ ...chain.collateral, functionName: "transfer", args: [to, usdc * ONE] }) as const;

describe("the test client", () => {
  it("mines blocks at an interval", async () => {
    const { node, reader } = chain;
    const before = await reader.getBlock();
    await node.mine({ blocks: 3, interval: 60 });
    const after = await reader.getBlock();
    expect([after.number - before.number, after.timestamp - before.timestamp]).toEqual([3n, 180n]);
  });

  it("advances the common clock of exchange and chain", async () => {
    const { node, reader } = chain;
    const before = await exchangeTime();
    await node.increaseTime({ seconds: 3600 });
    expect(await exchangeTime()).toBe(before + 3600n);
    await node.setNextBlockTimestamp({ timestamp: before + 7200n });
    await node.mine({ blocks: 1 });
    expect((await reader.getBlock()).timestamp).toBe(before + 7200n);
    await expect(node.setNextBlockTimestamp({ timestamp: before })).rejects.toThrow("Timestamp error");
  });

  it("makes an order expire by advancing the clock", async () => {
    const market = await chain.market();
    const trader = await openTrader(chain.api, BOB, { time: "server" });
    const expiration = Number(await exchangeTime()) + 600;
    const order = {
      tokenId: market.yes,
      side: "BUY",
      price: 0.5,
      size: 1,
      orderType: "GTD",
      expiration,
    } as const;
    const { id } = orThrow(await trader.place(order));
    await chain.node.increaseTime({ seconds: 600 });
    expect(orThrow(await trader.openOrders()).data).toEqual([]);
    expect(orThrow(await trader.control.order(id)).order.status).toBe("EXPIRED");
    trader.close();
  });

  it("funds an unknown wallet, which cannot send before", async () => {
    const { node, reader, bob: payer } = chain;
    const { address } = wallet(77);
    const value = parseEther("3");
    await expect(node.sendTransaction({ account: wallet(77), to: bob, value })).rejects.toThrow(
      "exceeds the balance",
    );
    await node.setBalance({ address, value: 2n * value });
    expect(await reader.getBalance({ address })).toBe(2n * value);
    const before = await reader.getBalance({ address: payer.account.address });
    await chain.mined(await node.sendTransaction({ account: wallet(77), to: bob, value }));
    expect(await reader.getBalance({ address: bob })).toBe(before + value);
  });

  it("sends for a wallet without a known key while it is impersonated", async () => {
    const { node } = chain;
    const address: Hex = "0x00000000000000000000000000000000deadbeef";
    await chain.mined(await chain.alice.writeContract(transfer(address, 8n)));
    await node.setBalance({ address, value: parseEther("1") });
    const send = () => node.writeContract({ ...transfer(bob, 8n), account: address });
    await expect(send()).rejects.toThrow("neither in eth_accounts nor impersonated");
    await node.impersonateAccount({ address });
    const receipt = await chain.mined(await send());
    expect(receipt).toMatchObject({ status: "success", from: address });
    expect(await chain.usdc(address)).toBe(0n);
    await node.stopImpersonatingAccount({ address });
    await expect(send()).rejects.toThrow("neither in eth_accounts nor impersonated");
  });

  it("lists the dev accounts and signs for them", async () => {
    const { node } = chain;
    const [first] = await node.getAddresses();
    const [dev] = chain.api.server.devAccounts;
    expect(first).toBe(dev?.address);
    const hash = await node.sendTransaction({ account: first as Hex, to: bob, value: 1n });
    expect(await chain.mined(hash)).toMatchObject({ from: first?.toLowerCase(), status: "success" });
  });
});
