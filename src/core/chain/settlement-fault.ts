import { sha256Hex } from "../hash.ts";
import { type Infer, id, integer, oneOf, optional, orNull, record, text } from "../schema.ts";

/** What can go wrong with settlements. */
export type SettlementFaultKind =
  /** Mined, and reverted. */
  | "fail"
  /** Put off once: the trade is RETRYING until the next block. */
  | "retry"
  /** Not mined before so many more blocks. */
  | "delay"
  /** Never mined, and nobody is told: the trade stays MATCHED. */
  | "ghost"
  /** The base fee rises above what the exchange offers: everything of its own waits until its fees are raised. */
  | "gasSpike";

export const CERTAIN = 1_000_000;

/** What a fault is set with. */
export const FAULT_TERMS = {
  fault: oneOf<SettlementFaultKind>("fail", "retry", "delay", "ghost", "gasSpike"),
  /** In millionths. */
  probability: integer(0, CERTAIN),
  /** How many settlements it hits at most; null for any number. */
  times: orNull(id()),
  /** Of a delay; else 0. */
  blocks: integer(),
  /** Wei per gas, of a spike; else 0. */
  baseFee: integer(),
  /** What the failure says; null says that it was asked for. */
  reason: orNull(text()),
  /** The number of the one order whose settlement as a taker it may hit; left out for every settlement. */
  order: optional(id()),
} as const;
const SettlementFaultTerms = record(FAULT_TERMS);
export type SettlementFaultTerms = Infer<typeof SettlementFaultTerms>;

/** A fault in force. */
export const SettlementFault = record(
  {
    /** Counts all faults ever set, from 1. */
    number: id(),
    ...FAULT_TERMS,
  },
  {
    changing: {
      /** How many settlements it has hit. */
      struck: integer(),
    },
  },
);
export type SettlementFault = Infer<typeof SettlementFault>;

const DIGITS = 8;
const SPAN = 4_294_967_296;

/**
 * A number from 0 to 999,999, each as likely as any other, drawn for one attempt of one transaction by one fault.
 * Nothing is drawn from a stream: what is decided twice is decided alike.
 */
export function chanceOf(seed: string, fault: number, transaction: number, attempt: number): number {
  const digest = sha256Hex(`clobsim chance\n${fault}\n${transaction}\n${attempt}\n${seed}`);
  return Math.floor((Number.parseInt(digest.slice(0, DIGITS), 16) / SPAN) * CERTAIN);
}
