import { permutationsOf } from "../run/run-scenario.ts";
import type { Draft, Part } from "./draft.ts";
import { bodyAt, lineOf, listed } from "./step-list.ts";

/** Races of more steps are tried in their own order and its reverse only. */
const MOST_STEPS = 4;

/**
 * The texts in which one race is a row of steps: in one order instead of every, or one of its steps alone. What must
 * hold after it is expected by a step behind them.
 */
export function* openedRaces(draft: Draft): Generator<string> {
  for (const step of draft.steps) {
    const race = step.children.find(({ name }) => name === "race");
    const line = lineOf(draft, step);
    if (race === undefined || line === null) continue;
    const after = step.children.find(({ name }) => name === "after");
    const expected = after === undefined ? [] : [expectStep(draft, after, line.column)];
    for (const order of ordersOf(race.children)) {
      const bodies = [...order.map((inner) => bodyAt(draft, inner, line.column)), ...expected];
      yield draft.replaced(line, listed(bodies, line.column));
    }
  }
}

function ordersOf(steps: readonly Part[]): (readonly Part[])[] {
  const alone = steps.map((step) => [step]);
  if (steps.length <= MOST_STEPS) return [...alone, ...permutationsOf(steps)];
  return [...alone, steps, [...steps].reverse()];
}

/** What stands under `after`, as a step. */
function expectStep(draft: Draft, after: Part, column: number): string {
  const whole = draft.textOf(after.span).trimEnd();
  const value = whole.slice(whole.indexOf(":") + 1);
  // The value of a key two columns to the right of the dash keeps its lines.
  return column === after.span.start ? value : `expect:${value}`;
}
