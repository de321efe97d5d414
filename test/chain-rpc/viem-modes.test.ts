import { createTestClient, type Hex, http, multicall3Abi, parseEther, publicActions } from "viem";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MULTICALL_ADDRESS } from "../../src/chain-rpc/contracts.ts";
import { NO_PARENT } from "../../src/core/chain/contracts.ts";
import { wallet } from "../server/wallet.ts";
import { bob, ONE, openChain, type ViemChain } from "./viem-clients.ts";

let chain: ViemChain;

beforeAll(async () => {
  chain = await openChain();
});
afterAll(() => chain.close());

/** Creates viem's test client as in its documentation, with a chain that has Multicall3. */
const clientOf = (mode: "anvil" | "hardhat", url: string) =>
  createTestClient({
    mode,
    chain: { ...foundry, contracts: { multicall3: { address: MULTICALL_ADDRESS as Hex } } },
    transport: http(`${url}/chain`, { retryCount: 0 }),
    cacheTime: 0,
  }).extend(publicActions);

const GWEI = 1_000_000_000n;
const FEES = { gas: 21_000n, maxFeePerGas: 3n * GWEI, maxPriorityFeePerGas: GWEI };

describe.each(["anvil", "hardhat"] as const)("the test client in %s mode", (mode) => {
  const node = () => clientOf(mode, chain.api.server.url);
  /** Sends a transfer of the wallet of a key number. */
  const send = async (number: number, nonce: number): Promise<Hex> => {
    const account = wallet(number);
    await node().setBalance({ address: account.address, value: parseEther("1") });
    const transfer = { type: "eip1559", chainId: foundry.id, to: bob, nonce, value: 1n, ...FEES } as const;
    return node().sendRawTransaction({ serializedTransaction: await account.signTransaction(transfer) });
  };
  const own = mode === "anvil" ? 201 : 301;

  it("switches automine on and off, and ignores logging", async () => {
    await node().setLoggingEnabled(false);
    expect(await node().getAutomine()).toBe(false);
    await node().setAutomine(true);
    expect(await node().getAutomine()).toBe(true);
    const hash = await send(own, 0);
    expect((await node().getTransactionReceipt({ hash })).status).toBe("success");
    await node().setAutomine(false);
    expect(await node().getAutomine()).toBe(false);
    const waiting = await send(own, 1);
    await expect(node().getTransactionReceipt({ hash: waiting })).rejects.toThrow("could not be found");
    await node().mine({ blocks: 1 });
    expect((await node().getTransactionReceipt({ hash: waiting })).status).toBe("success");
  });

  it("mines at an interval, also empty blocks", async () => {
    await node().setIntervalMining({ interval: 3 });
    const hash = await send(own + 1, 0);
    await node().increaseTime({ seconds: 2 });
    await expect(node().getTransactionReceipt({ hash })).rejects.toThrow("could not be found");
    await node().increaseTime({ seconds: 1 });
    expect((await node().getTransactionReceipt({ hash })).status).toBe("success");
    const mined = await node().getBlockNumber();
    await node().increaseTime({ seconds: 10 });
    expect(await node().getBlockNumber()).toBe(mined + 3n);
    await node().setIntervalMining({ interval: 0 });
    await node().increaseTime({ seconds: 10 });
    expect(await node().getBlockNumber()).toBe(mined + 3n);
  });

  it("lists the transaction pool and drops transactions", async () => {
    const pending = await send(own + 2, 0);
    const queued = await send(own + 2, 2);
    const { address } = wallet(own + 2);
    const content = await node().getTxpoolContent();
    expect(content.pending[address.toLowerCase() as Hex]?.["0"]?.hash).toBe(pending);
    expect(content.queued[address.toLowerCase() as Hex]?.["2"]?.hash).toBe(queued);
    const { pending: lines } = await node().inspectTxpool();
    expect(lines[address.toLowerCase() as Hex]?.["0"]).toBe(
      `${bob.toLowerCase()}: 1 wei + 21000 gas × 3000000000 wei`,
    );
    expect(await node().getTxpoolStatus()).toEqual({ pending: 1, queued: 1 });
    await node().dropTransaction({ hash: pending });
    await node().dropTransaction({ hash: queued });
    expect(await node().getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
    await expect(node().getTransaction({ hash: pending })).rejects.toThrow("could not be found");
    expect(await node().getTransactionCount({ address, blockTag: "pending" })).toBe(0);
    // A dropped transaction can be sent again.
    expect(await send(own + 2, 0)).toBe(pending);
    await node().mine({ blocks: 1 });
    expect((await node().getTransactionReceipt({ hash: pending })).status).toBe("success");
  });

  it("sets the next nonce of a wallet", async () => {
    const { address } = wallet(own + 3);
    await node().setNonce({ address, nonce: 7 });
    expect(await node().getTransactionCount({ address })).toBe(7);
    await expect(send(own + 3, 6)).rejects.toThrow(/nonce/i);
    const hash = await send(own + 3, 7);
    await node().mine({ blocks: 1 });
    expect((await node().getTransactionReceipt({ hash })).status).toBe("success");
    expect(await node().getTransactionCount({ address })).toBe(8);
  });

  it("sets the base fee of the next block only", async () => {
    const blockNumber = await node().getBlockNumber();
    await node().setNextBlockBaseFeePerGas({ baseFeePerGas: 2n * GWEI });
    await node().mine({ blocks: 2 });
    const [next, after] = await Promise.all(
      [1n, 2n].map((step) => node().getBlock({ blockNumber: blockNumber + step })),
    );
    expect([next?.baseFeePerGas, after?.baseFeePerGas]).toEqual([2n * GWEI, GWEI]);
  });

  it("sends unsigned transactions of any account, and impersonates", async () => {
    const { address } = wallet(own + 4);
    await node().setBalance({ address, value: parseEther("1") });
    const request = { from: address, to: bob, value: 5n, ...FEES } as const;
    const hash = await node().sendUnsignedTransaction(request);
    await node().impersonateAccount({ address });
    await node().stopImpersonatingAccount({ address });
    await node().mine({ blocks: 1 });
    expect(await node().getTransactionReceipt({ hash })).toMatchObject({ status: "success" });
  });

  it("sets miner, gas limit and interval of blocks", async () => {
    const [miner] = [wallet(own + 5).address.toLowerCase() as Hex];
    const before = await node().getBlock();
    await node().setCoinbase({ address: miner });
    await node().setBlockGasLimit({ gasLimit: 20_000n });
    await node().setBlockTimestampInterval({ interval: 9 });
    await expect(send(own + 5, 0)).rejects.toThrow("gas_limit");
    await node().mine({ blocks: 2 });
    await node().removeBlockTimestampInterval();
    await node().setBlockGasLimit({ gasLimit: 30_000_000n });
    await node().mine({ blocks: 1 });
    const [first, second, third] = await Promise.all(
      [1n, 2n, 3n].map((step) => node().getBlock({ blockNumber: before.number + step })),
    );
    expect([first?.miner, first?.gasLimit, second?.gasLimit]).toEqual([miner, 20_000n, 20_000n]);
    expect(third?.gasLimit).toBe(30_000_000n);
    const times = [before, first, second, third].map((block) => block?.timestamp ?? 0n);
    expect(times.slice(1).map((time, index) => time - (times[index] ?? 0n))).toEqual([9n, 9n, 0n]);
    expect((await node().getBlock({ blockNumber: before.number })).miner).toBe(before.miner);
    await expect(node().setMinGasPrice({ gasPrice: 1n })).rejects.toThrow("not supported");
  });
});

describe("reads at a block", () => {
  it("do not change while blocks are mined: balances, allowances, nonces and ether", async () => {
    const { reader, node, alice, collateral, tokens, exchange } = chain;
    const owner = alice.account.address;
    const read = async (blockNumber: bigint) => [
      await reader.getTransactionCount({ address: owner, blockNumber }),
      await reader.getBalance({ address: owner, blockNumber }),
      await reader.readContract({ ...collateral, functionName: "balanceOf", args: [owner], blockNumber }),
      await reader.readContract({
        ...{ ...collateral, functionName: "allowance", args: [owner, exchange.address], blockNumber },
      }),
      await reader.readContract({
        ...{ ...tokens, functionName: "isApprovedForAll", args: [owner, exchange.address], blockNumber },
      }),
      await reader.readContract({ ...collateral, functionName: "totalSupply", blockNumber }),
    ];
    const pinned = await reader.getBlockNumber();
    const before = await read(pinned);
    await alice.writeContract({ ...collateral, functionName: "approve", args: [exchange.address, 7n] });
    await node.mine({ blocks: 1 });
    const approved = await read(pinned + 1n);
    await alice.writeContract({ ...collateral, functionName: "transfer", args: [bob, ONE] });
    await alice.writeContract({
      ...{ ...tokens, functionName: "setApprovalForAll", args: [exchange.address, false] },
    });
    await chain.api.post(`/sim/accounts/${owner}/fund`, { collateral: 5 });
    await node.mine({ blocks: 3 });
    expect(await read(pinned)).toEqual(before);
    expect(await read(pinned + 1n)).toEqual(approved);
    expect(approved[3]).toBe(7n);
    const after = await read(pinned + 4n);
    expect(after.slice(2)).toEqual([
      (before[2] as bigint) + 4n * ONE,
      7n,
      false,
      (before[5] as bigint) + 5n * ONE,
    ]);
    const finalized = { address: owner, blockTag: "finalized" } as const;
    expect(await reader.getTransactionCount(finalized)).toBe(after[0]);
  });

  it("can be combined by Multicall3, as of one block, with failures reported singly", async () => {
    const client = clientOf("anvil", chain.api.server.url);
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
    await chain.alice.writeContract({ ...collateral, functionName: "transfer", args: [bob, ONE] });
    await client.mine({ blocks: 1 });
    const [balance, decimals, fails, native] = await client.multicall({ contracts, blockNumber });
    expect([balance?.result, decimals?.result, native?.result]).toEqual([usdc, 6, ether]);
    expect(fails).toMatchObject({
      status: "failure",
      error: { message: expect.stringContaining("no parent") },
    });
    await expect(client.multicall({ contracts, allowFailure: false })).rejects.toThrow("no parent");
    expect((await client.multicall({ contracts }))[0]?.result).toBe(usdc - ONE);
    expect(await client.getCode({ address: MULTICALL_ADDRESS as Hex })).toBeDefined();
  });
});

describe("a reset", () => {
  it.each(["anvil", "hardhat"] as const)("restores the first blocks, in %s mode", async (mode) => {
    const other = await openChain();
    const first = await other.reader.getBlock({ blockNumber: 0n });
    await other.node.mine({ blocks: 5 });
    await clientOf(mode, other.api.server.url).reset();
    expect(await other.reader.getBlock({ blockNumber: 0n })).toEqual(first);
    expect(await other.usdc(other.alice.account.address)).toBe(0n);
    await other.close();
  });
});
