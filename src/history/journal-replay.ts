import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Decision } from "../core/refusals.ts";
import { documentLines } from "../core/state-document.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import type { ClockSetting } from "../engine/clock.ts";
import type { Disk } from "../engine/disk.ts";
import { Exchange } from "../engine/exchange.ts";
import type { Entry, Journal, RefusedEntry } from "../engine/journal.ts";
import {
  BEGINNING,
  type ControlRecords,
  commandOf,
  isControl,
  type Line,
  type OpeningData,
} from "../engine/journal-line.ts";
import { damageText, restoreTargets, scan } from "../engine/journal-scan.ts";
import { type Origin, originOfJournal, originOfState, type StateDocument } from "../engine/origin.ts";
import { ReplayDiffers, Replayer, type ReplayResult, replayCommand } from "../engine/replayer.ts";
import { STATE_FORMAT } from "../engine/state-file.ts";
import { contentHash } from "../engine/state-hash.ts";
import { assertNotNewer, StoreError } from "../engine/store-error.ts";
import { isCorrupt, type JournalSource, openSource } from "./journal-source.ts";
import { endsReport, exchangeAt } from "./report.ts";

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
  /** What comes after a line that differs or fails: nobody knows. */
  | { readonly kind: "unknown" };

/** One line, and what has come of it. */
export interface ReplayedLine {
  readonly line: Line;
  /** Of a defect, too: the one that made the program fail. */
  readonly command: Command | null;
  readonly outcome: Outcome;
}

export interface ReplayOptions {
  /** The last line to take. */
  readonly to?: number | undefined;
  /** No line of a later moment is taken, nor any after it. */
  readonly until?: Millis | undefined;
  /** Whether each hash of a state is worked out again, which takes long where there are many orders. */
  readonly isVerified?: boolean;
  /** Keeps what is decided anew. */
  readonly journal?: Journal;
}

/** Decides the lines of a journal anew, one after another, on an exchange of its own. */
export class LineReplay {
  readonly exchange: Exchange;
  readonly devAccounts: readonly Address[];
  readonly #opening: OpeningData;
  readonly #replayer: Replayer;
  readonly #isVerified: boolean;
  #trouble: ReplayedLine | null = null;

  /** Stands where the journal opens; `wanted` are the lines to which a later one goes back. */
  constructor(
    opening: OpeningData,
    path: string,
    wanted: ReadonlySet<number>,
    options: Pick<ReplayOptions, "isVerified" | "journal"> = {},
  ) {
    const origin = originOfJournal(opening, path);
    this.exchange = new Exchange(origin.config, origin.start, options.journal);
    this.devAccounts = origin.devAccounts;
    this.#opening = opening;
    this.#isVerified = options.isVerified === true;
    const reopen = (): void => origin.play(this.exchange);
    this.#replayer = new Replayer(this.exchange, reopen, path, wanted);
    reopen();
  }

  /** How the clock ran at the last line that was taken. */
  get clock(): ClockSetting {
    const { mode, rate } = this.#opening.clock;
    return this.#replayer.clock?.setting ?? { mode, rate };
  }

  /** How many commands have been decided anew. */
  get commands(): number {
    return this.#replayer.commands;
  }

  /** The first line that differs or fails. */
  get trouble(): ReplayedLine | null {
    return this.#trouble;
  }

  /** Takes the exchange over the next line. */
  take(line: Line): ReplayedLine {
    const defect = isControl(line, "defect") ? line.d : null;
    const command = defect === null ? commandOf(line, this.exchange.state) : defect.command;
    const outcome = this.#trouble === null ? this.#outcome(line, defect) : this.#afterTrouble(defect);
    const told = { line, command, outcome };
    const isTrouble = !["note", "accepted", "unknown"].includes(outcome.kind);
    // A defect that the journal ends with says what is to be thought of the line that has failed.
    if (isTrouble && (this.#trouble === null || outcome.kind === "fails")) this.#trouble = told;
    return told;
  }

  #outcome(line: Line, defect: ControlRecords["defect"] | null): Outcome {
    if (defect !== null) return this.#defect(line.t, defect);
    try {
      const events = this.#replayer.take(line);
      return events === null ? this.#note(line) : { kind: "accepted", events };
    } catch (error) {
      if (!(error instanceof ReplayDiffers)) throw error;
      return outcomeOf(error.result, null);
    }
  }

  #defect(at: Millis, { command, message }: ControlRecords["defect"]): Outcome {
    return command === null
      ? { kind: "note" }
      : outcomeOf(replayCommand(this.exchange, { at, command }), message);
  }

  #note(line: Line): Outcome {
    const recorded = hashIn(line);
    if (recorded === null || !this.#isVerified) return { kind: "note" };
    const isOfHistory = recorded.startsWith("v2:");
    const found = isOfHistory ? this.exchange.hash : contentHash(this.exchange.state);
    return found === recorded ? { kind: "note" } : { kind: "other state", recorded, found };
  }

  /** A command that failed while it was carried out stands in the journal, and then in what is told of the defect. */
  #afterTrouble(defect: ControlRecords["defect"] | null): Outcome {
    const trouble = this.#trouble;
    if (defect === null || trouble?.outcome.kind !== "fails") return { kind: "unknown" };
    const { error } = trouble.outcome;
    const isRecorded =
      error.message === defect.message && JSON.stringify(trouble.command) === JSON.stringify(defect.command);
    return isRecorded ? { kind: "fails", error, isRecorded } : { kind: "unknown" };
  }
}

/** Where a walk has ended. */
export type ReplayEnd = ReturnType<JournalReplay["run"]>;

/** Decides a whole journal anew, or its first lines. */
export class JournalReplay extends LineReplay {
  readonly #source: JournalSource;
  readonly #engine: string;
  readonly #options: ReplayOptions;

  /** Stands where the journal opens. `engine` is the version of this program. */
  constructor(source: JournalSource, engine: string, options: ReplayOptions = {}) {
    super(source.opening, source.path, restoreTargets(source.file, BEGINNING), options);
    this.#source = source;
    this.#engine = engine;
    this.#options = options;
  }

  /** Hands on each line once the exchange stands behind it, and answers where that has ended. */
  run(take: (replayed: ReplayedLine) => void = () => {}) {
    const { to = Number.POSITIVE_INFINITY, until = Number.POSITIVE_INFINITY } = this.#options;
    let last: Line | null = null;
    let isOver = false;
    const end = scan(this.#source.file, BEGINNING, (line) => {
      assertNotNewer(line, this.#source.path, this.#engine);
      isOver ||= line.n > to || line.t > until;
      if (isOver) return;
      last = line;
      take(this.take(line));
    });
    const { commands, trouble } = this;
    const isWhole = !isOver && end.damage === null;
    const isCut = isWhole && !this.#source.isFolder && last !== null && !endsReport(last);
    return {
      /** The end of the journal, whatever of it was taken. */
      scan: end,
      /** The last line that was taken. */
      last: last as Line | null,
      /** Whether all lines of a file that is no data directory's were taken, and the last is none that ends a report. */
      isCut,
      commands,
      /** The first line that differs or fails. */
      trouble,
    };
  }
}

/** What came of a command that does not come out as recorded, unless it failed then with the same `message`. */
const outcomeOf = (result: ReplayResult, message: string | null): Outcome =>
  result instanceof Error
    ? { kind: "fails", error: result, isRecorded: result.message === message }
    : { kind: "differs", decision: result };

/** The hash of the state in a line. */
function hashIn(line: Line): string | null {
  const tells = isControl(line, "opening") || isControl(line, "close") || isControl(line, "report");
  return tells ? line.d.hash : null;
}

/** A refused request, and its line in the journal. */
export interface RefusedLine extends RefusedEntry {
  readonly line: number;
}

interface Kept {
  readonly entry: Entry | RefusedLine;
  readonly before: Kept | null;
}

/**
 * Keeps every accepted command from the very beginning, those of a world's own history among them, and refused requests,
 * as one line of events.
 */
export class EntryLog implements Journal {
  #kept: Kept | null = null;

  append(entry: Entry): void {
    this.#kept = { entry, before: this.#kept };
  }

  refuse(refused: RefusedLine): void {
    this.#kept = { entry: refused, before: this.#kept };
  }

  mark(): unknown {
    return this.#kept;
  }

  rewind(_sequence: number, mark: unknown = null): void {
    this.#kept = mark as Kept | null;
  }

  /** Oldest first. */
  get entries(): Entry[] {
    return this.#all().filter((each) => "command" in each);
  }

  /** The same of refused requests. */
  get refused(): RefusedLine[] {
    return this.#all().filter((each) => "request" in each);
  }

  #all(): (Entry | RefusedLine)[] {
    const all: (Entry | RefusedLine)[] = [];
    for (let kept = this.#kept; kept !== null; kept = kept.before) all.push(kept.entry);
    return all.reverse();
  }
}

/** All that a journal holds. */
export type WholeHistory = ReturnType<typeof wholeHistory>;

/** Decides a journal anew, up to a line or a moment. `engine` is the version of this program. */
export function wholeHistory(
  source: JournalSource,
  engine: string,
  until: Pick<ReplayOptions, "to" | "until"> = {},
) {
  const log = new EntryLog();
  const replay = new JournalReplay(source, engine, { ...until, journal: log });
  const opening = log.entries;
  const end = replay.run(({ line, outcome }) => {
    if (!isControl(line, "refused") || outcome.kind === "unknown") return;
    log.refuse({ sequence: replay.exchange.sequence, at: line.t, request: line.d, line: line.n });
  });
  const { exchange } = replay;
  finishMoment(exchange);
  const { entries } = log;
  const { thrown, now, sequence } = exchange;
  const isKept = entries.at(-1)?.command === thrown?.command;
  const failing: Entry | null =
    thrown === null
      ? null
      : ((isKept ? entries.pop() : null) ?? { sequence: sequence + 1, at: now, command: thrown.command });
  const origin = originOfJournal(source.opening, source.path);
  const { config, start, devAccounts } = origin;
  return {
    config,
    start,
    devAccounts,
    /** Every accepted command of a world's own history; none where the exchange goes on from a state. */
    opening,
    /** A fresh exchange that stands behind them. */
    open: () => exchangeAt(origin),
    /** Every accepted command since then, oldest first. */
    session: entries.slice(opening.length),
    /** What was refused meanwhile, oldest first. */
    refused: log.refused,
    /** The command that makes the program fail behind them; null when none does. */
    failing,
    /** Where it has come to. */
    exchange,
    end,
  };
}

/** A journal that ends or is cut between a command and what time causes at the same moment goes on to the end of that. */
function finishMoment(exchange: Exchange): void {
  if (exchange.thrown !== null) return;
  try {
    exchange.advanceTo(exchange.now);
  } catch (error) {
    if (exchange.thrown === null) throw error;
  }
}

/** Where a history has come to, for another exchange to begin there. */
export interface Beginning {
  readonly origin: Origin;
  /** The last line that is in it. */
  readonly line: number;
  /** How the clock ran then. */
  readonly clock: ClockSetting;
}

/**
 * The exchange that a journal describes, as it stood after a line or at a moment. `engine` is the version of this program.
 * @throws StoreError when there is no such journal, no such line in it, or it is damaged; ReplayDiffers
 */
export function beginningIn(
  disk: Disk,
  name: string,
  engine: string,
  at: Pick<ReplayOptions, "to" | "until">,
): Beginning {
  const source = openSource(disk, name, engine);
  try {
    return begunAt(source, engine, at);
  } finally {
    source.file.close();
  }
}

function begunAt(source: JournalSource, engine: string, at: Pick<ReplayOptions, "to" | "until">): Beginning {
  const replay = new JournalReplay(source, engine, at);
  const { scan, last, trouble } = replay.run();
  if (scan.damage !== null && isCorrupt(source, scan.damage)) {
    throw new StoreError("corrupt", damageText(source.path, source.name, scan.damage));
  }
  if (trouble !== null) return beforeDefect(source, engine, trouble);
  if (last === null || (at.to !== undefined && last.n !== at.to)) {
    const found = at.to ?? "a moment before its first";
    throw new StoreError(
      "usage",
      `--at expects a line of ${source.name}, which has ${scan.number}, found ${found}`,
    );
  }
  const { exchange, clock } = replay;
  // What must follow at the same moment, as the end of a block, follows.
  exchange.advanceTo(exchange.now);
  const { devAccounts } = originOfJournal(source.opening, source.path);
  return { origin: originOfState(documentOf(exchange, devAccounts)), line: last.n, clock };
}

/** The state before a command that makes the program fail, as it did then. @throws ReplayDiffers of any other trouble */
function beforeDefect(
  source: JournalSource,
  engine: string,
  { line, command, outcome }: ReplayedLine,
): Beginning {
  const isRecorded = outcome.kind === "fails" && outcome.isRecorded;
  if (isRecorded && line.n > 1) return begunAt(source, engine, { to: line.n - 1 });
  const result =
    outcome.kind === "fails" ? outcome.error : outcome.kind === "differs" ? outcome.decision : null;
  if (command === null || result === null) throw new Error(`${outcome.kind} at line ${line.n}`);
  throw new ReplayDiffers(source.path, line, command, result);
}

function documentOf(exchange: Exchange, devAccounts: Origin["devAccounts"]): StateDocument {
  const { state, now, sequence } = exchange;
  const header: StateDocument["clobsim"] = { format: STATE_FORMAT, now, sequence, devAccounts };
  const lines = [`{"clobsim":${JSON.stringify(header)},`, ...documentLines(state), "}"];
  return JSON.parse(lines.join("\n")) as StateDocument;
}
