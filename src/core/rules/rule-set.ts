import type { CommandKind, CommandOf } from "../commands.ts";
import type { EventKind, EventOf } from "../events.ts";
import type { Decision } from "../refusals.ts";
import type { State } from "../state.ts";
import type { Millis } from "../units.ts";

/** Functions that decide commands, without writing the state. */
export type Deciders = {
  readonly [Kind in CommandKind]: (
    state: State,
    command: CommandOf<Kind>,
    rules: RuleSet,
    at: Millis,
  ) => Decision;
};

/** Functions that write events into the state. They throw an Error if one cannot be applied, which is a defect. */
export type Appliers = {
  readonly [Kind in EventKind]: (state: State, event: EventOf<Kind>, at: Millis) => void;
};

/** Rules that changed after the first journals. Replay decides a journal entry by the rules that first decided it. */
export interface RuleSet {
  /** Whether an account's grant in a market is also minted when it receives shares there; else only when it orders or sends. */
  readonly receivingTouches: boolean;
  /**
   * Whether a reorganization restores permissions, and a call of a replaced block that loses its funds stays pending;
   * else permissions stay, and the call fails without using its nonce.
   */
  readonly replacedCallsStartAnew: boolean;
  /**
   * Whether the ledger undoes a call from before a reorganization when another transaction takes its nonce; else the call
   * stays in the ledger for good.
   */
  readonly lostNoncesUndo: boolean;
  /**
   * Whether the first block of a reorganization uses up a base fee set for the next block; else the fee is also that of the
   * blocks after it, up to the next one mined.
   */
  readonly replacingUsesBaseFee: boolean;
  /** Whether setting a balance of native currency schedules a block for a call that waits for gas money. */
  readonly gasMoneySchedules: boolean;
  /** Whether setting the next base fee schedules a block for a transaction that waits for such a fee. */
  readonly baseFeeSchedules: boolean;
}

export const RULES: RuleSet = {
  receivingTouches: true,
  replacedCallsStartAnew: true,
  lostNoncesUndo: true,
  replacingUsesBaseFee: true,
  gasMoneySchedules: true,
  baseFeeSchedules: true,
};

const BASE_FEES_WAIT: RuleSet = { ...RULES, baseFeeSchedules: false };
const BASE_FEES_KEPT: RuleSet = { ...BASE_FEES_WAIT, replacingUsesBaseFee: false, gasMoneySchedules: false };
const REPLACED_CALLS_KEPT: RuleSet = { ...BASE_FEES_KEPT, lostNoncesUndo: false };
const PERMISSIONS_KEPT: RuleSet = { ...REPLACED_CALLS_KEPT, replacedCallsStartAnew: false };

/** Rules of earlier versions, latest first. */
export const EARLIER_RULES: readonly RuleSet[] = [
  BASE_FEES_WAIT,
  BASE_FEES_KEPT,
  REPLACED_CALLS_KEPT,
  PERMISSIONS_KEPT,
  { ...PERMISSIONS_KEPT, receivingTouches: false },
];
