import type { Stamped } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import { MAX_REFUSED, type RefusedRequest } from "../core/refusals.ts";
import { Table } from "../core/table.ts";
import type { Millis } from "../core/units.ts";

/** An accepted command, with its sequence and time. */
export interface Accepted extends Stamped {
  /** Counts from 1, without gaps. */
  readonly sequence: number;
}

/** A refused request, with its place in the history. */
export interface RefusedEntry {
  /** Sequence of the latest command accepted before it; 0 if there was none. */
  readonly sequence: number;
  readonly at: Millis;
  readonly request: RefusedRequest;
}

/**
 * Records accepted commands. Called synchronously after a command is decided and before it is applied: a throw stops
 * the command. A journal that records has `mark` and `rewind`.
 */
export interface Journal {
  append(entry: Accepted, events: readonly DomainEvent[]): void;
  /** Returns the current position, for `rewind`. Called when a snapshot is taken. */
  mark?(): unknown;
  /**
   * Goes to the position of a mark, whose last entry has this sequence: a snapshot is restored, older or newer than the
   * present. Without a mark the exchange restarts, and the journal is empty. A throw leaves the exchange as it is.
   */
  rewind?(sequence: number, mark?: unknown): void;
  /** Drops the entry appended last: applying it failed, which is a defect, and its replay would fail, too. */
  applyFailed?(error: unknown): void;
}

/** A journal in a file, which also has the refused requests. */
export interface JournalWithRefused extends Required<Journal> {
  refuse(refused: RefusedEntry): void;
}

/**
 * Persistence failed because of the disk, a defect, or the removal of the directory: no command is accepted from now on. If
 * the journal is also unreadable, nothing is read either.
 */
export class PersistenceError extends Error {
  override readonly name = "PersistenceError";
  readonly reason: "disk" | "defect" | "removed" | "unreadable";

  constructor(message: string, reason: PersistenceError["reason"], cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }

  /** What became of the commands that were answered before. */
  get answered(): string {
    return ANSWERED[this.reason];
  }

  /** What is refused from now on, and what to do. */
  get hint(): string {
    const { code } = (this.cause ?? {}) as NodeJS.ErrnoException;
    const effect =
      this.reason === "unreadable"
        ? "no request is answered any more"
        : `commands are refused, reads continue, ${this.answered}`;
    if (this.reason !== "disk") return `${effect}: restart`;
    const isFull = code === "ENOSPC" || code === "EDQUOT";
    return `${effect}: ${isFull ? "free space on" : "check"} the disk and restart`;
  }
}

const ANSWERED: Readonly<Record<PersistenceError["reason"], string>> = {
  disk: "everything answered before is persisted",
  defect: "everything answered before is persisted",
  removed: "what was answered before is only in memory",
  unreadable: "what was answered before may be lost",
};

/** Why a directory or a file cannot be used; determines the exit code of the program. */
export type DataFileProblem = "usage" | "corrupt" | "disk" | "locked" | "newer" | "differs";

/** A data directory or file cannot be used; the message is for its user. */
export class DataFileError extends Error {
  override readonly name = "DataFileError";
  readonly problem: DataFileProblem;

  constructor(problem: DataFileProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

/** Persists accepted commands before an answer that depends on them is sent. */
export interface Persistence {
  /** Position of the latest accepted command, which an answer may show; after a failure, of the latest persisted one. */
  readonly position: number;
  /** Why no command is accepted any more; null while persistence works. What was not persisted has been rolled back. */
  readonly broken: PersistenceError | null;
  /**
   * Called before an answer is sent, with the position at which it was made. Returns undefined if everything up to
   * there is persisted, else a promise of that. @throws PersistenceError, or rejects with it, if some was rolled back.
   */
  flush(position: number): Promise<void> | undefined;
}

/** Persists nothing. */
export const noPersistence: Persistence = { position: 0, broken: null, flush: () => undefined };

/** Records nothing. */
export const noJournal: Journal = { append: () => {} };

/** Default maximum of commands in memory per session. */
const MAX_COMMANDS = 250_000;

/** Nothing is recorded while the world is opened, nor after the session has become too long. */
type Memory = Table<Accepted> | "opening" | "too long";

/** Position of the log when a snapshot was taken. */
interface Mark {
  readonly memory: Memory;
  readonly refused: Table<RefusedEntry>;
  readonly file: unknown;
}

/**
 * Records the commands accepted since the world was opened, and the refused requests: in memory, and in a file if there
 * is one. The commands of the opening are in neither: a file has the world itself.
 */
export class SessionLog implements Journal {
  readonly #maximum: number;
  #file: JournalWithRefused | null = null;
  #memory: Memory = "opening";
  #refused = new Table<RefusedEntry>();
  #refusedLeftOut = 0;

  constructor(maximum = MAX_COMMANDS) {
    this.#maximum = maximum;
  }

  /** Starts the session after the opening; commands accepted from now on also go to the file. */
  begin(file: JournalWithRefused | null = this.#file): void {
    this.#file = file;
    this.#memory = new Table();
    this.#refused = new Table();
    this.#refusedLeftOut = 0;
  }

  /** Clears the session, and records nothing until `begin`. */
  pause(): void {
    this.#memory = "opening";
    this.#refused = new Table();
  }

  append(entry: Accepted, events: readonly DomainEvent[]): void {
    const memory = this.#memory;
    if (memory === "opening") return;
    this.#file?.append(entry, events);
    if (memory === "too long") return;
    if (memory.size < this.#maximum) memory.add(entry);
    else this.#memory = "too long";
  }

  /** Records a refused request; only the first ones stay in memory. */
  refuse(refused: RefusedEntry): void {
    if (this.#memory === "opening") return;
    this.#file?.refuse(refused);
    if (this.#refused.size === MAX_REFUSED) this.#refusedLeftOut += 1;
    else this.#refused.add(refused);
  }

  applyFailed(error: unknown): void {
    if (this.#memory !== "opening") this.#file?.applyFailed(error);
  }

  mark(): unknown {
    const mark: Mark = { memory: this.#memory, refused: this.#refused, file: this.#file?.mark() };
    this.#continueFrom(mark);
    return mark;
  }

  #continueFrom({ memory, refused }: Mark): void {
    this.#memory = typeof memory === "string" ? memory : memory.copy();
    this.#refused = refused.copy();
  }

  /** Without a mark the exchange restarts: the opening comes first. */
  rewind(sequence: number, mark?: unknown): void {
    const isOpening = this.#memory === "opening";
    const marked = mark as Mark | undefined;
    if (!isOpening) this.#file?.rewind(sequence, marked?.file);
    if (marked === undefined) this.pause();
    else if (!isOpening) this.#continueFrom(marked);
  }

  /** Accepted commands, oldest first; null if there are too many. */
  get entries(): readonly Accepted[] | null {
    const memory = this.#memory;
    if (memory === "too long") return null;
    return memory === "opening" ? [] : [...memory];
  }

  /** Why `entries` is null. */
  get tooLong(): string {
    return `the session has more than ${this.#maximum} commands, the maximum in memory`;
  }

  get refused(): readonly RefusedEntry[] {
    return [...this.#refused];
  }

  get refusedLeftOut(): number {
    return this.#refusedLeftOut;
  }
}

/** Merges accepted commands and refused requests, both oldest first, in the order in which they came. */
export function* withRefused<Command extends Pick<Accepted, "sequence">>(
  entries: Iterable<Command>,
  refused: readonly RefusedEntry[],
): Generator<Command | RefusedEntry> {
  let next = 0;
  for (const entry of entries) {
    for (let one = refused[next]; one !== undefined && one.sequence < entry.sequence; one = refused[next]) {
      yield one;
      next += 1;
    }
    yield entry;
  }
  yield* refused.slice(next);
}
