import type { MatchType } from "../events.ts";
import { unreachable } from "../unreachable.ts";
import type { ContractCall } from "./call.ts";
import type {
  CallContent,
  CallEffect,
  DepositContent,
  Transaction,
  TransactionContent,
} from "./transaction.ts";

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
