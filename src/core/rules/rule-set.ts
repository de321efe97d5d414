import type { CommandKind, CommandOf } from "../commands.ts";
import type { DomainEvent } from "../events.ts";
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
  readonly [Kind in DomainEvent["kind"]]: (state: State, event: DomainEvent<Kind>, at: Millis) => void;
};

/** Rules that changed after the first journals. Replay decides a journal entry by the rules that first decided it. */
export interface RuleSet {
  /** Whether an account's grant in a market is also minted when it receives shares there; else only when it orders or sends. */
  readonly receivingMintsGrant: boolean;
  /**
   * Whether a reorganization restores permissions, and a call of a replaced block that loses its funds stays pending;
   * else permissions stay, and the call fails without using its nonce.
   */
  readonly reorganizationRestartsCalls: boolean;
  /**
   * Whether the ledger undoes a call from before a reorganization when another transaction takes its nonce; else the call
   * stays in the ledger for good.
   */
  readonly takenNonceUndoesCall: boolean;
  /**
   * Whether the first block of a reorganization uses up a base fee set for the next block; else the fee is also that of the
   * blocks after it, up to the next one mined.
   */
  readonly reorganizationUsesBaseFee: boolean;
  /** Whether setting a balance of native currency schedules a block for a call that waits for gas money. */
  readonly gasMoneySchedulesBlock: boolean;
  /** Whether setting the next base fee schedules a block for a transaction that waits for such a fee. */
  readonly baseFeeSchedulesBlock: boolean;
}

export const RULES: RuleSet = {
  receivingMintsGrant: true,
  reorganizationRestartsCalls: true,
  takenNonceUndoesCall: true,
  reorganizationUsesBaseFee: true,
  gasMoneySchedulesBlock: true,
  baseFeeSchedulesBlock: true,
};

/** What each earlier version did otherwise than the version after it, latest first. */
const CHANGES: readonly Partial<RuleSet>[] = [
  { baseFeeSchedulesBlock: false },
  { reorganizationUsesBaseFee: false, gasMoneySchedulesBlock: false },
  { takenNonceUndoesCall: false },
  { reorganizationRestartsCalls: false },
  { receivingMintsGrant: false },
];

/** Rules of earlier versions, latest first. */
export const EARLIER_RULES: readonly RuleSet[] = CHANGES.map((_, index) =>
  Object.assign({ ...RULES }, ...CHANGES.slice(0, index + 1)),
);
