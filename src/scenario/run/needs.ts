import type { Expectation, Scenario, Step } from "../language/scenario.ts";

/** Every step of a scenario, those of races among them. */
export function* stepsOf(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    if (step.kind === "race") yield* stepsOf(step.steps);
  }
}

/** How many steps a scenario takes, as runs number them: each round of what is repeated, and those of races. */
export const stepCount = ({ steps }: Scenario): number => [...stepsOf(steps)].length;

/** Whether some step exists only over HTTP. */
export function needsHttp({ steps }: Scenario): boolean {
  for (const { kind } of stepsOf(steps)) if (kind === "fault" || kind === "request") return true;
  return false;
}

const CONTROL_STEPS: ReadonlySet<Step["kind"]> = new Set([
  "fund",
  "advance",
  "at",
  "close",
  "resolve",
  "fault",
  "snapshot",
  "restore",
  "race",
  "split",
  "merge",
  "redeem",
  "mine",
  "reorg",
  "failSettlement",
  "chainFault",
  "bump",
]);
/** What the expectations that only the control plane can answer are called. */
const CONTROL_EXPECTATIONS: ReadonlyMap<Expectation["kind"], string> = new Map([
  ["balance", "balances"],
  ["stateHash", "stateHash"],
  ["chain", "chain"],
  ["supply", "chain"],
  ["settled", "chain"],
]);
/** What steps are called whose keys are not their kinds. */
const STEP_NAMES: Partial<Readonly<Record<Step["kind"], string>>> = {
  failSettlement: "fail settlement",
  chainFault: "chain fault",
};

/** What a scenario asks of the control plane, in words; null when the public API is enough for it. */
export function controlNeedOf(scenario: Scenario): string | null {
  if (scenario.world !== null) return "needs control plane: it opens a world of its own";
  if (scenario.settlement !== "instant") return `needs control plane: settlement ${scenario.settlement}`;
  if (scenario.balances !== "optimistic") return `needs control plane: balances ${scenario.balances}`;
  for (const step of stepsOf(scenario.steps)) {
    const need = CONTROL_STEPS.has(step.kind) ? (STEP_NAMES[step.kind] ?? step.kind) : needWithin(step);
    if (need !== null) return `needs control plane: line ${step.place.line} (${need})`;
  }
  return null;
}

function needWithin(step: Step): string | null {
  if (step.kind === "request") {
    const place = ["/sim", "/chain"].find((each) => step.path.startsWith(each));
    return place === undefined ? null : `a request to ${place}`;
  }
  if (step.kind === "order" && step.exact?.expiry != null) {
    return "at" in step.exact.expiry ? "an expiration at a moment of its own clock" : null;
  }
  if (step.kind === "generate") return "generated accounts that must be funded";
  if (step.kind === "replay") return "a flow whose accounts must be funded";
  if (step.kind !== "expect") return null;
  for (const { kind } of step.expectations) {
    const name = CONTROL_EXPECTATIONS.get(kind);
    if (name !== undefined) return name;
  }
  return null;
}
