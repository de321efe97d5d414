import type { FaultStep, RequestStep } from "../language/scenario.ts";
import { expected, found } from "./diff.ts";
import { differences } from "./partial.ts";
import { fail, type Session } from "./session.ts";
import { refused, type Strictness } from "./take-order.ts";

/** Sends a request as it stands and compares its answer with what the step says, at least. */
export async function takeRequest(
  session: Session,
  step: RequestStep,
  strictness: Strictness,
): Promise<void> {
  const { code, body, status, wanted } = await session.venue.request(step, (name) =>
    session.orderNamed(name),
  );
  if (code !== null) {
    const { error, hint } = (body ?? {}) as { readonly error?: string; readonly hint?: string };
    refused(
      session,
      step,
      { ok: false, code, message: error ?? "no answer", hint: hint ?? null },
      step.rejects,
      strictness,
    );
  } else {
    session.log(`${step.number}. ${step.text} → ${status}`);
    if (step.rejects !== null) {
      fail(step.rejects.place, `answered with ${status}, expected to be refused with ${step.rejects.value}`);
    }
  }
  if (step.answers === null) return;
  const wrong = differences(wanted, body);
  if (wrong.length === 0) return;
  const lines = wrong.flatMap(({ path, wanted, seen }) => [
    expected(`${path}: ${wanted}`),
    found(`${path}: ${seen}`),
  ]);
  fail(step.answers.place, "the answer is not as expected", lines);
}

/** Lets requests fail from now on, as the step says. */
export async function takeFault(session: Session, step: FaultStep): Promise<void> {
  const attempt = await session.venue.fault(step);
  if (attempt.ok) session.log(`${step.number}. ${step.text}`);
  else refused(session, step, attempt, null, "strict");
}
