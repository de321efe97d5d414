import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Decision } from "../core/refusals.ts";
import { documentLines } from "../core/state-document.ts";
import { Table } from "../core/table.ts";
import type { Millis } from "../core/units.ts";
import type { ClockSetting } from "../engine/clock.ts";
import type { Disk } from "../engine/disk.ts";
import { Exchange } from "../engine/exchange.ts";
import { type Accepted, DataFileError, type Journal, type RefusedEntry } from "../engine/journal.ts";
import {
  assertNotNewer,
  BEGINNING,
  type ControlRecords,
  commandOf,
  isControl,
  type Line,
  type OpeningData,
} from "../engine/journal-line.ts";
import { restoreTargets, scan } from "../engine/journal-scan.ts";
import {
  exchangeAt,
  type Origin,
  originOfJournal,
  originOfState,
  type StateDocument,
} from "../engine/origin.ts";
import {
  ReplayDiffers,
  Replayer,
  type ReplayResult,
  replayCommand,
  stateMismatch,
} from "../engine/replayer.ts";
import { STATE_FORMAT } from "../engine/state-file.ts";
import { assertIntact, type JournalSource, openSource } from "./journal-files.ts";
import { CUT_WARNING, endsReport } from "./report.ts";

/** Result of replaying a line. */
export type LineResult =
  /** A control record without anything to compare. */
  | { readonly kind: "control" }
  | { readonly kind: "accepted"; readonly events: readonly DomainEvent[] }
  /** The decision is not the recorded one, or a command that threw then does not throw now. */
  | { readonly kind: "differs"; readonly decision: Decision }
  /** The hash of the state is not the recorded one. */
  | { readonly kind: "other state"; readonly recorded: string; readonly found: string }
  /** A command throws; `isRecorded` if the journal has the same error. */
  | { readonly kind: "fails"; readonly error: Error; readonly isRecorded: boolean }
  /** Not replayed, because an earlier line differs or fails. */
  | { readonly kind: "unknown" };

export interface ReplayedLine {
  readonly line: Line;
  /** Command of the line; of a defect, the one that threw; null if the line has none. */
  readonly command: Command | null;
  readonly result: LineResult;
}

interface ReplayLimit {
  /** Last line to replay. */
  readonly to?: number | undefined;
  /** The replay stops before the first line with a later time. */
  readonly until?: Millis | undefined;
}

interface ReplayOptions extends ReplayLimit {
  /** Whether recorded hashes of the state are compared, which is slow if there are many orders. */
  readonly verifiesHashes?: boolean;
  readonly journal?: Journal;
}

/** Replays the lines of a journal one by one on its own exchange. */
export class LineReplay {
  readonly exchange: Exchange;
  readonly origin: Origin;
  readonly opening: OpeningData;
  readonly #replayer: Replayer;
  readonly #verifiesHashes: boolean;
  /** First line that differs or fails; null if there is none. */
  problem: ReplayedLine | null = null;

  /** Starts at the opening of the journal; `wanted` are the lines whose state a later line restores. */
  constructor(
    opening: OpeningData,
    path: string,
    wanted: ReadonlySet<number>,
    options: Pick<ReplayOptions, "verifiesHashes" | "journal"> = {},
  ) {
    const origin = originOfJournal(opening, path);
    this.exchange = new Exchange(origin.config, origin.start, options.journal);
    this.origin = origin;
    this.opening = opening;
    this.#verifiesHashes = options.verifiesHashes === true;
    this.#replayer = new Replayer(this.exchange, origin, path, wanted);
    origin.play(this.exchange);
  }

  /** Clock setting after the last replayed line. */
  get clock(): ClockSetting {
    const { mode, rate } = this.opening.clock;
    return this.#replayer.clock?.setting ?? { mode, rate };
  }

  get commands(): number {
    return this.#replayer.commands;
  }

  take(line: Line): ReplayedLine {
    const defect = isControl(line, "defect") ? line.d : null;
    const command = defect === null ? commandOf(line, this.exchange.state) : defect.command;
    const result = this.problem === null ? this.#replay(line, defect) : this.#afterProblem(defect);
    const replayed = { line, command, result };
    // The record of a defect, the last line, says whether the failure of an earlier line is the recorded one.
    if (!["control", "accepted", "unknown"].includes(result.kind)) this.problem = replayed;
    return replayed;
  }

  #replay(line: Line, defect: ControlRecords["defect"] | null): LineResult {
    if (defect !== null) {
      const { command, message } = defect;
      if (command === null) return { kind: "control" };
      return problemOf(replayCommand(this.exchange, { at: line.t, command }), message);
    }
    try {
      const events = this.#replayer.take(line);
      if (events !== null) return { kind: "accepted", events };
      const hashes = this.#verifiesHashes ? stateMismatch(line, this.exchange) : null;
      return hashes === null ? { kind: "control" } : { kind: "other state", ...hashes };
    } catch (error) {
      if (!(error instanceof ReplayDiffers)) throw error;
      return problemOf(error.result, null);
    }
  }

  /** A command that threw while it was applied is in the journal twice: in its own line, and in the record of the defect. */
  #afterProblem(defect: ControlRecords["defect"] | null): LineResult {
    const problem = this.problem;
    if (defect === null || problem?.result.kind !== "fails") return { kind: "unknown" };
    const { error } = problem.result;
    const isRecorded =
      error.message === defect.message && JSON.stringify(problem.command) === JSON.stringify(defect.command);
    return isRecorded ? { kind: "fails", error, isRecorded } : { kind: "unknown" };
  }
}

export type ReplayEnd = ReturnType<typeof replayJournalLines>;

/** Replays a whole journal, or its first lines, and calls `take` after each line. */
export function replayJournalLines(
  source: JournalSource,
  options: ReplayOptions = {},
  take: (replayed: ReplayedLine, exchange: Exchange) => void = () => {},
) {
  const { to = Number.POSITIVE_INFINITY, until = Number.POSITIVE_INFINITY } = options;
  const { path, name, file, isFolder } = source;
  const replay = new LineReplay(source.opening, path, restoreTargets(file, BEGINNING), options);
  const { exchange, origin } = replay;
  const { sequence: openingSequence } = exchange;
  let last: Line | null = null;
  let isOver = false;
  const end = scan(file, BEGINNING, (line) => {
    assertNotNewer(line, path);
    isOver ||= line.n > to || line.t > until;
    if (isOver) return;
    last = line;
    take(replay.take(line), exchange);
  });
  const { clock, commands, problem } = replay;
  const isWhole = !isOver && end.damage === null;
  const isCut = isWhole && !isFolder && last !== null && !endsReport(last);
  return {
    exchange,
    origin,
    /** Sequence after the opening. */
    openingSequence,
    /** Clock setting after the last replayed line. */
    clock,
    /** End of the journal, which may be after the last replayed line. */
    scan: end,
    last: last as Line | null,
    /** Says that the last line of a report is missing; null if it is there. */
    cutWarning: isCut ? `${name}: ${CUT_WARNING}` : null,
    commands,
    problem,
  };
}

/** Describes the line that a replay should have ended at, if the journal does not have it; else returns null. */
export function missingLine({ name }: JournalSource, { to }: ReplayLimit, { last, scan }: ReplayEnd) {
  if (last !== null && (to === undefined || last.n >= to)) return null;
  return `expects a line of ${name}, which has ${scan.number}, found ${to ?? "a time before its first"}`;
}

/** `message` is that of the recorded error; null if none is recorded. */
const problemOf = (result: ReplayResult, message: string | null): LineResult =>
  result instanceof Error
    ? { kind: "fails", error: result, isRecorded: result.message === message }
    : { kind: "differs", decision: result };

/** A refused request with its line in the journal. */
export interface RefusedLine extends RefusedEntry {
  readonly line: number;
}

/** Records in memory every accepted command, those of the opening included, and refused requests. */
function entryLog() {
  let items = new Table<Accepted | RefusedLine>();
  return {
    append: (entry: Accepted): void => void items.add(entry),
    refuse: (refused: RefusedLine): void => void items.add(refused),
    mark: (): unknown => {
      const marked = items;
      items = marked.copy();
      return marked;
    },
    rewind: (_sequence: number, mark: unknown = new Table()): void => {
      items = (mark as typeof items).copy();
    },
    entries: (): Accepted[] => [...items].filter((each) => "command" in each),
    refused: (): RefusedLine[] => [...items].filter((each) => "request" in each),
  };
}

export type ReplayedHistory = ReturnType<typeof replayHistory>;

/** Replays a journal up to a line or a time, and collects its entries. */
export function replayHistory(source: JournalSource, limit: ReplayLimit = {}) {
  const log = entryLog();
  const options = { ...limit, journal: log };
  const end = replayJournalLines(source, options, ({ line, result }, { sequence }) => {
    if (!isControl(line, "refused") || result.kind === "unknown") return;
    log.refuse({ sequence, at: line.t, request: line.d, line: line.n });
  });
  const { exchange, origin } = end;
  try {
    // What time causes at the present moment, if the journal ends or is cut before that.
    if (exchange.thrown === null) exchange.advanceTo(exchange.now);
  } catch (error) {
    if (exchange.thrown === null) throw error;
  }
  const entries = log.entries();
  const { thrown, now, sequence } = exchange;
  const isLogged = entries.at(-1)?.command === thrown?.command;
  const failing: Accepted | null =
    thrown === null
      ? null
      : ((isLogged ? entries.pop() : null) ?? { sequence: sequence + 1, at: now, command: thrown.command });
  return {
    origin,
    /** Returns a new exchange in the state after the opening. */
    open: () => exchangeAt(origin),
    /** Accepted commands, oldest first: all, and those after the opening. */
    entries,
    session: entries.filter((entry) => entry.sequence > end.openingSequence),
    /** Requests refused after the opening, oldest first. */
    refused: log.refused(),
    /** Command that throws after them; null if none does. */
    failing,
    /** The exchange in its last state. */
    exchange,
    end,
  };
}

/**
 * Replays a journal up to a line or a time, and returns the state reached: an origin, the last line included, the clock
 * setting after it, and a warning if the last line of a report is missing. Before a recorded defect, it returns the state
 * before that.
 * @throws DataFileError if there is no such journal, no such line in it, or it is damaged; ReplayDiffers
 */
export function resumePointIn(disk: Disk, name: string, at: ReplayLimit) {
  const source = openSource(disk, name);
  try {
    const whole = replayJournalLines(source, at);
    assertIntact(source, whole.scan.damage);
    const failure = whole.problem?.result;
    const defect = failure?.kind === "fails" && failure.isRecorded ? (whole.problem?.line.n ?? 1) : 1;
    const limit = defect > 1 ? { to: defect - 1 } : at;
    const end = defect > 1 ? replayJournalLines(source, limit) : whole;
    const { exchange, origin, clock, last, problem, cutWarning } = end;
    if (problem !== null) {
      const { line, command, result } = problem;
      const found =
        result.kind === "fails" ? result.error : result.kind === "differs" ? result.decision : null;
      if (command === null || found === null) throw new Error(`${result.kind} at line ${line.n}`);
      throw new ReplayDiffers(source.path, line, command, found);
    }
    const missing = missingLine(source, limit, end);
    if (last === null || missing !== null) throw new DataFileError("usage", `--at ${missing}`);
    // Applies what time causes at the same moment, such as the end of a block.
    exchange.advanceTo(exchange.now);
    const { state, now, sequence } = exchange;
    const { devAccounts } = origin;
    const header: StateDocument["clobsim"] = { format: STATE_FORMAT, now, sequence, devAccounts };
    const lines = [`{"clobsim":${JSON.stringify(header)},`, ...documentLines(state), "}"];
    const document = JSON.parse(lines.join("\n")) as StateDocument;
    return { origin: originOfState(document), line: last.n, clock, cutWarning };
  } finally {
    source.file.close();
  }
}
