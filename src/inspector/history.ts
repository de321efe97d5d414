import type { StreamRequest } from "../api/event-stream.ts";
import { actorOf } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { findAccount, type State } from "../core/state.ts";
import { countWhile } from "../core/table.ts";
import type { Millis } from "../core/units.ts";
import { Exchange, type Snapshot } from "../engine/exchange.ts";
import { eventHash } from "../engine/hashes.ts";
import { commandOf, isControl, type Line, type OpeningData } from "../engine/journal-line.ts";
import { marketOfRefused, senderOf } from "../history/describe-line.ts";
import { LineReplay, type LineResult, type ReplayedLine } from "../history/journal-replay.ts";
import { marketOfEvent } from "../history/trace.ts";

/** Bits that mark properties of a row. */
export const MARK = {
  trade: 1,
  refusal: 2,
  block: 4,
  fault: 8,
  clock: 16,
  problem: 32,
  failure: 64,
} as const;

/** Maximum number of checkpoints; if exceeded, every other one is dropped. */
const MAX_CHECKPOINTS = 256;
const MIN_DISTANCE = 512;

interface Checkpoint {
  /** Number of rows before it. */
  readonly rows: number;
  readonly snapshot: Snapshot;
  /** Whether it follows a restore or a reset, which cannot be replayed from an earlier checkpoint. */
  readonly isForced: boolean;
}

/** Exchange at some row of the history. */
interface Position {
  readonly exchange: Exchange;
  /** Number of rows replayed. */
  rows: number;
}

/**
 * Replays a journal line by line and gives access to the exchange after any line. One exchange is at the end; for an
 * earlier row another one is restored from the checkpoint before it and replays the lines from there.
 */
export class History extends LineReplay {
  /** Returns the line of a row. */
  readonly lineAt: (row: number) => Line;
  /** Virtual time of each row. */
  readonly times: number[] = [];
  /** Sequence of the exchange after each row. */
  readonly sequences: number[] = [];
  /** Number of the acting account of each row; 0 if none. */
  readonly actors: number[] = [];
  /** Number of the affected market of each row; 0 if none. */
  readonly markets: number[] = [];
  /** All acting accounts. */
  readonly allActors = new Set<number>();
  /** `MARK` bits. */
  readonly marks: number[] = [];
  readonly #shown: Position;
  readonly #scratch: Position;
  #checkpoints: Checkpoint[] = [];
  /** Number of rows between two checkpoints. */
  #distance: number;
  /** Whether the time of a row is earlier than that of the row before. */
  goesBack = false;
  /** Number of rows that can be replayed: those before the first that differs. */
  #replayable = Number.POSITIVE_INFINITY;

  /**
   * Starts at the opening. `name` is the source in messages, `expected` the approximate number of lines.
   * @throws DataFileError if the exchange cannot be opened.
   */
  constructor(opening: OpeningData, name: string, lineAt: (row: number) => Line, expected = 0) {
    super(opening, name, new Set());
    this.lineAt = lineAt;
    this.#distance = Math.max(MIN_DISTANCE, Math.ceil((expected * 1.1) / MAX_CHECKPOINTS));
    this.#keep(false);
    this.#shown = this.#atOpening();
    this.#scratch = this.#atOpening();
  }

  /** Number of rows replayed. */
  get count(): number {
    return this.marks.length;
  }

  /** Makes an exchange at the opening. */
  #atOpening(): Position {
    const { config } = this.exchange.state;
    const first = this.#checkpoints[0] as Checkpoint;
    const exchange = new Exchange(config, first.snapshot.now);
    exchange.restore(first.snapshot);
    return { exchange, rows: 0 };
  }

  /** Replays the line of the next row, which `lineAt` must return. */
  override take(line: Line = this.lineAt(this.count)): ReplayedLine {
    const row = this.count;
    const replayed = this.#takeLine(line);
    if (this.#replayable > row && this.problem !== null) this.#replayable = row;
    this.goesBack ||= line.t < timeAt(this, row);
    this.times.push(line.t);
    this.sequences.push(this.exchange.sequence);
    const actor = actorIn(replayed, this.exchange.state);
    this.actors.push(actor);
    if (actor > 0) this.allActors.add(actor);
    this.markets.push(marketIn(replayed, this.exchange.state));
    this.marks.push(marksOf(replayed));
    const goesBack = line.k === "restore" || line.k === "reset";
    const last = this.#checkpoints.at(-1) as Checkpoint;
    if (goesBack || (this.count - last.rows >= this.#distance && this.#replayable > row))
      this.#keep(goesBack);
    return replayed;
  }

  #takeLine(line: Line): ReplayedLine {
    if (this.problem === null && isControl(line, "restore")) {
      // `line` is the journal line after which the snapshot was taken; the opening is line 1.
      this.#moveTo(this.#scratch, line.d.line - 1);
      this.exchange.restore(this.#scratch.exchange.snapshot());
    } else if (!isRequest(line)) return super.take(line);
    return { line, command: null, result: CONTROL };
  }

  #keep(isForced: boolean): void {
    this.#checkpoints.push({ rows: this.count, snapshot: this.exchange.snapshot(), isForced });
    if (this.#checkpoints.length <= MAX_CHECKPOINTS) return;
    const thinned = this.#checkpoints.filter(({ isForced: stays }, index) => stays || index % 2 === 0);
    if (thinned.length < this.#checkpoints.length) this.#distance *= 2;
    this.#checkpoints = thinned;
  }

  /** Returns the clock setting after some rows. */
  clockAt(rows: number): { readonly mode: string; readonly rate: number } {
    if (rows >= this.count) return this.clock;
    for (let row = Math.min(rows, this.#replayable) - 1; row >= 0; row -= 1) {
      const line = ((this.marks[row] ?? 0) & MARK.clock) === 0 ? null : this.lineAt(row);
      if (line !== null && (isControl(line, "clock") || isControl(line, "start"))) return line.d;
    }
    return this.opening.clock;
  }

  /** Sets `MARK` bits of a row. */
  mark(row: number, bits: number): void {
    this.marks[row] = (this.marks[row] ?? 0) | bits;
  }

  /** Advances the time at the end without a row. */
  advanceTime(at: Millis): void {
    if (at > this.exchange.now) this.exchange.setTime(at);
  }

  /** Returns the exchange after some rows, valid until the next call. */
  at(rows: number): Exchange {
    // If a line differs, the head has applied the new result, which was never the state of the recorded exchange.
    if (rows >= this.count && this.problem === null) return this.exchange;
    this.#moveTo(this.#shown, rows);
    return this.#shown.exchange;
  }

  /** Replays a row, and returns the result of `take`. The state is that after the row, valid until the next call. */
  visit<T>(row: number, take: (replayed: ReplayedLine, state: State) => T): T {
    this.#moveTo(this.#scratch, row);
    const replayed = this.#step(this.#scratch);
    // Only the head has applied the result of a line that differs.
    const { exchange } = replayed === this.problem ? this : this.#scratch;
    return take(replayed, exchange.state);
  }

  #moveTo(position: Position, rows: number): void {
    const before = this.#before(Math.min(rows, this.#replayable));
    if (position.rows > rows || position.rows < before.rows) {
      position.exchange.restore(before.snapshot);
      position.rows = before.rows;
    }
    while (position.rows < rows) this.#step(position);
  }

  /** Returns the latest checkpoint at or before some rows. */
  #before(rows: number): Checkpoint {
    const points = this.#checkpoints;
    const count = countWhile(points.length, (index) => (points[index] as Checkpoint).rows <= rows);
    return points[count - 1] as Checkpoint;
  }

  /** Replays the next line of an exchange. From the first line that differs on, the state does not change. */
  #step(position: Position): ReplayedLine {
    const { exchange } = position;
    const line = this.lineAt(position.rows);
    position.rows += 1;
    if (position.rows > this.#replayable) {
      const { problem } = this;
      return problem?.line.n === line.n ? problem : { line, command: null, result: { kind: "unknown" } };
    }
    if (line.k === "restore" || line.k === "reset") {
      exchange.restore(this.#before(position.rows).snapshot);
      return { line, command: null, result: CONTROL };
    }
    const command = isRequest(line) ? null : commandOf(line, exchange.state);
    if (command === null) {
      if (line.t > exchange.now) exchange.setTime(line.t);
      return { line, command: null, result: CONTROL };
    }
    const decision = exchange.replay({ at: line.t, command }, (events) => eventHash(events) === line.r);
    const result: LineResult = decision.ok
      ? { kind: "accepted", events: decision.events }
      : { kind: "differs", decision };
    return { line, command, result };
  }
}

const CONTROL: LineResult = { kind: "control" };

/** Whether a line describes a request of the live stream; journals have no such lines. */
export const isRequest = ({ k }: Line): boolean => k === "request";

/** Returns the number of the account that acted in a line; 0 if none. */
function actorIn({ line, command }: ReplayedLine, state: State): number {
  const address = isControl(line, "refused") ? senderOf(line.d) : command === null ? null : actorOf(command);
  return address === null ? 0 : (findAccount(state, address)?.number ?? 0);
}

function marketIn({ line, result }: ReplayedLine, state: State): number {
  if (isControl(line, "refused")) return marketOfRefused(line.d, state) ?? 0;
  if (result.kind !== "accepted") return 0;
  for (const event of result.events) {
    const market = marketOfEvent(event, state);
    if (market !== null) return market;
  }
  return 0;
}

/** Marks by kind of event. */
const MARK_OF: { readonly [Kind in DomainEvent["kind"]]?: number } = {
  orderTraded: MARK.trade,
  blocksMined: MARK.block,
  blockSealed: MARK.block,
  settlementFaultSet: MARK.fault,
  settlementFailed: MARK.failure,
  settlementLost: MARK.failure,
  callReverted: MARK.failure,
};

function marksOf({ line, result }: ReplayedLine): number {
  if (line.k === "refused") return MARK.refusal;
  if (line.k === "clock" || line.k === "start") return MARK.clock;
  if (isRequest(line)) return marksOfRequest(line.d as StreamRequest);
  if (result.kind === "control") return 0;
  if (result.kind !== "accepted") return MARK.problem;
  let marks = 0;
  for (const { kind } of result.events) marks |= MARK_OF[kind] ?? 0;
  return marks;
}

/** Whether a request set the mode or the time of the clock. */
export const setsClock = ({ method, path, status }: StreamRequest): boolean =>
  method === "POST" && path === "/sim/clock" && status === 200;

/** Returns the marks of a request that has no journal line. */
function marksOfRequest(request: StreamRequest): number {
  const clock = setsClock(request) ? MARK.clock : 0;
  if (request.fault !== undefined) return MARK.fault | clock;
  return request.status >= 400 ? MARK.refusal : clock;
}

/** Returns the time after some rows; that of the opening for 0. */
export const timeAt = (history: History, rows: number): Millis =>
  (history.times[rows - 1] ?? history.opening.start) as Millis;
