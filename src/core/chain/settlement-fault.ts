import { sha256Hex } from "../hash.ts";
import { type Infer, id, integer, oneOf, optional, orNull, record, text } from "../schema.ts";

/** Kinds of injected settlement faults. */
export type SettlementFaultKind =
  /** The settlement is mined and reverted. */
  | "fail"
  /** Deferred once: the trade is RETRYING until the next block. */
  | "retry"
  /** Deferred by a number of blocks. */
  | "delay"
  /** Silently dropped: never mined, the trade stays MATCHED. */
  | "ghost"
  /** The base fee rises above the exchange's maximum: its own transactions wait until their fees are raised. */
  | "gasSpike";

export const CERTAIN = 1_000_000;

/** Parameters of a fault. */
export const FAULT_TERMS = {
  fault: oneOf<SettlementFaultKind>("fail", "retry", "delay", "ghost", "gasSpike"),
  /** In millionths. */
  probability: integer(0, CERTAIN),
  /** Maximum number of settlements it hits; null for any number. */
  times: orNull(id()),
  /** Length of a delay; else 0. */
  blocks: integer(),
  /** Base fee of a gas spike, wei per gas; else 0. */
  baseFee: integer(),
  /** Reason reported by the failure; null for the default reason. */
  reason: orNull(text()),
  /** Restricts the fault to the settlement of this taker order; absent for all settlements. */
  order: optional(id()),
} as const;
const SettlementFaultTerms = record(FAULT_TERMS);
export type SettlementFaultTerms = Infer<typeof SettlementFaultTerms>;

/** Active fault. */
export const SettlementFault = record(
  {
    /** Counts all faults ever set, from 1. */
    number: id(),
    ...FAULT_TERMS,
  },
  {
    changing: {
      /** Number of settlements it has hit. */
      struck: integer(),
    },
  },
);
export type SettlementFault = Infer<typeof SettlementFault>;

const DIGITS = 8;
const SPAN = 4_294_967_296;

/**
 * Returns a uniform number from 0 to 999,999 for one attempt of one transaction under one fault. It is a hash, not a draw
 * from a stream, so that deciding a command again gives the same result.
 */
export function faultDraw(seed: string, fault: number, transaction: number, attempt: number): number {
  const digest = sha256Hex(`clobsim chance\n${fault}\n${transaction}\n${attempt}\n${seed}`);
  return Math.floor((Number.parseInt(digest.slice(0, DIGITS), 16) / SPAN) * CERTAIN);
}
