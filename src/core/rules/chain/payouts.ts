import type { Outcome, WinningOutcome } from "../../commands.ts";
import type { Market } from "../../market.ts";
import type { State } from "../../state.ts";
import { FULL_PRICE } from "../../units.ts";

/** What a share of each outcome pays, as the oracle's report has it: numerators over their sum. */
export const PAYOUTS: Readonly<Record<WinningOutcome, readonly [yes: number, no: number]>> = {
  YES: [1, 0],
  NO: [0, 1],
  SPLIT: [1, 1],
};

/** Whether the chain has the report of how a market ended. */
export function isReported({ chain }: State, { report }: Market): boolean {
  return report !== 0 && chain.transactions.get(report).status === "MINED";
}

/** What a size unit of each outcome pays, in micro-USDC; null before the chain has the report. */
export function payoutPerShare(state: State, market: Market): Readonly<Record<Outcome, number>> | null {
  if (market.winningOutcome === null || !isReported(state, market)) return null;
  return payoutOf(market.winningOutcome);
}

/** What a size unit of each outcome pays when a market ends like this, in micro-USDC. */
export function payoutOf(winningOutcome: WinningOutcome): Readonly<Record<Outcome, number>> {
  const [yes, no] = PAYOUTS[winningOutcome];
  return { YES: (FULL_PRICE * yes) / (yes + no), NO: (FULL_PRICE * no) / (yes + no) };
}
