import type { Command } from "../core/commands.ts";
import type { DomainEvent } from "../core/events.ts";
import type { Millis } from "../core/units.ts";

/** A command that has been accepted, with its place and its moment. */
export interface Entry {
  /** Counts from 1, without gaps. */
  readonly sequence: number;
  readonly at: Millis;
  readonly command: Command;
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
export class NotKeptError extends Error {
  override readonly name = "NotKeptError";
  readonly reason: "disk" | "defect";

  constructor(message: string, reason: "disk" | "defect", cause: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/** Sees to it that what is answered is kept. */
export interface Keeper {
  /**
   * To be called before an answer leaves, whatever it is: it may show what was accepted since the last call. Undefined
   * when all that is kept already, else the promise of it. @throws NotKeptError, as the promise does, when it cannot be.
   */
  keep(): Promise<void> | undefined;
}

/** Has nothing to keep. */
export const noKeeper: Keeper = { keep: () => undefined };

/** Keeps nothing. */
export const noJournal: Journal = { append: () => {} };
