import { setImmediate as endOfTurn } from "node:timers/promises";
import type { DomainEvent } from "../core/events.ts";
import type { Millis } from "../core/units.ts";
import { type Entry, type Journal, type Keeper, NotKeptError, type RefusedEntry } from "../engine/journal.ts";
import { type DiskFile, writeWhole } from "./disk.ts";
import type { Durability, JournalEnd, Mark, WhenBroken } from "./journal-end.ts";
import type { NoteKind, Notes } from "./journal-line.ts";
import { LaterSync } from "./later-sync.ts";
import { LineQueue } from "./line-queue.ts";
import { RoomAhead } from "./room-ahead.ts";

/** Lines are written when so many bytes of them wait, whether or not somebody asks. */
const MOST_WAITING = 1 << 18;

/** The journal of one exchange in a file that is only ever appended to. */
export class JournalFile implements Journal, Keeper {
  readonly durability: Durability;
  readonly #file: DiskFile;
  readonly #queue: LineQueue;
  readonly #room: RoomAhead | null;
  readonly #whenBroken: WhenBroken;
  /** Up to where lines are written, and up to where they are known to be on the disk itself. */
  #written: Mark;
  #synced: Mark;
  #at = 0 as Millis;
  #broken: NotKeptError | null = null;
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
  constructor(file: DiskFile, durability: Durability, end: JournalEnd, whenBroken: WhenBroken = () => {}) {
    this.durability = durability;
    this.#file = file;
    this.#queue = new LineQueue(end);
    this.#room = durability === "power" ? new RoomAhead(file) : null;
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
  get broken(): NotKeptError | null {
    return this.#broken;
  }

  append(entry: Entry, events: readonly DomainEvent[]): void {
    this.#demandWhole();
    // What was appended last is not written before it has been carried out.
    if (this.#queue.length >= MOST_WAITING) this.#write();
    this.#at = entry.at;
    this.#queue.append(entry, events, this.#synced.number);
    this.#shown = this.#queue.number;
  }

  /** Nothing more is accepted: what was not acknowledged is cut off, the command that failed with it. */
  unapplied(error: unknown): void {
    if (this.#broken !== null) return;
    const { message } = error as Error;
    this.#stop(new NotKeptError(`nothing more is accepted after a defect: ${message}`, "defect", error));
  }

  note<Kind extends NoteKind>(kind: Kind, data: Notes[Kind], at: Millis = this.#at): void {
    this.#demandWhole();
    this.#at = at;
    this.#queue.note(kind, data, at, this.#synced.number);
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
    if (typeof mark === "number") this.note("restore", { line: mark });
    else this.note("reset", {});
  }

  get position(): number {
    return this.#broken === null ? this.#shown : this.#lastKept;
  }

  keep(position: number): Promise<void> | undefined {
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

  /** Writes what waits and brings all of it to the disk itself. @throws NotKeptError */
  sync(): void {
    this.#demandWhole();
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
      this.#room?.giveBack(this.#written.offset);
    } finally {
      this.#file.close();
    }
  }

  #demandWhole(): void {
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
    writeWhole(this.#file, queue.bytes, this.#written.offset);
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
    this.#demandWhole();
    this.#syncing = this.#syncRound().finally(() => {
      this.#syncing = null;
    });
    await this.#syncing;
  }

  async #syncRound(): Promise<void> {
    this.#write();
    const reached = this.#written;
    this.#reaching = reached.number;
    this.#room?.demand(reached.offset);
    try {
      await this.#file.syncSoon();
    } catch (error) {
      throw this.#fail(error);
    }
    // Meanwhile something else may have failed, and what this round has brought to the disk may have been cut off.
    this.#demandWhole();
    if (reached.number > this.#synced.number) this.#synced = reached;
  }

  /** A failed sync is never tried again. */
  #fail(error: unknown): NotKeptError {
    if (this.#broken !== null) return this.#broken;
    const { message } = error as Error;
    return this.#stop(new NotKeptError(`the journal cannot be written: ${message}`, "disk", error));
  }

  /** The end of writing: the file is cut back to what was acknowledged. */
  #stop(broken: NotKeptError): NotKeptError {
    this.#broken = broken;
    const good = this.durability === "power" ? this.#synced : this.#written;
    this.#lastKept = good.number;
    this.#queue.clear();
    try {
      this.#file.cut(good.offset);
    } catch {
      // What stands beyond has never been acknowledged; it is judged when the journal is opened.
    }
    this.#whenBroken();
    return broken;
  }
}
