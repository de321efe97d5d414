import type { ExchangeConfig } from "../../core/state.ts";
import { type Millis, millis } from "../../core/units.ts";
import { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import { RunStopped } from "../../scenario/run/session.ts";
import type { HistoryExpectation, HistoryNames } from "./history-expectation.ts";
import {
  type DeedsToTell,
  type FundingStyle,
  type HistoryScenario,
  historyScenario,
} from "./history-scenario.ts";
import {
  type BrokenDeeds,
  DeedTrial,
  ExpectationTrial,
  type HistoryRefusal,
  type HistoryTrial,
  RefusalTrial,
} from "./history-trial.ts";
import { ddmin } from "./reduction.ts";
import { NotRunInTime, type ShrinkOptions, type ShrunkScenario, shrinkScenario } from "./shrink-scenario.ts";
import { type Deed, deedsOf } from "./trace.ts";
import { type Failed, type Place, Trial, venueOpener } from "./trial.ts";

/** All that an exchange accepted since it was opened, the command at which something was wrong as the last. */
export interface History {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly entries: readonly Entry[];
}

export interface ShrinkHistoryOptions extends ShrinkOptions {
  /** What fails at the end, or is refused there; else a command throws, or an invariant does not hold. */
  readonly expected?: HistoryExpectation | HistoryRefusal | null;
  /** Opens the exchanges to which commands are told; else `new Exchange`. */
  readonly open?: (config: ExchangeConfig, start: Millis) => Exchange;
  /** Opens the exchanges on which the scenario is run; else those of `clobsim run`. */
  readonly openVenue?: Place["open"];
}

/** A history fails, and no scenario can tell it; the message is a sentence for the user. */
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

/** What is kept of the time to write and run the scenario, so many times what telling the commands takes, and more. */
const TELLINGS = 5;
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
  const whole = fresh();
  const deeds = deedsOf(whole, entries);
  const all = expected === null ? deeds : deeds.map((deed) => named(deed, expected.names));
  progress?.(all.length);
  let reserve = 0;
  const isOver = (): boolean => options.isOver?.(reserve) ?? false;
  const trial = trialOf(fresh, whole, expected, isOver);
  const before = performance.now();
  const first = await trial.first(all).catch(notInTime);
  if (first === null) return null;
  reserve = TELLINGS * (performance.now() - before) + LEAST_MS;
  const wanted = expected !== null && "text" in expected ? expected : null;
  const stays = wanted === null ? () => false : marketsOf(all, wanted.names);
  const few = await fewest(first, trial, { stays, isOver, progress });
  const opening = { config, start, count: entries.length, fresh };
  if (trial instanceof RefusalTrial) {
    // As a scenario alone nobody could tell what it still takes to be accepted.
    const hurried = await trial.withoutWaiting(few, start);
    const told = await toldAsScenario(hurried, { ...opening, expected: trial }, options);
    return { ...(await asTold(told, options.written, !isOver())), before: all.length };
  }
  const told = await toldAsScenario(few, { ...opening, expected: wanted }, options);
  return { ...(await shrunkTold(told, options)), before: all.length };
}

/** What tries deeds; `whole` is the exchange of the whole history. */
function trialOf(
  fresh: () => Exchange,
  whole: Exchange,
  expected: HistoryExpectation | HistoryRefusal | null,
  isOver: () => boolean,
): HistoryTrial {
  if (expected === null) return new DeedTrial(fresh, isOver);
  if ("text" in expected) return new ExpectationTrial(fresh, expected, isOver);
  return new RefusalTrial(fresh, whole, expected, isOver);
}

const notInTime = (error: unknown): never => {
  throw error instanceof RunStopped ? new NotRunInTime("the time was over before it had failed once") : error;
};

/** A market gets the name that the scenario will give it. */
function named(deed: Deed, { marketNames }: HistoryNames): Deed {
  const { command, made } = deed;
  if (command?.kind !== "createMarket") return deed;
  return { ...deed, command: { ...command, slug: marketNames.get(made.market) ?? command.slug } };
}

/**
 * Where a session has touched several markets, all of them stay: of one alone, neither an expectation nor its failure names
 * the market.
 */
function marketsOf(all: readonly Deed[], { markets }: HistoryNames): (deed: Deed) => boolean {
  if (markets.length === 1) return () => false;
  const names = new Set(markets);
  const made = all.filter(({ command }) => command?.kind === "createMarket" && names.has(command.slug));
  const events = new Set(made.map(({ command }) => (command?.kind === "createMarket" ? command.event : 0)));
  return (deed) => made.includes(deed) || (deed.made.event > 0 && events.has(deed.made.event));
}

interface Fewest {
  /** Whether a deed is never left out. */
  readonly stays: (deed: Deed) => boolean;
  readonly isOver: () => boolean;
  readonly progress: ShrinkOptions["progress"];
}

/** As few deeds as fail in the same way. */
async function fewest(
  first: BrokenDeeds,
  trial: HistoryTrial,
  { stays, isOver, progress }: Fewest,
): Promise<BrokenDeeds> {
  let few = first;
  const others = (deeds: readonly Deed[]): readonly Deed[] => deeds.filter((deed) => !stays(deed));
  const shrinking = ddmin(
    others(first.deeds),
    async (kept) => {
      const keeps = new Set(kept);
      const deeds = first.deeds.filter((deed) => keeps.has(deed) || stays(deed));
      const broken = await trial.broken(deeds, first.signature);
      if (broken === null) return null;
      if (broken.deeds.length < few.deeds.length) progress?.(broken.deeds.length);
      few = broken;
      return others(broken.deeds);
    },
    isOver,
  );
  await shrinking.catch((error: unknown) => {
    if (!(error instanceof RunStopped)) throw error;
  });
  return few;
}

/** Some deeds as a scenario that fails as they do. */
interface ToldScenario {
  readonly text: string;
  readonly place: Place;
  readonly failed: Failed;
}

/** The scenario reduced as a scenario; where there is no time for it, as it is. */
async function shrunkTold(
  told: ToldScenario,
  { isOver, progress, written }: ShrinkOptions,
): Promise<ShrunkScenario> {
  const options = {
    ...(isOver === undefined ? {} : { isOver }),
    ...(progress === undefined ? {} : { progress }),
    ...(written === undefined ? {} : { written }),
  };
  try {
    const shrunk = await shrinkScenario(told.text, told.place, options);
    if (shrunk === null) throw new Error("a scenario that failed does not fail again");
    return shrunk;
  } catch (error) {
    if (!(error instanceof NotRunInTime)) throw error;
    return asTold(told, written, false);
  }
}

/** The scenario as it is. */
async function asTold(
  { text, failed: { scenario, signature, failure } }: ToldScenario,
  written: ShrinkOptions["written"],
  isMinimal: boolean,
): Promise<ShrunkScenario> {
  await written?.(text);
  const { length: steps } = scenario.steps;
  return { text, signature, failure, before: steps, steps, isMinimal, files: [], remarks: [] };
}

/** The scenario of some deeds, as soon as one way to write it fails as they do. @throws HistoryNotTellable */
async function toldAsScenario(
  { deeds, signature }: BrokenDeeds,
  opening: Omit<DeedsToTell, "deeds" | "signature" | "style">,
  { openVenue = venueOpener(null) }: ShrinkHistoryOptions,
): Promise<ToldScenario> {
  const place: Place = { file: FILE, folder: ".", open: openVenue };
  const sequences = deeds.map(({ sequence }) => sequence);
  const trial = new Trial(place);
  let instead = "";
  for (const style of STYLES) {
    const written: HistoryScenario = historyScenario({ ...opening, deeds, signature, style });
    const outcome = await trial.run(written.text);
    if (outcome.kind === "failed" && outcome.signature.key === signature.key) {
      return { text: written.text, place, failed: outcome };
    }
    const ending =
      outcome.kind === "failed" ? `fails otherwise: ${outcome.signature.sentence}` : `${outcome.kind}`;
    const { unsaid } = written;
    instead ||=
      unsaid.length > 0 ? `no step can say ${unsaid.join(", ")}` : `as a scenario it ${endingText(ending)}`;
  }
  throw new HistoryNotTellable(
    `${counted(deeds)} of ${opening.count} ${deeds.length === 1 ? "is" : "are"} enough to fail (${signature.sentence}; sequences ${sequences.join(", ")}), but ${instead}`,
    sequences,
  );
}

const endingText = (ending: string): string =>
  ending === "passed" ? "passes" : ending === "unreadable" ? "cannot be read" : ending;

const counted = ({ length }: readonly Deed[]): string => `${length} command${length === 1 ? "" : "s"}`;
