import { checkLook } from "../expect/check-account.ts";
import { checkFills } from "../expect/check-trades.ts";
import type {
  CancelAllStep,
  CancelStep,
  OrderStep,
  OwnExpectations,
  Placed,
  Step,
} from "../language/scenario.ts";
import type { Attempt, Canceled, OrderKey, Refused } from "../venue/venue.ts";
import { expected, found, note } from "./diff.ts";
import { fail, type Mismatch, ScenarioFailure, type Session } from "./session.ts";
import { fillLike, fillText, lookText, refusedText } from "./words.ts";

/** Whether a step that is refused fails the scenario, or is an outcome like another. */
export type Strictness = "strict" | "lenient";

/** Places an order and compares what the step says about it. */
export async function takeOrder(session: Session, step: OrderStep, strictness: Strictness): Promise<void> {
  const { venue } = session;
  const before = venue.fillCount();
  const attempt = await venue.place(step.account, step.words, step.exact);
  if (!attempt.ok) {
    if (step.name !== null)
      session.unplaced.set(step.name, `step ${step.number} was refused with ${attempt.code}`);
    refused(session, step, attempt, step.expects.rejects, strictness);
    return;
  }
  const order = attempt.value;
  session.placed(order.key, step.name, step.account);
  session.log(`${step.number}. ${step.text} → ${lookText(order)}`);
  const fills = await venue.fills(before);
  for (const fill of fills) session.log(`   ${fillText(fillLike(fill, undefined, session.hasOneMarket))}`);
  unexpectedlyAccepted(step, lookText(order));
  const mismatches: (Mismatch | null)[] = [];
  if (step.expects.fills !== null) mismatches.push(await checkFills(session, step.expects.fills, fills));
  mismatches.push(await statusMismatch(session, step, order.key, step.name ?? "the order"));
  throwAll(mismatches);
}

/** Cancels one order and compares what the step says about it. */
export async function takeCancel(session: Session, step: CancelStep, strictness: Strictness): Promise<void> {
  const key = session.orderNamed(step.order);
  if (key === undefined && strictness === "strict" && step.expects.rejects === null) {
    fail(step.place, session.neverPlaced(step.order));
  }
  const attempt = await session.venue.cancel(step.account, key ?? step.order);
  const [reason] = attempt.ok ? attempt.value.notCanceled : [];
  if (!attempt.ok || reason !== undefined) {
    const explanation =
      attempt.ok && key !== undefined ? session.withNames(await session.venue.explain(key)) : [];
    const refusal = attempt.ok ? notCanceled(reason as string, step.order) : attempt;
    refused(session, step, refusal, step.expects.rejects, strictness, explanation);
  } else {
    session.log(`${step.number}. ${step.text} → canceled`);
    unexpectedlyAccepted(step, "canceled");
  }
  if (key !== undefined) throwAll([await statusMismatch(session, step, key, step.order)]);
}

/** Cancels all that an account has resting. */
export async function takeCancelAll(
  session: Session,
  step: CancelAllStep,
  strictness: Strictness,
): Promise<void> {
  const attempt: Attempt<Canceled> = await session.venue.cancelAll(step.account);
  if (!attempt.ok) {
    refused(session, step, attempt, step.expects.rejects, strictness);
    return;
  }
  const names = attempt.value.canceled.map((key) => session.labelOf(key));
  session.log(
    `${step.number}. ${step.text} → ${names.length === 0 ? "nothing to cancel" : `canceled ${names.join(", ")}`}`,
  );
  unexpectedlyAccepted(step, "accepted");
}

/** Notes a refusal, and fails where the step does not say it. */
export function refused(
  session: Session,
  step: Step,
  refusal: Refused,
  rejects: Placed<string> | null,
  strictness: Strictness,
  explanation: readonly string[] = [],
): void {
  session.log(`${step.number}. ${step.text} → refused: ${refusal.code}`);
  session.refused(step, refusal.code);
  if (rejects?.value === refusal.code) return;
  if (rejects === null) {
    if (strictness === "lenient") return;
    fail(step.place, `refused: ${refusedText(refusal)}`, explanation.map(note));
  }
  fail(rejects.place, `refused with ${refusal.code}, expected ${rejects.value}`, [
    expected(rejects.value),
    found(refusedText(refusal)),
    ...explanation.map(note),
  ]);
}

const notCanceled = (reason: string, name: string): Refused => ({
  ok: false,
  code: reason,
  message: `${name} could not be canceled`,
  hint: null,
});

function unexpectedlyAccepted({ expects }: { readonly expects: OwnExpectations }, outcome: string): void {
  if (expects.rejects === null) return;
  const { place, value } = expects.rejects;
  fail(place, `accepted, expected to be refused with ${value}`, [expected(value), found(outcome)]);
}

async function statusMismatch(
  session: Session,
  { expects }: { readonly expects: OwnExpectations },
  key: OrderKey,
  name: string,
): Promise<Mismatch | null> {
  if (expects.status === null) return null;
  const { place, value } = expects.status;
  return checkLook(session, place, name, key, value, await session.venue.order(key));
}

function throwAll(mismatches: readonly (Mismatch | null)[]): void {
  const real = mismatches.filter((mismatch) => mismatch !== null);
  if (real.length > 0) throw new ScenarioFailure(real);
}
