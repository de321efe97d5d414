import { scheduler } from "node:timers/promises";
import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { MAX_REFUSED, type RefusedRequest } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";
import type { Durability } from "../setting.ts";
import { type DiskFile, writeFully } from "./disk.ts";
import { eventHash } from "./hashes.ts";
import {
  type Accepted,
  type JournalWithRefused,
  type Persistence,
  PersistenceError,
  type RefusedEntry,
} from "./journal.ts";
import { LineWriter } from "./journal-codec.ts";
import { type ControlKind, type ControlRecords, fitsOrderLine, type JournalEnd } from "./journal-line.ts";

/** A position between two lines: the number of the line before it, and its byte offset. */
export type LinePosition = Pick<JournalEnd, "number" | "offset">;

/** Lines are written when this many bytes are buffered, even without a flush. */
const MAX_WAITING_BYTES = 1 << 18;

/** Longest time until written lines are synced with the durability `process`. */
const INTERVAL_MS = 1_000;

/** The journal of one exchange, in an append-only file. */
export class JournalFile implements JournalWithRefused, Persistence {
  readonly durability: Durability;
  readonly #file: DiskFile;
  readonly #queue: LineQueue;
  readonly #preallocation: Preallocation | null;
  readonly #onFailure: (failure: PersistenceError) => PersistenceError;
  /** End of the written lines, and of those known to be durable. */
  #written: LinePosition;
  #synced: LinePosition;
  /** End of the written lines at the latest check, bytes. */
  #checked = 0;
  #at = 0 as Millis;
  #broken: PersistenceError | null = null;
  /** The last line that must be persisted before the next answer. Records of refused requests do not count. */
  #required: number;
  /** The last persisted line, after a failure. */
  #lastPersisted = 0;
  /** The next group commit, which includes what is appended now, and the one whose sync is running. */
  #nextCommit: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  /** The latest line that the running sync includes. */
  #syncingUpTo = 0;
  #syncTimer: NodeJS.Timeout | undefined;

  /** The file must be durable up to `end`. `onFailure` is called once, and returns the error for later calls. */
  constructor(
    file: DiskFile,
    durability: Durability,
    end: JournalEnd,
    onFailure = (failure: PersistenceError) => failure,
  ) {
    this.durability = durability;
    this.#file = file;
    this.#queue = new LineQueue(end);
    this.#preallocation = durability === "power" ? new Preallocation(file) : null;
    this.#written = { number: end.number, offset: end.offset };
    this.#synced = this.#written;
    this.#required = end.number;
    this.#onFailure = onFailure;
  }

  /** End of all lines; the last of them may not be written yet. */
  get end(): JournalEnd {
    const queue = this.#queue;
    queue.encode(this.#synced.number);
    return { number: queue.number, check: queue.check, offset: this.#written.offset + queue.buffer.length };
  }

  get written(): LinePosition {
    return this.#written;
  }

  /** Why nothing can be written any more; null while writing works. */
  get broken(): PersistenceError | null {
    return this.#broken;
  }

  append(entry: Accepted, events: readonly DomainEvent[]): void {
    this.#assertWritable();
    // The entry appended last is not written before it has been applied.
    if (this.#queue.buffer.length >= MAX_WAITING_BYTES) this.#write();
    this.#at = entry.at;
    this.#queue.append(entry, events, this.#synced.number);
    this.#required = this.#queue.number;
  }

  /** Stops accepting commands and drops what was not acknowledged, with the command that failed. */
  applyFailed(error: unknown): void {
    if (this.#broken !== null) return;
    const { message } = error as Error;
    this.#fail(new PersistenceError(`nothing more is accepted after a defect: ${message}`, "defect", error));
  }

  /** Stops accepting commands, and writes nothing more to a file that is no longer this exchange's. */
  abandon(error: PersistenceError): void {
    if (this.#broken === null) this.#fail(error);
  }

  /**
   * Returns whether the written lines are still there. If somebody truncated the file, nothing is at its end or, once more
   * was written there, zeros are at the end that it had at the previous check. @throws the system's error
   */
  checkEnd(): boolean {
    const ends = [this.#checked, this.#written.offset];
    this.#checked = this.#written.offset;
    const last = new Uint8Array(1);
    const isThere = (end: number): boolean =>
      end === 0 || (this.#file.read(last, end - 1) === 1 && last[0] !== 0);
    return ends.every(isThere);
  }

  control<Kind extends ControlKind>(kind: Kind, data: ControlRecords[Kind], at: Millis = this.#at): void {
    this.#assertWritable();
    this.#at = at;
    this.#queue.control(kind, data, at, this.#synced.number);
    this.#required = this.#queue.number;
  }

  /**
   * Records a refused request. It is written before the next answer, or with the next line. No answer waits for its
   * sync, and a failure to write it stops nothing.
   */
  refuse({ at, request }: RefusedEntry): void {
    if (this.#broken === null) this.#queue.refuse(request, at, this.#synced.number);
  }

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
    return this.#broken === null ? this.#required : this.#lastPersisted;
  }

  flush(position: number): Promise<void> | undefined {
    if (this.#broken !== null) {
      if (position > this.#lastPersisted) throw this.#broken;
      return undefined;
    }
    if (this.durability === "process") {
      if (position > this.#written.number) this.#write();
      else this.#writeRefused();
      return undefined;
    }
    if (position <= this.#synced.number) return this.#writeRefused();
    if (position <= this.#syncingUpTo && this.#syncing !== null) return this.#syncing;
    this.#nextCommit ??= this.#startNextCommit();
    return this.#nextCommit;
  }

  /** Writes all buffered lines and syncs the file. @throws PersistenceError */
  sync(): void {
    this.#assertWritable();
    this.#write();
    try {
      this.#file.sync();
    } catch (error) {
      throw this.#diskFailure(error);
    }
    this.#synced = this.#written;
  }

  close(): void {
    try {
      if (this.#broken !== null) return;
      this.sync();
      this.#preallocation?.release(this.#written.offset);
    } finally {
      clearTimeout(this.#syncTimer);
      this.#file.close();
    }
  }

  #assertWritable(): void {
    if (this.#broken !== null) throw this.#broken;
  }

  #write(): void {
    try {
      this.#writeQueue();
    } catch (error) {
      throw this.#diskFailure(error);
    }
  }

  /** Writes refused requests. If the disk fails, they stay buffered until a line must be written. */
  #writeRefused(): undefined {
    try {
      if (this.#queue.hasRefused) this.#writeQueue();
    } catch {}
  }

  /** @throws the system's error; the lines stay buffered then. */
  #writeQueue(): void {
    const queue = this.#queue;
    queue.encode(this.#synced.number);
    const { number, buffer } = queue;
    const { length } = buffer;
    if (length === 0) return;
    writeFully(this.#file, buffer.bytes, this.#written.offset);
    this.#written = { number, offset: this.#written.offset + length };
    queue.clear();
    if (this.durability === "process") this.#syncLater();
  }

  /** Syncs some time after a write, once for all writes meanwhile. A failure stops the journal. */
  #syncLater(): void {
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = undefined;
      if (this.#broken === null) this.#syncRound().catch(() => {});
    }, INTERVAL_MS).unref();
  }

  /**
   * Group commit: lines that arrive while a sync runs are synced together. It waits one more turn of the event loop,
   * because the clients answered by the last sync send their next requests together.
   */
  async #startNextCommit(): Promise<void> {
    try {
      await this.#syncing;
    } catch {
      // Those who waited for that sync got its error; `#assertWritable` throws it for those who come after.
    }
    await scheduler.yield();
    this.#nextCommit = null;
    this.#assertWritable();
    this.#syncing = this.#syncRound().finally(() => {
      this.#syncing = null;
    });
    await this.#syncing;
  }

  async #syncRound(): Promise<void> {
    this.#write();
    const reached = this.#written;
    this.#syncingUpTo = reached.number;
    this.#preallocation?.extend(reached.offset);
    try {
      await this.#file.syncAsync();
    } catch (error) {
      throw this.#diskFailure(error);
    }
    // Another write may have failed meanwhile, and the lines that this sync included may have been truncated.
    this.#assertWritable();
    if (reached.number > this.#synced.number) this.#synced = reached;
  }

  /** A failed sync is never retried. */
  #diskFailure(error: unknown): PersistenceError {
    if (this.#broken !== null) return this.#broken;
    const { message } = error as Error;
    return this.#fail(new PersistenceError(`the journal cannot be written: ${message}`, "disk", error));
  }

  /** Stops writing, and truncates the file to what was acknowledged. */
  #fail(broken: PersistenceError): PersistenceError {
    this.#broken = broken;
    const good = this.durability === "power" ? this.#synced : this.#written;
    this.#lastPersisted = good.number;
    this.#queue.clear();
    try {
      if (broken.reason !== "removed") this.#file.truncate(good.offset);
    } catch {
      // The rest was never acknowledged; it is checked when the journal is opened.
    }
    this.#broken = this.#onFailure(broken);
    return this.#broken;
  }
}

/** Number of orders and cancels that are buffered before they are encoded. */
const MAX_QUEUED = 256;

/** Event of an order that was placed or canceled; immutable. */
type OrderEvent = Extract<DomainEvent, { kind: "orderPlaced" | "orderCanceled" }>;

/**
 * Buffers the lines to be written next. Orders and cancels, of which there are millions, are encoded only on writing,
 * one after another: a line that is encoded between two commands takes 50 % longer, because the data of the
 * exchange and of the line do not fit the first CPU cache together.
 */
class LineQueue extends LineWriter {
  /** Buffered events, their times and the hashes of all events of their commands: the first `#waiting` of each. */
  readonly #orderEvents = new Array<OrderEvent>(MAX_QUEUED);
  readonly #moments = new Float64Array(MAX_QUEUED);
  readonly #hashes = new Uint32Array(MAX_QUEUED);
  #waiting = 0;
  refused: number;
  /** Whether a refused request is buffered. */
  hasRefused = false;

  constructor({ number, check, refused = 0 }: JournalEnd) {
    super(number, check);
    this.refused = refused;
  }

  /** Number of the latest line, encoded or not. */
  override get number(): number {
    return super.number + this.#waiting;
  }

  /** Buffers a command; `synced` is the latest durable line. */
  append({ at, command }: Accepted, events: readonly DomainEvent[], synced: number): void {
    const eventsHash = eventHash(events);
    const event = orderEventOf(command, events);
    if (event === null) {
      this.encode(synced);
      this.command(command, at, synced, eventsHash);
      return;
    }
    if (this.#waiting === MAX_QUEUED) this.encode(synced);
    this.#orderEvents[this.#waiting] = event;
    this.#moments[this.#waiting] = at;
    this.#hashes[this.#waiting] = eventsHash;
    this.#waiting += 1;
  }

  encode(synced: number): void {
    for (let index = 0; index < this.#waiting; index += 1) {
      const event = this.#orderEvents[index] as OrderEvent;
      const at = this.#moments[index] as Millis;
      const eventsHash = this.#hashes[index] as number;
      if (event.kind === "orderPlaced") this.order(event, at, synced, eventsHash);
      else this.cancel(event.order, at, synced, eventsHash);
    }
    this.#waiting = 0;
  }

  override control<Kind extends ControlKind>(
    kind: Kind,
    data: ControlRecords[Kind],
    at: Millis,
    synced: number,
  ): void {
    this.encode(synced);
    super.control(kind, data, at, synced);
  }

  /** Records a refused request. At the limit, writes one `refusedFull` record and ignores later requests. */
  refuse(request: RefusedRequest, at: Millis, synced: number): void {
    if (this.refused > MAX_REFUSED) return;
    if (this.refused === MAX_REFUSED) this.control("refusedFull", { noted: MAX_REFUSED }, at, synced);
    else this.control("refused", request, at, synced);
    this.refused += 1;
    this.hasRefused = true;
  }

  /** Drops all buffered lines: they are written, or never will be. */
  clear(): void {
    this.#waiting = 0;
    this.hasRefused = false;
    this.buffer.clear();
  }
}

/** Event of a command that is written as an `order` or `cancel` line; null for any other command. */
function orderEventOf(command: Command, events: readonly DomainEvent[]): OrderEvent | null {
  if (command.kind === "placeOrder" && !fitsOrderLine(command)) return null;
  for (const event of events) {
    if (command.kind === "placeOrder" && event.kind === "orderPlaced") return event;
    if (command.kind === "cancelOrder" && event.kind === "orderCanceled") return event;
  }
  return null;
}

const MIN_ROOM = 1 << 14;
const MAX_ROOM = 1 << 20;
/** Block size of common file systems, or a divisor of it. */
const BLOCK = 1 << 12;
const ZEROS = new Uint8Array(MAX_ROOM + BLOCK);

/**
 * Preallocates zeros after the lines of a file that is synced often. While the file size does not change, the disk
 * writes only the data, which takes half the time.
 */
class Preallocation {
  readonly #file: DiskFile;
  /** End of the zeros; infinite after the disk refused some. */
  #end = 0;

  constructor(file: DiskFile) {
    this.#file = file;
  }

  /** Writes zeros from `offset` on, unless there are some. */
  extend(offset: number): void {
    if (offset < this.#end) return;
    const end = Math.ceil((offset + Math.min(MAX_ROOM, Math.max(MIN_ROOM, offset))) / BLOCK) * BLOCK;
    try {
      writeFully(this.#file, ZEROS.subarray(0, end - offset), offset);
      this.#end = end;
    } catch {
      // The disk may still take lines; if not, writing them fails.
      this.#end = Number.POSITIVE_INFINITY;
    }
  }

  /** Removes the zeros from `offset` on. */
  release(offset: number): void {
    if (this.#end === 0) return;
    this.#end = 0;
    try {
      this.#file.truncate(offset);
    } catch {
      // Opening the journal recognizes the zeros.
    }
  }
}
