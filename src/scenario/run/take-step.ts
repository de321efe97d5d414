import { type Millis, millis } from "../../core/units.ts";
import { unreachable } from "../../core/unreachable.ts";
import { checkAll } from "../expect/check.ts";
import type { ExpectStep } from "../language/plain-steps.ts";
import type { AtStep, RaceStep, SnapshotStep, Step } from "../language/scenario.ts";
import type { Attempt } from "../venue/venue.ts";
import { note } from "./diff.ts";
import { BROKEN_INVARIANT, fail, RunStopped, type Session } from "./session.ts";
import { takeChainStep } from "./take-chain.ts";
import { takeFlow } from "./take-flow.ts";
import { refused, type Strictness, takeCancel, takeCancelAll, takeOrder } from "./take-order.ts";
import { takeFault, takeRequest } from "./take-request.ts";
import { momentText } from "./words.ts";

/** Does one step and compares what it says about itself; then every invariant must hold. @throws ScenarioFailure, RunStopped */
export async function takeStep(
  session: Session,
  step: Exclude<Step, RaceStep>,
  strictness: Strictness = "strict",
): Promise<void> {
  if (session.stop()) throw new RunStopped();
  session.steps += 1;
  await act(session, step, strictness);
  const { judging, venue } = session;
  if (step.kind === "expect" || judging === null) return;
  if (judging.fillsAlone === true && !venue.hasBrokenFill) return;
  const broken = await venue.violations();
  if (broken.length > 0) fail(step.place, BROKEN_INVARIANT, broken.map(note));
}

function act(session: Session, step: Exclude<Step, RaceStep>, strictness: Strictness): Promise<void> | void {
  const { venue } = session;
  switch (step.kind) {
    case "order":
      return takeOrder(session, step, strictness);
    case "cancel":
      return takeCancel(session, step, strictness);
    case "cancelAll":
      return takeCancelAll(session, step, strictness);
    case "fund":
      return done(session, step, venue.fund(step.account, step.funding), strictness);
    case "advance":
      return advance(session, step, (now) => now + step.by);
    case "at":
      return at(session, step);
    case "close":
      return done(session, step, venue.close(session.marketOf(step.market)), strictness);
    case "resolve":
      return done(session, step, venue.resolve(session.marketOf(step.market), step.outcome), strictness);
    case "snapshot":
    case "restore":
      return snapshotOrRestore(session, step);
    case "replay":
    case "generate":
      return takeFlow(session, step);
    case "fault":
      return takeFault(session, step);
    case "request":
      return takeRequest(session, step, strictness);
    case "expect":
      return expectAll(session, step);
    case "split":
    case "merge":
    case "redeem":
    case "mine":
    case "reorg":
    case "failSettlement":
    case "chainFault":
    case "bump":
      return takeChainStep(session, step, strictness);
    default:
      throw unreachable(step);
  }
}

async function expectAll(session: Session, step: ExpectStep): Promise<void> {
  await checkAll(session, step.expectations);
  session.log(`${step.number}. ${step.text}`);
}

async function done(
  session: Session,
  step: Step,
  attempt: Attempt<null> | Promise<Attempt<null>>,
  strictness: Strictness,
): Promise<void> {
  const outcome = await attempt;
  if (outcome.ok) session.log(`${step.number}. ${step.text}`);
  else refused(session, step, outcome, null, strictness);
}

async function at(session: Session, step: AtStep): Promise<void> {
  const { moment } = step;
  if ("at" in moment) return advance(session, step, () => moment.at);
  const key = session.orderNamed(moment.expiryOf);
  if (key === undefined) fail(step.place, session.neverPlaced(moment.expiryOf));
  const { expiration } = await session.venue.order(key);
  if (expiration === null) fail(step.place, `order ${moment.expiryOf} does not expire`);
  return advance(session, step, () => expiration + moment.offset);
}

async function advance(session: Session, step: Step, target: (now: Millis) => number): Promise<void> {
  const now = await session.venue.now();
  const moment = target(now);
  if (moment < now) {
    fail(
      step.place,
      `time never runs backwards: it is ${momentText(now)} already, asked for ${momentText(millis(moment))}`,
    );
  }
  const expired = await session.venue.advanceTo(millis(moment));
  session.log(`${step.number}. ${step.text} → ${momentText(millis(moment))}`);
  for (const { key, at: when } of expired)
    session.log(`   ${session.labelOf(key)} expired at ${momentText(when)}`);
}

async function snapshotOrRestore(session: Session, step: SnapshotStep): Promise<void> {
  session.log(`${step.number}. ${step.text}`);
  if (step.kind === "snapshot") {
    session.snapshots.set(step.name, { kept: await session.venue.snapshot(), memory: session.memory });
    return;
  }
  const snapshot = session.snapshots.get(step.name);
  if (snapshot === undefined) fail(step.place, `there is no snapshot ${step.name} yet`);
  await session.venue.restore(snapshot.kept);
  session.memory = snapshot.memory;
}
