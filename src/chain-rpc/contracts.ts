import { type DecodeFunctionDataReturnType, decodeFunctionData, encodeFunctionResult } from "viem/utils";
import { baseFeeOf, blockAt, CHAIN_ID, headBlock } from "../core/chain/chain.ts";
import { blockHash } from "../core/chain/chain-hashes.ts";
import { CONTRACTS, NO_PARENT } from "../core/chain/contracts.ts";
import { collectionId, conditionId, positionId } from "../core/chain/position-ids.ts";
import type { ContractCall } from "../core/chain/transaction.ts";
import { type Market, marketOfToken } from "../core/market.ts";
import { PAYOUTS } from "../core/rules/contract-calls.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { type AnyAbi, COLLATERAL, EXCHANGE, MULTICALL, reverted, TOKENS } from "./abis.ts";
import {
  allowanceAt,
  type BlockView,
  collateralAt,
  isOperatorAt,
  isPreparedAt,
  isReportedAt,
  issuedAt,
  nativeAt,
  outcomeAt,
  sharesAt,
} from "./block-view.ts";
import { asHex, limitsOf, secondsOf } from "./encoding.ts";
import { isSteps, RpcError } from "./json-rpc.ts";
import { type CallRequest, callerOf } from "./params.ts";

/** One function of a contract: reads a block's state, perhaps in steps, or is decoded to a call that the core carries out. */
type ContractFunction<Args> =
  | ((view: BlockView, args: Args) => unknown)
  | { readonly write: (args: Args) => ContractCall; readonly result?: unknown };

type Decoded<Abi extends AnyAbi> = DecodeFunctionDataReturnType<Abi>;

type Functions<Abi extends AnyAbi> = {
  readonly [Name in Decoded<Abi>["functionName"]]: ContractFunction<
    Extract<Decoded<Abi>, { readonly functionName: Name }>["args"]
  >;
};

const operatorOnly = (functionName: string) => ({
  write: (): ContractCall => ({
    kind: "unknown",
    reason: `clobsim: ${functionName} is called by the exchange itself, and by nobody else`,
  }),
});

const lower = (address: string): Address => address.toLowerCase();

/** An argument as the core has it: numbers in decimal, hex digits in lower case. */
const plain = (argument: unknown): unknown => {
  if (typeof argument === "bigint") return String(argument);
  if (Array.isArray(argument)) return argument.map(plain);
  return typeof argument === "string" ? argument.toLowerCase() : argument;
};

/** A function whose arguments are a call's fields in their order. */
const call = (kind: ContractCall["kind"], ...fields: readonly string[]) => ({
  write: (args: readonly unknown[]) =>
    ({
      kind,
      ...Object.fromEntries(fields.map((field, place) => [field, plain(args[place])])),
    }) as ContractCall,
});

/** An ERC-20 function answers true when it succeeds. */
const result = true;

const collateralFunctions: Functions<typeof COLLATERAL> = {
  name: () => "USD Coin",
  symbol: () => "USDC",
  decimals: () => 6,
  totalSupply: issuedAt,
  balanceOf: (view, [account]) => collateralAt(view, lower(account)),
  allowance: (view, [owner, spender]) => allowanceAt(view, lower(owner), lower(spender)),
  approve: { ...call("approve", "spender", "amount"), result },
  transfer: { ...call("transfer", "to", "amount"), result },
  transferFrom: { ...call("transferFrom", "from", "to", "amount"), result },
  mint: operatorOnly("mint"),
};

const OUTCOMES = 2;
/** ERC-165 itself, and ERC-1155. */
const INTERFACES: ReadonlySet<string> = new Set(["0x01ffc9a7", "0xd9b67a26"]);

const POSITION = ["collateral", "parent", "condition"];
const { write: safeTransferOf } = call("safeTransfer", "from", "to", "ids", "amounts", "isBatch");
const safeTransfer = (...args: readonly unknown[]): ContractCall => safeTransferOf(args);

const tokenFunctions: Functions<typeof TOKENS> = {
  balanceOf: (view, [owner, id]) => sharesAt(view, lower(owner), id),
  *balanceOfBatch(view, [owners, ids]) {
    if (owners.length !== ids.length) throw reverted("ERC1155: owners and IDs must have same lengths");
    const balances: bigint[] = [];
    for (const [index, owner] of owners.entries())
      balances.push(yield* sharesAt(view, lower(owner), ids[index] as bigint));
    return balances;
  },
  isApprovedForAll: (view, [owner, operator]) => isOperatorAt(view, lower(owner), lower(operator)),
  supportsInterface: (_view, [id]) => INTERFACES.has(id),
  getConditionId: (_view, [oracle, question, outcomes]) =>
    conditionId(lower(oracle), question, counted(outcomes)),
  getCollectionId(_view, [parent, condition, set]) {
    if (parent !== NO_PARENT) throw reverted("clobsim: positions have no parent collection");
    return collectionId(condition, counted(set));
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
  safeTransferFrom: {
    write: ([from, to, id, amount]) => safeTransfer(from, to, [id], [amount], false),
  },
  safeBatchTransferFrom: {
    write: ([from, to, ids, amounts]) => safeTransfer(from, to, ids, amounts, true),
  },
  prepareCondition: operatorOnly("prepareCondition"),
  reportPayouts: operatorOnly("reportPayouts"),
  splitPosition: call("split", ...POSITION, "partition", "amount"),
  mergePositions: call("merge", ...POSITION, "partition", "amount"),
  redeemPositions: call("redeem", ...POSITION, "indexSets"),
};

/** The payout numerators of a condition: zeros until the oracle has reported, none of a condition that the chain has not. */
function* payoutsAt(view: BlockView, condition: string): Steps<readonly number[]> {
  const { markets, marketByConditionId } = view.state;
  const market = markets.find(marketByConditionId.get(condition) ?? 0);
  if (market === undefined || !(yield* isPreparedAt(view, market))) return [];
  const { winningOutcome } = market;
  return winningOutcome !== null && isReportedAt(view, market) ? PAYOUTS[winningOutcome] : [0, 0];
}

/** A number of outcomes or a set of them as an integer that is exact. @throws RpcError */
function counted(value: bigint): number {
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
  if (market !== undefined && (yield* isPreparedAt(view, market))) return market;
  throw reverted(`clobsim: no market has the token ${id}`);
}

interface Contract {
  readonly name: string;
  readonly abi: AnyAbi;
  readonly functions: Readonly<Record<string, ContractFunction<never>>>;
}

/** Where Multicall3 is on every chain that has it (https://www.multicall3.com). */
export const MULTICALL_ADDRESS: Address = "0xca11bde05977b3631167028862be2a173976ca11";

interface Call {
  readonly target: string;
  readonly callData: `0x${string}`;
  /** Default: as the function has it for all. */
  readonly allowFailure?: boolean;
}

/** What calls of other contracts answer, all as of one block. */
function* resultsOf(view: BlockView, calls: readonly Call[], mayAllFail: boolean) {
  const results: { readonly success: boolean; readonly returnData: `0x${string}` }[] = [];
  for (const { target, callData: input, allowFailure = mayAllFail } of calls) {
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

function* resultsInBlock(view: BlockView, calls: readonly Call[], mayAllFail: boolean) {
  const height = heightOf(view);
  return [BigInt(height), hashAt(view, height), yield* resultsOf(view, calls, mayAllFail)];
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
  getBasefee: ({ state, moment }) => BigInt(moment === "pending" ? baseFeeOf(state.chain) : moment.baseFee),
  getBlockHash: (view, [height]) => hashAt(view, Number(height)),
  getBlockNumber: (view) => BigInt(heightOf(view)),
  getChainId: () => BigInt(CHAIN_ID),
  getCurrentBlockCoinbase: (view) => limitsAt(view).miner,
  getCurrentBlockGasLimit: (view) => BigInt(limitsAt(view).gasLimit),
  // What is pending is looked at as of the latest block.
  getCurrentBlockTimestamp: ({ state, moment }) =>
    BigInt(secondsOf((moment === "pending" ? headBlock(state.chain) : moment).at)),
  getEthBalance: (view, [address]) => nativeAt(view, lower(address)),
  getLastBlockHash: (view) => hashAt(view, heightOf(view) - 1),
};

const heightOf = ({ state, moment }: BlockView): number =>
  moment === "pending" ? headBlock(state.chain).height + 1 : moment.height;

const limitsAt = ({ state, moment }: BlockView) =>
  limitsOf(state.chain, moment === "pending" ? undefined : moment.serial);

const NO_HASH = `0x${"0".repeat(64)}`;

/** The hash of an earlier block; of others there is none, as the opcode has it. */
function hashAt(view: BlockView, height: number): string {
  const block = height < heightOf(view) ? blockAt(view.state.chain, height) : undefined;
  return block === undefined ? NO_HASH : blockHash(view.state, block);
}

const CONTRACT_AT: ReadonlyMap<Address, Contract> = new Map<Address, Contract>([
  [MULTICALL_ADDRESS, { name: "Multicall3", abi: MULTICALL, functions: multicallFunctions }],
  [CONTRACTS.collateral, { name: "the collateral", abi: COLLATERAL, functions: collateralFunctions }],
  [CONTRACTS.conditionalTokens, { name: "the conditional tokens", abi: TOKENS, functions: tokenFunctions }],
  [CONTRACTS.exchange, { name: "the exchange", abi: EXCHANGE, functions: exchangeFunctions }],
]);

export const isContract = (address: Address): boolean => CONTRACT_AT.has(address);

/** `0x` and the four bytes that name a function. */
const SELECTOR_LENGTH = 10;

/** The function that calldata calls, with its arguments, or why the contract has none. */
function decode({ abi, name, functions }: Contract, input: string) {
  try {
    const { functionName, args = [] } = decodeFunctionData({ abi, data: asHex(input) });
    return { functionName, args: args as never, called: functions[functionName] as ContractFunction<never> };
  } catch {
    const known = abi.flatMap((item) => (item.type === "function" ? [item.name] : []));
    return input.length < SELECTOR_LENGTH
      ? `clobsim: ${name} takes calls of its functions only`
      : `clobsim: ${name} has no function ${input.slice(0, SELECTOR_LENGTH)} with such arguments; modelled are ${known.join(", ")}`;
  }
}

/** The call that a transaction asks for, as the core carries it out; reading a contract in a transaction does nothing. */
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
  if (to === MULTICALL_ADDRESS)
    return { kind: "unknown", reason: "clobsim: Multicall3 reads, and sends nothing" };
  return value > 0n ? { kind: "unknown", reason: "function is not payable" } : { kind: "send" };
}

/** The ABI-encoded answer of `eth_call`; changes nothing. @throws RpcError when the call reverts. */
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
    const answer = called(view, args);
    return encoded(isSteps(answer) ? yield* answer : answer);
  }
  const caller = { from: callerOf(request), value: request.value };
  const outcome = yield* outcomeAt(view, caller, called.write(args));
  if (!outcome.ok) throw reverted(outcome.reason);
  return called.result === undefined ? "0x" : encoded(called.result);
}
