import type { Scenario, Step, StepKind } from "../language/scenario.ts";
import type { StepInfo } from "../language/step-source.ts";
import { STEPS } from "../language/steps.ts";

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
    const { control, key } = rowOf(step.kind);
    const need = control === true ? (key ?? step.kind) : (control?.(step) ?? null);
    if (need !== null) return `needs control plane: line ${step.place.line} (${need})`;
  }
  return null;
}
