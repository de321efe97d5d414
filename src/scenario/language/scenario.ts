import type { BalancePolicy, SettlementMode } from "../../core/terms.ts";
import type { Millis } from "../../core/units.ts";
import type { AccountTerms, MarketTerms, StepBase } from "./parts.ts";
import type { Place } from "./problem.ts";
import type { StepInfo } from "./step-source.ts";
import { STEPS } from "./steps.ts";

/** A scenario as its file says it: quantities in the core's units, every part with its place. */
export interface Scenario {
  readonly name: string;
  readonly place: Place;
  readonly seed: string;
  readonly clock: Millis;
  /** When blocks of the settlement chain are mined. */
  readonly settlement: SettlementMode;
  readonly balances: BalancePolicy;
  /** Absolute path of the world file it opens with; null for none. */
  readonly world: string | null;
  /** Markets of its own, in order; none when it opens a world. */
  readonly markets: readonly MarketTerms[];
  readonly accounts: readonly AccountTerms[];
  readonly steps: readonly Step[];
}

type Rows = typeof STEPS;
/** What each kind of step says: what its row in the table of steps reads. */
type Contents = {
  [Kind in keyof Rows]: Kind extends "race" ? RaceContent : ReturnType<Rows[Kind]["read"]>;
};
/** Explores every order of some steps, each with the rest of the scenario after it; `after` must hold each time. */
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

/** Every step of a scenario, those of races among them. */
export function* stepsOf(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    if (step.kind === "race") yield* stepsOf(step.steps);
  }
}

/** How many steps a scenario takes, as runs number them: each round of what is repeated, and those of races. */
export const stepCount = ({ steps }: Scenario): number => [...stepsOf(steps)].length;

export function needsHttp({ steps }: Scenario): boolean {
  for (const { kind } of stepsOf(steps)) if (rowOf(kind).isOverHttp) return true;
  return false;
}

/** What a scenario asks of the control plane, in words; null when the public API is enough for it. */
export function controlNeedOf(scenario: Scenario): string | null {
  if (scenario.world !== null) return "needs control plane: it opens a world of its own";
  if (scenario.settlement !== "instant") return `needs control plane: settlement ${scenario.settlement}`;
  if (scenario.balances !== "optimistic") return `needs control plane: balances ${scenario.balances}`;
  for (const step of stepsOf(scenario.steps)) {
    const { control, key = step.kind } = rowOf(step.kind);
    const need = control === undefined ? key : (control?.(step) ?? null);
    if (need !== null) return `needs control plane: line ${step.place.line} (${need})`;
  }
  return null;
}
