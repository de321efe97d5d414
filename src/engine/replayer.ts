import type { Command, Stamped } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Decision } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";
import type { DiskFile } from "./disk.ts";
import type { Exchange, IsRecorded, Snapshot } from "./exchange.ts";
import { contentHash, eventHash } from "./hashes.ts";
import { BEGINNING, commandOf, isControl, type JournalEnd, type Line, wrongLine } from "./journal-line.ts";
import { restoreTargets, type ScanEnd, scan } from "./journal-scan.ts";
import { type Origin, restartAt } from "./origin.ts";
import { type Checkpoint, isClosedAt, journalEndOf, type StateHeader, snapshotOf } from "./state-file.ts";

/** Result of replaying a command: the decision, or the error that was thrown. */
export type ReplayResult = Decision | Error;

/** Replays an accepted command; `isRecorded` compares its events with the recorded ones. */
export function replayCommand(exchange: Exchange, stamped: Stamped, isRecorded?: IsRecorded): ReplayResult {
  try {
    return exchange.replay(stamped, isRecorded);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** A replayed command differs from the journal. */
export class ReplayDiffers extends Error {
  override readonly name = "ReplayDiffers";
  readonly line: Line;
  readonly command: Command;
  readonly result: ReplayResult;

  constructor(path: string, line: Line, command: Command, result: ReplayResult) {
    super(`line ${line.n} of ${path}, ${line.k}, has another result than recorded`);
    this.line = line;
    this.command = command;
    this.result = result;
  }
}

/** Returns the hash of the state that a line records, and that of the exchange; null if it records none, or the same. */
export function stateMismatch(line: Line, exchange: Exchange) {
  if (!(isControl(line, "opening") || isControl(line, "close") || isControl(line, "report"))) return null;
  const recorded = line.d.hash;
  if (recorded === null) return null;
  const found = recorded.startsWith("v2:") ? exchange.hash : contentHash(exchange.state);
  return found === recorded ? null : { recorded, found };
}

/** State of a clock in the journal: its setting, virtual and wall time. */
export type ClockState = StateHeader["clock"];

/** Replays a journal on an exchange, line by line. */
export class Replayer {
  readonly #exchange: Exchange;
  readonly #origin: Pick<Origin, "play">;
  readonly #path: string;
  /** Lines that later `restore` lines refer to. */
  readonly #restoreTargets: ReadonlySet<number>;
  readonly #snapshots = new Map<number, Snapshot>();
  /** State of the clock after the latest line; null if no line records it. */
  clock: ClockState | null;
  /** Number of replayed commands. */
  commands = 0;

  /** `targets` are the lines that later `restore` lines refer to, from `restoreTargets`. */
  constructor(
    exchange: Exchange,
    origin: Pick<Origin, "play">,
    path: string,
    targets: ReadonlySet<number>,
    clock: ClockState | null = null,
  ) {
    this.#exchange = exchange;
    this.#origin = origin;
    this.#path = path;
    this.#restoreTargets = targets;
    this.clock = clock;
  }

  /** Replays a line and returns the events of its command; null for a control record. @throws ReplayDiffers */
  take(line: Line): readonly DomainEvent[] | null {
    const command = commandOf(line, this.#exchange.state);
    const events = command === null ? this.#applyControl(line) : this.#replay(line, command);
    this.saveSnapshot(line.n);
    return events;
  }

  /** Takes a snapshot after a line if a later line restores it. */
  saveSnapshot(line: number): void {
    if (this.#restoreTargets.has(line)) this.#snapshots.set(line, this.#exchange.snapshot());
  }

  #replay(line: Line, command: Command): readonly DomainEvent[] {
    this.commands += 1;
    let isSame = false;
    const found = replayCommand(this.#exchange, { at: line.t, command }, (events) => {
      isSame = eventHash(events) === line.r;
      return isSame;
    });
    if (found instanceof Error || !found.ok || !isSame)
      throw new ReplayDiffers(this.#path, line, command, found);
    return found.events;
  }

  #applyControl(line: Line): null {
    const exchange = this.#exchange;
    if (isControl(line, "restore")) {
      const snapshot = this.#snapshots.get(line.d.line);
      if (snapshot === undefined) {
        // `restoreTargets` finds only lines formatted as clobsim writes them.
        const expected = "an earlier line, formatted as clobsim writes it";
        throw wrongLine(this.#path, line.n, `d.line: expected ${expected}, found ${line.d.line}`);
      }
      exchange.restore(snapshot);
    } else if (isControl(line, "reset")) restartAt(this.#origin, exchange);
    else if (isControl(line, "clock") || isControl(line, "start")) {
      const { mode, rate, wall } = line.d;
      this.#advanceTime(line.t);
      this.clock = { setting: { mode, rate }, virtual: line.t, wall };
    } else if (isControl(line, "close") || isControl(line, "report") || isControl(line, "refused"))
      this.#advanceTime(line.t);
    return null;
  }

  #advanceTime(at: Millis): void {
    if (at > this.#exchange.now) this.#exchange.setTime(at);
  }
}

/**
 * Recovers the exchange at the end of a journal: from a state file, or from its origin. `check` is called with each
 * line before it is replayed.
 */
export function replayJournal(
  exchange: Exchange,
  origin: Origin,
  journal: { readonly path: string; readonly file: DiskFile },
  base: Checkpoint | null,
  check: (line: Line) => void = () => {},
): ScanEnd & { readonly from: JournalEnd; readonly replayer: Replayer } {
  const { file } = journal;
  const from = base === null ? BEGINNING : journalEndOf(base);
  const targets = restoreTargets(file, from);
  const replayer = new Replayer(exchange, origin, journal.path, targets, base?.header.clock);
  if (base === null) origin.play(exchange);
  else {
    exchange.restore(snapshotOf(base));
    replayer.saveSnapshot(base.header.line);
  }
  const take = (line: Line): void => {
    check(line);
    replayer.take(line);
  };
  const durability = base?.header.durability ?? "process";
  const end = scan(file, from, take, { durability, wasClosed: isClosedAt(file, from.offset) });
  return { ...end, from, replayer };
}
