import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { Millis } from "../core/units.ts";

/** A command that has been accepted, with its place and its moment. */
export interface Entry {
  /** Counts from 1, without gaps. */
  readonly sequence: number;
  readonly at: Millis;
  readonly command: Command;
}

/** A request that was refused, and where in the history that was. */
export interface RefusedEntry {
  /** Of the latest accepted command by then; 0 when there was none. */
  readonly sequence: number;
  readonly at: Millis;
  readonly request: RefusedRequest;
}

/**
 * Where accepted commands are kept. Called between decision and application, synchronously: a throw stops the command.
 * One that keeps them must be able to go back, and forward again to what it had then left: it has both of the methods
 * that may be missing.
 */
export interface Journal {
  append(entry: Entry, events: readonly DomainEvent[]): void;
  /** What it will need to come back to the entries that it holds now; called when a snapshot is taken. */
  mark?(): unknown;
  /**
   * Holds again the entries that it held at a mark, the last of which has this sequence: a snapshot is restored. Without
   * a mark it holds none: the exchange starts anew. A throw leaves the exchange where it stands.
   */
  rewind?(sequence: number, mark?: unknown): void;
  /** What was appended last could not be carried out: a defect. It must not be kept, for nobody could do it again. */
  unapplied?(error: unknown): void;
}

/** What was to be kept cannot be: the disk is full or broken, or a defect has come between. Nothing more is accepted. */
export class PersistenceError extends Error {
  override readonly name = "PersistenceError";
  readonly reason: "disk" | "defect";

  constructor(message: string, reason: "disk" | "defect", cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** Sees to it that accepted commands are kept before an answer that shows them leaves. */
export interface Persistence {
  /** How far the accepted commands reach: an answer that is made now may show all of them. Never beyond what is kept once it is broken. */
  readonly position: number;
  /** Why nothing more is accepted; null while all is well. What was accepted and not kept by then has been undone. */
  readonly broken: PersistenceError | null;
  /**
   * Called before an answer leaves, with the position at which it was made. Undefined when everything up to there is kept
   * already, else the promise of it. @throws PersistenceError, as the promise does, when some of it was undone instead.
   */
  flush(position: number): Promise<void> | undefined;
}

/** Has nothing to keep. */
export const noPersistence: Persistence = { position: 0, broken: null, flush: () => undefined };

/** Keeps nothing. */
export const noJournal: Journal = { append: () => {} };
