import { setImmediate as endOfTurn } from "node:timers/promises";
import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { MAX_REFUSED, type RefusedRequest } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";
import type { Durability } from "../setting.ts";
import { eventHash } from "./checksum.ts";
import { type DiskFile, writeFully } from "./disk.ts";
import {
  type Entry,
  type Journal,
  type Persistence,
  PersistenceError,
  type RefusedEntry,
} from "./journal.ts";
import { LineWriter } from "./journal-codec.ts";
import { type ControlKind, type ControlRecords, fitsOrderLine, type JournalEnd } from "./journal-line.ts";

/** A place up to which the file is good. */
export interface Mark {
  readonly number: number;
  readonly offset: number;
}

/** Lines are written when so many bytes of them wait, whether or not somebody asks. */
const MAX_WAITING_BYTES = 1 << 18;

/** The journal of one exchange in a file that is only ever appended to. */
export class JournalFile implements Journal, Persistence {
  readonly durability: Durability;
  readonly #file: DiskFile;
  readonly #queue: LineQueue;
  readonly #preallocation: Preallocation | null;
  readonly #whenBroken: () => void;
  /** Up to where lines are written, and up to where they are known to be on the disk itself. */
  #written: Mark;
  #synced: Mark;
  #at = 0 as Millis;
  #broken: PersistenceError | null = null;
  /** The latest line that an answer shows, and so must be kept before it: that of no refused request. */
  #shown: number;
  /** The last line that is kept once the journal is broken. */
  #lastKept = 0;
  /** The round that will take along what is appended now, and the one whose lines are on their way to the disk. */
  #gathering: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  /** The latest line of those. */
  #reaching = 0;
  readonly #later = new LaterSync(async () => {
    if (this.#broken === null) await this.#syncRound();
  });

  /** What the file holds up to `end` must be on the disk itself. */
  constructor(file: DiskFile, durability: Durability, end: JournalEnd, whenBroken = () => {}) {
    this.durability = durability;
    this.#file = file;
    this.#queue = new LineQueue(end);
    this.#preallocation = durability === "power" ? new Preallocation(file) : null;
    this.#written = { number: end.number, offset: end.offset };
    this.#synced = this.#written;
    this.#shown = end.number;
    this.#whenBroken = whenBroken;
  }

  /** Where the next line comes; some of what is before it may not be written yet. */
  get end(): JournalEnd {
    const queue = this.#queue;
    queue.put(this.#synced.number);
    return { number: queue.number, check: queue.check, offset: this.#written.offset + queue.length };
  }

  /** Where what is written ends. */
  get written(): Mark {
    return this.#written;
  }

  /** Why nothing can be written any more; null while it can. */
  get broken(): PersistenceError | null {
    return this.#broken;
  }

  append(entry: Entry, events: readonly DomainEvent[]): void {
    this.#assertWhole();
    // What was appended last is not written before it has been carried out.
    if (this.#queue.length >= MAX_WAITING_BYTES) this.#write();
    this.#at = entry.at;
    this.#queue.append(entry, events, this.#synced.number);
    this.#shown = this.#queue.number;
  }

  /** Nothing more is accepted: what was not acknowledged is cut off, the command that failed with it. */
  unapplied(error: unknown): void {
    if (this.#broken !== null) return;
    const { message } = error as Error;
    this.#stop(new PersistenceError(`nothing more is accepted after a defect: ${message}`, "defect", error));
  }

  control<Kind extends ControlKind>(kind: Kind, data: ControlRecords[Kind], at: Millis = this.#at): void {
    this.#assertWhole();
    this.#at = at;
    this.#queue.control(kind, data, at, this.#synced.number);
    this.#shown = this.#queue.number;
  }

  /**
   * Notes a refused request. It is written before the next answer, or with what comes next: no answer waits until it is on
   * the disk, and that it cannot be written stops nothing.
   */
  refuse({ at, request }: RefusedEntry): void {
    if (this.#broken === null) this.#queue.refuse(request, at, this.#synced.number);
  }

  /** How many notes of refused requests are in it. */
  get refused(): number {
    return this.#queue.refused;
  }

  mark(): unknown {
    return this.#queue.number;
  }

  rewind(_sequence: number, mark?: unknown): void {
    if (typeof mark === "number") this.control("restore", { line: mark });
    else this.control("reset", {});
  }

  get position(): number {
    return this.#broken === null ? this.#shown : this.#lastKept;
  }

  flush(position: number): Promise<void> | undefined {
    if (this.#broken !== null) {
      if (position > this.#lastKept) throw this.#broken;
      return undefined;
    }
    if (this.durability === "process") {
      if (position > this.#written.number) this.#write();
      else this.#writeRefused();
      return undefined;
    }
    if (position <= this.#synced.number) return this.#writeRefused();
    if (position <= this.#reaching && this.#syncing !== null) return this.#syncing;
    this.#gathering ??= this.#gather();
    return this.#gathering;
  }

  /** Writes what waits and brings all of it to the disk itself. @throws PersistenceError */
  sync(): void {
    this.#assertWhole();
    this.#write();
    try {
      this.#file.sync();
    } catch (error) {
      throw this.#fail(error);
    }
    this.#synced = this.#written;
  }

  /** Writes what waits, and lets go of the file. */
  close(): void {
    this.#later.stop();
    try {
      if (this.#broken !== null) return;
      this.sync();
      this.#preallocation?.release(this.#written.offset);
    } finally {
      this.#file.close();
    }
  }

  #assertWhole(): void {
    if (this.#broken !== null) throw this.#broken;
  }

  #write(): void {
    try {
      this.#writeQueue();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Writes notes of refused requests. Where the disk does not take them, they wait for what must be written. */
  #writeRefused(): undefined {
    try {
      if (this.#queue.holdsRefused) this.#writeQueue();
    } catch {}
  }

  /** @throws the system's error; what waits then waits on. */
  #writeQueue(): void {
    const queue = this.#queue;
    queue.put(this.#synced.number);
    const { number, length } = queue;
    if (length === 0) return;
    writeFully(this.#file, queue.bytes, this.#written.offset);
    this.#written = { number, offset: this.#written.offset + length };
    queue.clear();
    if (this.durability === "process") this.#later.ask();
  }

  /**
   * Group commit: what comes while the disk is busy goes to it together, with whatever else comes in the turn after that:
   * those who were answered by the last round come together.
   */
  async #gather(): Promise<void> {
    try {
      await this.#syncing;
    } catch {
      // It has told those who waited for it; what comes after it is told below.
    }
    await endOfTurn();
    this.#gathering = null;
    this.#assertWhole();
    this.#syncing = this.#syncRound().finally(() => {
      this.#syncing = null;
    });
    await this.#syncing;
  }

  async #syncRound(): Promise<void> {
    this.#write();
    const reached = this.#written;
    this.#reaching = reached.number;
    this.#preallocation?.extend(reached.offset);
    try {
      await this.#file.syncAsync();
    } catch (error) {
      throw this.#fail(error);
    }
    // Meanwhile something else may have failed, and what this round has brought to the disk may have been cut off.
    this.#assertWhole();
    if (reached.number > this.#synced.number) this.#synced = reached;
  }

  /** A failed sync is never tried again. */
  #fail(error: unknown): PersistenceError {
    if (this.#broken !== null) return this.#broken;
    const { message } = error as Error;
    return this.#stop(new PersistenceError(`the journal cannot be written: ${message}`, "disk", error));
  }

  /** The end of writing: the file is cut back to what was acknowledged. */
  #stop(broken: PersistenceError): PersistenceError {
    this.#broken = broken;
    const good = this.durability === "power" ? this.#synced : this.#written;
    this.#lastKept = good.number;
    this.#queue.clear();
    try {
      this.#file.truncate(good.offset);
    } catch {
      // What stands beyond has never been acknowledged; it is judged when the journal is opened.
    }
    this.#whenBroken();
    return broken;
  }
}

/** So many orders and cancels wait, before they are lines. */
const MAX_QUEUED = 256;

/** An order that is placed or canceled; nothing that comes later changes it. */
type Subject = Extract<DomainEvent, { kind: "orderPlaced" | "orderCanceled" }>;

/**
 * What is to be written next. Orders and cancels, of which there are millions, become lines only then, one behind the
 * other: put together between two commands, a line costs half as much again, for all that the exchange and the line need
 * does not fit the nearest cache.
 */
class LineQueue {
  readonly #writer: LineWriter;
  /** What waits to become lines, when it was, and the hash of all that it caused: the first `#waiting` of each. */
  readonly #subjects = new Array<Subject>(MAX_QUEUED);
  readonly #moments = new Float64Array(MAX_QUEUED);
  readonly #caused = new Uint32Array(MAX_QUEUED);
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
    if (this.#waiting === MAX_QUEUED) this.put(synced);
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

  control<Kind extends ControlKind>(
    kind: Kind,
    data: ControlRecords[Kind],
    at: Millis,
    synced: number,
  ): void {
    this.put(synced);
    this.#writer.control(kind, data, at, synced);
  }

  /** Notes a refused request; of too many, that they are left out. */
  refuse(request: RefusedRequest, at: Millis, synced: number): void {
    if (this.#refused > MAX_REFUSED) return;
    if (this.#refused === MAX_REFUSED) this.control("refusedFull", { noted: MAX_REFUSED }, at, synced);
    else this.control("refused", request, at, synced);
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
function subjectOf(command: Command, events: readonly DomainEvent[]): Subject | null {
  if (command.kind === "placeOrder" && !fitsOrderLine(command)) return null;
  for (const event of events) {
    if (command.kind === "placeOrder" && event.kind === "orderPlaced") return event;
    if (command.kind === "cancelOrder" && event.kind === "orderCanceled") return event;
  }
  return null;
}

const MIN_ROOM = 1 << 14;
const MAX_ROOM = 1 << 20;
/** Blocks of every file system end at multiples of it. */
const BLOCK = 1 << 12;
const ZEROS = new Uint8Array(MAX_ROOM + BLOCK);

/**
 * Zeros that stand behind the lines of a file that is brought to the disk after every few of them. Where a file does not
 * grow, the disk has to take in nothing but what was written, which takes half the time.
 */
class Preallocation {
  readonly #file: DiskFile;
  /** Where the zeros end; beyond any place when the disk has refused some. */
  #end = 0;

  constructor(file: DiskFile) {
    this.#file = file;
  }

  /** Makes room behind what ends at an offset, when there is none. */
  extend(offset: number): void {
    if (offset < this.#end) return;
    const end = Math.ceil((offset + Math.min(MAX_ROOM, Math.max(MIN_ROOM, offset))) / BLOCK) * BLOCK;
    try {
      writeFully(this.#file, ZEROS.subarray(0, end - offset), offset);
      this.#end = end;
    } catch {
      // The disk may take lines yet; if not, it says so when they come.
      this.#end = Number.POSITIVE_INFINITY;
    }
  }

  /** Takes it away behind what ends at an offset. */
  release(offset: number): void {
    if (this.#end === 0) return;
    this.#end = 0;
    try {
      this.#file.truncate(offset);
    } catch {
      // Whoever opens the file knows the zeros for what they are.
    }
  }
}

/** How long what was written waits for the disk itself, at most. */
const INTERVAL_MS = 1_000;

/** Brings a file to the disk a while after it was written; once for all that is written meanwhile. */
class LaterSync {
  readonly #sync: () => Promise<void>;
  #timer: NodeJS.Timeout | null = null;

  /** Where `sync` fails, it tells those who ask later. */
  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  ask(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#sync().catch(() => {});
    }, INTERVAL_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
