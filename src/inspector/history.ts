import { actorOf } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { findAccount, type State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import type { Millis } from "../core/units.ts";
import { eventHash } from "../engine/checksum.ts";
import type { ClockSetting } from "../engine/clock.ts";
import { Exchange, type Snapshot } from "../engine/exchange.ts";
import { commandOf, isControl, type Line, type OpeningData } from "../engine/journal-line.ts";
import { LineReplay, type Outcome, type ReplayedLine } from "../history/journal-replay.ts";
import { marketOfEvent } from "../history/mentions.ts";
import { senderOf } from "../history/words.ts";
import { Column } from "./column.ts";

/** What a row has of interest, a bit each. */
export const MARK = { trade: 1, refusal: 2, block: 4, fault: 8, clock: 16, trouble: 32 } as const;

/** The lines of a journal behind its opening, by row; they only ever become more. */
export interface Lines {
  readonly count: number;
  at(row: number): Line;
}

/** Snapshots that are kept: more than this, and every other one goes. */
const MAX_CHECKPOINTS = 256;
const LEAST_DISTANCE = 512;

interface Checkpoint {
  /** How many rows were taken. */
  readonly rows: number;
  readonly snapshot: Snapshot;
  /** Behind a line that goes back: the way there leads through lines that no longer count. */
  readonly isForced: boolean;
}

/** An exchange somewhere in the history. */
interface Position {
  readonly exchange: Exchange;
  /** How many rows it has taken. */
  rows: number;
}

/**
 * A history line by line, decided anew by the engine, and the exchange behind any line of it. One exchange stands at the
 * end; to go back another one starts at the snapshot before and takes the lines from there.
 */
export class History {
  readonly opening: OpeningData;
  readonly lines: Lines;
  readonly devAccounts: readonly Address[];
  /** Virtual time of each row. */
  readonly times = new Column(Float64Array);
  /** The exchange's sequence behind each row. */
  readonly sequences = new Column(Float64Array);
  /** The number of the account that asked, 0 for none. */
  readonly actors = new Column(Uint32Array);
  /** The number of the market in which something happened, 0 for none. */
  readonly markets = new Column(Uint32Array);
  /** Those accounts. */
  readonly everyActor = new Set<number>();
  /** `MARK` bits. */
  readonly marks = new Column(Uint8Array);
  readonly #head: LineReplay;
  readonly #shown: Position;
  readonly #scratch: Position;
  #checkpoints: Checkpoint[] = [];
  /** How many rows lie between two checkpoints. */
  #distance: number;
  /** Whether a row is of an earlier moment than the one before. */
  goesBack = false;
  /** The rows that can be decided: those before the first that differs. */
  #sound = Number.POSITIVE_INFINITY;

  /**
   * Stands at the opening of what messages call `name`; `expected` is about how many lines will come.
   * @throws StoreError when nothing can be opened from it.
   */
  constructor(opening: OpeningData, name: string, lines: Lines, expected = 0) {
    this.opening = opening;
    this.lines = lines;
    this.#distance = Math.max(LEAST_DISTANCE, Math.ceil((expected * 1.1) / MAX_CHECKPOINTS));
    this.#head = new LineReplay(opening, name, new Set());
    this.devAccounts = this.#head.devAccounts;
    this.#keep(false);
    this.#shown = this.#atOpening();
    this.#scratch = this.#atOpening();
  }

  /** How many rows were taken. */
  get count(): number {
    return this.marks.length;
  }

  /** The exchange at the end. */
  get head(): Exchange {
    return this.#head.exchange;
  }

  /** How the clock ran at the end, as far as lines say it. */
  get clock(): ClockSetting {
    return this.#head.clock;
  }

  /** The first line that comes out otherwise than it did; null when there is none. */
  get trouble(): ReplayedLine | null {
    return this.#head.trouble;
  }

  /** The latest snapshot of the exchange as it was opened. */
  #atOpening(): Position {
    const { config } = this.head.state;
    const first = this.#checkpoints[0] as Checkpoint;
    const exchange = new Exchange(config, first.snapshot.now);
    exchange.restore(first.snapshot);
    return { exchange, rows: 0 };
  }

  /** Takes the line of the next row, which `lines` has by now. */
  take(line: Line = this.lines.at(this.count)): ReplayedLine {
    const row = this.count;
    const told = this.#told(line);
    if (this.#sound > row && this.trouble !== null) this.#sound = row;
    this.goesBack ||= line.t < timeAt(this, row);
    this.times.push(line.t);
    this.sequences.push(this.head.sequence);
    const actor = actorIn(told, this.head.state);
    this.actors.push(actor);
    if (actor > 0) this.everyActor.add(actor);
    this.markets.push(marketIn(told, this.head.state));
    this.marks.push(marksOf(told));
    const goesBack = line.k === "restore" || line.k === "reset";
    const last = this.#checkpoints.at(-1) as Checkpoint;
    if (goesBack || (this.count - last.rows >= this.#distance && this.#sound > row)) this.#keep(goesBack);
    return told;
  }

  #told(line: Line): ReplayedLine {
    if (this.trouble === null && isControl(line, "restore")) {
      // The line behind which it stood: the opening is the first.
      this.#bring(this.#scratch, line.d.line - 1);
      this.head.restore(this.#scratch.exchange.snapshot());
    } else if (!isRequest(line)) return this.#head.take(line);
    return { line, command: null, outcome: NOTE };
  }

  #keep(isForced: boolean): void {
    this.#checkpoints.push({ rows: this.count, snapshot: this.head.snapshot(), isForced });
    if (this.#checkpoints.length <= MAX_CHECKPOINTS) return;
    const thinned = this.#checkpoints.filter(({ isForced: stays }, index) => stays || index % 2 === 0);
    if (thinned.length < this.#checkpoints.length) this.#distance *= 2;
    this.#checkpoints = thinned;
  }

  /** Time has passed at the end without anything that a row tells. */
  passTo(at: Millis): void {
    if (at > this.head.now) this.head.passTo(at);
  }

  /** The exchange when so many rows had been taken. It is good until another place is asked for. */
  at(rows: number): Exchange {
    // Of a line that differs the head has taken what comes of it now: nobody was shown that.
    if (rows >= this.count && this.trouble === null) return this.head;
    this.#bring(this.#shown, rows);
    return this.#shown.exchange;
  }

  /** Hands on rows from one up to another, each with the state behind it. */
  tell(from: number, to: number, take: (row: number, told: ReplayedLine, state: State) => void): void {
    this.#bring(this.#scratch, from);
    for (let row = from; row < to; row += 1) {
      const told = this.#step(this.#scratch);
      take(row, told, this.#scratch.exchange.state);
    }
  }

  #bring(position: Position, rows: number): void {
    const before = this.#before(Math.min(rows, this.#sound));
    if (position.rows > rows || position.rows < before.rows) {
      position.exchange.restore(before.snapshot);
      position.rows = before.rows;
    }
    while (position.rows < rows) this.#step(position);
  }

  /** The latest checkpoint at or before some rows. */
  #before(rows: number): Checkpoint {
    let low = 0;
    let high = this.#checkpoints.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#checkpoints[middle] as Checkpoint).rows <= rows) low = middle;
      else high = middle;
    }
    return this.#checkpoints[low] as Checkpoint;
  }

  /** Takes one exchange over its next line. What differs is told, and changes nothing any more. */
  #step(position: Position): ReplayedLine {
    const { exchange } = position;
    const line = this.lines.at(position.rows);
    position.rows += 1;
    if (position.rows > this.#sound) {
      const { trouble } = this;
      const isIt = trouble !== null && trouble.line.n === line.n;
      return isIt ? trouble : { line, command: null, outcome: { kind: "unknown" } };
    }
    if (line.k === "restore" || line.k === "reset") {
      exchange.restore(this.#before(position.rows).snapshot);
      return { line, command: null, outcome: NOTE };
    }
    const command = isRequest(line) ? null : commandOf(line, exchange.state);
    if (command === null) {
      if (line.t > exchange.now) exchange.passTo(line.t);
      return { line, command: null, outcome: NOTE };
    }
    const decision = exchange.replay({ at: line.t, command }, (events) => eventHash(events) === line.r);
    const outcome: Outcome = decision.ok
      ? { kind: "accepted", events: decision.events }
      : { kind: "differs", decision };
    return { line, command, outcome };
  }
}

const NOTE: Outcome = { kind: "note" };

/** What a server tells of a request besides what came of it, as a line that no journal has. */
export const isRequest = ({ k }: Line): boolean => k === "request";

/** The number of the account that asked for what a line tells, 0 for none. */
function actorIn({ line, command }: ReplayedLine, state: State): number {
  const address = isControl(line, "refused") ? senderOf(line.d) : command === null ? null : actorOf(command);
  return address === null ? 0 : (findAccount(state, address)?.number ?? 0);
}

function marketIn({ outcome }: ReplayedLine, state: State): number {
  if (outcome.kind !== "accepted") return 0;
  for (const event of outcome.events) {
    const market = marketOfEvent(event, state);
    if (market !== null) return market;
  }
  return 0;
}

/** The marks that events leave. */
const MARK_OF: { readonly [Kind in DomainEvent["kind"]]?: number } = {
  orderTraded: MARK.trade,
  blocksMined: MARK.block,
  blockSealed: MARK.block,
  settlementFaultSet: MARK.fault,
};

function marksOf({ line, outcome }: ReplayedLine): number {
  if (line.k === "refused") return MARK.refusal;
  if (line.k === "clock" || line.k === "start") return MARK.clock;
  if (outcome.kind === "note") return 0;
  if (outcome.kind !== "accepted") return MARK.trouble;
  let marks = 0;
  for (const { kind } of outcome.events) marks |= MARK_OF[kind] ?? 0;
  return marks;
}

/** The moment of a row; that of the opening before the first. */
export const timeAt = (history: History, rows: number): Millis =>
  (rows === 0 ? history.opening.start : history.times.at(rows - 1)) as Millis;
