import { faultWords } from "../../api/chain.ts";
import { counted } from "../../core/format.ts";
import { toIso } from "../../core/time.ts";
import { MAX_MILLIS, type Millis, millis } from "../../core/units.ts";
import type { FlowRow } from "../../simulation/flow.ts";
import { flowOf, lineOfRow } from "../../simulation/read-flow.ts";
import { NEXT_ORDER } from "../language/order-line.ts";
import { within } from "../language/request-step.ts";
import {
  CALLS,
  type FlowStep,
  type RequestStep,
  type SingleStep,
  type Step,
  type StepCall,
  type StepKind,
  type StepOf,
} from "../language/steps.ts";
import {
  type Attempt,
  type BrokenRow,
  type FlowResult,
  type MaybePromise,
  partIn,
  priceOf,
  type Refused,
  sizeOf,
} from "../venue/views.ts";
import { checkAll, checkFills, checkOrderState } from "./expectations.ts";
import { shownPath } from "./files.ts";
import { fillLike, fillText, orderStateText, refusedText } from "./format.ts";
import { type DiffLine, differences, expected, found, type Mismatch, note } from "./result.ts";
import { defectAt, fail, ScenarioFailure, type Session } from "./session.ts";

/** Runs a step, compares its result, then checks invariants. @throws ScenarioFailure, RunStopped */
export async function runStep(session: Session, step: SingleStep): Promise<void> {
  session.stopIfDue();
  session.steps += 1;
  const callOf = (CALLS as { readonly [Kind in StepKind]?: (of: Step) => StepCall })[step.kind];
  if (callOf !== undefined) await runCall(session, step, callOf(step));
  else await (STEPS[step.kind as OtherKind] as Run<SingleStep["kind"]>)(session, step);
  const { checks, venue } = session;
  if (step.kind === "expect" || checks === null) return;
  const broken = await venue.violations(checks);
  if (broken.length > 0) failByInvariants(step, broken);
}

/** Fails because of invariants that do not hold, a sentence each that begins with its name. */
function failByInvariants(
  { place }: Step,
  broken: readonly string[],
  notes: DiffLine[] = [],
  row?: number,
): never {
  const [name = ""] = (broken[0] ?? "").split(": ");
  const message = "an invariant does not hold, which is a defect of clobsim";
  fail(place, message, [...broken.map(note), ...notes], {
    cause: { kind: "invariant", name },
    ...(row !== undefined && { row }),
  });
}

type Run<Kind extends SingleStep["kind"]> = (session: Session, step: StepOf<Kind>) => Promise<void>;

type OtherKind = Exclude<SingleStep["kind"], keyof typeof CALLS>;

const STEPS: { readonly [Kind in OtherKind]: Run<Kind> } = {
  order: runOrder,
  cancel: runCancel,
  cancelAll: (session, step) =>
    complete(session, step, session.venue.cancelAll(step.account), ({ canceled }) => {
      const names = canceled.map((key) => session.labelOf(key));
      return names.length === 0 ? "nothing to cancel" : `canceled ${names.join(", ")}`;
    }),
  fund: (session, step) => complete(session, step, session.venue.open(step.account, [step.funding])),
  advance: (session, step) => advance(session, step, (now) => now + step.by),
  at,
  snapshot: async (session, step) => {
    session.log(`${step.number}. ${step.text}`);
    const taken = { state: await session.venue.snapshot(), known: session.known };
    session.snapshots = new Map([...session.snapshots, [step.name, taken]]);
  },
  restore: async (session, step) => {
    session.log(`${step.number}. ${step.text}`);
    const snapshot = session.snapshots.get(step.name);
    if (snapshot === undefined) fail(step.place, `there is no snapshot ${step.name} yet`);
    await session.venue.restore(snapshot.state);
    session.returnTo(snapshot.known);
  },
  replay: runFlow,
  generate: runFlow,
  request: runRequest,
  expect: async (session, step) => {
    await checkAll(session, step.expectations);
    session.log(`${step.number}. ${step.text}`);
  },
  split: runTransaction,
  merge: runTransaction,
  redeem: runTransaction,
  failSettlement: runSettlementFault,
  chainFault: runSettlementFault,
};

/** Logs the result of a step, and fails if it is not the expected one. */
async function complete<Value>(
  session: Session,
  step: SingleStep,
  attempt: MaybePromise<Attempt<Value>>,
  transcript?: (value: Value) => string,
): Promise<void> {
  const result = await attempt;
  if (!result.ok) return refused(session, step, result);
  const found = transcript?.(result.value);
  session.log(`${step.number}. ${step.text}${found === undefined ? "" : ` → ${found}`}`);
  requireAccepted(step, found);
}

function runCall(session: Session, step: SingleStep, call: StepCall): Promise<void> {
  const { operation, market, body, transcript } = call;
  const { venue } = session;
  const path = market === undefined ? {} : venue.pathOf(session.marketOf(market));
  const reply = venue.call(operation, { path, ...(body !== undefined && { body }) });
  return complete(session, step, reply, transcript);
}

function runTransaction(session: Session, step: StepOf<"split" | "merge" | "redeem">): Promise<void> {
  const { account, market, change } = step;
  return complete(session, step, session.venue.transact(account, session.marketOf(market), change));
}

async function runSettlementFault(session: Session, step: StepOf<"failSettlement" | "chainFault">) {
  const { venue } = session;
  const which = step.kind === "failSettlement" ? "fail" : "all";
  if (step.fault === null) return complete(session, step, venue.endSettlementFaults(which));
  const { of } = step;
  const order = of === NEXT_ORDER ? "next" : of === null ? null : session.placedAs(of, step.place);
  const body = { ...faultWords(step.fault), ...(order === null ? {} : { of: order }) };
  return complete(session, step, venue.call("addSettlementFault", { body }));
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
    const requested = toIso(millis(moment));
    fail(step.place, `time never goes back: it is ${toIso(now)} now, requested ${requested}`);
  }
  if (moment > MAX_MILLIS)
    fail(step.place, `the clock ends at ${toIso(MAX_MILLIS)}, it is ${toIso(now)} now`);
  const expired = await session.venue.advanceTo(millis(moment));
  session.log(`${step.number}. ${step.text} → ${toIso(millis(moment))}`);
  for (const { key, at: when } of expired)
    session.log(`   ${session.labelOf(key)} expired at ${toIso(when)}`);
}

async function runOrder(session: Session, step: StepOf<"order">): Promise<void> {
  const { venue } = session;
  const before = venue.fillCount();
  const attempt = await venue.place(step.account, step.words);
  if (!attempt.ok) {
    if (step.name !== null) session.unplaced(step.name, step.number, attempt.code);
    return refused(session, step, attempt);
  }
  const order = attempt.value;
  session.placed(order.key, step.name, step.account);
  session.log(`${step.number}. ${step.text} → ${orderStateText(order)}`);
  const fills = await venue.fills(before);
  for (const fill of fills) session.log(`   ${fillText(fillLike(fill, undefined, session.hasOneMarket))}`);
  requireAccepted(step, orderStateText(order));
  throwAll([
    step.fills && (await checkFills(session, step.fills.place, "fills", step.fills.value, fills, fillText)),
    step.status && (await checkOrderState(session, step.status, step.name ?? "the order", order.key)),
  ]);
}

/** Returns the key of an order that a step names. It may be unknown in a race, and if the step should be refused. */
function keyOf(session: Session, step: StepOf<"cancel" | "request">, name: string): string | undefined {
  const isNeeded = !session.isLenient && step.rejects === null;
  return isNeeded ? session.placedAs(name, step.place) : session.orderNamed(name);
}

async function runCancel(session: Session, step: StepOf<"cancel">): Promise<void> {
  const { venue } = session;
  const key = keyOf(session, step, step.order);
  const attempt = await venue.cancel(step.account, key ?? step.order);
  const [reason] = attempt.ok ? Object.values(partIn(attempt.value, "notCanceled")) : [];
  if (reason === undefined) await complete(session, step, attempt, () => "canceled");
  else {
    const explanation = key === undefined ? [] : await session.explain(key);
    const message = `${step.order} could not be canceled`;
    refused(session, step, { ok: false, code: reason, message, hint: null }, explanation);
  }
  if (key !== undefined && step.status !== null)
    throwAll([await checkOrderState(session, step.status, step.order, key)]);
}

const rejectsOf = (step: SingleStep) => ("rejects" in step ? step.rejects : null);

/** Logs a refusal, and fails if the step does not expect it. */
function refused(session: Session, step: SingleStep, refusal: Refused, explanation: readonly string[] = []) {
  session.log(`${step.number}. ${step.text} → refused: ${refusal.code}`);
  session.options.refused?.(step, refusal.code);
  const rejects = rejectsOf(step);
  if (rejects?.value === refusal.code) return;
  if (rejects === null) {
    if (session.isLenient) return;
    const [who = ""] = step.text.split(":");
    const cause = { kind: "refused", who, refusal } as const;
    fail(step.place, `refused: ${refusedText(refusal)}`, explanation.map(note), { cause });
  }
  fail(rejects.place, `refused with ${refusal.code}, expected ${rejects.value}`, [
    expected(rejects.value),
    found(refusedText(refusal)),
    ...explanation.map(note),
  ]);
}

/** Fails if an accepted step was expected to be refused. */
function requireAccepted(step: SingleStep, result = "accepted"): void {
  const rejects = rejectsOf(step);
  if (rejects === null) return;
  const { place, value } = rejects;
  const diff = [expected(value), found(result)];
  fail(place, `accepted, expected to be refused with ${value}`, diff, { cause: { kind: "accepted" } });
}

function throwAll(mismatches: readonly (Mismatch | null)[]): void {
  const real = mismatches.filter((mismatch) => mismatch !== null);
  if (real.length > 0) throw new ScenarioFailure(real);
}

/** Sends the request of a step and compares its answer. */
async function runRequest(session: Session, step: RequestStep): Promise<void> {
  const { venue } = session;
  const withIds = venue.withIds((name) => keyOf(session, step, name) ?? name);
  const { code, body, status } = await venue.request(step, withIds);
  const answer = within(step.answers?.value, withIds);
  if (code !== null) {
    const { error, hint } = (body ?? {}) as { readonly error?: string; readonly hint?: string };
    refused(session, step, { ok: false, code, message: error ?? "no answer", hint: hint ?? null });
  } else {
    session.log(`${step.number}. ${step.text} → ${status}`);
    requireAccepted(step, String(status));
  }
  if (step.answers === null) return;
  const wrong = differences(answer, body).flatMap(({ path, wanted, seen }) => [
    expected(`${path}: ${wanted}`),
    found(`${path}: ${seen}`),
  ]);
  if (wrong.length > 0) fail(step.answers.place, "the answer is not as expected", wrong);
}

/** Plays an order flow from a file, or generated from the scenario's seed. @throws ScenarioFailure */
async function runFlow(session: Session, step: FlowStep): Promise<void> {
  const before = session.venue.fillCount();
  const flow = await play(session, step);
  const fills = session.venue.fillCount() - before;
  session.log(
    `${step.number}. ${step.text} → ${counted(flow.rows, "row")}: ${flow.placed} placed, ${flow.canceled} canceled, ${flow.rejected} refused, ${fills} fills`,
  );
  if (flow.broken !== null) {
    const { violations, row } = flow.broken;
    failByInvariants(step, violations, [await rowNote(step, "after", flow.broken)], row);
  }
  const wanted = step.kind === "replay" ? step.rejected : 0;
  if (flow.rejected === wanted) return;
  const message = `${flow.rejected} row${flow.rejected === 1 ? " is" : "s are"} refused, expected ${wanted}`;
  if (flow.firstRejection === null) fail(step.place, message);
  const { row, text, who, refusal } = flow.firstRejection;
  const notes = [
    note(`the first: row ${row}, ${text}: ${refusedText(refusal)}`),
    note(`if this is intended, add rejected: ${flow.rejected} to the step`),
  ];
  const cause = { kind: "refused", who, refusal } as const;
  fail(step.place, message, notes, { row, ...(wanted === 0 && { cause }) });
}

async function play(session: Session, step: FlowStep): Promise<FlowResult> {
  const { venue } = session;
  const start = await venue.now();
  const market = session.marketOf(step.market);
  const { tickSize, minOrderSize } = await venue.ask("getMarket", { path: venue.pathOf(market) });
  const grid = { tickSize: priceOf(tickSize), minOrderSize: sizeOf(minOrderSize) };
  const rows = flowOf(step, { seed: session.scenario.seed, start, grid });
  const flow = await venue.play(stoppable(rows, session), market, session.checks);
  if (flow.broken?.error === undefined) return flow;
  const defect = defectAt(step.place, flow.broken.error);
  const diff = [await rowNote(step, "at", flow.broken), ...defect.diff];
  throw new ScenarioFailure([{ ...defect, diff, row: flow.broken.row }]);
}

async function* stoppable(batches: AsyncIterable<readonly FlowRow[]>, session: Session) {
  for await (const rows of batches) {
    session.stopIfDue();
    yield rows;
  }
}

/** `after row 4711 (flow.csv:4712), alice: BUY 10 YES @ 0.55 GTC`. */
async function rowNote(step: FlowStep, when: "at" | "after", { row, text }: BrokenRow): Promise<DiffLine> {
  const line = step.kind === "generate" ? null : await lineOfRow(step.file, row);
  const place = step.kind === "generate" || line === null ? "" : ` (${shownPath(step.file)}:${line})`;
  return note(`${when} row ${row}${place}, ${text}`);
}
