import { check } from "../document-error.ts";
import {
  address,
  boolean,
  decimal,
  hexBytes,
  type Infer,
  id,
  integer,
  list,
  moment,
  mutableRecord,
  onDisk,
  oneOf,
  orNull,
  record,
  refined,
  text,
  union,
  word,
} from "../schema.ts";
import type { MatchType } from "../terms.ts";
import type { Money, Size } from "../units.ts";

const oneKind = <const Kind extends string>(kind: Kind) => ({ kind: oneOf(kind) }) as const;

const partition = <const Kind extends "split" | "merge">(kind: Kind) =>
  record({
    ...oneKind(kind),
    collateral: address(),
    parent: word(),
    condition: word(),
    partition: list(decimal()),
    amount: decimal(),
  });

/** Decoded contract call of a wallet's transaction; amounts of 256 bits as decimal text. */
export const ContractCall = union({
  /** Native currency to an address that is not a contract; data is ignored. */
  send: record(oneKind("send")),
  approve: record({ ...oneKind("approve"), spender: address(), amount: decimal() }),
  transfer: record({ ...oneKind("transfer"), to: address(), amount: decimal() }),
  transferFrom: record({ ...oneKind("transferFrom"), from: address(), to: address(), amount: decimal() }),
  setApprovalForAll: record({ ...oneKind("setApprovalForAll"), operator: address(), approved: boolean() }),
  /** `safeTransferFrom`, or `safeBatchTransferFrom` if `isBatch`. */
  safeTransfer: record({
    ...oneKind("safeTransfer"),
    from: address(),
    to: address(),
    ids: list(decimal()),
    amounts: list(decimal()),
    isBatch: boolean(),
  }),
  /** `splitPosition` and `mergePositions`. */
  split: partition("split"),
  merge: partition("merge"),
  redeem: record({
    ...oneKind("redeem"),
    collateral: address(),
    parent: word(),
    condition: word(),
    indexSets: list(decimal()),
  }),
  /** Unknown function, which reverts. */
  unknown: record({ ...oneKind("unknown"), reason: text() }),
});
export type ContractCall = Infer<typeof ContractCall>;
export type SafeTransferCall = Extract<ContractCall, { kind: "safeTransfer" }>;
export type PartitionCall = Extract<ContractCall, { kind: "split" | "merge" }>;
export type RedeemCall = Extract<ContractCall, { kind: "redeem" }>;

/** Funds given by the exchange. Takes effect at once; its transaction is in the next block. */
const DepositContent = record({
  ...oneKind("deposit"),
  at: moment(),
  /** Account that gets the USDC; 0 for shares. */
  account: integer(),
  collateral: integer<Money>(),
  /** 0 if only USDC is given. */
  market: integer(),
  size: integer<Size>(),
  /** Accounts that get the YES and the NO shares. */
  yes: integer(),
  no: integer(),
});
export type DepositContent = Infer<typeof DepositContent>;

/** Fields of a wallet's transaction except its sender, target and nonce. */
export const CALL_TERMS = {
  /** Wei, decimal. */
  value: decimal(),
  gas: integer(),
  /** Wei per gas. */
  maxFeePerGas: integer(),
  maxPriorityFeePerGas: integer(),
  /** The call as bytes and decoded. */
  input: hexBytes(),
  call: ContractCall,
  /** Signed bytes and their Keccak-256; null if unsigned. */
  raw: orNull(hexBytes()),
  hash: orNull(word()),
} as const;

export const CallContent = record({
  from: address(),
  to: address(),
  nonce: integer(),
  ...CALL_TERMS,
  ...oneKind("call"),
  at: moment(),
});
export type CallContent = Infer<typeof CallContent>;

/** Content of a transaction; a match has none, because its trades define it. The order of the fields decides the hash. */
export const TransactionContent = union({
  deposit: DepositContent,
  /** Prepares the condition of a market; in effect since its command. */
  prepare: record({ ...oneKind("prepare"), at: moment(), market: id() }),
  /** The oracle reports the resolution of a market. */
  report: record({ ...oneKind("report"), at: moment(), market: id() }),
  call: CallContent,
});
export type TransactionContent = Infer<typeof TransactionContent>;

const anyInteger = integer(Number.MIN_SAFE_INTEGER);

/** Change of a balance: micro-USDC if the token is 0, else size units of a token. */
const Move = record({ account: id(), token: integer(), amount: anyInteger });
export type Move = Infer<typeof Move>;

/** Change of the supply of a market; collateral in micro-USDC. */
const SupplyChange = record({ market: id(), yes: anyInteger, no: anyInteger, collateral: anyInteger });
export type SupplyChange = Infer<typeof SupplyChange>;

/** Effect in the ledger of the first execution of a call; it stays if a reorganization removes the call from its block. */
const CallEffect = record({ moves: list(Move), supply: orNull(SupplyChange) });
export type CallEffect = Infer<typeof CallEffect>;

/** Details of a transaction that is not simply mined. */
export const TransactionException = mutableRecord({
  /**
   * Why it is not mined yet. DELAYED: a fault delays it until a height. UNDERPRICED: it offers less than the base
   * fee. UNFUNDED: a party has not yet received on chain the funds it pays with. RETRIED: a fault made the attempt
   * fail, and another follows. NONCE_GAP: an earlier nonce of its sender is missing. NO_GAS_MONEY: its sender
   * can no longer pay for gas. REORGANIZED: a reorganization removed it from a block.
   */
  hold: orNull(
    oneOf("DELAYED", "UNDERPRICED", "UNFUNDED", "RETRIED", "NONCE_GAP", "NO_GAS_MONEY", "REORGANIZED"),
  ),
  /** First height at which it may be executed. */
  notBefore: integer(),
  /** Number of deferrals as UNFUNDED or RETRIED. */
  attempts: integer(),
  /** Why it reverted, failed or was lost. */
  reason: orNull(text()),
  endedAt: orNull(moment()),
  /** Last fault that hit it, and the one that delayed it; 0 if none. */
  fault: integer(),
  delayedBy: integer(),
  /** Whether its fee has been raised so that any base fee is met. */
  isBumped: boolean(),
  effect: orNull(CallEffect),
  /** Gas used by a mined call, and wei per gas. */
  gasUsed: integer(),
  gasPrice: integer(),
});
export type TransactionException = Infer<typeof TransactionException>;
export type HoldReason = NonNullable<TransactionException["hold"]>;

const zero = (): number => 0;

/** Transaction of the settlement chain. A state file omits it if it can be rebuilt from its trades. */
export const Transaction = refined(
  record(
    { number: id() },
    {
      changing: {
        /**
         * PENDING: to be mined. MINED: executed in a block. REVERTED: in a block, without effect. FAILED: given up before
         * it was mined. LOST: silently never mined. REPLACED: another transaction of its sender has its nonce. DROPPED:
         * removed from the pool on request.
         */
        status: oneOf("PENDING", "MINED", "REVERTED", "FAILED", "LOST", "REPLACED", "DROPPED"),
        /** Serial of its block; 0 if it has none. */
        block: integer(),
        place: integer(),
        /** Null for a match. */
        content: orNull(TransactionContent),
        exception: onDisk("oddity", orNull(TransactionException)),
      },
      derived: {
        /** For a match: its first trade and number of trades, which all have the same taker; else 0. */
        firstTrade: zero,
        trades: zero,
        /** For a match: number of logs when executed, and a 64-bit hash of its fills; else 0. */
        logs: zero,
        fillsA: zero,
        fillsB: zero,
        /** Logs and gas before it in its block. */
        logsBefore: zero,
        gasBefore: zero,
      },
    },
  ),
  ({ status, block, place, content, exception }) => {
    check(content !== null || exception !== null, "an object, because the content is null", null, "oddity");
    const isInBlock = status === "MINED" || status === "REVERTED";
    check(isInBlock === block > 0, isInBlock ? "the serial of a block" : "0", block, "block");
    check(isInBlock || place === 0, "0", place, "place");
  },
);
export type Transaction = Infer<typeof Transaction>;

export const newTransaction = (number: number, content: TransactionContent | null): Transaction =>
  Transaction.make({ number, content });

export const kindOf = ({ content }: Transaction): TransactionContent["kind"] | "match" =>
  content?.kind ?? "match";

/** Whether a transaction waits for a block; those in effect since their command do not. */
export const awaitsBlock = ({ content }: Transaction): boolean =>
  content === null || content.kind === "report" || content.kind === "call";

// Number of logs of each kind of transaction, so that the index of a log in its block is known without building the logs.

/** Transfers to and from the taker, and the two events of the exchange about the taker. */
export const LOGS_OF_MATCH = 4;
/** Transfer of the fee, and the exchange's event about it. */
export const LOGS_OF_FEE = 2;

/** Transfers to and from the maker, and the exchange's event; a split or merge adds three logs of the tokens' contract. */
export const logsOfFill = (matchType: MatchType): number => (matchType === "COMPLEMENTARY" ? 3 : 6);

/** Returns the logs of a transaction when executed; 0 for a call without a known effect. */
export function logCountOf({ content, logs, exception }: Transaction): number {
  switch (content?.kind) {
    case undefined:
      return logs;
    case "deposit":
      // USDC; a full set to one account; or a full set minted to the faucet, which transfers one outcome.
      if (content.market === 0) return 1;
      return content.yes === content.no ? 4 : 5;
    case "prepare":
      // Event of the condition, and the exchange's event for the two tokens.
      return 2;
    case "report":
      return 1;
    case "call": {
      const effect = exception?.effect ?? null;
      if (effect === null) return 0;
      // A redemption: each burned outcome, the payout, and the event.
      return content.call.kind === "redeem" ? effect.moves.length + 1 : CALLS[content.call.kind].logs;
    }
  }
}

/** Base cost of a transaction (Yellow Paper, appendix G), and cost per byte of input (EIP-2028). */
const BASE_GAS = 21_000;
const ZERO_BYTE_GAS = 4;
const BYTE_GAS = 16;

/** Returns the minimum gas of a transaction: base cost plus input, which is hex with `0x`. */
export function intrinsicGas(input: string): number {
  let gas = BASE_GAS;
  for (let at = 2; at < input.length; at += 2) {
    gas += input[at] === "0" && input[at + 1] === "0" ? ZERO_BYTE_GAS : BYTE_GAS;
  }
  return gas;
}

/**
 * Cost of each kind of call beyond its input, round figures near those of the real contracts, and its logs. Logs of a split
 * or merge: transfer of USDC, tokens minted or burned, event of the position.
 */
const CALLS: Readonly<Record<ContractCall["kind"], { readonly gas: number; readonly logs: number }>> = {
  send: { gas: 0, logs: 0 },
  approve: { gas: 24_000, logs: 1 },
  transfer: { gas: 30_000, logs: 1 },
  transferFrom: { gas: 36_000, logs: 1 },
  setApprovalForAll: { gas: 24_000, logs: 1 },
  safeTransfer: { gas: 30_000, logs: 1 },
  split: { gas: 110_000, logs: 3 },
  merge: { gas: 90_000, logs: 3 },
  redeem: { gas: 70_000, logs: 0 },
  unknown: { gas: 1_000, logs: 0 },
};

/** Returns the gas of a call, executed or reverted. */
export const callGas = (call: ContractCall, input: string): number =>
  intrinsicGas(input) + CALLS[call.kind].gas;

const LOG_GAS = 18_000;

/** Returns the gas of one of the exchange's own transactions: base cost plus a cost per log. */
export const ownGas = (logs: number): number => BASE_GAS + LOG_GAS * logs;
