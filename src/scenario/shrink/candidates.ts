import type { Scenario } from "../language/scenario.ts";
import { stepsOf } from "../run/needs.ts";
import { type Draft, type Part, withParts } from "./draft.ts";
import type { Failed } from "./trial.ts";

/** Whether each step of a text is one of the scenario: not so where a file is included. */
export const isAligned = ({ steps }: Draft, scenario: Scenario): boolean =>
  steps.length === scenario.steps.length;

/** The steps after the one that fails. */
export function behindFailure(draft: Draft, { scenario, failure }: Failed): readonly Part[] {
  if (!isAligned(draft, scenario)) return [];
  return draft.steps.filter((_part, index) => (scenario.steps[index]?.number ?? 0) > failure.step);
}

/** Every expectation but the one that fails; none where that stands in another file. */
export function otherExpectations(draft: Draft, { scenario, failure }: Failed): readonly Part[] {
  const { file, line, column } = failure.place;
  if (file !== scenario.place.file) return [];
  const at = offsetOf(draft.text, line, column);
  return draft.steps.flatMap((step) => expectationsBeside(step, at));
}

/** The steps that say they are refused: they do nothing. */
export function refusedAsExpected(draft: Draft, { scenario, failure }: Failed): readonly Part[] {
  if (!isAligned(draft, scenario)) return [];
  return draft.steps.filter((_part, index) => {
    const step = scenario.steps[index];
    const isExpected = step !== undefined && "expects" in step && step.expects.rejects !== null;
    return isExpected && step.number !== failure.step;
  });
}

/** The accounts or the markets of a text. */
export const ofHeaders = ({ headers }: Draft, kind: "account" | "market"): readonly Part[] =>
  headers.flatMap((header) => [...withParts(header)]).filter((part) => part.kind === kind);

/** Every part that may go, as it stands in the file. */
export const removable = ({ headers }: Draft): Part[] =>
  headers.flatMap((header) => [...withParts(header)]).filter(({ kind }) => kind !== "keep");

/** The parts of a step that expect something and in which nothing stands at `at`. */
function expectationsBeside(part: Part, at: number): readonly Part[] {
  const isInside = part.span.start <= at && at < part.span.end;
  if (!isInside && part.kind === "expectation") return [part];
  if (!isInside && part.kind === "step" && part.children.some(({ name }) => name === "expect")) return [part];
  const isLeaf =
    part.kind === "expectation" && !part.children.some(({ span }) => span.start <= at && at < span.end);
  return isLeaf ? [] : part.children.flatMap((child) => expectationsBeside(child, at));
}

const UNEXPECTED = /^(?:refused: |order .* was never placed|accepted, expected)/;

/** The step of what is left that was refused, or that needed one that was; null when another thing is wrong. */
export function refusedStep(
  draft: Draft,
  gone: ReadonlySet<Part>,
  { scenario, failure }: Failed,
): Part | null {
  if (!UNEXPECTED.test(failure.message)) return null;
  const left = draft.steps.filter((part) => !gone.has(part));
  const index = scenario.steps.findIndex(({ number }) => number === failure.step);
  return left.length === scenario.steps.length ? (left[index] ?? null) : null;
}

/** The files that a scenario speaks of, by their absolute paths. */
export function* filesOf({ world, steps }: Scenario): Generator<string> {
  if (world !== null) yield world;
  for (const step of stepsOf(steps)) {
    if (step.kind === "replay") yield step.file;
    const said = step.kind === "expect" ? step.expectations : step.kind === "race" ? step.after : [];
    for (const expectation of said) if (expectation.kind === "golden") yield expectation.file;
  }
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let seen = 1; seen < line; seen += 1) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}
