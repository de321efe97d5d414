import { shellOption, shellPath } from "../../core/format.ts";
import { FlowError } from "../../simulation/flow.ts";
import { WorldOpeningError } from "../../simulation/opening.ts";
import { type Place, placeText } from "../language/page.ts";
import type { RaceStep, Scenario, SingleStep } from "../language/steps.ts";
import type { Venue } from "../venue/venue.ts";
import { type MaybePromise, NotRunnable, VenueError } from "../venue/views.ts";
import { checkAll } from "./expectations.ts";
import { shownPath } from "./files.ts";
import { refusedText, summaryOf } from "./format.ts";
import {
  type Failure,
  type Mismatch,
  note,
  type RaceOutcome,
  type ScenarioResult,
  type Way,
} from "./result.ts";
import { defectAt, fail, RunStopped, ScenarioFailure, Session, type SessionOptions } from "./session.ts";
import { runStep } from "./steps.ts";

export type OnFailure = (venue: Venue, scenario: Scenario, failure: Failure) => MaybePromise<void>;

export interface RunOptions extends SessionOptions {
  /** Default: in this process. */
  readonly way?: Way;
  readonly open: (scenario: Scenario) => MaybePromise<Venue>;
  /** Null runs all steps. */
  readonly lastStep?: number | null;
  /** Options of `clobsim run` that name the exchange, quoted, for the command that repeats a failure; by default none. */
  readonly flags?: readonly string[];
  /** Called after a failure, before the exchange is closed. */
  readonly failed?: OnFailure | undefined;
}

const RECENT = 6;

/**
 * Runs a scenario; a failure is in the result, as is the reason if the exchange cannot run it.
 * @throws RunStopped if `stop` returned true.
 */
export async function runScenario(scenario: Scenario, options: RunOptions) {
  const started = performance.now();
  let venue: Venue | null = null;
  let session: Session | null = null;
  let failure: Failure | null = null;
  let reason: string | null = null;
  try {
    venue = await options.open(scenario);
    session = new Session(scenario, venue, options);
    for (const { name, place, funding } of scenario.accounts) {
      const opened = await venue.open(name, funding);
      if (opened.ok) continue;
      const cause = { kind: "unfunded", code: opened.code } as const;
      fail(place, `${name} cannot be funded: ${refusedText(opened)}`, [], { cause });
    }
    await runFrom(0, session, options);
  } catch (error) {
    if (error instanceof RunStopped) throw error;
    if (error instanceof NotRunnable) reason = error.message;
    else failure = failureOf(error, scenario, session, options);
    if (failure !== null && venue !== null) await options.failed?.(venue, scenario, failure);
  } finally {
    try {
      await venue?.dispose();
    } catch (error) {
      failure ??= failureOf(error, scenario, session, options);
    }
  }
  const { steps = 0, stateHash = null, races = [], transcript = [] } = session ?? {};
  const { updates = [], recorded = new Map<string, string>() } = session ?? {};
  const { name, place, seed } = scenario;
  const status = failure !== null ? "failed" : reason !== null ? "skipped" : "passed";
  const durationMs = reason === null ? performance.now() - started : 0;
  const finished = { status, reason, failure, steps, durationMs, stateHash, races, transcript } as const;
  const origin = { file: place.file, name, place, seed, way: options.way ?? "process" };
  const result: ScenarioResult = { ...origin, ...finished, written: [] };
  return { result, recorded, updates: failure === null ? updates : ([] as const) };
}

/** Runs the steps from an index on. A race runs those after it once for each order of its own steps. */
async function runFrom(from: number, session: Session, options: RunOptions): Promise<void> {
  const { scenario, venue } = session;
  for (const [index, step] of scenario.steps.entries()) {
    if (index < from) continue;
    if (step.number > (options.lastStep ?? Number.POSITIVE_INFINITY)) break;
    session.step = step;
    if (step.kind === "race") return explore(session, step, () => runFrom(index + 1, session, options));
    await runStep(session, step);
  }
  session.stateHash = await venue.stateHash();
  session.log("end");
  for (const line of await summaryOf(session)) session.log(`   ${line}`);
  if (session.stateHash !== null) session.log(`   state ${session.stateHash}`);
}

function failureOf(error: unknown, scenario: Scenario, session: Session | null, options: RunOptions) {
  const { step = null, transcript = [], orderStart = 0 } = session ?? {};
  const mismatches =
    error instanceof ScenarioFailure ? error.mismatches : [mismatchOf(error, (step ?? scenario).place)];
  return {
    place: (mismatches[0] as Mismatch).place,
    step: step?.number ?? 0,
    text: step?.text ?? "opening",
    ...failureMessage(mismatches),
    mismatches,
    recent: recentIn(transcript.slice(orderStart)),
    repeat: repeatLine(scenario, options.flags, step?.number ?? null),
  };
}

function mismatchOf(error: unknown, place: Place): Mismatch {
  if (error instanceof FlowError) {
    const { line, column, message } = error;
    const file = shownPath(error.file);
    const at = line === 0 ? file : placeText({ file, line, column });
    return { place, message: `${at}: ${message}`, diff: [] };
  }
  const isOutside = error instanceof VenueError || error instanceof WorldOpeningError;
  return isOutside ? { place, message: error.message, diff: [] } : defectAt(place, error);
}

/** Returns the last lines of a transcript, after the step that the first of them belongs to. */
function recentIn(transcript: readonly string[]): readonly string[] {
  const from = Math.max(0, transcript.length - RECENT);
  const recent = transcript.slice(from);
  const step = transcript.slice(0, from + 1).findLastIndex((line) => !line.startsWith(" "));
  if (step < 0 || step === from) return recent;
  return [...transcript.slice(step, step + 1), ...(step + 1 < from ? ["   ..."] : []), ...recent];
}

function failureMessage(mismatches: readonly Mismatch[]): Pick<Failure, "message" | "diff"> {
  const [first, ...more] = mismatches as [Mismatch, ...Mismatch[]];
  if (more.length === 0) return { message: first.message, diff: first.diff };
  const diff = mismatches.flatMap(({ place, message, diff: own }) => [
    note(`line ${place.line}: ${message}`),
    ...own,
  ]);
  return { message: `${first.message}, and ${more.length} more`, diff };
}

/**
 * Runs the steps of a race in every order from the same state and settings, each followed by the rest of the scenario. A refused step
 * is an outcome, unless the step has an expectation.
 */
async function explore(session: Session, race: RaceStep, rest: () => Promise<void>): Promise<void> {
  const { venue, known, snapshots } = session;
  const snapshot = await venue.snapshot();
  const restoreSettings = venue.settingsRestorer();
  const outcomes: RaceOutcome[] = [];
  session.races.push({ place: race.place, step: race.number, outcomes });
  session.steps += 1;
  const orders = permutationsOf(race.steps);
  for (const [index, order] of orders.entries()) {
    if (index > 0) {
      await venue.restore(snapshot);
      restoreSettings();
      session.step = race;
      session.known = known;
      session.snapshots = snapshots;
      session.orderStart = session.transcript.length;
    }
    session.log(`${race.number}. race, order ${index + 1} of ${orders.length}`);
    await inOrder(order, async () => {
      outcomes.push(await outcomeOf(session, order));
      await checkAll(session, race.after);
      await rest();
    });
  }
}

async function outcomeOf(session: Session, order: readonly SingleStep[]): Promise<RaceOutcome> {
  const from = session.transcript.length;
  session.isLenient = true;
  for (const step of order) await runStep(session, step);
  session.isLenient = false;
  return { lines: session.transcript.slice(from), after: await summaryOf(session) };
}

async function inOrder(order: readonly SingleStep[], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ScenarioFailure)) throw error;
    const steps = order.map(({ number, text }) => `${number}. ${text}`).join(", then ");
    const [first, ...more] = error.mismatches as [Mismatch, ...Mismatch[]];
    throw new ScenarioFailure([{ ...first, diff: [...first.diff, note(`in the order ${steps}`)] }, ...more]);
  }
}

/** Returns all orders of the items in lexicographic order, the given order first. */
export function permutationsOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutationsOf([...items.slice(0, index), ...items.slice(index + 1)]).map((others) => [item, ...others]),
  );
}

/** Returns the command line that runs a scenario again, up to a step. */
export function repeatLine(
  { place, seed }: Scenario,
  flags: RunOptions["flags"] = [],
  step: number | null,
): string {
  const last = step === null ? [] : [`--step ${step}`];
  return ["clobsim run", shellPath(place.file), shellOption("seed", seed), ...flags, ...last].join(" ");
}
