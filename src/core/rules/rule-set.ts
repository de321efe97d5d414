/** Rules that changed after the first journals. Replay decides a journal entry by the rules that first decided it. */
export interface RuleSet {
  /** Whether an account's grant in a market is also minted when it receives shares there; else only when it orders or sends. */
  readonly receivingTouches: boolean;
  /**
   * Whether a reorganization restores permissions, and a call of a replaced block that loses its funds stays pending;
   * else permissions stay, and the call fails without using its nonce.
   */
  readonly replacedCallsStartAnew: boolean;
}

/** Rules of this version. */
export const RULES: RuleSet = { receivingTouches: true, replacedCallsStartAnew: true };

/** Rules of earlier versions, latest first. */
export const EARLIER_RULES: readonly RuleSet[] = [
  { receivingTouches: true, replacedCallsStartAnew: false },
  { receivingTouches: false, replacedCallsStartAnew: false },
];
