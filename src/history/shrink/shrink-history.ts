import { isCausedByTime } from "../../core/commands.ts";
import { counted } from "../../core/format.ts";
import type { ExchangeConfig } from "../../core/state.ts";
import { runSteps } from "../../core/steps.ts";
import { type Millis, millis } from "../../core/units.ts";
import { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import { VenueOpener } from "../../scenario/venue/open-venue.ts";
import { type TracedCommand, traceCommands } from "../trace.ts";
import {
  type FundingStyle,
  type HistoryExpectation,
  type HistoryNames,
  historyScenario,
  type TraceToWrite,
} from "./history-scenario.ts";
import {
  ExpectationTrial,
  type FailingTrace,
  FailureTrial,
  type HistoryRefusal,
  type HistoryTrial,
  RefusalTrial,
  type TrialSettings,
} from "./history-trial.ts";
import {
  ddmin,
  NotRunInTime,
  type ShrinkOptions,
  type ShrunkScenario,
  shrinkScenario,
} from "./shrink-scenario.ts";
import { type Environment, type Failed, Trial } from "./trial.ts";

/** Commands that an exchange accepted, the failing one last. */
export interface History {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly entries: readonly Entry[];
}

export interface ShrinkHistoryOptions extends ShrinkOptions {
  /** The expectation that fails at the end, or the request refused there; null if a command throws or breaks an invariant. */
  readonly expected?: HistoryExpectation | HistoryRefusal | null;
  /** Opens the exchanges to which commands are applied; default: `new Exchange`. */
  readonly open?: (config: ExchangeConfig, start: Millis) => Exchange;
  /** Opens the exchanges on which the scenario is run; default: as `clobsim run`. */
  readonly openVenue?: Environment["open"];
}

/** No scenario can express the failure of a history; the message is a sentence for the user. */
export class HistoryNotExpressible extends Error {
  override readonly name = "HistoryNotExpressible";
  /** Sequences of commands that are enough to fail. */
  readonly sequences: readonly number[];

  constructor(why: string, sequences: readonly number[]) {
    super(why);
    this.sequences = sequences;
  }
}

const FILE = "history.yaml";
const STYLES: readonly FundingStyle[] = ["header", "steps"];

/** Time reserved for writing and running the scenario: this many times that of applying the commands, and a minimum. */
const RESERVED_RUNS = 5;
const MIN_RESERVED_MS = 300;

/**
 * Reduces a failing history to a scenario that fails in the same way: a command throws, an invariant or an expectation
 * does not hold, or a request is refused. First the commands are reduced, then the scenario of the rest. Returns null if
 * the history does not fail.
 * @throws HistoryNotExpressible, NotRunInTime
 */
export async function shrinkHistory(
  { config, start: opened, entries }: History,
  options: ShrinkHistoryOptions = {},
): Promise<ShrunkScenario | null> {
  const { open = (terms, at) => new Exchange(terms, at), progress, expected = null } = options;
  // The history of a world is from before the time at which its exchange is opened.
  const start = millis(Math.min(opened, entries[0]?.at ?? opened));
  const fresh = (): Exchange => open(config, start);
  const { commands, end } = runSteps(traceCommands(fresh(), entries));
  const trace = commands.filter(
    ({ command, at }, index) => !isCausedByTime(command) || commands[index - 1]?.at !== at,
  );
  const all = expected === null ? trace : trace.map((traced) => named(traced, expected.names));
  progress?.(all.length);
  let reserve = 0;
  const isOver = (): boolean => options.isOver?.(reserve) ?? false;
  const trial = trialOf({ open: fresh, history: end, isOver }, expected);
  const before = performance.now();
  const first = await trial.firstFailure(all).catch(notInTime);
  if (first === null) return null;
  reserve = RESERVED_RUNS * (performance.now() - before) + MIN_RESERVED_MS;
  const expectation = expected !== null && "text" in expected ? expected : null;
  const isKept = expectation === null ? () => false : marketsOf(all, expectation.names);
  const few = await fewest(first, trial, isKept, { isOver, progress });
  const opening = { config, start, count: entries.length, history: end };
  if (trial instanceof RefusalTrial) {
    // The scenario is not reduced, because it lacks the conditions under which the request would be accepted.
    const immediate = await trial.withoutWaiting(few, start);
    const written = await writeScenario(immediate, { ...opening, expected: trial }, options);
    return { ...(await unreduced(written, options.written, !isOver())), before: all.length };
  }
  const written = await writeScenario(few, { ...opening, expected: expectation }, options);
  return { ...(await reduced(written, options)), before: all.length };
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
  throw error instanceof RunStopped ? new NotRunInTime("the time was up before it failed once") : error;
};

/** Gives a created market its name in the scenario. */
function named(traced: TracedCommand, { marketNames }: HistoryNames): TracedCommand {
  const { command, events } = traced;
  const created = events.find(({ kind }) => kind === "marketCreated");
  if (command.kind !== "createMarket" || created?.kind !== "marketCreated") return traced;
  return { ...traced, command: { ...command, slug: marketNames.get(created.market) ?? command.slug } };
}

/**
 * Returns whether a command creates a market of the session, or its event. These are kept if there are several markets,
 * because expectations and failures do not name a single one.
 */
function marketsOf(
  all: readonly TracedCommand[],
  { markets }: HistoryNames,
): (traced: TracedCommand) => boolean {
  if (markets.length === 1) return () => false;
  const names = new Set(markets);
  const eventOf = ({ command }: TracedCommand): number | null =>
    command.kind === "createMarket" && names.has(command.slug) ? command.event : null;
  const events = new Set(all.map(eventOf));
  return (traced) =>
    eventOf(traced) !== null ||
    traced.events.some((event) => event.kind === "eventCreated" && events.has(event.event));
}

/** Leaves out as many commands as possible without changing the failure; `isKept` are never left out. */
async function fewest(
  first: FailingTrace,
  trial: HistoryTrial,
  isKept: (traced: TracedCommand) => boolean,
  { isOver, progress }: { readonly isOver: () => boolean; readonly progress: ShrinkOptions["progress"] },
): Promise<FailingTrace> {
  let few = first;
  const removable = () => few.trace.filter((traced) => !isKept(traced));
  const leaveOut = async (parts: readonly TracedCommand[]): Promise<boolean> => {
    const removed = new Set(parts);
    const trace = few.trace.filter((traced) => !removed.has(traced));
    const failing = await trial.sameFailure(trace, first.fingerprint);
    if (failing === null) return false;
    if (failing.trace.length < few.trace.length) progress?.(failing.trace.length);
    few = failing;
    return true;
  };
  await ddmin(removable, leaveOut, isOver).catch((error: unknown) => {
    if (!(error instanceof RunStopped)) throw error;
  });
  return few;
}

/** Commands as a scenario that fails in the same way. */
interface WrittenTrace {
  readonly text: string;
  readonly environment: Environment;
  readonly failed: Failed;
}

/** Reduces the scenario, if there is time. */
async function reduced(written: WrittenTrace, options: ShrinkOptions): Promise<ShrunkScenario> {
  try {
    const shrunk = await shrinkScenario(written.text, written.environment, options);
    if (shrunk === null) throw new Error("a scenario that failed does not fail again");
    return shrunk;
  } catch (error) {
    if (!(error instanceof NotRunInTime)) throw error;
    return unreduced(written, options.written, false);
  }
}

async function unreduced(
  { text, failed: { scenario, fingerprint, failure } }: WrittenTrace,
  written: ShrinkOptions["written"],
  isMinimal: boolean,
): Promise<ShrunkScenario> {
  await written?.(text);
  const { length: steps } = scenario.steps;
  return { text, fingerprint, failure, before: steps, steps, isMinimal, files: [], remarks: [] };
}

/** Writes commands as a scenario, in the first style in which it fails in the same way. @throws HistoryNotExpressible */
async function writeScenario(
  { trace, fingerprint }: FailingTrace,
  opening: Omit<TraceToWrite, "trace" | "fingerprint" | "style">,
  { openVenue }: ShrinkHistoryOptions,
): Promise<WrittenTrace> {
  const opener = new VenueOpener();
  const local: Environment["open"] = (scenario) => opener.local(scenario);
  const environment: Environment = { file: FILE, folder: ".", open: openVenue ?? local };
  const sequences = trace.map(({ sequence }) => sequence);
  const trial = new Trial(environment);
  let why = "";
  for (const style of STYLES) {
    const { text, unsupported } = historyScenario({ ...opening, trace, fingerprint, style });
    const result = await trial.run(text);
    const isFailed = result.kind === "failed";
    if (isFailed && result.fingerprint.key === fingerprint.key) return { text, environment, failed: result };
    const found = isFailed ? `fails differently: ${result.fingerprint.sentence}` : RESULTS[result.kind];
    why ||=
      unsupported.length > 0
        ? `no step can express ${unsupported.join(", ")}`
        : `the scenario of them ${found}`;
  }
  throw new HistoryNotExpressible(
    `${counted(trace.length, "command")} of ${opening.count} ${trace.length === 1 ? "is" : "are"} enough to fail (${fingerprint.sentence}; sequences ${sequences.join(", ")}), but ${why}`,
    sequences,
  );
}

const RESULTS = { passed: "passes", unreadable: "cannot be read", stopped: "is stopped" } as const;
