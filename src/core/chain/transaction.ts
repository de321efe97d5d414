import type { Address, MatchType } from "../terms.ts";
import type { Millis, Money, Size } from "../units.ts";
import { unreachable } from "../unreachable.ts";

/**
 * Where a transaction stands. PENDING: to be mined. MINED: in a block, carried out. REVERTED: in a block, of no effect.
 * FAILED: given up before any block had it. LOST: never to be mined, and nobody knows. REPLACED: another one of its
 * sender has its nonce.
 */
export type TransactionStatus = "PENDING" | "MINED" | "REVERTED" | "FAILED" | "LOST" | "REPLACED";

/** Why a pending transaction is not mined yet. */
export type HoldReason =
  /** A fault delays it until a height. */
  | "DELAYED"
  /** It offers less than the base fee. */
  | "UNDERPRICED"
  /** A party has not yet received on the chain what it pays with. */
  | "UNFUNDED"
  /** A fault made the attempt fail, and there will be another. */
  | "RETRIED"
  /** An earlier nonce of its sender is missing. */
  | "NONCE_GAP"
  /** Its sender cannot pay for gas any more. */
  | "NO_GAS_MONEY"
  /** A reorganization took it out of a block. */
  | "REORGANIZED";

/** What was given by the exchange, in effect since its command: the chain has the transaction in its next block. */
export interface DepositContent {
  readonly kind: "deposit";
  readonly at: Millis;
  /** Whose USDC is issued; of shares, who gets those of YES and of NO. */
  readonly account: number;
  readonly collateral: Money;
  /** 0 where only USDC is given. */
  readonly market: number;
  readonly size: Size;
  readonly yes: number;
  readonly no: number;
}

/** A market's condition comes to the chain; in effect since its command. */
interface PrepareContent {
  readonly kind: "prepare";
  readonly at: Millis;
  readonly market: number;
}

/** The oracle reports how a market ended. */
interface ReportContent {
  readonly kind: "report";
  readonly at: Millis;
  readonly market: number;
}

/** What changes hands: micro-USDC when the token is 0, else size units of a token. */
export interface Move {
  readonly account: number;
  readonly token: number;
  readonly amount: number;
}

/** What changes in the sets that a market has issued. */
export interface SupplyChange {
  readonly market: number;
  readonly yes: number;
  readonly no: number;
  /** Micro-USDC. */
  readonly collateral: number;
}

/** What came of a call when it was first carried out; a reorganization does not take it out of the ledger. */
export interface CallEffect {
  readonly moves: readonly Move[];
  readonly supply: SupplyChange | null;
}

/** What a wallet asks for. */
export interface CallContent {
  readonly kind: "call";
  readonly at: Millis;
  readonly from: Address;
  readonly to: Address;
  readonly nonce: number;
  /** Wei, decimal. */
  readonly value: string;
  readonly gas: number;
  /** Wei per gas. */
  readonly maxFeePerGas: number;
  readonly maxPriorityFeePerGas: number;
  readonly input: string;
  readonly call: ContractCall;
  /** The signed bytes and their Keccak-256; null when it came without a signature. */
  readonly raw: string | null;
  readonly hash: string | null;
}

/** All but the settlements of matches, which are told by their trades. */
export type TransactionContent = DepositContent | PrepareContent | ReportContent | CallContent;

export type TransactionKind = TransactionContent["kind"] | "match";

/** One transaction of the settlement chain. */
export interface Transaction {
  readonly number: number;
  /** Of a match: the first of its trades, which all have the same taker, and how many they are; else 0. */
  readonly firstTrade: number;
  trades: number;
  /** Of a match: how many logs it leaves when it is carried out, and 64 bits that name its fills; else 0. */
  logs: number;
  fillsA: number;
  fillsB: number;
  /** Null of a match. */
  readonly content: TransactionContent | null;
  status: TransactionStatus;
  /** The serial of its block; 0 while it has none. */
  block: number;
  /** How many transactions, logs and gas its block has before it. */
  place: number;
  logsBefore: number;
  gasBefore: number;
  /** What is out of the ordinary about it; null of most. */
  oddity: Oddity | null;
}

/** What can be said of a transaction that was not simply mined. */
export interface Oddity {
  /** Why it is not mined yet. */
  hold: HoldReason | null;
  /** The height before which it is not looked at. */
  notBefore: number;
  /** How often it was put off. */
  attempts: number;
  /** Why it reverted, failed or was lost. */
  reason: string | null;
  endedAt: Millis | null;
  /** The fault it met last, and the one that delayed it; 0 for none. */
  fault: number;
  delayedBy: number;
  /** Whether its fee has been raised to whatever the base fee is. */
  isBumped: boolean;
  /** Of a call that has been carried out. */
  effect: CallEffect | null;
  /** Of a call that a block has: the gas it used, and wei per gas. */
  gasUsed: number;
  gasPrice: number;
}

/** What kind a transaction is. */
export const kindOf = ({ content }: Transaction): TransactionKind => content?.kind ?? "match";

/** Whether it waits for a block: what is in effect since its command does not. */
export const awaitsBlock = ({ content }: Transaction): boolean =>
  content === null || content.kind === "report" || content.kind === "call";

/** Nothing out of the ordinary so far. */
export const freshOddity = (): Oddity => ({
  hold: null,
  notBefore: 0,
  attempts: 0,
  reason: null,
  endedAt: null,
  fault: 0,
  delayedBy: 0,
  isBumped: false,
  effect: null,
  gasUsed: 0,
  gasPrice: 0,
});

// How many logs each transaction leaves, known without making them: a receipt's place among its block's logs costs nothing.

/** Taker in, taker out, and the two events of the exchange about the taker. */
export const LOGS_OF_MATCH = 4;
/** The fee's transfer, and the exchange's event about it. */
export const LOGS_OF_FEE = 2;

/** Maker in, maker out, the exchange's event; sets that are split or merged add three of the tokens' contract. */
export const logsOfFill = (matchType: MatchType): number => (matchType === "COMPLEMENTARY" ? 3 : 6);

/** Of a deposit of USDC; of a full set to one account; of the half of one, which leaves the faucet for it. */
const LOGS_OF_COLLATERAL = 1;
const LOGS_OF_SET = 4;
const LOGS_OF_HALF_SET = 5;
/** The condition's event, and the exchange's for the two tokens. */
const LOGS_OF_PREPARATION = 2;
const LOGS_OF_REPORT = 1;

/** Of what the exchange gives. */
function logsOfDeposit({ market, yes, no }: DepositContent): number {
  if (market === 0) return LOGS_OF_COLLATERAL;
  return yes === no ? LOGS_OF_SET : LOGS_OF_HALF_SET;
}

/** Of what is neither a match nor a wallet's. */
function logsOfContent(content: Exclude<TransactionContent, CallContent>): number {
  switch (content.kind) {
    case "deposit":
      return logsOfDeposit(content);
    case "prepare":
      return LOGS_OF_PREPARATION;
    case "report":
      return LOGS_OF_REPORT;
    default:
      throw unreachable(content);
  }
}

/** USDC in or out, the tokens minted or burned, the position's event. */
const LOGS_OF_PARTITION = 3;

/** Of a call that was carried out. */
export function logsOfCall(call: ContractCall, { moves }: CallEffect): number {
  switch (call.kind) {
    case "send":
    case "unknown":
      return 0;
    case "split":
    case "merge":
      return LOGS_OF_PARTITION;
    case "redeem":
      // Each outcome that is burned, what is paid, and the event.
      return moves.length + 1;
    default:
      return 1;
  }
}

/** Of any transaction when it is carried out; of a call as far as that is known. */
export function logCountOf({ content, logs, oddity }: Transaction): number {
  if (content === null) return logs;
  if (content.kind !== "call") return logsOfContent(content);
  const effect = oddity?.effect ?? null;
  return effect === null ? 0 : logsOfCall(content.call, effect);
}

/** What a transaction costs before it does anything (Yellow Paper, appendix G), and what a byte of its input adds (EIP-2028). */
const BASE_GAS = 21_000;
const ZERO_BYTE_GAS = 4;
const BYTE_GAS = 16;

/** What a transaction must offer at least: its base cost and its input, given in hex with `0x`. */
export function intrinsicGas(input: string): number {
  let gas = BASE_GAS;
  for (let at = 2; at < input.length; at += 2) {
    gas += input[at] === "0" && input[at + 1] === "0" ? ZERO_BYTE_GAS : BYTE_GAS;
  }
  return gas;
}

/** What each kind of call costs beyond its input: round figures near those of the real contracts. */
const CALL_GAS: Readonly<Record<ContractCall["kind"], number>> = {
  send: 0,
  approve: 24_000,
  transfer: 30_000,
  transferFrom: 36_000,
  setApprovalForAll: 24_000,
  safeTransfer: 30_000,
  split: 110_000,
  merge: 90_000,
  redeem: 70_000,
  unknown: 1_000,
};

/** What a call uses, carried out or not. */
export const callGas = (call: ContractCall, input: string): number =>
  intrinsicGas(input) + CALL_GAS[call.kind];

const LOG_GAS = 18_000;

/** What a transaction of the exchange's own uses: its base cost, and so much for each of its logs. */
export const ownGas = (logs: number): number => BASE_GAS + LOG_GAS * logs;

/** What a wallet's transaction asks of a contract, decoded; amounts of 256 bits as decimal text. */
export type ContractCall =
  /** Native currency to an address that is no contract, with or without data that nobody reads. */
  | { readonly kind: "send" }
  | { readonly kind: "approve"; readonly spender: Address; readonly amount: string }
  | { readonly kind: "transfer"; readonly to: Address; readonly amount: string }
  | { readonly kind: "transferFrom"; readonly from: Address; readonly to: Address; readonly amount: string }
  | { readonly kind: "setApprovalForAll"; readonly operator: Address; readonly approved: boolean }
  | SafeTransferCall
  | PartitionCall
  | RedeemCall
  /** A function that no contract here has; it reverts. */
  | { readonly kind: "unknown"; readonly reason: string };

/** `safeTransferFrom`, or `safeBatchTransferFrom` when it is a batch. */
export interface SafeTransferCall {
  readonly kind: "safeTransfer";
  readonly from: Address;
  readonly to: Address;
  readonly ids: readonly string[];
  readonly amounts: readonly string[];
  readonly isBatch: boolean;
}

/** `splitPosition` and `mergePositions`. */
export interface PartitionCall {
  readonly kind: "split" | "merge";
  readonly collateral: Address;
  readonly parent: string;
  readonly condition: string;
  readonly partition: readonly string[];
  readonly amount: string;
}

/** `redeemPositions`. */
export interface RedeemCall {
  readonly kind: "redeem";
  readonly collateral: Address;
  readonly parent: string;
  readonly condition: string;
  readonly indexSets: readonly string[];
}
