import { beforeEach, describe, expect, it } from "vitest";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import type { Market } from "../server/replies.ts";
import { useApi } from "../support/http.ts";
import { ChainWallet, type ContractName, read } from "./chain-wallet.ts";
import { resultOf } from "./rpc.ts";

const NO_PARENT = `0x${"0".repeat(64)}`;
const BOTH = [1n, 2n];
/** Units of USDC and of shares on the chain: six decimals both. */
const units = (amount: number): bigint => BigInt(amount) * 1_000_000n;

const api = useApi({ settlement: "manual" });
let keys = 1_000;
let market: Market;
let yes: string;
let no: string;
let alice: ChainWallet;
let bob: ChainWallet;

beforeEach(async () => {
  market = await api.createMarket();
  [yes, no] = market.tokens.map(({ tokenId }) => tokenId) as [string, string];
  keys += 2;
  alice = await ChainWallet.open(api, keys, market);
  bob = await ChainWallet.open(api, keys + 1, market);
});

const mine = (): Promise<unknown> => resultOf(api, "evm_mine");

/** Sends a call of alice's, sees that nothing has happened yet, mines it, and answers the status in its receipt. */
async function carriedOut(
  contract: ContractName,
  functionName: string,
  args: readonly unknown[],
): Promise<string> {
  const before = [await alice.holdings(), await bob.holdings()];
  const hash = await alice.send(contract, functionName, args);
  expect(await resultOf(api, "eth_getTransactionReceipt", hash)).toBeNull();
  expect([await alice.holdings(), await bob.holdings()]).toEqual(before);
  await mine();
  return (await resultOf<{ status: string }>(api, "eth_getTransactionReceipt", hash)).status;
}

const sets = (amount: number) => [CONTRACTS.collateral, NO_PARENT, market.conditionId, BOTH, units(amount)];

describe("a signed transaction takes effect when it is mined, and not before:", () => {
  it("approve lets somebody spend USDC", async () => {
    const allowance = () => read(api, "collateral", "allowance", [alice.address, bob.address]);
    const hash = await alice.send("collateral", "approve", [bob.address, units(5)]);
    expect(await allowance()).toBe(0n);
    await mine();
    expect(await allowance()).toBe(units(5));
    expect(await resultOf(api, "eth_getTransactionReceipt", hash)).toMatchObject({ status: "0x1" });
  });

  it("transfer moves USDC", async () => {
    expect(await carriedOut("collateral", "transfer", [bob.address, units(250)])).toBe("0x1");
    expect(await alice.holdings()).toEqual({ USDC: 750, [yes]: 100, [no]: 100 });
    expect(await bob.holdings()).toEqual({ USDC: 1_250, [yes]: 100, [no]: 100 });
  });

  it("setApprovalForAll lets somebody move all shares", async () => {
    const isOperator = () => read(api, "conditionalTokens", "isApprovedForAll", [alice.address, bob.address]);
    await alice.send("conditionalTokens", "setApprovalForAll", [bob.address, true]);
    expect(await isOperator()).toBe(false);
    await mine();
    expect(await isOperator()).toBe(true);
  });

  it("safeTransferFrom moves shares", async () => {
    const args = [alice.address, bob.address, BigInt(yes), units(30), "0x"];
    expect(await carriedOut("conditionalTokens", "safeTransferFrom", args)).toBe("0x1");
    expect(await alice.holdings()).toEqual({ USDC: 1_000, [yes]: 70, [no]: 100 });
    expect(await bob.holdings()).toEqual({ USDC: 1_000, [yes]: 130, [no]: 100 });
  });

  it("splitPosition makes full sets of USDC", async () => {
    expect(await carriedOut("conditionalTokens", "splitPosition", sets(40))).toBe("0x1");
    expect(await alice.holdings()).toEqual({ USDC: 960, [yes]: 140, [no]: 140 });
  });

  it("mergePositions makes USDC of full sets", async () => {
    expect(await carriedOut("conditionalTokens", "mergePositions", sets(40))).toBe("0x1");
    expect(await alice.holdings()).toEqual({ USDC: 1_040, [yes]: 60, [no]: 60 });
  });

  it("redeemPositions pays what has won, and burns what has lost", async () => {
    await api.post(`/sim/markets/${market.id}/resolve`, { winningOutcome: "YES" });
    await mine();
    const args = [CONTRACTS.collateral, NO_PARENT, market.conditionId, BOTH];
    const hash = await alice.send("conditionalTokens", "redeemPositions", args);
    await mine();
    expect(await resultOf(api, "eth_getTransactionReceipt", hash)).toMatchObject({ status: "0x1" });
    expect(await alice.holdings()).toMatchObject({ USDC: 1_100, [yes]: 0, [no]: 0 });
  });

  it("a transfer of more than there is reverts and moves nothing", async () => {
    expect(await carriedOut("collateral", "transfer", [bob.address, units(1_001)])).toBe("0x0");
    expect(await alice.holdings()).toMatchObject({ USDC: 1_000 });
    expect(await bob.holdings()).toMatchObject({ USDC: 1_000 });
  });

  it("somebody else's shares stay where they are", async () => {
    const args = [bob.address, alice.address, BigInt(yes), units(1), "0x"];
    expect(await carriedOut("conditionalTokens", "safeTransferFrom", args)).toBe("0x0");
    expect(await bob.holdings()).toMatchObject({ [yes]: 100 });
  });
});

describe("a contract answers", () => {
  it("what an address has of a token, six decimals to a share", async () => {
    const ids = [BigInt(yes), BigInt(no)];
    const owners = [alice.address, bob.address];
    expect(await read(api, "conditionalTokens", "balanceOf", [alice.address, ids[0]])).toBe(units(100));
    expect(await read(api, "conditionalTokens", "balanceOfBatch", [owners, ids])).toEqual([
      units(100),
      units(100),
    ]);
  });

  it("that the exchange and the tokens may spend as they like until told otherwise", async () => {
    const most = 2n ** 256n - 1n;
    for (const spender of [CONTRACTS.exchange, CONTRACTS.conditionalTokens]) {
      expect(await read(api, "collateral", "allowance", [alice.address, spender])).toBe(most);
    }
    const asked = [alice.address, CONTRACTS.exchange];
    expect(await read(api, "conditionalTokens", "isApprovedForAll", asked)).toBe(true);
    await alice.send("conditionalTokens", "setApprovalForAll", [CONTRACTS.exchange, false]);
    await mine();
    expect(await read(api, "conditionalTokens", "isApprovedForAll", asked)).toBe(false);
  });
});
