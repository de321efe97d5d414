import {
  address,
  boolean,
  DocumentError,
  decimal,
  hexBytes,
  type Infer,
  id,
  integer,
  list,
  moment,
  onDisk,
  oneOf,
  orNull,
  record,
  refined,
  type Type,
  text,
  union,
  word,
} from "../schema.ts";
import type { MatchType } from "../terms.ts";
import type { Money, Size } from "../units.ts";
import { unreachable } from "../unreachable.ts";

const amount = decimal;
const oneKind = <const Kind extends string>(kind: Kind) => ({ kind: oneOf(kind) }) as const;

const partition = <const Kind extends "split" | "merge">(kind: Kind) =>
  record({
    kind: oneOf(kind),
    collateral: address(),
    parent: word(),
    condition: word(),
    partition: list(amount()),
    amount: amount(),
  });

/** What a wallet's transaction asks of a contract, decoded; amounts of 256 bits as decimal text. */
export const ContractCall = union({
  /** Native currency to an address that is no contract, with or without data that nobody reads. */
  send: record(oneKind("send")),
  approve: record({ ...oneKind("approve"), spender: address(), amount: amount() }),
  transfer: record({ ...oneKind("transfer"), to: address(), amount: amount() }),
  transferFrom: record({ ...oneKind("transferFrom"), from: address(), to: address(), amount: amount() }),
  setApprovalForAll: record({ ...oneKind("setApprovalForAll"), operator: address(), approved: boolean() }),
  /** `safeTransferFrom`, or `safeBatchTransferFrom` when it is a batch. */
  safeTransfer: record({
    ...oneKind("safeTransfer"),
    from: address(),
    to: address(),
    ids: list(amount()),
    amounts: list(amount()),
    isBatch: boolean(),
  }),
  /** `splitPosition` and `mergePositions`. */
  split: partition("split"),
  merge: partition("merge"),
  /** `redeemPositions`. */
  redeem: record({
    ...oneKind("redeem"),
    collateral: address(),
    parent: word(),
    condition: word(),
    indexSets: list(amount()),
  }),
  /** A function that no contract here has; it reverts. */
  unknown: record({ ...oneKind("unknown"), reason: text() }),
});
export type ContractCall = Infer<typeof ContractCall>;
export type SafeTransferCall = Extract<ContractCall, { kind: "safeTransfer" }>;
export type PartitionCall = Extract<ContractCall, { kind: "split" | "merge" }>;
export type RedeemCall = Extract<ContractCall, { kind: "redeem" }>;

/** What was given by the exchange, in effect since its command: the chain has the transaction in its next block. */
const DepositContent = record({
  ...oneKind("deposit"),
  at: moment(),
  /** Whose USDC is issued; of shares, who gets those of YES and of NO. */
  account: integer(),
  collateral: integer<Money>(),
  /** 0 where only USDC is given. */
  market: integer(),
  size: integer<Size>(),
  yes: integer(),
  no: integer(),
});
export type DepositContent = Infer<typeof DepositContent>;

/** What a wallet sends. */
export const CALL_TERMS = {
  /** Wei, decimal. */
  value: decimal(),
  gas: integer(),
  /** Wei per gas. */
  maxFeePerGas: integer(),
  maxPriorityFeePerGas: integer(),
  /** The call as bytes and as what they mean. */
  input: hexBytes(),
  call: ContractCall,
  /** The signed bytes and their Keccak-256; null when it came without a signature. */
  raw: orNull(hexBytes()),
  hash: orNull(word()),
} as const;

/** What a wallet asks for. */
export const CallContent = record({
  from: address(),
  to: address(),
  nonce: integer(),
  ...CALL_TERMS,
  ...oneKind("call"),
  at: moment(),
});
export type CallContent = Infer<typeof CallContent>;

/** All but the settlements of matches, which are told by their trades. The order of the fields decides the hash. */
export const TransactionContent = union({
  deposit: DepositContent,
  /** A market's condition comes to the chain; in effect since its command. */
  prepare: record({ ...oneKind("prepare"), at: moment(), market: id() }),
  /** The oracle reports how a market ended. */
  report: record({ ...oneKind("report"), at: moment(), market: id() }),
  call: CallContent,
});
export type TransactionContent = Infer<typeof TransactionContent>;

export type TransactionKind = TransactionContent["kind"] | "match";

const anyInteger = (): Type<number> => integer(Number.MIN_SAFE_INTEGER);

/** What changes hands: micro-USDC when the token is 0, else size units of a token. */
const Move = record({ account: id(), token: integer(), amount: anyInteger() });
export type Move = Infer<typeof Move>;

/** What changes in the sets that a market has issued; collateral in micro-USDC. */
const SupplyChange = record({ market: id(), yes: anyInteger(), no: anyInteger(), collateral: anyInteger() });
export type SupplyChange = Infer<typeof SupplyChange>;

/** What came of a call when it was first carried out; a reorganization does not take it out of the ledger. */
const CallEffect = record({ moves: list(Move), supply: orNull(SupplyChange) });
export type CallEffect = Infer<typeof CallEffect>;

/** What can be said of a transaction that was not simply mined. */
export const TransactionException = record(
  {},
  {
    changing: {
      /**
       * Why it is not mined yet. DELAYED: a fault delays it until a height. UNDERPRICED: it offers less than the base
       * fee. UNFUNDED: a party has not yet received on the chain what it pays with. RETRIED: a fault made the attempt
       * fail, and there will be another. NONCE_GAP: an earlier nonce of its sender is missing. NO_GAS_MONEY: its sender
       * cannot pay for gas any more. REORGANIZED: a reorganization took it out of a block.
       */
      hold: orNull(
        oneOf("DELAYED", "UNDERPRICED", "UNFUNDED", "RETRIED", "NONCE_GAP", "NO_GAS_MONEY", "REORGANIZED"),
      ),
      /** The height before which it is not looked at. */
      notBefore: integer(),
      /** How often it was put off. */
      attempts: integer(),
      /** Why it reverted, failed or was lost. */
      reason: orNull(text()),
      endedAt: orNull(moment()),
      /** The fault it met last, and the one that delayed it; 0 for none. */
      fault: integer(),
      delayedBy: integer(),
      /** Whether its fee has been raised to whatever the base fee is. */
      isBumped: boolean(),
      /** Of a call that has been carried out. */
      effect: orNull(CallEffect),
      /** Of a call that a block has: the gas it used, and wei per gas. */
      gasUsed: integer(),
      gasPrice: integer(),
    },
  },
);
export type TransactionException = Infer<typeof TransactionException>;
export type HoldReason = NonNullable<TransactionException["hold"]>;

const zero = (): number => 0;

/** One transaction of the settlement chain; a document tells of it where its trades do not say all. */
export const Transaction = refined(
  record(
    { number: id() },
    {
      changing: {
        /**
         * Where it stands. PENDING: to be mined. MINED: in a block, carried out. REVERTED: in a block, of no effect.
         * FAILED: given up before any block had it. LOST: never to be mined, and nobody knows. REPLACED: another one of
         * its sender has its nonce. DROPPED: taken out of the pool on request.
         */
        status: oneOf("PENDING", "MINED", "REVERTED", "FAILED", "LOST", "REPLACED", "DROPPED"),
        /** The serial of its block; 0 while it has none. */
        block: integer(),
        /** How many transactions its block has before it. */
        place: integer(),
        /** Null of a match. */
        content: orNull(TransactionContent),
        /** What is out of the ordinary about it; null of most. */
        exception: onDisk("oddity", orNull(TransactionException)),
      },
      derived: {
        /** Of a match: the first of its trades, which all have the same taker, and how many they are; else 0. */
        firstTrade: zero,
        trades: zero,
        /** Of a match: how many logs it leaves when it is carried out, and 64 bits that name its fills; else 0. */
        logs: zero,
        fillsA: zero,
        fillsB: zero,
        /** How many logs and how much gas its block has before it. */
        logsBefore: zero,
        gasBefore: zero,
      },
    },
  ),
  ({ status, block, place, content, exception }) => {
    if (content === null && exception === null)
      throw new DocumentError("an object, where the content is null", null, "oddity");
    const isInBlock = status === "MINED" || status === "REVERTED";
    if (isInBlock !== block > 0)
      throw new DocumentError(isInBlock ? "the serial of a block" : "0", block, "block");
    if (!isInBlock && place !== 0) throw new DocumentError("0", place, "place");
  },
);
export type Transaction = Infer<typeof Transaction>;

/** A transaction of which nothing is known yet but what it is. */
export const newTransaction = (number: number, content: TransactionContent | null): Transaction => ({
  number,
  status: "PENDING",
  block: 0,
  place: 0,
  content,
  exception: null,
  firstTrade: 0,
  trades: 0,
  logs: 0,
  fillsA: 0,
  fillsB: 0,
  logsBefore: 0,
  gasBefore: 0,
});

/** What kind a transaction is. */
export const kindOf = ({ content }: Transaction): TransactionKind => content?.kind ?? "match";

/** Whether it waits for a block: what is in effect since its command does not. */
export const awaitsBlock = ({ content }: Transaction): boolean =>
  content === null || content.kind === "report" || content.kind === "call";

/** Nothing out of the ordinary so far. */
export const newException = (): TransactionException => ({
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
export function logCountOf({ content, logs, exception }: Transaction): number {
  if (content === null) return logs;
  if (content.kind !== "call") return logsOfContent(content);
  const effect = exception?.effect ?? null;
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
