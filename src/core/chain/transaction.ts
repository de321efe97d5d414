import type { Address } from "../commands.ts";
import type { Millis, Money, Size } from "../units.ts";
import type { ContractCall } from "./call.ts";

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
export interface PrepareContent {
  readonly kind: "prepare";
  readonly at: Millis;
  readonly market: number;
}

/** The oracle reports how a market ended. */
export interface ReportContent {
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
