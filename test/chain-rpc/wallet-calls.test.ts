import { beforeEach, describe, expect, it } from "vitest";
import { CONTRACTS, NO_PARENT } from "../../src/core/chain/contracts.ts";
import type { Market } from "../server/replies.ts";
import { useApi } from "../support/http.ts";
import { ChainWallet, type ContractName, read } from "./chain-wallet.ts";
import { resultOf } from "./rpc.ts";

const BOTH = [1n, 2n];
/** Converts to units of the contracts; USDC and shares have six decimals. */
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

/** Sends a call of Alice, checks that it has no effect yet, mines it, and returns the status of its receipt. */
async function statusOf(
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

const TRANSFER = ["collateral", "transfer"] as const;
const MOVE = ["conditionalTokens", "safeTransferFrom"] as const;
const SPLIT = ["conditionalTokens", "splitPosition"] as const;
const MERGE = ["conditionalTokens", "mergePositions"] as const;
const UNTOUCHED = [1_000, 100, 100];
const sets = (amount: number) => [CONTRACTS.collateral, NO_PARENT, market.conditionId, BOTH, units(amount)];

const sharesFrom = (owner: ChainWallet, to: ChainWallet, amount: number) => [
  ...[owner.address, to.address, BigInt(yes), units(amount)],
  "0x",
];

/** Calls with the balances of Alice and Bob afterwards: USDC, YES and NO, from 1,000, 100 and 100. */
const CALLS: readonly [
  does: string,
  call: readonly [ContractName, string],
  args: () => readonly unknown[],
  status: string,
  alice: readonly number[],
  bob: readonly number[],
][] = [
  ["moves USDC", TRANSFER, () => [bob.address, units(250)], "0x1", [750, 100, 100], [1_250, 100, 100]],
  ["moves shares", MOVE, () => sharesFrom(alice, bob, 30), "0x1", [1_000, 70, 100], [1_000, 130, 100]],
  ["splits USDC", SPLIT, () => sets(40), "0x1", [960, 140, 140], UNTOUCHED],
  ["merges sets", MERGE, () => sets(40), "0x1", [1_040, 60, 60], UNTOUCHED],
  ["reverts above the balance", TRANSFER, () => [bob.address, units(1_001)], "0x0", UNTOUCHED, UNTOUCHED],
  ["reverts for foreign shares", MOVE, () => sharesFrom(bob, alice, 1), "0x0", UNTOUCHED, UNTOUCHED],
];

describe("a signed transaction takes effect only when it is mined:", () => {
  it("approve allows a spender", async () => {
    const allowance = () => read(api, "collateral", "allowance", [alice.address, bob.address]);
    const hash = await alice.send("collateral", "approve", [bob.address, units(5)]);
    expect(await allowance()).toBe(0n);
    await mine();
    expect(await allowance()).toBe(units(5));
    expect(await resultOf(api, "eth_getTransactionReceipt", hash)).toMatchObject({ status: "0x1" });
  });

  it.each(CALLS)("one that %s: $1.1", async (_does, [contract, name], args, status, ofAlice, ofBob) => {
    expect(await statusOf(contract, name, args())).toBe(status);
    const held = await Promise.all([alice, bob].map((wallet) => wallet.holdings()));
    expect(held.map((of) => [of.USDC, of[yes], of[no]])).toEqual([ofAlice, ofBob]);
  });

  it("setApprovalForAll allows an operator", async () => {
    const isOperator = () => read(api, "conditionalTokens", "isApprovedForAll", [alice.address, bob.address]);
    await alice.send("conditionalTokens", "setApprovalForAll", [bob.address, true]);
    expect(await isOperator()).toBe(false);
    await mine();
    expect(await isOperator()).toBe(true);
  });
});

describe("a contract", () => {
  it("returns balances of tokens with six decimals", async () => {
    const ids = [BigInt(yes), BigInt(no)];
    const owners = [alice.address, bob.address];
    expect(await read(api, "conditionalTokens", "balanceOf", [alice.address, ids[0]])).toBe(units(100));
    expect(await read(api, "conditionalTokens", "balanceOfBatch", [owners, ids])).toEqual([
      units(100),
      units(100),
    ]);
  });
});
