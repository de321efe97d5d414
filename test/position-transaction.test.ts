import { decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { type PositionChange, positionTransaction } from "../src/api/contracts.ts";
import { CONTRACTS, NO_PARENT } from "../src/core/chain/contracts.ts";
import { callGas } from "../src/core/chain/transaction.ts";
import { size } from "../src/core/units.ts";

const ABI = parseAbi([
  "function splitPosition(address collateralToken, bytes32 parentCollectionId, bytes32 conditionId, uint256[] partition, uint256 amount)",
  "function mergePositions(address collateralToken, bytes32 parentCollectionId, bytes32 conditionId, uint256[] partition, uint256 amount)",
  "function redeemPositions(address collateralToken, bytes32 parentCollectionId, bytes32 conditionId, uint256[] indexSets)",
]);
const CONDITION: Hex = `0x${"5a".repeat(32)}`;
const FROM = `0x${"12".repeat(20)}`;
const { collateral } = CONTRACTS;
const parent = NO_PARENT as Hex;

describe("a wallet's transaction", () => {
  it.each<[change: PositionChange, encoded: Hex]>([
    [
      { kind: "split", size: size(1_050) },
      encodeFunctionData({
        abi: ABI,
        functionName: "splitPosition",
        args: [collateral, parent, CONDITION, [1n, 2n], 10_500_000n],
      }),
    ],
    [
      { kind: "merge", size: size(1) },
      encodeFunctionData({
        abi: ABI,
        functionName: "mergePositions",
        args: [collateral, parent, CONDITION, [1n, 2n], 10_000n],
      }),
    ],
    [
      { kind: "redeem" },
      encodeFunctionData({
        abi: ABI,
        functionName: "redeemPositions",
        args: [collateral, parent, CONDITION, [1n, 2n]],
      }),
    ],
  ])("$kind is encoded as the contract reads it", (change, encoded) => {
    expect(positionTransaction(FROM, CONDITION, change).input).toBe(encoded);
  });

  it("has a call that equals its bytes", () => {
    const { call, input } = positionTransaction(FROM, CONDITION, {
      kind: "split",
      size: size(400_000_000_000),
    });
    const { args = [] } = decodeFunctionData({ abi: ABI, data: input as Hex });
    expect(call).toEqual({
      kind: "split",
      collateral: String(args[0]).toLowerCase(),
      parent: args[1],
      condition: args[2],
      partition: (args[3] as bigint[]).map(String),
      amount: String(args[4]),
    });
  });

  it("calls the tokens' contract and offers the gas that it will use", () => {
    const transaction = positionTransaction(FROM, CONDITION, { kind: "redeem" });
    expect(transaction).toMatchObject({
      from: FROM,
      to: CONTRACTS.conditionalTokens,
      value: "0",
      nonce: null,
    });
    expect(transaction.gas).toBe(callGas(transaction.call, transaction.input));
  });
});
