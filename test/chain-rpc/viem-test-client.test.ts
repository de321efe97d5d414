import { type Hex, multicall3Abi, parseEther } from "viem";
import { foundry } from "viem/chains";
import { describe, expect, it } from "vitest";
import { MULTICALL_ADDRESS } from "../../src/chain-rpc/contracts.ts";
import { NO_PARENT } from "../../src/core/chain/contracts.ts";
import { wallet } from "../server/wallet.ts";
import { bob, ONE, openChain, testClient, useChain } from "./viem-clients.ts";

const chain = await useChain();

/** Returns the time of the exchange, Unix seconds. */
async function exchangeTime(): Promise<bigint> {
  await chain.api.get("/clob/time");
  return BigInt(chain.api.now);
}

const GWEI = 1_000_000_000n;
const FEES = { gas: 21_000n, maxFeePerGas: 3n * GWEI, maxPriorityFeePerGas: GWEI };

describe.each(["anvil", "hardhat"] as const)("the test client in %s mode", (mode) => {
  const node = testClient(chain.api, mode);
  const own = mode === "anvil" ? 201 : 301;

  /** Sends a transfer of the wallet of a key number. */
  const send = async (number: number, nonce: number): Promise<Hex> => {
    const account = wallet(number);
    await node.setBalance({ address: account.address, value: parseEther("1") });
    const fields = { type: "eip1559", chainId: foundry.id, to: bob, nonce, value: 1n, ...FEES } as const;
    return node.sendRawTransaction({ serializedTransaction: await account.signTransaction(fields) });
  };

  it("mines at an interval, also empty blocks", async () => {
    const height = await node.getBlockNumber();
    for (const interval of [3, 0]) {
      await node.setIntervalMining({ interval });
      await node.increaseTime({ seconds: 10 });
      expect(await node.getBlockNumber()).toBe(height + 3n);
    }
  });

  it("sends unsigned transactions of any account", async () => {
    const { address } = wallet(own + 4);
    await node.setBalance({ address, value: parseEther("1") });
    const hash = await node.sendUnsignedTransaction({ from: address, to: bob, value: 5n, ...FEES });
    await node.mine({ blocks: 1 });
    expect(await node.getTransactionReceipt({ hash })).toMatchObject({ status: "success" });
  });

  it("sets miner, gas limit and interval of blocks", async () => {
    const miner = wallet(own + 5).address.toLowerCase() as Hex;
    const before = await node.getBlock();
    await node.setCoinbase({ address: miner });
    await node.setBlockGasLimit({ gasLimit: 20_000n });
    await node.setBlockTimestampInterval({ interval: 9 });
    await expect(send(own + 5, 0)).rejects.toThrow("gas_limit");
    await node.mine({ blocks: 2 });
    await node.removeBlockTimestampInterval();
    await node.setBlockGasLimit({ gasLimit: 30_000_000n });
    await node.mine({ blocks: 1 });
    const blocks = await Promise.all(
      [0n, 1n, 2n, 3n].map((step) => node.getBlock({ blockNumber: before.number + step })),
    );
    expect(blocks.map((block) => [block.miner, block.gasLimit, block.timestamp - before.timestamp])).toEqual([
      [before.miner, before.gasLimit, 0n],
      [miner, 20_000n, 9n],
      [miner, 20_000n, 18n],
      [miner, 30_000_000n, 18n],
    ]);
    await expect(node.setMinGasPrice({ gasPrice: 1n })).rejects.toThrow("not supported");
  });

  it("mines blocks with time between them", async () => {
    const before = await node.getBlock();
    await node.mine({ blocks: 3, interval: 60 });
    const after = await node.getBlock();
    expect([after.number - before.number, after.timestamp - before.timestamp]).toEqual([3n, 180n]);
  });

  it("advances the common clock of exchange and chain", async () => {
    const before = await exchangeTime();
    await node.increaseTime({ seconds: 3600 });
    expect(await exchangeTime()).toBe(before + 3600n);
    await node.setNextBlockTimestamp({ timestamp: before + 7200n });
    await node.mine({ blocks: 1 });
    expect((await node.getBlock()).timestamp).toBe(before + 7200n);
    await expect(node.setNextBlockTimestamp({ timestamp: before })).rejects.toThrow("Timestamp error");
  });

  it("resets to the first blocks", async () => {
    const other = await openChain();
    const first = await other.reader.getBlock({ blockNumber: 0n });
    await other.node.mine({ blocks: 5 });
    await testClient(other.api, mode).reset();
    expect(await other.reader.getBlock({ blockNumber: 0n })).toEqual(first);
    expect(await other.usdc(other.alice.account.address)).toBe(0n);
    await other.close();
  });
});

it("the node combines reads by Multicall3, as of one block, with failures reported singly", async () => {
  const client = testClient(chain.api);
  const { collateral, tokens, alice } = chain;
  const owner = alice.account.address;
  const contracts = [
    { ...collateral, functionName: "balanceOf", args: [owner] },
    { ...collateral, functionName: "decimals" },
    { ...tokens, functionName: "getCollectionId", args: [`0x${"1".repeat(64)}`, NO_PARENT, 1n] },
    { address: MULTICALL_ADDRESS as Hex, abi: multicall3Abi, functionName: "getEthBalance", args: [owner] },
  ] as const;
  const blockNumber = await client.getBlockNumber();
  const usdc = await chain.usdc(owner);
  const ether = await client.getBalance({ address: owner });
  await chain.mined(await chain.pay(1n));
  const [balance, decimals, fails, native] = await client.multicall({ contracts, blockNumber });
  expect([balance?.result, decimals?.result, native?.result]).toEqual([usdc, 6, ether]);
  const error = { message: expect.stringContaining("no parent") };
  expect(fails).toMatchObject({ status: "failure", error });
  await expect(client.multicall({ contracts, allowFailure: false })).rejects.toThrow("no parent");
  expect((await client.multicall({ contracts }))[0]?.result).toBe(usdc - ONE);
  expect(await client.getCode({ address: MULTICALL_ADDRESS as Hex })).toMatch(/^0x../);
});
