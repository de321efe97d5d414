import { counted } from "../../core/format.ts";
import { type Millis, millis } from "../../core/units.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { flowOf, lineOfRow } from "../../simulation/read-flow.ts";
import { NEXT_ORDER } from "../language/parts.ts";
import type {
  CallStep,
  FlowStep,
  OrderStep,
  RaceStep,
  RequestStep,
  SettlementFaultStep,
  Step,
  StepKind,
  StepOf,
} from "../language/scenario.ts";
import { CALLS, type StepCall } from "../language/steps.ts";
import {
  type Attempt,
  type BrokenRow,
  type FlowOutcome,
  type Refused,
  RowError,
  type Soon,
} from "../venue/views.ts";
import { differences, expected, found, note } from "./diff.ts";
import { checkAll, checkFills, checkOrderState } from "./expectations.ts";
import { shownPath } from "./files.ts";
import type { DiffLine } from "./result.ts";
import {
  BROKEN_INVARIANT,
  defectAt,
  fail,
  type Mismatch,
  RunStopped,
  ScenarioFailure,
  type Session,
} from "./session.ts";
import { fillLike, fillText, momentText, orderStateText, refusedText } from "./words.ts";

/** A race is explored, every other step is done once. */
type TakenStep = Exclude<Step, RaceStep>;

/** Does one step and compares what it says about itself; then every invariant must hold. @throws ScenarioFailure, RunStopped */
export async function takeStep(session: Session, step: TakenStep): Promise<void> {
  if (session.stop()) throw new RunStopped();
  session.steps += 1;
  const callOf = (CALLS as { readonly [Kind in StepKind]?: (of: Step) => StepCall })[step.kind];
  if (callOf !== undefined) await takeRequested(session, step, callOf(step));
  else await (STEPS[step.kind as OtherKind] as Take<TakenStep["kind"]>)(session, step);
  const { judging, venue } = session;
  if (step.kind === "expect" || judging === null) return;
  if (judging.fillsAlone === true && !venue.hasBrokenFill) return;
  const broken = await venue.violations();
  if (broken.length > 0) fail(step.place, BROKEN_INVARIANT, broken.map(note));
}

type Take<Kind extends TakenStep["kind"]> = (session: Session, step: StepOf<Kind>) => Promise<void>;

type OtherKind = Exclude<TakenStep["kind"], keyof typeof CALLS>;

const STEPS: { readonly [Kind in OtherKind]: Take<Kind> } = {
  order: takeOrder,
  cancel: takeCancel,
  cancelAll: (session, step) =>
    take(session, step, session.venue.cancelAll(step.account), ({ canceled }) => {
      const names = canceled.map((key) => session.labelOf(key));
      return names.length === 0 ? "nothing to cancel" : `canceled ${names.join(", ")}`;
    }),
  fund: (session, step) => take(session, step, session.venue.fund(step.account, step.funding)),
  advance: (session, step) => advance(session, step, (now) => now + step.by),
  at,
  snapshot: async (session, step) => {
    session.log(`${step.number}. ${step.text}`);
    session.snapshots.set(step.name, { kept: await session.venue.snapshot(), memory: session.memory });
  },
  restore: async (session, step) => {
    session.log(`${step.number}. ${step.text}`);
    const snapshot = session.snapshots.get(step.name);
    if (snapshot === undefined) fail(step.place, `there is no snapshot ${step.name} yet`);
    await session.venue.restore(snapshot.kept);
    session.memory = snapshot.memory;
  },
  replay: takeFlow,
  generate: takeFlow,
  request: takeRequest,
  expect: async (session, step) => {
    await checkAll(session, step.expectations);
    session.log(`${step.number}. ${step.text}`);
  },
  split: takeCall,
  merge: takeCall,
  redeem: takeCall,
  bots: (session, step) => take(session, step, session.venue.runBots(step.profile)),
  failSettlement: takeSettlementFault,
  chainFault: takeSettlementFault,
};

/** Notes what a step came to, and fails where that is not what the step says. */
async function take<Value>(
  session: Session,
  step: TakenStep,
  attempt: Soon<Attempt<Value>>,
  said?: (value: Value) => string,
): Promise<void> {
  const outcome = await attempt;
  if (!outcome.ok) return refused(session, step, outcome);
  const found = said?.(outcome.value);
  session.log(`${step.number}. ${step.text}${found === undefined ? "" : ` → ${found}`}`);
  requireExpected(step, found);
}

function takeRequested(
  session: Session,
  step: TakenStep,
  { operation, market, body, said }: StepCall,
): Promise<void> {
  const { venue } = session;
  const path = market === undefined ? {} : venue.pathOf(session.marketOf(market));
  return take(session, step, venue.call(operation, { path, ...(body !== undefined && { body }) }), said);
}

function takeCall(session: Session, step: CallStep): Promise<void> {
  return take(
    session,
    step,
    session.venue.transact(step.account, session.marketOf(step.market), step.change),
  );
}

async function takeSettlementFault(session: Session, step: SettlementFaultStep): Promise<void> {
  const { venue } = session;
  if (step.fault === null) {
    await venue.endSettlementFaults(step.kind === "failSettlement" ? "fail" : "all");
    session.log(`${step.number}. ${step.text}`);
    return;
  }
  const { of } = step;
  const order = of === NEXT_ORDER ? "next" : of === null ? null : session.placedAs(of, step.place);
  return take(session, step, venue.setSettlementFault(step.fault, order));
}

async function at(session: Session, step: StepOf<"at">): Promise<void> {
  const { moment } = step;
  if ("at" in moment) return advance(session, step, () => moment.at);
  const { expiration } = await session.venue.order(session.placedAs(moment.expiryOf, step.place));
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

async function takeOrder(session: Session, step: OrderStep): Promise<void> {
  const { venue } = session;
  const before = venue.fillCount();
  const attempt = await venue.place(step.account, step.words);
  if (!attempt.ok) {
    if (step.name !== null)
      session.unplaced.set(step.name, `step ${step.number} was refused with ${attempt.code}`);
    return refused(session, step, attempt);
  }
  const order = attempt.value;
  session.placed(order.key, step.name, step.account);
  session.log(`${step.number}. ${step.text} → ${orderStateText(order)}`);
  const fills = await venue.fills(before);
  for (const fill of fills) session.log(`   ${fillText(fillLike(fill, undefined, session.hasOneMarket))}`);
  requireExpected(step, orderStateText(order));
  throwAll([
    step.fills && (await checkFills(session, step.fills.place, "fills", step.fills.value, fills, fillText)),
    await statusMismatch(session, step, order.key, step.name ?? "the order"),
  ]);
}

async function takeCancel(session: Session, step: StepOf<"cancel">): Promise<void> {
  const { venue } = session;
  const isNeeded = !session.isLenient && step.rejects === null;
  const key = isNeeded ? session.placedAs(step.order, step.place) : session.orderNamed(step.order);
  const attempt = await venue.cancel(step.account, key ?? step.order);
  const [reason] = attempt.ok ? attempt.value.notCanceled : [];
  if (reason === undefined) await take(session, step, attempt, () => "canceled");
  else {
    const explanation = key === undefined ? [] : await session.explain(key);
    const message = `${step.order} could not be canceled`;
    refused(session, step, { ok: false, code: reason, message, hint: null }, explanation);
  }
  if (key !== undefined) throwAll([await statusMismatch(session, step, key, step.order)]);
}

const rejectsOf = (step: TakenStep) => ("rejects" in step ? step.rejects : null);

/** Notes a refusal, and fails where the step does not say it. */
function refused(
  session: Session,
  step: TakenStep,
  refusal: Refused,
  explanation: readonly string[] = [],
): void {
  session.log(`${step.number}. ${step.text} → refused: ${refusal.code}`);
  session.refused(step, refusal.code);
  const rejects = rejectsOf(step);
  if (rejects?.value === refusal.code) return;
  if (rejects === null) {
    if (session.isLenient) return;
    fail(step.place, `refused: ${refusedText(refusal)}`, explanation.map(note));
  }
  fail(rejects.place, `refused with ${refusal.code}, expected ${rejects.value}`, [
    expected(rejects.value),
    found(refusedText(refusal)),
    ...explanation.map(note),
  ]);
}

/** Fails where a step that came to something says that it is refused. */
function requireExpected(step: TakenStep, outcome = "accepted"): void {
  const rejects = rejectsOf(step);
  if (rejects === null) return;
  const { place, value } = rejects;
  fail(place, `accepted, expected to be refused with ${value}`, [expected(value), found(outcome)]);
}

async function statusMismatch(
  session: Session,
  { status }: OrderStep | StepOf<"cancel">,
  key: string,
  name: string,
): Promise<Mismatch | null> {
  if (status === null) return null;
  const { place, value } = status;
  return checkOrderState(session, place, name, key, value);
}

function throwAll(mismatches: readonly (Mismatch | null)[]): void {
  const real = mismatches.filter((mismatch) => mismatch !== null);
  if (real.length > 0) throw new ScenarioFailure(real);
}

/** Sends a request as it stands and compares its answer with what the step says, at least. */
async function takeRequest(session: Session, step: RequestStep): Promise<void> {
  const { code, body, status, wanted } = await session.venue.request(step, (name) =>
    session.orderNamed(name),
  );
  if (code !== null) {
    const { error, hint } = (body ?? {}) as { readonly error?: string; readonly hint?: string };
    refused(session, step, { ok: false, code, message: error ?? "no answer", hint: hint ?? null });
  } else {
    session.log(`${step.number}. ${step.text} → ${status}`);
    requireExpected(step, String(status));
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

/** Plays an order flow, from a file or made from the scenario's seed. @throws ScenarioFailure */
async function takeFlow(session: Session, step: FlowStep): Promise<void> {
  const before = session.venue.fillCount();
  const start = await session.venue.now();
  const flow = await play(session, step, start);
  const fills = session.venue.fillCount() - before;
  session.log(
    `${step.number}. ${step.text} → ${counted(flow.rows, "row")}: ${flow.placed} placed, ${flow.canceled} canceled, ${flow.rejected} refused, ${fills} fills`,
  );
  if (flow.broken !== null) {
    const { violations } = flow.broken;
    fail(step.place, BROKEN_INVARIANT, [
      ...violations.map(note),
      await rowNote(step, start, "after", flow.broken),
    ]);
  }
  const wanted = step.kind === "replay" ? step.rejected : 0;
  if (flow.rejected === wanted) return;
  fail(
    step.place,
    `${flow.rejected} row${flow.rejected === 1 ? " is" : "s are"} refused, expected ${wanted}`,
    flow.firstRejection === null
      ? []
      : [
          note(`the first: ${flow.firstRejection}`),
          note(`where that is meant, the step says rejected: ${flow.rejected}`),
        ],
  );
}

async function play(session: Session, step: FlowStep, start: Millis): Promise<FlowOutcome> {
  const { venue } = session;
  const market = session.marketOf(step.market);
  const grid = await venue.gridOf(market);
  const rows = flowOf(step, { seed: session.scenario.seed, start, grid });
  try {
    return await venue.play(stoppable(rows, session.stop), market, session.judging);
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    const defect = defectAt(step.place, error.cause);
    throw new ScenarioFailure([
      { ...defect, diff: [await rowNote(step, start, "at", error), ...defect.diff] },
    ]);
  }
}

/** Rows that nobody asks whether to stop before. */
const ROWS_AT_ONCE = 250;

async function* stoppable(
  rows: AsyncIterable<readonly FlowRow[]>,
  stop: () => boolean,
): AsyncGenerator<readonly FlowRow[]> {
  for await (const batch of rows) {
    for (let start = 0; start < batch.length; start += ROWS_AT_ONCE) {
      if (stop()) throw new RunStopped();
      yield batch.slice(start, start + ROWS_AT_ONCE);
    }
  }
}

/** `after row 4711 (flow.csv:4712), alice: BUY 10 YES @ 0.55 GTC`. */
async function rowNote(
  step: FlowStep,
  start: Millis,
  when: "at" | "after",
  { row, text }: Pick<BrokenRow, "row" | "text">,
): Promise<DiffLine> {
  return note(`${when} row ${row}${await placeOf(step, row, start)}, ${text}`);
}

async function placeOf(step: FlowStep, row: number, start: Millis): Promise<string> {
  if (step.kind === "generate") return "";
  const line = await lineOfRow(step.file, row, start);
  return line === null ? "" : ` (${shownPath(step.file)}:${line})`;
}
