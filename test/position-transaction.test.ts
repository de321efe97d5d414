import { type Abi, decodeFunctionData, encodeFunctionData, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { CONTRACT_ABIS, type PositionChange, positionTransaction } from "../src/api/contracts.ts";
import { CONTRACTS, NO_PARENT } from "../src/core/chain/contracts.ts";
import { callGas } from "../src/core/chain/transaction.ts";
import { size } from "../src/core/units.ts";

const ABI = parseAbi(CONTRACT_ABIS.conditionalTokens);
const CONDITION: Hex = `0x${"5a".repeat(32)}`;
const FROM = `0x${"12".repeat(20)}`;
const { collateral } = CONTRACTS;
const parent = NO_PARENT as Hex;

describe("a wallet's transaction", () => {
  const sets = [collateral, parent, CONDITION, [1n, 2n]] as const;
  it.each<[change: PositionChange, functionName: string, ...amount: bigint[]]>([
    [{ kind: "split", size: size(1_050) }, "splitPosition", 10_500_000n],
    [{ kind: "merge", size: size(1) }, "mergePositions", 10_000n],
    [{ kind: "redeem" }, "redeemPositions"],
  ])("%j is encoded as %s of the contract", (change, functionName, ...amount) => {
    const encoded = encodeFunctionData({ abi: ABI as Abi, functionName, args: [...sets, ...amount] });
    expect(positionTransaction(FROM, CONDITION, change).input).toBe(encoded);
  });

  it("has a call that equals its bytes", () => {
    const split = { kind: "split", size: size(400_000_000_000) } as const;
    const { call, input } = positionTransaction(FROM, CONDITION, split);
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
    const fields = { from: FROM, to: CONTRACTS.conditionalTokens, value: "0", nonce: null };
    expect(transaction).toMatchObject(fields);
    expect(transaction.gas).toBe(callGas(transaction.call, transaction.input));
  });
});
