import { type DecodeFunctionDataReturnType, decodeFunctionData, encodeFunctionResult } from "viem/utils";
import { asHex } from "../api/view.ts";
import { baseFeeOf, blockAt, CHAIN_ID, headBlock } from "../core/chain/chain.ts";
import { blockHash } from "../core/chain/chain-hashes.ts";
import {
  CONTRACTS,
  collectionId,
  conditionId,
  NO_PARENT,
  positionId,
  ZERO_WORD,
} from "../core/chain/contracts.ts";
import type { ContractCall } from "../core/chain/transaction.ts";
import { type Market, marketOfToken } from "../core/market.ts";
import { NO_PARENT_COLLECTION, NOT_PAYABLE, PAYOUTS } from "../core/rules/contract-calls.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { type AnyAbi, COLLATERAL, EXCHANGE, MULTICALL, reverted, TOKENS } from "./abis.ts";
import type { BlockView } from "./block-view.ts";
import { isSteps, RpcError, secondsOf } from "./json-rpc.ts";
import { type CallRequest, callerOf, limitsOf } from "./transactions.ts";

/** A function of a contract: reads the state of a block, perhaps in steps, or is decoded to a call that the core executes. */
type ContractFunction<Args> =
  | ((view: BlockView, args: Args) => unknown)
  | { readonly write: (args: Args) => ContractCall; readonly result?: unknown };

type Decoded<Abi extends AnyAbi> = DecodeFunctionDataReturnType<Abi>;

type Functions<Abi extends AnyAbi> = {
  readonly [Name in Decoded<Abi>["functionName"]]: ContractFunction<
    Extract<Decoded<Abi>, { readonly functionName: Name }>["args"]
  >;
};

const operatorOnly = (functionName: string) => {
  const reason = `clobsim: only the exchange itself may call ${functionName}`;
  return { write: (): ContractCall => ({ kind: "unknown", reason }) };
};

const lower = (address: string): Address => address.toLowerCase();

/** Converts an argument to the form of the core: numbers in decimal, hex digits in lower case. */
const toCore = (argument: unknown): unknown => {
  if (typeof argument === "bigint") return String(argument);
  if (Array.isArray(argument)) return argument.map(toCore);
  return typeof argument === "string" ? argument.toLowerCase() : argument;
};

/** Declares a function whose arguments are the fields of a core call, in order. */
const call = (kind: ContractCall["kind"], ...fields: readonly string[]) => ({
  write: (args: readonly unknown[]) => {
    const values = fields.map((field, index) => [field, toCore(args[index])]);
    return { kind, ...Object.fromEntries(values) } as ContractCall;
  },
});

/** ERC-20 functions return true on success. */
const result = true;

const collateralFunctions: Functions<typeof COLLATERAL> = {
  name: () => "USD Coin",
  symbol: () => "USDC",
  decimals: () => 6,
  totalSupply: (view) => view.issued(),
  balanceOf: (view, [account]) => view.collateral(lower(account)),
  allowance: (view, [owner, spender]) => view.allowance(lower(owner), lower(spender)),
  approve: { ...call("approve", "spender", "amount"), result },
  transfer: { ...call("transfer", "to", "amount"), result },
  transferFrom: { ...call("transferFrom", "from", "to", "amount"), result },
  mint: operatorOnly("mint"),
};

const OUTCOMES = 2;
/** Supported interfaces: ERC-165 and ERC-1155. */
const INTERFACES: ReadonlySet<string> = new Set(["0x01ffc9a7", "0xd9b67a26"]);

const POSITION = ["collateral", "parent", "condition"];
const { write: safeTransfer } = call("safeTransfer", "from", "to", "ids", "amounts", "isBatch");

const tokenFunctions: Functions<typeof TOKENS> = {
  balanceOf: (view, [owner, id]) => view.shares(lower(owner), id),
  *balanceOfBatch(view, [owners, ids]) {
    if (owners.length !== ids.length) throw reverted("ERC1155: owners and IDs must have same lengths");
    const balances: bigint[] = [];
    for (const [index, owner] of owners.entries())
      balances.push(yield* view.shares(lower(owner), ids[index] as bigint));
    return balances;
  },
  isApprovedForAll: (view, [owner, operator]) => view.isOperator(lower(owner), lower(operator)),
  supportsInterface: (_view, [id]) => INTERFACES.has(id),
  getConditionId: (_view, [oracle, question, outcomes]) =>
    conditionId(lower(oracle), question, safeNumber(outcomes)),
  getCollectionId(_view, [parent, condition, set]) {
    if (parent !== NO_PARENT) throw reverted(NO_PARENT_COLLECTION);
    return collectionId(condition, safeNumber(set));
  },
  getPositionId: (_view, [collateral, collection]) => positionId(lower(collateral), collection),
  *getOutcomeSlotCount(view, [condition]) {
    return BigInt((yield* payoutsAt(view, condition)).length);
  },
  *payoutNumerators(view, [condition, index]) {
    const numerator = index < OUTCOMES ? (yield* payoutsAt(view, condition))[Number(index)] : undefined;
    if (numerator === undefined) throw reverted("clobsim: there is no such outcome");
    return BigInt(numerator);
  },
  *payoutDenominator(view, [condition]) {
    return BigInt((yield* payoutsAt(view, condition)).reduce((a, b) => a + b, 0));
  },
  setApprovalForAll: call("setApprovalForAll", "operator", "approved"),
  safeTransferFrom: { write: ([from, to, id, amount]) => safeTransfer([from, to, [id], [amount], false]) },
  safeBatchTransferFrom: {
    write: ([from, to, ids, amounts]) => safeTransfer([from, to, ids, amounts, true]),
  },
  prepareCondition: operatorOnly("prepareCondition"),
  reportPayouts: operatorOnly("reportPayouts"),
  splitPosition: call("split", ...POSITION, "partition", "amount"),
  mergePositions: call("merge", ...POSITION, "partition", "amount"),
  redeemPositions: call("redeem", ...POSITION, "indexSets"),
};

/** Returns the payout numerators of a condition: zeros until the oracle has reported, none if the condition does not exist. */
function* payoutsAt(view: BlockView, condition: string): Steps<readonly number[]> {
  const { markets, marketByConditionId } = view.state;
  const market = markets.find(marketByConditionId.get(condition) ?? 0);
  if (market === undefined || !(yield* view.isPrepared(market))) return [];
  const { winningOutcome } = market;
  return winningOutcome !== null && view.isReported(market) ? PAYOUTS[winningOutcome] : [0, 0];
}

/** Converts a number or set of outcomes to a safe integer. @throws RpcError */
function safeNumber(value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw reverted("clobsim: a market has two outcomes");
}

const exchangeFunctions: Functions<typeof EXCHANGE> = {
  getCollateral: () => CONTRACTS.collateral,
  getCtf: () => CONTRACTS.conditionalTokens,
  *getConditionId(view, [token]) {
    return (yield* marketOfTokenId(view, token)).conditionId;
  },
  *getComplement(view, [token]) {
    const { tokenIds } = yield* marketOfTokenId(view, token);
    return BigInt(tokenIds[0] === String(token) ? tokenIds[1] : tokenIds[0]);
  },
  matchOrders: operatorOnly("matchOrders"),
};

function* marketOfTokenId(view: BlockView, id: bigint): Steps<Market> {
  const { markets, tokenById } = view.state;
  const market = markets.find(marketOfToken(tokenById.get(String(id)) ?? 0));
  if (market !== undefined && (yield* view.isPrepared(market))) return market;
  throw reverted(`clobsim: no market has the token ${id}`);
}

export interface Contract {
  readonly name: string;
  readonly abi: AnyAbi;
  readonly functions: Readonly<Record<string, ContractFunction<never>>>;
}

/** Address of Multicall3 on every chain (https://www.multicall3.com). */
export const MULTICALL_ADDRESS: Address = "0xca11bde05977b3631167028862be2a173976ca11";

interface Call {
  readonly target: string;
  readonly callData: `0x${string}`;
  /** Overrides the function's own rule. */
  readonly allowFailure?: boolean;
}

/** Performs calls of other contracts, all as of one block. */
function* resultsOf(view: BlockView, calls: readonly Call[], mayFail: boolean) {
  const results: { readonly success: boolean; readonly returnData: `0x${string}` }[] = [];
  for (const { target, callData: input, allowFailure = mayFail } of calls) {
    try {
      const request = { from: MULTICALL_ADDRESS, to: lower(target), input, value: 0n };
      results.push({ success: true, returnData: asHex(yield* answerCall(view, request)) });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (!allowFailure) throw reverted("Multicall3: call failed");
      results.push({ success: false, returnData: typeof error.data === "string" ? asHex(error.data) : "0x" });
    }
    yield;
  }
  return results;
}

function* resultsInBlock(view: BlockView, calls: readonly Call[], mayFail: boolean) {
  const height = heightOf(view);
  return [BigInt(height), hashAt(view, height), yield* resultsOf(view, calls, mayFail)];
}

const multicallFunctions: Functions<typeof MULTICALL> = {
  *aggregate(view, [calls]) {
    const results = yield* resultsOf(view, calls, false);
    return [BigInt(heightOf(view)), results.map(({ returnData }) => returnData)];
  },
  aggregate3: (view, [calls]) => resultsOf(view, calls, false),
  tryAggregate: (view, [isStrict, calls]) => resultsOf(view, calls, !isStrict),
  blockAndAggregate: (view, [calls]) => resultsInBlock(view, calls, false),
  tryBlockAndAggregate: (view, [isStrict, calls]) => resultsInBlock(view, calls, !isStrict),
  getBasefee: ({ state, block }) => BigInt(block === "pending" ? baseFeeOf(state.chain) : block.baseFee),
  getBlockHash: (view, [height]) => hashAt(view, Number(height)),
  getBlockNumber: (view) => BigInt(heightOf(view)),
  getChainId: () => BigInt(CHAIN_ID),
  getCurrentBlockCoinbase: (view) => limitsAt(view).miner,
  getCurrentBlockGasLimit: (view) => BigInt(limitsAt(view).gasLimit),
  // The pending block has no timestamp yet.
  getCurrentBlockTimestamp: ({ state, block }) =>
    BigInt(secondsOf((block === "pending" ? headBlock(state.chain) : block).at)),
  getEthBalance: (view, [address]) => view.native(lower(address)),
  getLastBlockHash: (view) => hashAt(view, heightOf(view) - 1),
};

const heightOf = ({ state, block }: BlockView): number =>
  block === "pending" ? headBlock(state.chain).height + 1 : block.height;

const limitsAt = ({ state, block }: BlockView) =>
  limitsOf(state.chain, block === "pending" ? undefined : block.serial);

/** Returns the hash of an earlier block; zero for other heights, like the BLOCKHASH opcode. */
function hashAt(view: BlockView, height: number): string {
  const block = height < heightOf(view) ? blockAt(view.state.chain, height) : undefined;
  return block === undefined ? ZERO_WORD : blockHash(view.state, block);
}

export const CONTRACT_AT: ReadonlyMap<Address, Contract> = new Map<Address, Contract>([
  [MULTICALL_ADDRESS, { name: "Multicall3", abi: MULTICALL, functions: multicallFunctions }],
  [CONTRACTS.collateral, { name: "the collateral", abi: COLLATERAL, functions: collateralFunctions }],
  [CONTRACTS.conditionalTokens, { name: "the conditional tokens", abi: TOKENS, functions: tokenFunctions }],
  [CONTRACTS.exchange, { name: "the exchange", abi: EXCHANGE, functions: exchangeFunctions }],
]);

/** `0x` and the four bytes of a function selector. */
const SELECTOR_LENGTH = 10;

/** Decodes calldata to a function with its arguments, or returns the reason why it cannot. */
function decode({ abi, name, functions }: Contract, input: string) {
  try {
    const { functionName, args = [] } = decodeFunctionData({ abi, data: asHex(input) });
    return { functionName, args: args as never, called: functions[functionName] as ContractFunction<never> };
  } catch {
    const known = abi.flatMap((item) => (item.type === "function" ? [item.name] : []));
    return input.length < SELECTOR_LENGTH
      ? `clobsim: ${name} accepts only calls of its functions`
      : `clobsim: ${name} has no function ${input.slice(0, SELECTOR_LENGTH)} with such arguments; its functions are ${known.join(", ")}`;
  }
}

const isPayable = ({ abi }: Contract, functionName: string): boolean =>
  abi.some(
    (item) => item.type === "function" && item.name === functionName && item.stateMutability === "payable",
  );

/** Decodes the call of a transaction for the core. Calling a read function in a transaction does nothing. */
export function contractCallOf({
  to,
  input,
  value,
}: Pick<CallRequest, "to" | "value"> & { readonly input: string }): ContractCall {
  const contract = CONTRACT_AT.get(to);
  if (contract === undefined) return { kind: "send" };
  const decoded = decode(contract, input);
  if (typeof decoded === "string") return { kind: "unknown", reason: decoded };
  if (typeof decoded.called !== "function") return decoded.called.write(decoded.args);
  if (to === MULTICALL_ADDRESS) return { kind: "unknown", reason: "clobsim: Multicall3 can only read" };
  return value > 0n ? { kind: "unknown", reason: NOT_PAYABLE } : { kind: "send" };
}

/** Returns the ABI-encoded result of a call without changing anything. @throws RpcError if the call reverts. */
export function* answerCall(
  view: BlockView,
  request: Pick<CallRequest, "from" | "to" | "input" | "value">,
): Steps<string> {
  const contract = CONTRACT_AT.get(request.to);
  if (contract === undefined) return "0x";
  const decoded = decode(contract, request.input);
  if (typeof decoded === "string") throw reverted(decoded);
  const { functionName, args, called } = decoded;
  const encoded = (answer: unknown): string =>
    encodeFunctionResult({ abi: contract.abi, functionName, result: answer } as never);
  if (typeof called === "function") {
    if (request.value > 0n && !isPayable(contract, functionName)) throw reverted(NOT_PAYABLE);
    const answer = called(view, args);
    return encoded(isSteps(answer) ? yield* answer : answer);
  }
  const caller = { from: callerOf(request), value: request.value };
  const result = yield* view.resultOf(caller, called.write(args));
  if (!result.ok) throw reverted(result.reason);
  return called.result === undefined ? "0x" : encoded(called.result);
}
