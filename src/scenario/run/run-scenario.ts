import { FlowError } from "../../simulation/flow.ts";
import { type Place, placeText } from "../language/page.ts";
import type { RaceStep, Scenario, Step } from "../language/steps.ts";
import type { Venue } from "../venue/venue.ts";
import type { Soon } from "../venue/views.ts";
import { checkAll } from "./expectations.ts";
import { shownPath } from "./files.ts";
import { refusedText, summaryOf } from "./format.ts";
import { type Failure, note, type RaceOutcome, type ScenarioResult, type Way } from "./result.ts";
import {
  defectAt,
  fail,
  type Mismatch,
  RunStopped,
  ScenarioFailure,
  Session,
  type SessionOptions,
  type Update,
} from "./session.ts";
import { runStep } from "./steps.ts";

export type Failed = (venue: Venue, scenario: Scenario, failure: Failure) => Soon<void>;

export interface RunOptions extends SessionOptions {
  readonly way: Way;
  readonly open: (scenario: Scenario) => Soon<Venue>;
  /** Null runs all steps. */
  readonly lastStep?: number | null;
  /** Flags of `clobsim run` that name the exchange, for the command that repeats a failure; by default those of `way`. */
  readonly flags?: readonly string[];
  /** Called after each step that is not in a race. */
  readonly taken?: ((step: Step, venue: Venue) => void) | undefined;
  /** Called after a failure, before the exchange is closed. */
  readonly failed?: Failed | undefined;
}

const RECENT = 6;

/** Runs a scenario; a failure is in the result. @throws RunStopped if `stop` returned true. */
export async function runScenario(scenario: Scenario, options: RunOptions) {
  const started = performance.now();
  const run = new ScenarioRun(scenario, options);
  const failure = await run.failure();
  const result: ScenarioResult = {
    ...skipped(scenario, options.way, null),
    status: failure === null ? "passed" : "failed",
    failure,
    steps: run.session?.steps ?? 0,
    durationMs: performance.now() - started,
    stateHash: run.stateHash,
    races: run.session?.races ?? [],
    transcript: run.session?.transcript ?? [],
  };
  const updates: readonly Update[] = failure === null ? (run.session?.updates ?? []) : [];
  return { result, updates };
}

export const skipped = (scenario: Scenario, way: Way, reason: string | null): ScenarioResult => ({
  file: scenario.place.file,
  name: scenario.name,
  place: scenario.place,
  seed: scenario.seed,
  way,
  status: "skipped",
  reason,
  failure: null,
  steps: 0,
  durationMs: 0,
  stateHash: null,
  races: [],
  transcript: [],
  written: [],
});

class ScenarioRun {
  readonly #scenario: Scenario;
  readonly #options: RunOptions;
  session: Session | null = null;
  stateHash: string | null = null;
  /** The current step, for a failure that has none. */
  #step: Step | null = null;

  constructor(scenario: Scenario, options: RunOptions) {
    this.#scenario = scenario;
    this.#options = options;
  }

  async failure(): Promise<Failure | null> {
    let venue: Venue | null = null;
    try {
      venue = await this.#options.open(this.#scenario);
      this.session = new Session(this.#scenario, venue, this.#options);
      for (const { name, place, funding } of this.#scenario.accounts) {
        const opened = await venue.open(name, funding);
        if (!opened.ok) fail(place, `${name} cannot be funded: ${refusedText(opened)}`);
      }
      await this.#run(this.session, 0);
      return null;
    } catch (error) {
      if (error instanceof RunStopped) throw error;
      const failure = this.#failureOf(error);
      if (venue !== null) await this.#options.failed?.(venue, this.#scenario, failure);
      return failure;
    } finally {
      await venue?.dispose();
    }
  }

  /** Runs the steps from an index on. A race runs those after it once for each order of its own steps. */
  async #run(session: Session, from: number): Promise<void> {
    const { steps } = this.#scenario;
    for (let index = from; index < steps.length; index += 1) {
      const step = steps[index] as Step;
      if (step.number > (this.#options.lastStep ?? Number.POSITIVE_INFINITY)) break;
      this.#step = step;
      if (step.kind === "race") return explore(session, step, () => this.#run(session, index + 1));
      await runStep(session, step);
      this.#options.taken?.(step, session.venue);
    }
    this.stateHash = await session.venue.stateHash();
    session.log("end");
    for (const line of await summaryOf(session)) session.log(`   ${line}`);
    if (this.stateHash !== null) session.log(`   state ${this.stateHash}`);
  }

  #failureOf(error: unknown): Failure {
    const mismatches = error instanceof ScenarioFailure ? error.mismatches : [this.#mismatchOf(error)];
    const step = this.#step;
    return {
      place: (mismatches[0] as Mismatch).place,
      step: step?.number ?? 0,
      text: step?.text ?? "opening",
      ...failureMessage(mismatches),
      recent: recentIn(this.session?.transcript.slice(this.session.orderStart) ?? []),
      repeat: repeatLine(this.#scenario, flagsOf(this.#options), step?.number ?? null),
    };
  }

  #mismatchOf(error: unknown): Mismatch {
    const place: Place = this.#step?.place ?? this.#scenario.place;
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    if (error instanceof FlowError) {
      const { line, column } = error;
      const file = shownPath(error.file);
      return {
        place,
        message: `${line === 0 ? file : placeText({ file, line, column })}: ${message}`,
        diff: [],
      };
    }
    if (name === "VenueError" || name === "WorldOpeningError") return { place, message, diff: [] };
    return defectAt(place, error);
  }
}

/** Returns the last lines of a transcript, after the step that the first of them belongs to. */
function recentIn(transcript: readonly string[]): readonly string[] {
  const from = Math.max(0, transcript.length - RECENT);
  const recent = transcript.slice(from);
  const step = transcript.slice(0, from + 1).findLastIndex((line) => !line.startsWith(" "));
  if (step < 0 || step === from) return recent;
  return [...transcript.slice(step, step + 1), ...(step + 1 < from ? ["   ..."] : []), ...recent];
}

/** Returns the flags of `clobsim run` for the exchange of these options. */
export const flagsOf = ({ way, flags }: Pick<RunOptions, "way" | "flags">): readonly string[] =>
  flags ?? (way === "http" ? ["--via", "http"] : []);

export function failureMessage(mismatches: readonly Mismatch[]): Pick<Failure, "message" | "diff"> {
  const [first, ...more] = mismatches as [Mismatch, ...Mismatch[]];
  if (more.length === 0) return { message: first.message, diff: first.diff };
  const diff = mismatches.flatMap(({ place, message, diff: own }) => [
    note(`line ${place.line}: ${message}`),
    ...own,
  ]);
  return { message: `${first.message}, and ${more.length} more`, diff };
}

/**
 * Runs the steps of a race in every order from the same snapshot, each followed by the rest of the scenario. A refused step
 * is an outcome, unless the step has an expectation.
 */
async function explore(session: Session, race: RaceStep, rest: () => Promise<void>): Promise<void> {
  const start = { kept: await session.venue.snapshot(), memory: session.memory };
  const outcomes: RaceOutcome[] = [];
  session.races.push({ place: race.place, step: race.number, outcomes });
  session.steps += 1;
  const orders = permutationsOf(race.steps);
  for (const [index, order] of orders.entries()) {
    if (index > 0) {
      await session.venue.restore(start.kept);
      session.memory = start.memory;
      session.orderStart = session.transcript.length;
    }
    session.log(`${race.number}. race, order ${index + 1} of ${orders.length}`);
    await inOrder(order, async () => {
      outcomes.push(await outcomeOf(session, order));
      await checkAll(session, race.after);
      await rest();
    });
  }
  await session.venue.forget(start.kept);
}

async function outcomeOf(session: Session, order: readonly Step[]): Promise<RaceOutcome> {
  const from = session.transcript.length;
  session.isLenient = true;
  for (const step of order) {
    if (step.kind === "race") throw new Error("a race within a race");
    await runStep(session, step);
  }
  session.isLenient = false;
  return { lines: session.transcript.slice(from), after: await summaryOf(session) };
}

async function inOrder(order: readonly Step[], run: () => Promise<void>): Promise<void> {
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

const PLAIN = /^[\w./:@%+=-]+$/;

/** Quotes an argument for a POSIX shell. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the command line that runs a scenario again, up to a step. */
export function repeatLine({ place, seed }: Scenario, flags: readonly string[], step: number | null): string {
  const last = step === null ? [] : ["--step", String(step)];
  return ["clobsim", "run", ...[place.file, "--seed", seed, ...flags, ...last].map(shellWord)].join(" ");
}
