import type { SettlementFault } from "../chain/settlement-fault.ts";
import { CERTAIN } from "../chain/settlement-fault.ts";
import type {
  CallContent,
  CallEffect,
  HoldReason,
  Oddity,
  TransactionContent,
  TransactionKind,
  TransactionStatus,
} from "../chain/transaction.ts";
import type { Money, Size } from "../units.ts";
import { readCall } from "./call-record.ts";
import { DocumentError, type Where } from "./document-error.ts";
import { Fields } from "./fields.ts";

/** A transaction that says more than its trades do. */
export interface TransactionRecord {
  readonly number: number;
  readonly status: TransactionStatus;
  /** The serial of its block, and how many transactions that has before it. */
  readonly block: number;
  readonly place: number;
  readonly content: TransactionContent | null;
  readonly oddity: Oddity | null;
}

const KEYS = ["number", "status", "block", "place", "content", "oddity"] as const;
const DEPOSIT_KEYS = ["kind", "at", "account", "collateral", "market", "size", "yes", "no"] as const;
const MARKET_KEYS = ["kind", "at", "market"] as const;
const CALL_KEYS = [
  "from",
  "to",
  "nonce",
  "value",
  "gas",
  "maxFeePerGas",
  "maxPriorityFeePerGas",
  "input",
  "call",
  "raw",
  "hash",
  "kind",
  "at",
] as const;
const ODDITY_KEYS = [
  "hold",
  "notBefore",
  "attempts",
  "reason",
  "endedAt",
  "fault",
  "delayedBy",
  "isBumped",
  "effect",
  "gasUsed",
  "gasPrice",
] as const;
const EFFECT_KEYS = ["moves", "supply"] as const;
const MOVE_KEYS = ["account", "token", "amount"] as const;
const SUPPLY_KEYS = ["market", "yes", "no", "collateral"] as const;
const FAULT_KEYS = [
  "number",
  "fault",
  "probability",
  "times",
  "blocks",
  "baseFee",
  "reason",
  "struck",
] as const;
const STATUSES: readonly TransactionStatus[] = ["PENDING", "MINED", "REVERTED", "FAILED", "LOST", "REPLACED"];
const KINDS: readonly TransactionKind[] = ["deposit", "prepare", "report", "call"];
const FAULTS = ["fail", "retry", "delay", "ghost", "gasSpike"] as const;
const HOLDS: readonly HoldReason[] = [
  "DELAYED",
  "UNDERPRICED",
  "UNFUNDED",
  "RETRIED",
  "NONCE_GAP",
  "NO_GAS_MONEY",
  "REORGANIZED",
];
const LEAST = Number.MIN_SAFE_INTEGER;

/** One of the transactions that are told one by one. @throws DocumentError where it is none. */
export function readTransaction(value: unknown, where: Where): TransactionRecord {
  const fields = new Fields(value, where, "", KEYS);
  const content = fields.isNull("content") ? null : readContent(fields.value("content"), where);
  const oddity = fields.isNull("oddity") ? null : readOddity(fields.fields("oddity", ODDITY_KEYS));
  fields.demand(content !== null || oddity !== null, "oddity", "an object, where the content is null");
  const status = fields.oneOf("status", STATUSES);
  const isInBlock = status === "MINED" || status === "REVERTED";
  return {
    number: fields.integer("number", 1),
    status,
    block: isInBlock ? fields.integer("block", 1) : fields.integer("block", 0, 0),
    place: isInBlock ? fields.integer("place") : fields.integer("place", 0, 0),
    content,
    oddity,
  };
}

/** What goes wrong with settlements. @throws DocumentError where it is no such thing. */
export function readFault(value: unknown, where: Where, path: string): SettlementFault {
  const isOfOrder = typeof value === "object" && value !== null && Object.hasOwn(value, "order");
  const fields = new Fields(value, where, path, isOfOrder ? [...FAULT_KEYS, "order"] : FAULT_KEYS);
  return {
    number: fields.integer("number", 1),
    fault: fields.oneOf("fault", FAULTS),
    probability: fields.integer("probability", 0, CERTAIN),
    times: fields.integerOrNull("times", 1),
    blocks: fields.integer("blocks"),
    baseFee: fields.integer("baseFee"),
    reason: fields.textOrNull("reason"),
    ...(isOfOrder ? { order: fields.integer("order", 1) } : {}),
    struck: fields.integer("struck"),
  };
}

function readContent(value: unknown, where: Where): TransactionContent {
  const path = ".content";
  const kind = Fields.kindIn(value);
  switch (kind) {
    case "deposit": {
      const fields = new Fields(value, where, path, DEPOSIT_KEYS);
      return {
        kind,
        at: fields.millis("at"),
        account: fields.integer("account"),
        collateral: fields.integer("collateral") as Money,
        market: fields.integer("market"),
        size: fields.integer("size") as Size,
        yes: fields.integer("yes"),
        no: fields.integer("no"),
      };
    }
    case "prepare":
    case "report": {
      const fields = new Fields(value, where, path, MARKET_KEYS);
      return { kind, at: fields.millis("at"), market: fields.integer("market", 1) };
    }
    case "call":
      return readCallContent(new Fields(value, where, path, CALL_KEYS));
    default:
      throw new DocumentError(where, `${path}.kind`, `one of ${KINDS.join(", ")}`, kind);
  }
}

// The order of these facts, which the state's hash and the transaction's own see, is the one that `sendTransaction` gives them.
const readCallContent = (fields: Fields<(typeof CALL_KEYS)[number]>): CallContent => ({
  from: fields.address("from"),
  to: fields.address("to"),
  nonce: fields.integer("nonce"),
  value: fields.decimal("value"),
  gas: fields.integer("gas"),
  maxFeePerGas: fields.integer("maxFeePerGas"),
  maxPriorityFeePerGas: fields.integer("maxPriorityFeePerGas"),
  input: fields.hex("input"),
  call: readCall(fields.value("call"), fields.where, `${fields.path}.call`),
  raw: fields.hexOrNull("raw"),
  hash: fields.wordOrNull("hash"),
  kind: "call",
  at: fields.millis("at"),
});

const readOddity = (fields: Fields<keyof Oddity>): Oddity => ({
  hold: fields.oneOfOrNull("hold", HOLDS),
  notBefore: fields.integer("notBefore"),
  attempts: fields.integer("attempts"),
  reason: fields.textOrNull("reason"),
  endedAt: fields.millisOrNull("endedAt"),
  fault: fields.integer("fault"),
  delayedBy: fields.integer("delayedBy"),
  isBumped: fields.boolean("isBumped"),
  effect: fields.isNull("effect") ? null : readEffect(fields.fields("effect", EFFECT_KEYS)),
  gasUsed: fields.integer("gasUsed"),
  gasPrice: fields.integer("gasPrice"),
});

function readEffect(fields: Fields<keyof CallEffect>): CallEffect {
  const moves = fields.list("moves", (item, path) => {
    const move = new Fields(item, fields.where, path, MOVE_KEYS);
    return {
      account: move.integer("account", 1),
      token: move.integer("token"),
      amount: move.integer("amount", LEAST),
    };
  });
  return { moves, supply: fields.isNull("supply") ? null : readSupply(fields.fields("supply", SUPPLY_KEYS)) };
}

const readSupply = (fields: Fields<(typeof SUPPLY_KEYS)[number]>) => ({
  market: fields.integer("market", 1),
  yes: fields.integer("yes", LEAST),
  no: fields.integer("no", LEAST),
  collateral: fields.integer("collateral", LEAST),
});
