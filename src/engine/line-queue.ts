import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { MAX_REFUSED, type RefusedRequest } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";
import type { Entry } from "../engine/journal.ts";
import { eventHash } from "./event-hash.ts";
import type { JournalEnd } from "./journal-end.ts";
import type { NoteKind, Notes } from "./journal-line.ts";
import { LineWriter } from "./line-writer.ts";

/** So many orders and cancels wait, before they are lines. */
const MOST_WAITING = 256;

/** An order that is placed or canceled; nothing that comes later changes it. */
type Subject = Extract<DomainEvent, { kind: "orderPlaced" | "orderCanceled" }>;

/**
 * What is to be written next. Orders and cancels, of which there are millions, become lines only then, one behind the
 * other: put together between two commands, a line costs half as much again, for all that the exchange and the line need
 * does not fit the nearest cache.
 */
export class LineQueue {
  readonly #writer: LineWriter;
  /** What waits to become lines, when it was, and the hash of all that it caused: the first `#waiting` of each. */
  readonly #subjects = new Array<Subject>(MOST_WAITING);
  readonly #moments = new Float64Array(MOST_WAITING);
  readonly #caused = new Uint32Array(MOST_WAITING);
  #waiting = 0;
  #refused: number;
  #holdsRefused = false;

  /** What it takes comes behind `end`. */
  constructor({ number, check, refused = 0 }: JournalEnd) {
    this.#writer = new LineWriter(number, check);
    this.#refused = refused;
  }

  /** The number of the latest line, or of that which the latest command will be. */
  get number(): number {
    return this.#writer.number + this.#waiting;
  }

  /** The `c` of the latest line. */
  get check(): number {
    return this.#writer.check;
  }

  /** The bytes of lines that wait. */
  get length(): number {
    return this.#writer.buffer.length;
  }

  get bytes(): Uint8Array {
    return this.#writer.buffer.bytes;
  }

  /** Takes a command; `synced` is the latest line that is on the disk itself. */
  append({ at, command }: Entry, events: readonly DomainEvent[], synced: number): void {
    const caused = eventHash(events);
    const subject = subjectOf(command, events);
    if (subject === null) {
      this.put(synced);
      this.#writer.command(command, at, synced, caused);
      return;
    }
    if (this.#waiting === MOST_WAITING) this.put(synced);
    this.#subjects[this.#waiting] = subject;
    this.#moments[this.#waiting] = at;
    this.#caused[this.#waiting] = caused;
    this.#waiting += 1;
  }

  /** Puts together the lines of all that waits. */
  put(synced: number): void {
    for (let index = 0; index < this.#waiting; index += 1) {
      const subject = this.#subjects[index] as Subject;
      const at = this.#moments[index] as Millis;
      const caused = this.#caused[index] as number;
      if (subject.kind === "orderPlaced") this.#writer.order(subject, at, synced, caused);
      else this.#writer.cancel(subject.order, at, synced, caused);
    }
    this.#waiting = 0;
  }

  note<Kind extends NoteKind>(kind: Kind, data: Notes[Kind], at: Millis, synced: number): void {
    this.put(synced);
    this.#writer.note(kind, data, at, synced);
  }

  /** Notes a refused request; of too many, that they are left out. */
  refuse(request: RefusedRequest, at: Millis, synced: number): void {
    if (this.#refused > MAX_REFUSED) return;
    if (this.#refused === MAX_REFUSED) this.note("refusedFull", { noted: MAX_REFUSED }, at, synced);
    else this.note("refused", request, at, synced);
    this.#refused += 1;
    this.#holdsRefused = true;
  }

  /** How many notes of refused requests there are by now, with those of the journal before. */
  get refused(): number {
    return this.#refused;
  }

  /** Whether such a note waits. */
  get holdsRefused(): boolean {
    return this.#holdsRefused;
  }

  /** Forgets what waits: it is written, or never will be. */
  clear(): void {
    this.#waiting = 0;
    this.#holdsRefused = false;
    this.#writer.buffer.cut(0);
  }
}

/** What an order that is placed or canceled is known by from then on; null of any other command. */
function subjectOf({ kind }: Command, events: readonly DomainEvent[]): Subject | null {
  for (const event of events) {
    if (kind === "placeOrder" && event.kind === "orderPlaced") return event;
    if (kind === "cancelOrder" && event.kind === "orderCanceled") return event;
  }
  return null;
}
