import type { ExchangeConfig } from "../../core/state.ts";
import { type Millis, millis } from "../../core/units.ts";
import { Exchange } from "../../runtime/exchange.ts";
import type { Entry } from "../../runtime/journal.ts";
import { ddmin } from "./ddmin.ts";
import { type BrokenDeeds, DeedTrial } from "./deed-trial.ts";
import { type Deed, deedsOf } from "./deeds.ts";
import { type FundingStyle, type HistoryScenario, historyScenario } from "./history-scenario.ts";
import { type ShrinkOptions, type ShrunkScenario, shrinkScenario } from "./shrink-scenario.ts";
import { type Place, Trial } from "./trial.ts";
import { venueOpener } from "./venue-opener.ts";

/** All that an exchange accepted since it was opened, the command at which something was wrong as the last. */
export interface History {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly entries: readonly Entry[];
}

export interface ShrinkHistoryOptions extends ShrinkOptions {
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

/**
 * Reduces a history that fails to a scenario that fails in the same way: some command throws, or after it an invariant
 * does not hold. Commands are left out in this process, those that depend on others with them; the few that remain are
 * written as a scenario, which is run and reduced once more. Null when the history does not fail.
 * @throws HistoryNotTellable
 */
export async function shrinkHistory(
  { config, start: opened, entries }: History,
  options: ShrinkHistoryOptions = {},
): Promise<ShrunkScenario | null> {
  const { open = (terms, at) => new Exchange(terms, at), isOver, progress, written } = options;
  // A world's own history is from before the moment at which its exchange was opened for others.
  const start = millis(Math.min(opened, entries[0]?.at ?? opened));
  const fresh = (): Exchange => open(config, start);
  const all = deedsOf(fresh(), entries);
  progress?.(all.length);
  const trial = new DeedTrial(fresh);
  const first = trial.first(all);
  if (first === null) return null;
  const few = await fewest(first, trial, options);
  const told = await toldAsScenario(few, { config, start }, entries.length, fresh, options);
  const shrunk = await shrinkScenario(told.text, told.place, {
    ...(isOver === undefined ? {} : { isOver }),
    ...(progress === undefined ? {} : { progress }),
    ...(written === undefined ? {} : { written }),
  });
  if (shrunk === null) throw new Error("a scenario that failed does not fail again");
  return { ...shrunk, before: all.length };
}

/** As few deeds as fail in the same way. */
async function fewest(first: BrokenDeeds, trial: DeedTrial, options: ShrinkOptions): Promise<BrokenDeeds> {
  let few = first;
  await ddmin(
    first.deeds,
    async (kept) => {
      const broken = trial.broken(kept, first.signature);
      if (broken === null) return null;
      if (broken.deeds.length < few.deeds.length) options.progress?.(broken.deeds.length);
      few = broken;
      return broken.deeds;
    },
    () => options.isOver?.(0) ?? false,
  );
  return few;
}

/** The scenario of some deeds, as soon as one way to write it fails as they do. @throws HistoryNotTellable */
async function toldAsScenario(
  { deeds, signature }: BrokenDeeds,
  opening: Pick<History, "config" | "start">,
  count: number,
  fresh: () => Exchange,
  { openVenue = venueOpener(null) }: ShrinkHistoryOptions,
): Promise<{ readonly text: string; readonly place: Place }> {
  const place: Place = { file: FILE, folder: ".", open: openVenue };
  const sequences = deeds.map(({ sequence }) => sequence);
  const trial = new Trial(place);
  let instead = "";
  for (const style of STYLES) {
    const written: HistoryScenario = historyScenario({ ...opening, deeds, fresh, signature, count, style });
    const outcome = await trial.run(written.text);
    if (outcome.kind === "failed" && outcome.signature.key === signature.key) {
      return { text: written.text, place };
    }
    const ending =
      outcome.kind === "failed" ? `fails otherwise: ${outcome.signature.sentence}` : `${outcome.kind}`;
    const { unsaid } = written;
    instead ||=
      unsaid.length > 0 ? `no step can say ${unsaid.join(", ")}` : `as a scenario it ${endingText(ending)}`;
  }
  throw new HistoryNotTellable(
    `${counted(deeds)} of ${count} ${deeds.length === 1 ? "is" : "are"} enough to fail (${signature.sentence}; sequences ${sequences.join(", ")}), but ${instead}`,
    sequences,
  );
}

const endingText = (ending: string): string =>
  ending === "passed" ? "passes" : ending === "unreadable" ? "cannot be read" : ending;

const counted = ({ length }: readonly Deed[]): string => `${length} command${length === 1 ? "" : "s"}`;
