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

/** Where accepted commands are kept. Called between decision and application, synchronously: a throw stops the command. */
export interface Journal {
  append(entry: Entry, events: readonly DomainEvent[]): void;
}

/** Keeps nothing. */
export const noJournal: Journal = { append: () => {} };
