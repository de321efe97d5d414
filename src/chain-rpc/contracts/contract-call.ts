import type { ContractCall } from "../../core/chain/call.ts";
import type { Address } from "../../core/commands.ts";
import { type CallTo, type Decoded, decodeInput, isContract } from "./abis.ts";

/** What a transaction asks for. */
export interface Sent {
  readonly to: Address;
  readonly input: string;
  /** Wei. */
  readonly value: bigint;
}

/** What a transaction asks for, as the core carries it out. Reading a contract on the chain does nothing. */
export function contractCallOf({ to, input, value }: Sent): ContractCall {
  if (!isContract(to)) return { kind: "send" };
  const decoded = decodeInput(to, input);
  if (decoded.contract === null) return { kind: "unknown", reason: decoded.reason };
  const call = writeOf(decoded);
  if (call !== null) return call;
  return value > 0n ? { kind: "unknown", reason: "function is not payable" } : { kind: "send" };
}

/** What a decoded call changes; null when it only reads. */
export function writeOf(decoded: Decoded): ContractCall | null {
  switch (decoded.contract) {
    case "collateral":
      return collateralWrite(decoded.call);
    case "conditionalTokens":
      return tokensWrite(decoded.call);
    case "exchange":
      return decoded.call.functionName === "matchOrders" ? operatorsOwn("matchOrders") : null;
  }
}

function collateralWrite({ functionName, args }: CallTo<"collateral">): ContractCall | null {
  switch (functionName) {
    case "approve":
      return { kind: "approve", spender: lower(args[0]), amount: String(args[1]) };
    case "transfer":
      return { kind: "transfer", to: lower(args[0]), amount: String(args[1]) };
    case "transferFrom":
      return { kind: "transferFrom", from: lower(args[0]), to: lower(args[1]), amount: String(args[2]) };
    case "mint":
      return operatorsOwn(functionName);
    default:
      return null;
  }
}

function tokensWrite({ functionName, args }: CallTo<"conditionalTokens">): ContractCall | null {
  switch (functionName) {
    case "setApprovalForAll":
      return { kind: "setApprovalForAll", operator: lower(args[0]), approved: args[1] };
    case "safeTransferFrom":
      return safeTransfer(args[0], args[1], [args[2]], [args[3]], false);
    case "safeBatchTransferFrom":
      return safeTransfer(args[0], args[1], args[2], args[3], true);
    case "splitPosition":
      return partition("split", args);
    case "mergePositions":
      return partition("merge", args);
    case "redeemPositions": {
      const [collateral, parent, condition, indexSets] = args;
      return {
        kind: "redeem",
        collateral: lower(collateral),
        parent,
        condition,
        indexSets: texts(indexSets),
      };
    }
    case "prepareCondition":
    case "reportPayouts":
      return operatorsOwn(functionName);
    default:
      return null;
  }
}

const safeTransfer = (
  from: string,
  to: string,
  ids: readonly bigint[],
  amounts: readonly bigint[],
  isBatch: boolean,
): ContractCall => ({
  kind: "safeTransfer",
  from: lower(from),
  to: lower(to),
  ids: texts(ids),
  amounts: texts(amounts),
  isBatch,
});

const partition = (
  kind: "split" | "merge",
  [collateral, parent, condition, sets, amount]: readonly [string, string, string, readonly bigint[], bigint],
): ContractCall => ({
  kind,
  collateral: lower(collateral),
  parent,
  condition,
  partition: texts(sets),
  amount: String(amount),
});

const operatorsOwn = (functionName: string): ContractCall => ({
  kind: "unknown",
  reason: `clobsim: ${functionName} is called by the exchange itself, and by nobody else`,
});

const lower = (address: string): Address => address.toLowerCase();
const texts = (numbers: readonly bigint[]): string[] => numbers.map(String);
