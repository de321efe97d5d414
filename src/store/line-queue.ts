import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Millis } from "../core/units.ts";
import type { Entry } from "../runtime/journal.ts";
import { eventHash } from "./event-hash.ts";
import type { NoteKind, Notes } from "./journal-line.ts";
import { LineWriter } from "./line-writer.ts";

/** So many commands wait, before they are lines. */
const MOST_ENTRIES = 256;

/**
 * What is to be written next. Commands become lines only then, one behind the other: put together between two
 * commands, a line costs half as much again, for all that the exchange and the line need does not fit the nearest cache.
 */
export class LineQueue {
  readonly #writer: LineWriter;
  /** The commands that wait, with what they cause: the first `#waiting` of each. */
  readonly #entries = new Array<Entry>(MOST_ENTRIES);
  readonly #caused = new Array<readonly DomainEvent[]>(MOST_ENTRIES);
  #waiting = 0;

  /** The number and the check of the line that comes before. */
  constructor(number: number, check: number) {
    this.#writer = new LineWriter(number, check);
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

  get isFull(): boolean {
    return this.#waiting === MOST_ENTRIES;
  }

  /** Takes a command; not when it is full. */
  append(entry: Entry, events: readonly DomainEvent[]): void {
    this.#entries[this.#waiting] = entry;
    this.#caused[this.#waiting] = events;
    this.#waiting += 1;
  }

  /** Puts together the lines of all commands that wait; `synced` is the latest line that is on the disk itself. */
  put(synced: number): void {
    for (let index = 0; index < this.#waiting; index += 1) {
      const { at, command } = this.#entries[index] as Entry;
      this.#putCommand(command, at, synced, this.#caused[index] as readonly DomainEvent[]);
    }
    this.#waiting = 0;
  }

  note<Kind extends NoteKind>(kind: Kind, data: Notes[Kind], at: Millis, synced: number): void {
    this.put(synced);
    this.#writer.note(kind, data, at, synced);
  }

  /** Forgets what waits: it is written, or never will be. */
  clear(): void {
    this.#waiting = 0;
    this.#writer.buffer.cut(0);
  }

  #putCommand(command: Command, at: Millis, synced: number, events: readonly DomainEvent[]): void {
    const caused = eventHash(events);
    const subject = subjectOf(command, events);
    if (subject === null) this.#writer.command(command, at, synced, caused);
    else if (subject.kind === "orderPlaced") this.#writer.order(subject, at, synced, caused);
    else this.#writer.cancel(subject.order, at, synced, caused);
  }
}

/** What an order that is placed or canceled is known by from then on; null of any other command. */
function subjectOf(
  { kind }: Command,
  events: readonly DomainEvent[],
): Extract<DomainEvent, { kind: "orderPlaced" | "orderCanceled" }> | null {
  for (const event of events) {
    if (kind === "placeOrder" && event.kind === "orderPlaced") return event;
    if (kind === "cancelOrder" && event.kind === "orderCanceled") return event;
  }
  return null;
}
