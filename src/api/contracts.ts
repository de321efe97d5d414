import { DEFAULT_BASE_FEE, OPERATOR_MAX_FEE } from "../core/chain/chain.ts";
import { CONTRACTS, INDEX_SETS, NO_PARENT, numberWord, TOKEN_UNITS } from "../core/chain/contracts.ts";
import { callGas, type PartitionCall, type RedeemCall } from "../core/chain/transaction.ts";
import type { CommandOf } from "../core/commands.ts";
import type { Address } from "../core/terms.ts";
import type { Size } from "../core/units.ts";

// The contracts of the settlement chain in the human-readable form of viem's parseAbi and ethers' Contract. They imitate
// public contracts: an ERC-20 token, Gnosis' Conditional Tokens (an ERC-1155 token), and an exchange that uses both.

/** ABI of each contract, by its name in `CONTRACTS`. */
export const CONTRACT_ABIS = {
  /** USD Coin, 6 decimals. */
  collateral: [
    "function name() view returns (string)",
    "function symbol() view returns (string)",
    "function decimals() view returns (uint8)",
    "function totalSupply() view returns (uint256)",
    "function balanceOf(address account) view returns (uint256)",
    "function allowance(address owner, address spender) view returns (uint256)",
    "function approve(address spender, uint256 value) returns (bool)",
    "function transfer(address to, uint256 value) returns (bool)",
    "function transferFrom(address from, address to, uint256 value) returns (bool)",
    "function mint(address to, uint256 amount) returns (bool)",
    "event Transfer(address indexed from, address indexed to, uint256 value)",
    "event Approval(address indexed owner, address indexed spender, uint256 value)",
  ],
  /** The tokens of all outcomes; a share is 1,000,000 units. */
  conditionalTokens: [
    "function balanceOf(address owner, uint256 id) view returns (uint256)",
    "function balanceOfBatch(address[] owners, uint256[] ids) view returns (uint256[])",
    "function isApprovedForAll(address owner, address operator) view returns (bool)",
    "function supportsInterface(bytes4 interfaceId) view returns (bool)",
    "function getConditionId(address oracle, bytes32 questionId, uint256 outcomeSlotCount) pure returns (bytes32)",
    "function getCollectionId(bytes32 parentCollectionId, bytes32 conditionId, uint256 indexSet) view returns (bytes32)",
    "function getPositionId(address collateralToken, bytes32 collectionId) pure returns (uint256)",
    "function getOutcomeSlotCount(bytes32 conditionId) view returns (uint256)",
    "function payoutNumerators(bytes32 conditionId, uint256 index) view returns (uint256)",
    "function payoutDenominator(bytes32 conditionId) view returns (uint256)",
    "function setApprovalForAll(address operator, bool approved)",
    "function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)",
    "function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)",
    "function prepareCondition(address oracle, bytes32 questionId, uint256 outcomeSlotCount)",
    "function reportPayouts(bytes32 questionId, uint256[] payouts)",
    "function splitPosition(address collateralToken, bytes32 parentCollectionId, bytes32 conditionId, uint256[] partition, uint256 amount)",
    "function mergePositions(address collateralToken, bytes32 parentCollectionId, bytes32 conditionId, uint256[] partition, uint256 amount)",
    "function redeemPositions(address collateralToken, bytes32 parentCollectionId, bytes32 conditionId, uint256[] indexSets)",
    "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
    "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
    "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
    "event ConditionPreparation(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount)",
    "event ConditionResolution(bytes32 indexed conditionId, address indexed oracle, bytes32 indexed questionId, uint256 outcomeSlotCount, uint256[] payoutNumerators)",
    "event PositionSplit(address indexed stakeholder, address collateralToken, bytes32 indexed parentCollectionId, bytes32 indexed conditionId, uint256[] partition, uint256 amount)",
    "event PositionsMerge(address indexed stakeholder, address collateralToken, bytes32 indexed parentCollectionId, bytes32 indexed conditionId, uint256[] partition, uint256 amount)",
    "event PayoutRedemption(address indexed redeemer, address indexed collateralToken, bytes32 indexed parentCollectionId, bytes32 conditionId, uint256[] indexSets, uint256 payout)",
  ],
  /** Settles matches; only its operator may call `matchOrders`. */
  exchange: [
    "function getCollateral() view returns (address)",
    "function getCtf() view returns (address)",
    "function getConditionId(uint256 token) view returns (bytes32)",
    "function getComplement(uint256 token) view returns (uint256)",
    "function matchOrders(bytes32 takerOrderHash, bytes32[] makerOrderHashes, uint256[] fillAmounts)",
    "event OrderFilled(bytes32 indexed orderHash, address indexed maker, address indexed taker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled, uint256 fee)",
    "event OrdersMatched(bytes32 indexed takerOrderHash, address indexed takerOrderMaker, uint256 makerAssetId, uint256 takerAssetId, uint256 makerAmountFilled, uint256 takerAmountFilled)",
    "event FeeCharged(address indexed receiver, uint256 tokenId, uint256 amount)",
    "event TokenRegistered(uint256 indexed token0, uint256 indexed token1, bytes32 indexed conditionId)",
  ],
} as const;

/** A split of USDC into full sets, a merge of full sets into USDC, or a redemption of shares. */
export type PositionChange =
  | { readonly kind: "split" | "merge"; readonly size: Size }
  | { readonly kind: "redeem" };

const BOTH_OUTCOMES = [INDEX_SETS.YES, INDEX_SETS.NO].map(String);

/** Builds the transaction by which a wallet splits, merges or redeems; deterministic for its inputs. */
export function positionTransaction(
  from: Address,
  condition: string,
  change: PositionChange,
): CommandOf<"sendTransaction"> {
  const call = callOf(condition, change);
  const input = inputOf(call);
  return {
    kind: "sendTransaction",
    from,
    to: CONTRACTS.conditionalTokens,
    nonce: null,
    value: "0",
    gas: callGas(call, input),
    // In wei, the same as of the exchange's own transactions.
    maxFeePerGas: OPERATOR_MAX_FEE,
    maxPriorityFeePerGas: DEFAULT_BASE_FEE,
    input,
    call,
    raw: null,
    hash: null,
  };
}

function callOf(condition: string, change: PositionChange): PartitionCall | RedeemCall {
  const of = { collateral: CONTRACTS.collateral, parent: NO_PARENT, condition };
  if (change.kind === "redeem") return { kind: "redeem", ...of, indexSets: BOTH_OUTCOMES };
  const amount = String(change.size * TOKEN_UNITS);
  return { kind: change.kind, ...of, partition: BOTH_OUTCOMES, amount };
}

/** The first four bytes of the Keccak-256 of each function's signature. */
const SELECTORS = {
  /** splitPosition(address,bytes32,bytes32,uint256[],uint256) */
  split: "72ce4275",
  /** mergePositions(address,bytes32,bytes32,uint256[],uint256) */
  merge: "9e7212ad",
  /** redeemPositions(address,bytes32,bytes32,uint256[]) */
  redeem: "01b7037c",
} as const;

const WORD_BYTES = 32;

/** ABI-encodes the call: its selector, then words of 32 bytes, with a list after all other arguments. */
function inputOf(call: PartitionCall | RedeemCall): string {
  const { collateral, parent, condition } = call;
  const isRedemption = call.kind === "redeem";
  const list = isRedemption ? call.indexSets : call.partition;
  const amounts = isRedemption ? [] : [call.amount];
  const placeOfList = (4 + amounts.length) * WORD_BYTES;
  const words = [collateral, parent, condition, placeOfList, ...amounts, list.length, ...list];
  return `0x${SELECTORS[call.kind]}${words.map((word) => numberWord(BigInt(word))).join("")}`;
}
