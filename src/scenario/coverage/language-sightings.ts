import type { OwnExpectations, Scenario, Step } from "../language/scenario.ts";
import { stepsOf } from "../run/needs.ts";
import { isItem } from "./items.ts";
import type { Sightings } from "./sightings.ts";

/** Notes the words that a scenario is written in. */
export function noteLanguage({ steps }: Scenario, sightings: Sightings): void {
  for (const step of stepsOf(steps)) {
    sightings.note("steps", step.kind);
    for (const { kind } of expectationsOf(step)) sightings.note("expectations", kind);
    noteOwn(step, sightings);
  }
}

function expectationsOf(step: Step) {
  if (step.kind === "expect") return step.expectations;
  return step.kind === "race" ? step.after : [];
}

/** What a step says about its own outcome. */
function noteOwn(step: Step, sightings: Sightings): void {
  if ("expects" in step) {
    for (const name of Object.keys(step.expects) as (keyof OwnExpectations)[]) {
      if (step.expects[name] !== null) sightings.note("expectations", name);
    }
  }
  if ("rejects" in step && step.rejects !== null) sightings.note("expectations", "rejects");
  if (step.kind === "request" && step.answers !== null) sightings.note("expectations", "answers");
  if (step.kind === "replay" && step.rejected > 0) sightings.note("refused steps", "replay: rows");
}

/** Notes how a step was refused; one that does not say so itself is an outcome of a race. */
export function noteRefusal(step: Step, code: string, sightings: Sightings): void {
  const [reason, any] = [`${step.kind}: ${code}`, `${step.kind}: rejects`];
  if (rejectsOf(step) === null) sightings.note("refused steps", "race: without rejects");
  else if (isItem("refused steps", reason)) sightings.note("refused steps", reason);
  else if (isItem("refused steps", any)) sightings.note("refused steps", any);
}

function rejectsOf(step: Step): OwnExpectations["rejects"] {
  if ("rejects" in step) return step.rejects;
  return "expects" in step ? step.expects.rejects : null;
}
