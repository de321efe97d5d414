/** Rules that have changed since journals are kept: a line is decided again by those that it was decided by. */
export interface RuleSet {
  /** Whether an account's grant in a market is minted when it receives shares there, too; else only when it orders or sends. */
  readonly receivingTouches: boolean;
}

/** The rules of this version. */
export const RULES: RuleSet = { receivingTouches: true };

/** The rules of earlier versions, latest first. */
export const EARLIER_RULES: readonly RuleSet[] = [{ receivingTouches: false }];
