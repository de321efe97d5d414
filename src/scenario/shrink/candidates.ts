import type { Scenario } from "../language/scenario.ts";
import { type Draft, type Part, withParts } from "./draft.ts";
import { linesToDrop } from "./list-lines.ts";
import type { Signature } from "./signature.ts";
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
  headers
    .flatMap((header) => [...withParts(header)])
    .filter(({ kind }) => kind !== "keep" && kind !== "line");

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

/**
 * What else must go from a text that fails otherwise since some parts are gone: the step that is refused now, or needed
 * one that was, for it does nothing; or what is expected in a list and came of what is gone. None where another thing is
 * wrong.
 */
export function consequencesOf(
  { draft, scenario: base }: { readonly draft: Draft; readonly scenario: Scenario },
  gone: ReadonlySet<Part>,
  { scenario, failure, signature }: Failed,
  wanted: Signature,
): readonly Part[] {
  const left = draft.steps.filter((part) => !gone.has(part));
  const part = left[scenario.steps.findIndex(({ number }) => number === failure.step)];
  if (part === undefined || left.length !== scenario.steps.length) return [];
  if (UNEXPECTED.test(failure.message)) return [part];
  const step = base.steps[draft.steps.indexOf(part)];
  return (step === undefined ? null : linesToDrop(part, step, wanted, signature, gone)) ?? [];
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let seen = 1; seen < line; seen += 1) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}
