import { BaseError, ContractFunctionRevertedError, maxUint256, parseAbi, parseEventLogs } from "viem";
import { describe, expect, it } from "vitest";
import { NO_PARENT } from "../../src/core/chain/contracts.ts";
import { alice, bob, ONE, TOKENS, useChain, watchedReader } from "./viem-clients.ts";

const chain = await useChain();
const { reader, collateral, tokens, exchange } = chain;
const market = await chain.market();

/** Returns the arguments to split or merge an amount of sets. */
const sets = (amount: bigint) =>
  [collateral.address, NO_PARENT, market.conditionId, [1n, 2n], amount] as const;

/** Returns the revert reason of a call as viem reads it. */
async function reasonOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof BaseError)) throw new Error("the call does not revert", { cause: error });
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  return (reverted as ContractFunctionRevertedError | null)?.reason;
}

describe("a call that viem has simulated", () => {
  it("transfers collateral when it is mined, and its receipt has the event", async () => {
    const args = [bob, 5n * ONE] as const;
    const { request, result } = await reader.simulateContract({
      ...{ ...collateral, functionName: "transfer", args },
      account: chain.alice.account,
    });
    expect(result).toBe(true);
    const before = await chain.usdc(bob);
    const ledger = async () => (await chain.api.account(bob)).collateral.balance;
    const owned = await ledger();
    const hash = await chain.alice.writeContract(request);
    await expect(reader.getTransactionReceipt({ hash })).rejects.toThrow("could not be found");
    expect([await chain.usdc(bob), await ledger()]).toEqual([before, owned]);
    const receipt = await chain.mined(hash);
    expect(await ledger()).toBe(owned + 5);
    expect(receipt).toMatchObject({ status: "success", type: "eip1559", from: alice.toLowerCase() });
    expect(await chain.usdc(bob)).toBe(before + 5n * ONE);
    const logs = parseEventLogs({ abi: collateral.abi, logs: receipt.logs });
    expect(logs).toMatchObject([{ eventName: "Transfer", args: { from: alice, to: bob, value: 5n * ONE } }]);
  });

  it("approves, and the spender spends up to the allowance", async () => {
    const approve = { ...collateral, functionName: "approve", args: [bob, 3n * ONE] } as const;
    await chain.mined(await chain.alice.writeContract(approve));
    const spend = (amount: bigint) =>
      reader.simulateContract({
        ...{ ...collateral, functionName: "transferFrom", args: [alice, bob, amount] },
        account: chain.bob.account,
      });
    await chain.mined(await chain.bob.writeContract((await spend(2n * ONE)).request));
    const args = [alice, bob] as const;
    expect(await reader.readContract({ ...collateral, functionName: "allowance", args })).toBe(ONE);
    expect(await reasonOf(spend(2n * ONE))).toBe("ERC20: transfer amount exceeds allowance");
  });

  it("splits collateral into sets and merges them again", async () => {
    const held = async () => [await chain.usdc(alice), await chain.shares(alice, market.yes)];
    const [usdc = 0n, shares = 0n] = await held();
    const split = { ...tokens, functionName: "splitPosition", args: sets(10n * ONE) } as const;
    await chain.mined(await chain.alice.writeContract(split));
    expect(await held()).toEqual([usdc - 10n * ONE, shares + 10n * ONE]);
    const merge = { ...tokens, functionName: "mergePositions", args: sets(4n * ONE) } as const;
    const { logs } = await chain.mined(await chain.alice.writeContract(merge));
    expect(await held()).toEqual([usdc - 6n * ONE, shares + 6n * ONE]);
    const merged = parseEventLogs({ abi: TOKENS, eventName: "PositionsMerge", logs });
    expect(merged).toMatchObject([{ args: { stakeholder: alice, amount: 4n * ONE, partition: [1n, 2n] } }]);
  });

  it("moves shares for an operator while it is approved", async () => {
    const move = () =>
      reader.simulateContract({
        ...{ ...tokens, functionName: "safeTransferFrom" },
        args: [alice, bob, BigInt(market.no), 2n * ONE, "0x"],
        account: chain.bob.account,
      });
    const approve = async (approved: boolean) => {
      const call = { ...tokens, functionName: "setApprovalForAll", args: [bob, approved] } as const;
      await chain.mined(await chain.alice.writeContract(call));
    };
    const refusal = "ERC1155: need operator approval for 3rd party transfers.";
    expect(await reasonOf(move())).toBe(refusal);
    await approve(true);
    const before = await chain.shares(bob, market.no);
    const { logs } = await chain.mined(await chain.bob.writeContract((await move()).request));
    expect(await chain.shares(bob, market.no)).toBe(before + 2n * ONE);
    const args = { operator: bob, from: alice, to: bob, id: BigInt(market.no), value: 2n * ONE };
    expect(parseEventLogs({ abi: TOKENS, logs })).toMatchObject([{ eventName: "TransferSingle", args }]);
    await approve(false);
    expect(await reasonOf(move())).toBe(refusal);
  });
});

describe("a call that reverts", () => {
  it("returns its reason when it is simulated or estimated", async () => {
    const redeem = {
      ...tokens,
      functionName: "redeemPositions",
      account: chain.alice.account,
      args: [collateral.address, NO_PARENT, market.conditionId, [1n]],
    } as const;
    const reason = "result for condition not received yet";
    expect(await reasonOf(reader.simulateContract(redeem))).toBe(reason);
    expect(await reasonOf(reader.estimateContractGas(redeem))).toBe(reason);
    expect(await reasonOf(chain.alice.writeContract(redeem))).toBe(reason);
  });

  it("is mined if its gas is given, pays for gas, and has a reverted receipt", async () => {
    const args = [bob, 10n ** 15n] as const;
    const call = { ...collateral, functionName: "transfer", args, gas: 100_000n } as const;
    const [usdc, native] = [await chain.usdc(alice), await reader.getBalance({ address: alice })];
    const receipt = await chain.mined(await chain.alice.writeContract(call));
    expect(receipt).toMatchObject({ status: "reverted", logs: [] });
    expect(await chain.usdc(alice)).toBe(usdc);
    const paid = native - (await reader.getBalance({ address: alice }));
    expect(paid).toBe(receipt.gasUsed * receipt.effectiveGasPrice);
  });

  it("of an unknown function lists the functions of the contract", async () => {
    const abi = parseAbi(["function paused() view"]);
    const reading = reader.readContract({ address: exchange.address, abi, functionName: "paused" });
    expect(await reasonOf(reading)).toMatch(
      /^clobsim: the exchange has no function 0x5c975abb .+ functions are getCollateral, /,
    );
  });
});

it("a balance of ether that was set stays a uint256, whatever is undone or received", async () => {
  const address = `0x${"aa".repeat(20)}` as const;
  await chain.mined(await chain.alice.sendTransaction({ to: address, value: 5n }));
  await chain.node.setBalance({ address, value: 2n });
  await chain.reorganize(1);
  expect(await reader.getBalance({ address })).toBe(0n);
  await chain.node.mine({ blocks: 1 });
  expect(await reader.getBalance({ address })).toBe(2n);
  await chain.node.setBalance({ address, value: maxUint256 });
  await chain.mined(await chain.alice.sendTransaction({ to: address, value: 5n }));
  expect(await reader.getBalance({ address })).toBe(maxUint256);
});

it("transactions of one wallet replace each other for higher fees, and a wait for the first returns the second", async () => {
  // viem detects a replacement only if it has read the first transaction while it was pending.
  const methods = ["eth_getTransactionByHash", "eth_getTransactionReceipt"] as const;
  const watched = watchedReader(chain.api, ...methods);
  const nonce = await watched.reader.getTransactionCount({ address: alice });
  const call = { ...collateral, functionName: "transfer", args: [bob, ONE], nonce } as const;
  const hash = await chain.alice.writeContract({ ...call, ...fees(2n) });
  const reasons: string[] = [];
  const waiting = watched.reader.waitForTransactionReceipt({
    hash,
    onReplaced: ({ reason }) => reasons.push(reason),
  });
  await watched.asked;
  const second = await chain.alice.writeContract({ ...call, ...fees(3n) });
  await chain.node.mine({ blocks: 1 });
  expect(await waiting).toMatchObject({ transactionHash: second, status: "success" });
  expect(reasons).toEqual(["repriced"]);
});

const GWEI = 1_000_000_000n;
const fees = (gwei: bigint) => ({ maxFeePerGas: 10n * gwei * GWEI, maxPriorityFeePerGas: gwei * GWEI });
