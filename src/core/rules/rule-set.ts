/** Rules that have changed since journals are kept: a line is decided again by those that it was decided by. */
export interface RuleSet {
  /** Whether an account's grant in a market is minted when it receives shares there, too; else only when it orders or sends. */
  readonly receivingTouches: boolean;
  /**
   * Whether a reorganization takes permissions back, too, and a call of a replaced block that loses its funds stays
   * pending; else what was allowed stays so, and the call fails without its nonce being used.
   */
  readonly replacedCallsStartAnew: boolean;
}

/** The rules of this version. */
export const RULES: RuleSet = { receivingTouches: true, replacedCallsStartAnew: true };

/** The rules of earlier versions, latest first. */
export const EARLIER_RULES: readonly RuleSet[] = [
  { receivingTouches: true, replacedCallsStartAnew: false },
  { receivingTouches: false, replacedCallsStartAnew: false },
];
