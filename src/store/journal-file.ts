import { setImmediate as endOfTurn } from "node:timers/promises";
import type { DomainEvent } from "../core/events.ts";
import type { Millis } from "../core/units.ts";
import { type Entry, type Journal, type Keeper, NotKeptError } from "../runtime/journal.ts";
import { type DiskFile, writeWhole } from "./disk.ts";
import type { NoteKind, Notes } from "./journal-line.ts";
import { LineQueue } from "./line-queue.ts";
import { RoomAhead } from "./room-ahead.ts";

/**
 * What an acknowledged command survives. `process`: the end of the process, however it comes, for it was written;
 * `power`: the end of the machine, for it is on the disk itself.
 */
export type Durability = "process" | "power";

/** Lines are written when so many bytes of them wait, whether or not somebody asks. */
const MOST_WAITING = 1 << 18;
/** How long what was written waits for the disk itself, at most. */
const SYNC_INTERVAL_MS = 1_000;

/** Where in a journal its next line comes. */
export interface JournalEnd {
  /** The number and the check of the last line, 0 before the first. */
  readonly number: number;
  readonly check: number;
  /** The size of the file. */
  readonly offset: number;
}

/** A place up to which the file is good. */
export interface Mark {
  readonly number: number;
  readonly offset: number;
}

/** What becomes of a journal that can no longer be written. */
export type WhenBroken = () => void;

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
  /** The last line that is kept once the journal is broken. */
  #lastKept = 0;
  /** The round that will take along what is appended now, and the one whose lines are on their way to the disk. */
  #gathering: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  /** The latest line of those. */
  #reaching = 0;
  #timer: NodeJS.Timeout | null = null;

  /** What the file holds up to `end` must be on the disk itself. */
  constructor(file: DiskFile, durability: Durability, end: JournalEnd, whenBroken: WhenBroken = () => {}) {
    this.durability = durability;
    this.#file = file;
    this.#queue = new LineQueue(end.number, end.check);
    this.#room = durability === "power" ? new RoomAhead(file) : null;
    this.#written = { number: end.number, offset: end.offset };
    this.#synced = this.#written;
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
  }

  mark(): unknown {
    return this.#queue.number;
  }

  rewind(_sequence: number, mark?: unknown): void {
    if (typeof mark === "number") this.note("restore", { line: mark });
    else this.note("reset", {});
  }

  get position(): number {
    return this.#broken === null ? this.#queue.number : this.#lastKept;
  }

  keep(position: number): Promise<void> | undefined {
    if (this.#broken !== null) {
      if (position > this.#lastKept) throw this.#broken;
      return undefined;
    }
    if (this.durability === "process") {
      if (position > this.#written.number) this.#write();
      return undefined;
    }
    if (position <= this.#synced.number) return undefined;
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
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
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
    const queue = this.#queue;
    queue.put(this.#synced.number);
    const { number, length } = queue;
    if (length === 0) return;
    try {
      writeWhole(this.#file, queue.bytes, this.#written.offset);
    } catch (error) {
      throw this.#fail(error);
    }
    this.#written = { number, offset: this.#written.offset + length };
    queue.clear();
    if (this.durability === "process") this.#syncLater();
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

  #syncLater(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#broken !== null) return;
      this.#syncRound().catch(() => {
        // Whoever asks next is told: nothing more is accepted.
      });
    }, SYNC_INTERVAL_MS).unref();
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
