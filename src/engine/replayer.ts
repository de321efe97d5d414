import type { Command, Stamped } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Decision } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";
import type { ClockSetting } from "../engine/clock.ts";
import type { Exchange, IsRecorded, Snapshot } from "../engine/exchange.ts";
import { eventHash } from "./checksum.ts";
import type { DiskFile } from "./disk.ts";
import { BEGINNING, commandOf, isControl, type JournalEnd, type Line } from "./journal-line.ts";
import { restoreTargets, type ScanEnd, scan } from "./journal-scan.ts";
import { type Checkpoint, isClosedAt, journalEndOf, snapshotOf } from "./state-file.ts";
import { type StoreError, wrongLine } from "./store-error.ts";

/** An open file, and what messages call it. */
export interface NamedFile {
  readonly path: string;
  readonly file: DiskFile;
}

/** What has come of a command that was accepted: what was decided now, or what was thrown when it was tried. */
export type ReplayResult = Decision | Error;

/** Decides a command again that was accepted; `isRecorded` knows the events that it caused then. */
export function replayCommand(exchange: Exchange, stamped: Stamped, isRecorded?: IsRecorded): ReplayResult {
  try {
    return exchange.replay(stamped, isRecorded);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** A command that comes out otherwise than the journal says. */
export class ReplayDiffers extends Error {
  override readonly name = "ReplayDiffers";
  readonly line: Line;
  readonly command: Command;
  readonly result: ReplayResult;

  constructor(path: string, line: Line, command: Command, result: ReplayResult) {
    super(`line ${line.n} of ${path}, ${line.k}, comes out otherwise than it did`);
    this.line = line;
    this.command = command;
    this.result = result;
  }
}

/** A clock as a journal knows it: how it ran, and what both clocks showed when that was written. */
export interface ClockState {
  readonly setting: ClockSetting;
  readonly virtual: Millis;
  readonly wall: number;
}

/** Brings an exchange, line by line, to where a journal says it stood. Every command is decided anew. */
export class Replayer {
  readonly #exchange: Exchange;
  readonly #reopen: () => void;
  readonly #path: string;
  /** The lines to which a later one goes back. */
  readonly #wanted: ReadonlySet<number>;
  readonly #kept = new Map<number, Snapshot>();
  #clock: ClockState | null;
  #commands = 0;

  /**
   * Takes the lines of a journal; `reopen` brings the exchange to where it stood at the opening. `wanted` are the lines to
   * which a later one goes back, as `restoreTargets` finds them.
   */
  constructor(
    exchange: Exchange,
    reopen: () => void,
    path: string,
    wanted: ReadonlySet<number>,
    clock: ClockState | null = null,
  ) {
    this.#exchange = exchange;
    this.#clock = clock;
    this.#reopen = reopen;
    this.#path = path;
    this.#wanted = wanted;
  }

  /** How the clock ran at the end; null when no line says it. */
  get clock(): ClockState | null {
    return this.#clock;
  }

  /** How many commands have been decided anew. */
  get commands(): number {
    return this.#commands;
  }

  /** Takes the exchange over a line, and answers what its command has caused; null of a note. @throws ReplayDiffers */
  take(line: Line): readonly DomainEvent[] | null {
    const command = commandOf(line, this.#exchange.state);
    const events = command === null ? this.#note(line) : this.#redo(line, command);
    this.keep(line.n);
    return events;
  }

  /** Keeps where the exchange stands, after a line, for a later one that goes back to it. */
  keep(line: number): void {
    if (this.#wanted.has(line)) this.#kept.set(line, this.#exchange.snapshot());
  }

  #redo(line: Line, command: Command): readonly DomainEvent[] {
    this.#commands += 1;
    let isSame = false;
    const found = replayCommand(this.#exchange, { at: line.t, command }, (events) => {
      isSame = eventHash(events) === line.r;
      return isSame;
    });
    if (found instanceof Error || !found.ok || !isSame)
      throw new ReplayDiffers(this.#path, line, command, found);
    return found.events;
  }

  #note(line: Line): null {
    const exchange = this.#exchange;
    if (isControl(line, "restore")) {
      const kept = this.#kept.get(line.d.line);
      if (kept === undefined) throw this.#notKept(line.n, line.d.line);
      exchange.restore(kept);
    } else if (isControl(line, "reset")) this.#reopen();
    else if (isControl(line, "clock") || isControl(line, "start")) {
      const { mode, rate, wall } = line.d;
      this.#passTo(line.t);
      this.#clock = { setting: { mode, rate }, virtual: line.t, wall };
    } else if (isControl(line, "close") || isControl(line, "report") || isControl(line, "refused"))
      this.#passTo(line.t);
    return null;
  }

  /** Lines to go back to are sought as lines are written: one that somebody has written otherwise was not found. */
  #notKept(line: number, to: number): StoreError {
    return wrongLine(this.#path, line, `d.line: expected an earlier line, told as clobsim does, found ${to}`);
  }

  #passTo(at: Millis): void {
    if (at > this.#exchange.now) this.#exchange.passTo(at);
  }
}

/**
 * Brings an exchange to where a journal ends: from a state that was kept, or else from the opening. `check` is told of each
 * line before it is replayed.
 */
export function replayJournal(
  exchange: Exchange,
  reopen: () => void,
  journal: NamedFile,
  base: Checkpoint | null,
  check: (line: Line) => void = () => {},
): ScanEnd & { readonly from: JournalEnd; readonly replayer: Replayer } {
  const { file } = journal;
  const from = base === null ? BEGINNING : journalEndOf(base);
  const wanted = restoreTargets(file, from);
  const replayer = new Replayer(exchange, reopen, journal.path, wanted, base?.header.clock);
  if (base === null) reopen();
  else {
    exchange.restore(snapshotOf(base));
    replayer.keep(base.header.line);
  }
  const take = (line: Line): void => {
    check(line);
    replayer.take(line);
  };
  const durability = base?.header.durability ?? "process";
  const end = scan(file, from, take, { durability, wasClosed: isClosedAt(file, from.offset) });
  return { ...end, from, replayer };
}
