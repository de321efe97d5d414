import type { WinningOutcome } from "../../core/terms.ts";
import type { Place } from "./problem.ts";
import type { Expectation, Funding } from "./scenario.ts";

/** What every step has: its number from 1 in the scenario, its text as a person reads it, its place. */
export interface StepBase {
  readonly number: number;
  readonly text: string;
  readonly place: Place;
}

export interface FundStep extends StepBase {
  readonly kind: "fund";
  readonly account: string;
  readonly funding: Funding;
}

export interface AdvanceStep extends StepBase {
  readonly kind: "advance";
  /** Milliseconds. */
  readonly by: number;
}

export interface CloseStep extends StepBase {
  readonly kind: "close";
  readonly market: string | null;
}

export interface ResolveStep extends StepBase {
  readonly kind: "resolve";
  readonly market: string | null;
  readonly outcome: WinningOutcome;
}

export interface ExpectStep extends StepBase {
  readonly kind: "expect";
  readonly expectations: readonly Expectation[];
}

/** The steps that nothing but their own words decides. */
export type PlainStep = FundStep | AdvanceStep | CloseStep | ResolveStep | ExpectStep;
