import { encodeFunctionData, getAddress } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { NO_PARENT } from "../../src/core/chain/contracts.ts";
import { alice, ONE, useChain } from "./viem-clients.ts";

const chain = await useChain();
const { reader, collateral, tokens, exchange } = chain;
const market = await chain.market();

beforeAll(async () => {
  for (const usdc of [1n, 2n]) await chain.pay(usdc);
  await chain.node.mine({ blocks: 1 });
});

describe("a block", () => {
  it("is the same by tag, number and hash, with its transactions or their hashes", async () => {
    const block = await reader.getBlock();
    expect(await reader.getBlock({ blockNumber: block.number })).toEqual(block);
    expect(await reader.getBlock({ blockHash: block.hash })).toEqual(block);
    const full = await reader.getBlock({ includeTransactions: true });
    expect(full.transactions.map(({ hash }) => hash)).toEqual(block.transactions);
    for (const transaction of full.transactions) {
      expect(await reader.getTransaction({ hash: transaction.hash })).toEqual(transaction);
    }
    expect(await reader.getBlockTransactionCount()).toBe(block.transactions.length);
  });

  it("follows the one before it, and the pending one the latest", async () => {
    const latest = await reader.getBlock();
    const before = await reader.getBlock({ blockNumber: latest.number - 1n });
    expect(latest.parentHash).toBe(before.hash);
    const pending = await reader.getBlock({ blockTag: "pending" });
    expect(pending).toMatchObject({ number: latest.number + 1n, parentHash: latest.hash, hash: null });
    expect(pending.logsBloom).toMatch(/^0x[0f]{512}$/);
  });

  it("has receipts with the positions of its transactions and their logs", async () => {
    const block = await reader.getBlock();
    let logIndex = 0;
    let gasUsed = 0n;
    for (const [transactionIndex, hash] of block.transactions.entries()) {
      const receipt = await reader.getTransactionReceipt({ hash });
      gasUsed += receipt.gasUsed;
      expect(receipt).toMatchObject({ transactionIndex, blockHash: block.hash, cumulativeGasUsed: gasUsed });
      for (const log of receipt.logs) {
        expect(log).toMatchObject({ logIndex, transactionHash: hash, blockNumber: block.number });
        logIndex += 1;
      }
    }
    expect(block.gasUsed).toBe(gasUsed);
    expect(logIndex).toBe((await reader.getLogs({ blockHash: block.hash })).length);
  });
});

describe("a contract", () => {
  it("of the collateral has name, symbol, decimals, total supply and allowances", async () => {
    const read = (functionName: "name" | "symbol" | "decimals" | "totalSupply") =>
      reader.readContract({ ...collateral, functionName });
    const names = [await read("name"), await read("symbol"), await read("decimals")];
    expect(names).toEqual(["USD Coin", "USDC", 6]);
    expect(await read("totalSupply")).toBeGreaterThan(await chain.usdc(alice));
    const args = [alice, tokens.address] as const;
    const allowance = await reader.readContract({ ...collateral, functionName: "allowance", args });
    expect(allowance).toBe(2n ** 256n - 1n);
  });

  it("derives the token ids of a market from its condition by the public formulas", async () => {
    const ids = await Promise.all(
      [1n, 2n].map(async (indexSet) => {
        const args = [NO_PARENT, market.conditionId, indexSet] as const;
        const collection = await reader.readContract({ ...tokens, functionName: "getCollectionId", args });
        const position = [getAddress(collateral.address), collection] as const;
        return reader.readContract({ ...tokens, functionName: "getPositionId", args: position });
      }),
    );
    expect(ids.map(String)).toEqual([market.yes, market.no]);
    const args = [BigInt(market.yes)] as const;
    expect(await reader.readContract({ ...exchange, functionName: "getComplement", args })).toBe(ids[1]);
    const conditionId = await reader.readContract({ ...exchange, functionName: "getConditionId", args });
    expect(conditionId).toBe(market.conditionId);
  });

  it("refuses ether with a call of a function that is not payable, also if it only reads", async () => {
    const call = { account: alice, to: collateral.address, value: 1n } as const;
    const balanceOf = encodeFunctionData({ ...collateral, functionName: "balanceOf", args: [alice] });
    const approve = encodeFunctionData({ ...collateral, functionName: "approve", args: [alice, 1n] });
    for (const data of [balanceOf, approve]) {
      await expect(reader.call({ ...call, data })).rejects.toThrow("function is not payable");
      await expect(reader.estimateGas({ ...call, data })).rejects.toThrow("function is not payable");
    }
  });

  it("refuses a call with too little gas, and a call and its estimate with more ether than the caller has", async () => {
    const data = encodeFunctionData({ ...collateral, functionName: "approve", args: [alice, 1n] });
    const call = { account: alice, to: collateral.address, data } as const;
    const gas = await reader.estimateGas(call);
    await reader.call({ ...call, gas });
    await expect(reader.call({ ...call, gas: gas - 1n })).rejects.toThrow("EVM error OutOfGas");
    for (const blockNumber of [await reader.getBlockNumber(), 0n]) {
      const value = (await reader.getBalance({ address: alice, blockNumber })) + 1n;
      await expect(reader.call({ ...call, value, blockNumber })).rejects.toThrow("Insufficient funds");
      await expect(reader.estimateGas({ ...call, value, blockNumber })).rejects.toThrow("Insufficient funds");
    }
  });
});

describe("fees", () => {
  it("are estimated in both styles, and suffice for the next block", async () => {
    const { baseFeePerGas } = await reader.getBlock({ blockTag: "pending" });
    const capped = await reader.estimateFeesPerGas();
    const legacy = await reader.estimateFeesPerGas({ type: "legacy" });
    expect(capped.maxFeePerGas).toBeGreaterThanOrEqual((baseFeePerGas ?? 0n) + capped.maxPriorityFeePerGas);
    expect(legacy.gasPrice).toBeGreaterThanOrEqual(baseFeePerGas ?? 0n);
  });

  it("are paid in native currency for the estimated gas", async () => {
    const args = [alice, ONE] as const;
    const call = { ...collateral, functionName: "approve", args } as const;
    const estimated = await reader.estimateContractGas({ ...call, account: alice });
    const before = await reader.getBalance({ address: alice });
    const receipt = await chain.mined(await chain.alice.writeContract(call));
    expect(receipt.gasUsed).toBe(estimated);
    expect(before - (await reader.getBalance({ address: alice }))).toBe(
      estimated * receipt.effectiveGasPrice,
    );
  });
});
