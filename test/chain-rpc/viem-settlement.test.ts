import { type Hex, parseEventLogs } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import type { Trade } from "../../src/client/api-messages.ts";
import { orThrow } from "../../src/client/result.ts";
import { NO_PARENT } from "../../src/core/chain/contracts.ts";
import { openTrader } from "../client/open.ts";
import { ALICE, alice, BOB, bob, EXCHANGE, ONE, type OpenMarket, TOKENS, useChain } from "./viem-clients.ts";

const chain = await useChain();
const [buyer, seller] = [await openTrader(chain.api, ALICE), await openTrader(chain.api, BOB)];
let market: OpenMarket;

beforeEach(async () => {
  market = await chain.market({ feeRateBps: 100 });
  await chain.node.mine({ blocks: 1 });
});

/** Bob sells 40 YES to Alice's order at 0.55. The trade is not mined yet. */
async function cross(): Promise<void> {
  orThrow(await buyer.place({ tokenId: market.yes, side: "BUY", price: 0.55, size: 100 }));
  orThrow(await seller.place({ tokenId: market.yes, side: "SELL", price: 0.5, size: 40 }));
}

/** Returns the fill of the maker. */
async function fill(): Promise<Trade> {
  const [trade] = orThrow(await buyer.trades({ tokenId: market.yes })).data;
  if (trade === undefined) throw new Error("nothing was traded");
  return trade;
}

/** Reads Alice's USDC and YES and Bob's USDC from the chain. */
const held = async (): Promise<bigint[]> =>
  Promise.all([chain.usdc(alice), chain.shares(alice, market.yes), chain.usdc(bob)]);

const redeem = (indexSets: readonly bigint[] = [1n, 2n]) =>
  ({
    ...chain.tokens,
    functionName: "redeemPositions",
    args: [chain.collateral.address, NO_PARENT, market.conditionId, indexSets],
    account: chain.alice.account,
  }) as const;

describe("a trade", () => {
  it("has a transaction once it is mined, whose logs have both orders and their amounts", async () => {
    await cross();
    expect(await fill()).toMatchObject({ status: "MATCHED", transactionHash: null });
    await chain.node.mine({ blocks: 1 });
    const { transactionHash, orderId, counterOrderId, blockNumber } = await fill();
    const hash = transactionHash as Hex;
    const receipt = await chain.reader.waitForTransactionReceipt({ hash });
    expect(receipt).toMatchObject({ status: "success", blockNumber: BigInt(blockNumber ?? -1) });
    const [made, taken, ...rest] = parseEventLogs({
      ...{ abi: EXCHANGE, eventName: "OrderFilled", logs: receipt.logs },
    });
    expect(rest).toEqual([]);
    const money = { makerAssetId: 0n, takerAssetId: BigInt(market.yes) };
    const shares = { makerAssetId: BigInt(market.yes), takerAssetId: 0n };
    expect(made?.args).toMatchObject({
      ...{ maker: alice, taker: bob, ...money, fee: 0n },
      ...{ makerAmountFilled: 22n * ONE, takerAmountFilled: 40n * ONE },
    });
    expect(taken?.args).toMatchObject({
      ...{ maker: bob, ...shares, makerAmountFilled: 40n * ONE, takerAmountFilled: 22n * ONE },
    });
    expect(taken?.args.fee).toBeGreaterThan(0n);
    for (const [log, id] of [
      [made, orderId],
      [taken, counterOrderId],
    ] as const) {
      expect(log?.args.orderHash.endsWith(id.replaceAll("-", ""))).toBe(true);
    }
    expect(parseEventLogs({ abi: EXCHANGE, eventName: "OrdersMatched", logs: receipt.logs })).toMatchObject([
      { args: { takerOrderHash: taken?.args.orderHash, takerOrderMaker: bob } },
    ]);
  });

  it("moves USDC and shares on the chain with its block, and is confirmed two blocks later", async () => {
    await chain.node.mine({ blocks: 1 });
    await cross();
    const before = await held();
    await chain.node.mine({ blocks: 1 });
    const [taken] = orThrow(await seller.trades({ tokenId: market.yes })).data;
    const fee = BigInt(Math.round((taken?.fee ?? 0) * Number(ONE)));
    expect(fee).toBeGreaterThan(0n);
    const moved = (await held()).map((now, index) => now - (before[index] ?? 0n));
    expect(moved).toEqual([-22n * ONE, 40n * ONE, 22n * ONE - fee]);
    const hash = (await fill()).transactionHash as Hex;
    const confirmed = chain.reader.waitForTransactionReceipt({ hash, confirmations: 3 });
    expect((await fill()).status).toBe("MINED");
    await chain.node.mine({ blocks: 2 });
    await confirmed;
    expect((await fill()).status).toBe("CONFIRMED");
  });

  it("offers its usual fee in a gas spike, and more once the fee is raised", async () => {
    const { control } = buyer;
    orThrow(await control.chain.addFault({ kind: "gas-spike", baseFeeGwei: 500 }));
    await cross();
    const fees = async () => {
      const { transactions } = await chain.reader.getBlock({
        blockTag: "pending",
        includeTransactions: true,
      });
      return transactions.map(({ maxFeePerGas }) => Number(maxFeePerGas) / 1e9);
    };
    expect((await fees()).at(-1)).toBe(100);
    orThrow(await control.chain.bump());
    expect((await fees()).at(-1)).toBe(501);
    orThrow(await control.chain.clearFaults());
    await chain.node.mine({ blocks: 1 });
  });

  it("that fails on the chain has a reverted receipt, and no USDC is moved", async () => {
    orThrow(await buyer.control.chain.addFault({ kind: "fail", times: 1 }));
    const before = await chain.usdc(alice);
    await cross();
    await chain.node.mine({ blocks: 1 });
    const { status, transactionHash } = await fill();
    expect(status).toBe("FAILED");
    const receipt = await chain.reader.getTransactionReceipt({ hash: transactionHash as Hex });
    expect(receipt).toMatchObject({ status: "reverted", logs: [] });
    expect(await chain.usdc(alice)).toBe(before);
  });
});

describe("after a market is resolved", () => {
  it("its shares are redeemed for USDC on the chain and in the account", async () => {
    await cross();
    await chain.node.mine({ blocks: 1 });
    orThrow(await buyer.control.resolve(market.id, "YES"));
    await chain.node.mine({ blocks: 1 });
    const [usdc = 0n, yes = 0n] = await held();
    expect(yes).toBeGreaterThanOrEqual(40n * ONE);
    const { request } = await chain.reader.simulateContract(redeem());
    const { logs } = await chain.mined(await chain.alice.writeContract(request));
    const redeemed = parseEventLogs({ abi: TOKENS, eventName: "PayoutRedemption", logs });
    expect(redeemed).toMatchObject([{ args: { redeemer: alice, payout: yes } }]);
    expect((await held()).slice(0, 2)).toEqual([usdc + yes, 0n]);
    const { collateral } = orThrow(await buyer.control.account(alice));
    expect(BigInt(Math.round(collateral.balance * Number(ONE)))).toBe(usdc + yes);
  });

  it("the oracle's report has the payout of each outcome", async () => {
    const fromBlock = (await chain.reader.getBlockNumber()) + 1n;
    orThrow(await buyer.control.resolve(market.id, "NO"));
    await chain.node.mine({ blocks: 1 });
    const query = { ...chain.tokens, eventName: "ConditionResolution", fromBlock } as const;
    expect(await chain.reader.getContractEvents(query)).toMatchObject([
      { args: { conditionId: market.conditionId, payoutNumerators: [0n, 1n] } },
    ]);
    const payout = (index: bigint) =>
      chain.reader.readContract({
        ...{ ...chain.tokens, functionName: "payoutNumerators", args: [market.conditionId, index] },
      });
    expect([await payout(0n), await payout(1n)]).toEqual([0n, 1n]);
  });
});
