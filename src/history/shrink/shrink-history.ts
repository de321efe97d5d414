import { isCausedByTime } from "../../core/commands.ts";
import { counted } from "../../core/format.ts";
import type { ExchangeConfig } from "../../core/state.ts";
import { runSteps } from "../../core/steps.ts";
import { type Millis, millis } from "../../core/units.ts";
import { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import { VenueOpener } from "../../scenario/venue/open-venue.ts";
import { type TracedCommand, traceOf } from "../trace.ts";
import type { HistoryExpectation, HistoryNames } from "./history-expectation.ts";
import { type FundingStyle, historyScenario, type TraceToWrite } from "./history-scenario.ts";
import {
  ExpectationTrial,
  type FailingTrace,
  FailureTrial,
  type HistoryRefusal,
  type HistoryTrial,
  RefusalTrial,
  type TrialSettings,
} from "./history-trial.ts";
import { ddmin } from "./reduction.ts";
import { NotRunInTime, type ShrinkOptions, type ShrunkScenario, shrinkScenario } from "./shrink-scenario.ts";

import { type Failed, type Place, Trial } from "./trial.ts";

/** All that an exchange accepted since it was opened, the command at which something was wrong as the last. */
export interface History {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly entries: readonly Entry[];
}

export interface ShrinkHistoryOptions extends ShrinkOptions {
  /** What fails at the end, or is refused there; else a command throws, or an invariant does not hold. */
  readonly expected?: HistoryExpectation | HistoryRefusal | null;
  /** Opens the exchanges to which commands are applied; else `new Exchange`. */
  readonly open?: (config: ExchangeConfig, start: Millis) => Exchange;
  /** Opens the exchanges on which the scenario is run; else those of `clobsim run`. */
  readonly openVenue?: Place["open"];
}

/** A history fails, and no scenario can express it; the message is a sentence for the user. */
export class HistoryNotTellable extends Error {
  override readonly name = "HistoryNotTellable";
  /** The sequences of the commands that are enough to fail. */
  readonly sequences: readonly number[];

  constructor(why: string, sequences: readonly number[]) {
    super(why);
    this.sequences = sequences;
  }
}

const FILE = "history.yaml";
const STYLES: readonly FundingStyle[] = ["header", "steps"];

/** What is kept of the time to write and run the scenario, so many times what applying the commands takes, and more. */
const RERUNS = 5;
const LEAST_MS = 300;

/**
 * Reduces a history that fails to a scenario that fails in the same way: some command throws, an invariant does not hold,
 * or what is expected at the end does not, or a request is refused there. Commands are left out in this process, those that depend on others with them;
 * the few that remain are written as a scenario, which is run and reduced once more. Null when the history does not fail.
 * @throws HistoryNotTellable, NotRunInTime
 */
export async function shrinkHistory(
  { config, start: opened, entries }: History,
  options: ShrinkHistoryOptions = {},
): Promise<ShrunkScenario | null> {
  const { open = (terms, at) => new Exchange(terms, at), progress, expected = null } = options;
  // A world's own history is from before the moment at which its exchange was opened for others.
  const start = millis(Math.min(opened, entries[0]?.at ?? opened));
  const fresh = (): Exchange => open(config, start);
  const { commands, end } = runSteps(traceOf(fresh(), entries));
  const trace = commands.filter(
    ({ command, at }, index) => !isCausedByTime(command) || commands[index - 1]?.at !== at,
  );
  const all = expected === null ? trace : trace.map((traced) => named(traced, expected.names));
  progress?.(all.length);
  let reserve = 0;
  const isOver = (): boolean => options.isOver?.(reserve) ?? false;
  const trial = trialOf({ open: fresh, history: end, isOver }, expected);
  const before = performance.now();
  const first = await trial.first(all).catch(notInTime);
  if (first === null) return null;
  reserve = RERUNS * (performance.now() - before) + LEAST_MS;
  const wanted = expected !== null && "text" in expected ? expected : null;
  const stays = wanted === null ? () => false : marketsOf(all, wanted.names);
  const few = await fewest(first, trial, stays, { isOver, progress });
  const opening = { config, start, count: entries.length, history: end };
  if (trial instanceof RefusalTrial) {
    // As a scenario alone nobody could tell what it still takes to be accepted.
    const hurried = await trial.withoutWaiting(few, start);
    const told = await asScenario(hurried, { ...opening, expected: trial }, options);
    return { ...(await asWritten(told, options.written, !isOver())), before: all.length };
  }
  const told = await asScenario(few, { ...opening, expected: wanted }, options);
  return { ...(await shrunkFurther(told, options)), before: all.length };
}

function trialOf(
  settings: TrialSettings,
  expected: HistoryExpectation | HistoryRefusal | null,
): HistoryTrial {
  if (expected === null) return new FailureTrial(settings);
  if ("text" in expected) return new ExpectationTrial(settings, expected);
  return new RefusalTrial(settings, expected);
}

const notInTime = (error: unknown): never => {
  throw error instanceof RunStopped ? new NotRunInTime("the time was over before it had failed once") : error;
};

/** A market gets the name that the scenario will give it. */
function named(traced: TracedCommand, { marketNames }: HistoryNames): TracedCommand {
  const { command, events } = traced;
  const created = events.find(({ kind }) => kind === "marketCreated");
  if (command.kind !== "createMarket" || created?.kind !== "marketCreated") return traced;
  return { ...traced, command: { ...command, slug: marketNames.get(created.market) ?? command.slug } };
}

/**
 * Where a session has touched several markets, all of them stay: of one alone, neither an expectation nor its failure names
 * the market.
 */
function marketsOf(
  all: readonly TracedCommand[],
  { markets }: HistoryNames,
): (traced: TracedCommand) => boolean {
  if (markets.length === 1) return () => false;
  const names = new Set(markets);
  const isMade = ({ command }: TracedCommand): boolean =>
    command.kind === "createMarket" && names.has(command.slug);
  const holding = new Set(
    all.map((traced) =>
      isMade(traced) && traced.command.kind === "createMarket" ? traced.command.event : 0,
    ),
  );
  return (traced) =>
    isMade(traced) ||
    traced.events.some((event) => event.kind === "eventCreated" && holding.has(event.event));
}

/** As few commands as fail in the same way; those that `stay` are never left out. */
async function fewest(
  first: FailingTrace,
  trial: HistoryTrial,
  stay: (traced: TracedCommand) => boolean,
  { isOver, progress }: { readonly isOver: () => boolean; readonly progress: ShrinkOptions["progress"] },
): Promise<FailingTrace> {
  let few = first;
  const left = () => few.trace.filter((traced) => !stay(traced));
  const leaveOut = async (parts: readonly TracedCommand[]): Promise<boolean> => {
    const gone = new Set(parts);
    const trace = few.trace.filter((traced) => !gone.has(traced));
    const broken = await trial.broken(trace, first.fingerprint);
    if (broken === null) return false;
    if (broken.trace.length < few.trace.length) progress?.(broken.trace.length);
    few = broken;
    return true;
  };
  await ddmin(left, leaveOut, isOver).catch((error: unknown) => {
    if (!(error instanceof RunStopped)) throw error;
  });
  return few;
}

/** Some commands as a scenario that fails as they do. */
interface WrittenTrace {
  readonly text: string;
  readonly place: Place;
  readonly failed: Failed;
}

/** The scenario reduced as a scenario; where there is no time for it, as it is. */
async function shrunkFurther(told: WrittenTrace, options: ShrinkOptions): Promise<ShrunkScenario> {
  try {
    const shrunk = await shrinkScenario(told.text, told.place, options);
    if (shrunk === null) throw new Error("a scenario that failed does not fail again");
    return shrunk;
  } catch (error) {
    if (!(error instanceof NotRunInTime)) throw error;
    return asWritten(told, options.written, false);
  }
}

/** The scenario as it is. */
async function asWritten(
  { text, failed: { scenario, fingerprint, failure } }: WrittenTrace,
  written: ShrinkOptions["written"],
  isMinimal: boolean,
): Promise<ShrunkScenario> {
  await written?.(text);
  const { length: steps } = scenario.steps;
  return { text, fingerprint, failure, before: steps, steps, isMinimal, files: [], remarks: [] };
}

/** The scenario of some commands, as soon as one way to write it fails as they do. @throws HistoryNotTellable */
async function asScenario(
  { trace, fingerprint }: FailingTrace,
  opening: Omit<TraceToWrite, "trace" | "fingerprint" | "style">,
  { openVenue }: ShrinkHistoryOptions,
): Promise<WrittenTrace> {
  const opener = new VenueOpener();
  const place: Place = { file: FILE, folder: ".", open: openVenue ?? ((scenario) => opener.local(scenario)) };
  const sequences = trace.map(({ sequence }) => sequence);
  const trial = new Trial(place);
  let instead = "";
  for (const style of STYLES) {
    const { text, unsaid } = historyScenario({ ...opening, trace, fingerprint, style });
    const outcome = await trial.run(text);
    const isFailed = outcome.kind === "failed";
    if (isFailed && outcome.fingerprint.key === fingerprint.key) return { text, place, failed: outcome };
    const ending = isFailed ? `fails otherwise: ${outcome.fingerprint.sentence}` : ENDINGS[outcome.kind];
    instead ||= unsaid.length > 0 ? `no step can say ${unsaid.join(", ")}` : `as a scenario it ${ending}`;
  }
  throw new HistoryNotTellable(
    `${counted(trace.length, "command")} of ${opening.count} ${trace.length === 1 ? "is" : "are"} enough to fail (${fingerprint.sentence}; sequences ${sequences.join(", ")}), but ${instead}`,
    sequences,
  );
}

const ENDINGS = { passed: "passes", unreadable: "cannot be read", stopped: "is stopped" } as const;
