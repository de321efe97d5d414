import { refusalError } from "../../api/refusals.ts";
import type { View } from "../../api/view.ts";
import type { Decision, Refusal } from "../../core/refusals.ts";
import type { Attempt, Refused } from "./venue.ts";

export const DONE = { ok: true, value: null } as const;

/** A refusal of the core in the words of the API. */
export function refusedBy(refusal: Refusal, view: View): Refused {
  const { code, message, help } = refusalError(refusal, view);
  return { ok: false, code, message, hint: help.hint ?? null };
}

/** A cancel of one order cancels it or is refused. @throws Error when it does neither, which is a defect. */
export function demandCancel(decision: Decision): void {
  if (decision.ok && decision.events.length === 0)
    throw new Error("a cancel is accepted and cancels nothing");
}

/** A command of which only its success matters. */
export const nothingOf = (decision: Decision, view: View): Attempt<null> =>
  decision.ok ? DONE : refusedBy(decision.refusal, view);
