import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";

/** An accepted command, with its sequence and time. */
export interface Entry {
  /** Counts from 1, without gaps. */
  readonly sequence: number;
  readonly at: Millis;
  readonly command: Command;
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
  append(entry: Entry, events: readonly DomainEvent[]): void;
  /** Returns the current position, for `rewind`. Called when a snapshot is taken. */
  mark?(): unknown;
  /**
   * Goes to the position of a mark, whose last entry has this sequence: a snapshot is restored, older or newer than the
   * present. Without a mark the exchange restarts, and the journal is empty. A throw leaves the exchange as it is.
   */
  rewind?(sequence: number, mark?: unknown): void;
  /** Drops the entry appended last: applying it failed, which is a defect, and its replay would fail, too. */
  unapplied?(error: unknown): void;
}

/** Persistence failed because of the disk or a defect. No command is accepted from now on. */
export class PersistenceError extends Error {
  override readonly name = "PersistenceError";
  readonly reason: "disk" | "defect";

  constructor(message: string, reason: "disk" | "defect", cause: unknown) {
    super(message, { cause });
    this.reason = reason;
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
