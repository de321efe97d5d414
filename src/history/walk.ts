import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Decision } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";
import type { ClockSetting } from "../engine/clock.ts";
import { Exchange } from "../engine/exchange.ts";
import type { Journal } from "../engine/journal.ts";
import { commandOf, isNote, type Line, type Notes } from "../engine/journal-line.ts";
import { BEGINNING, type ScanEnd, scan } from "../engine/journal-scan.ts";
import { originOf } from "../engine/origin.ts";
import { type Redone, ReplayDiffers, Replayer, redone } from "../engine/replayer.ts";
import { contentHash } from "../engine/state-hash.ts";
import { demandNotNewer } from "../engine/version.ts";
import type { JournalSource } from "./journal-source.ts";

/** What deciding a line anew has come to. */
export type Outcome =
  | { readonly kind: "note" }
  | { readonly kind: "accepted"; readonly events: readonly DomainEvent[] }
  /** A command comes out otherwise, or one that made the program fail does so no more. */
  | { readonly kind: "differs"; readonly decision: Decision }
  /** The state is another than the line says. */
  | { readonly kind: "other state"; readonly recorded: string; readonly found: string }
  /** A command makes the program fail; `isRecorded` where the journal says just that. */
  | { readonly kind: "fails"; readonly error: Error; readonly isRecorded: boolean }
  /** What comes after a line that differs or fails: nobody can tell. */
  | { readonly kind: "unknown" };

/** One line, and what has come of it. */
export interface Told {
  readonly line: Line;
  /** Of a defect, too: the one that made the program fail. */
  readonly command: Command | null;
  readonly outcome: Outcome;
}

export interface WalkOptions {
  /** The last line to take. */
  readonly to?: number | undefined;
  /** No line of a later moment is taken, nor any after it. */
  readonly until?: Millis | undefined;
  /** Whether each hash of a state is worked out again, which takes long where there are many orders. */
  readonly isVerified?: boolean;
  /** Keeps what is decided anew. */
  readonly journal?: Journal;
}

/** Where a walk has ended. */
export interface WalkEnd {
  /** The end of the journal, whatever of it was taken. */
  readonly scan: ScanEnd;
  /** The last line that was taken. */
  readonly last: Line | null;
  readonly commands: number;
  /** The first line that differs or fails. */
  readonly trouble: Told | null;
}

/** Decides a journal anew, line by line, on an exchange of its own. */
export class Walk {
  readonly exchange: Exchange;
  readonly #source: JournalSource;
  readonly #engine: string;
  readonly #options: WalkOptions;
  readonly #replayer: Replayer;
  #trouble: Told | null = null;
  #last: Line | null = null;

  /** Stands where the journal opens. `engine` is the version of this program. */
  constructor(source: JournalSource, engine: string, options: WalkOptions = {}) {
    const origin = originOf(source.opening, source.path);
    this.exchange = new Exchange(origin.config, origin.start, options.journal);
    this.#source = source;
    this.#engine = engine;
    this.#options = options;
    const reopen = (): void => {
      this.exchange.restart(origin.start);
      origin.play(this.exchange);
    };
    this.#replayer = new Replayer(this.exchange, reopen, source, BEGINNING);
    origin.play(this.exchange);
  }

  /** How the clock ran at the last line that was taken; null when no line says it. */
  get clock(): ClockSetting | null {
    return this.#replayer.clock?.setting ?? null;
  }

  /** Hands on each line once the exchange stands behind it. */
  run(take: (told: Told) => void = () => {}): WalkEnd {
    const { to = Number.POSITIVE_INFINITY, until = Number.POSITIVE_INFINITY } = this.#options;
    let isOver = false;
    const end = scan(this.#source.file, BEGINNING, (line) => {
      demandNotNewer(line, this.#source.path, this.#engine);
      isOver ||= line.n > to || line.t > until;
      if (isOver) return;
      this.#last = line;
      take(this.#told(line));
    });
    return { scan: end, last: this.#last, commands: this.#replayer.commands, trouble: this.#trouble };
  }

  #told(line: Line): Told {
    const defect = isNote(line, "defect") ? line.d : null;
    const command = defect === null ? commandOf(line, this.exchange.state) : defect.command;
    const outcome = this.#trouble === null ? this.#outcome(line, defect) : this.#afterTrouble(defect);
    const told = { line, command, outcome };
    const isTrouble = !["note", "accepted", "unknown"].includes(outcome.kind);
    // A defect that the journal ends with says what is to be thought of the line that has failed.
    if (isTrouble && (this.#trouble === null || outcome.kind === "fails")) this.#trouble = told;
    return told;
  }

  #outcome(line: Line, defect: Notes["defect"] | null): Outcome {
    if (defect !== null) return this.#defect(line.t, defect);
    try {
      const events = this.#replayer.take(line);
      return events === null ? this.#note(line) : { kind: "accepted", events };
    } catch (error) {
      if (!(error instanceof ReplayDiffers)) throw error;
      return outcomeOf(error.redone, null);
    }
  }

  #defect(at: Millis, { command, message }: Notes["defect"]): Outcome {
    return command === null ? { kind: "note" } : outcomeOf(redone(this.exchange, { at, command }), message);
  }

  #note(line: Line): Outcome {
    const recorded = hashIn(line);
    if (recorded === null || this.#options.isVerified !== true) return { kind: "note" };
    const isOfHistory = recorded.startsWith("v2:");
    const found = isOfHistory ? this.exchange.hash : contentHash(this.exchange.state);
    return found === recorded ? { kind: "note" } : { kind: "other state", recorded, found };
  }

  /** A command that failed while it was carried out stands in the journal, and then in what is told of the defect. */
  #afterTrouble(defect: Notes["defect"] | null): Outcome {
    const trouble = this.#trouble;
    if (defect === null || trouble?.outcome.kind !== "fails") return { kind: "unknown" };
    const { error } = trouble.outcome;
    const isRecorded =
      error.message === defect.message && JSON.stringify(trouble.command) === JSON.stringify(defect.command);
    return isRecorded ? { kind: "fails", error, isRecorded } : { kind: "unknown" };
  }
}

/** What came of a command that does not come out as recorded, unless it failed then with the same `message`. */
const outcomeOf = (redone: Redone, message: string | null): Outcome =>
  redone instanceof Error
    ? { kind: "fails", error: redone, isRecorded: redone.message === message }
    : { kind: "differs", decision: redone };

/** The hash of the state that a line tells. */
function hashIn(line: Line): string | null {
  const tells = isNote(line, "opening") || isNote(line, "close") || isNote(line, "report");
  return tells ? line.d.hash : null;
}
