import type { BalancePolicy, SettlementMode } from "../../core/terms.ts";
import type { Millis } from "../../core/units.ts";
import type { AccountTerms, MarketTerms, StepBase } from "./parts.ts";
import type { Place } from "./problem.ts";
import type { StepInfo } from "./step-source.ts";
import { STEPS } from "./steps.ts";

/** A scenario read from its file. Quantities are in the core's units; every part has its place. */
export interface Scenario {
  readonly name: string;
  readonly place: Place;
  readonly seed: string;
  readonly clock: Millis;
  /** When blocks of the settlement chain are mined. */
  readonly settlement: SettlementMode;
  readonly balances: BalancePolicy;
  /** Absolute path of its world file; null for none. */
  readonly world: string | null;
  /** The markets it declares, in order; empty with a world file. */
  readonly markets: readonly MarketTerms[];
  readonly accounts: readonly AccountTerms[];
  readonly steps: readonly Step[];
}

type Rows = typeof STEPS;
/** Fields of each kind of step, as read by its row in the table of steps. */
type Contents = {
  [Kind in keyof Rows]: Kind extends "race" ? RaceContent : ReturnType<Rows[Kind]["read"]>;
};
/** Runs its steps in every order, each time with the rest of the scenario; `after` must hold each time. */
interface RaceContent extends Omit<ReturnType<Rows["race"]["read"]>, "steps"> {
  readonly steps: readonly Step[];
}

export type StepKind = keyof Rows;
export type StepOf<Kind extends StepKind> = StepBase & { readonly kind: Kind } & Readonly<Contents[Kind]>;
export type Step = { [Kind in StepKind]: StepOf<Kind> }[StepKind];

export type OrderStep = StepOf<"order">;
export type RaceStep = StepOf<"race">;
export type RequestStep = StepOf<"request">;
export type FlowStep = StepOf<"replay"> | StepOf<"generate">;
export type CallStep = { [Kind in "split" | "merge" | "redeem"]: StepOf<Kind> }["split" | "merge" | "redeem"];
export type SettlementFaultStep = StepOf<"failSettlement"> | StepOf<"chainFault">;

const rowOf = (kind: StepKind): StepInfo => STEPS[kind] as StepInfo;

/** Yields every step of a scenario, including those of races. */
export function* stepsOf(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    if (step.kind === "race") yield* stepsOf(step.steps);
  }
}

/** Returns the number of steps as runs number them: every round of a repeat counts, and every step of a race. */
export const stepCount = ({ steps }: Scenario): number => [...stepsOf(steps)].length;

export function needsHttp({ steps }: Scenario): boolean {
  for (const { kind } of stepsOf(steps)) if (rowOf(kind).isOverHttp) return true;
  return false;
}

/** Returns what a scenario needs the control plane for, in words; null if the public API is enough. */
export function controlNeedOf(scenario: Scenario): string | null {
  if (scenario.world !== null) return "needs control plane: it opens a world of its own";
  if (scenario.settlement !== "instant") return `needs control plane: settlement ${scenario.settlement}`;
  if (scenario.balances !== "optimistic") return `needs control plane: balances ${scenario.balances}`;
  for (const step of stepsOf(scenario.steps)) {
    const { control, key = step.kind } = rowOf(step.kind);
    const need = typeof control === "function" ? control(step) : control === undefined ? key : control;
    if (need !== null) return `needs control plane: line ${step.place.line} (${need})`;
  }
  return null;
}
