import type { Entry, Journal, RefusedEntry } from "../engine/journal.ts";

/** A refused request, and its line in the journal. */
export interface RefusedLine extends RefusedEntry {
  readonly line: number;
}

interface Kept {
  readonly entry: Entry | RefusedLine;
  readonly before: Kept | null;
}

/**
 * Keeps every accepted command from the very beginning, those of a world's own history among them, and refused requests,
 * as one line of events.
 */
export class EntryLog implements Journal {
  #kept: Kept | null = null;

  append(entry: Entry): void {
    this.#kept = { entry, before: this.#kept };
  }

  refuse(refused: RefusedLine): void {
    this.#kept = { entry: refused, before: this.#kept };
  }

  mark(): unknown {
    return this.#kept;
  }

  rewind(_sequence: number, mark: unknown = null): void {
    this.#kept = mark as Kept | null;
  }

  /** Oldest first. */
  get entries(): Entry[] {
    return this.#all().filter((each) => "command" in each);
  }

  /** The same of refused requests. */
  get refused(): RefusedLine[] {
    return this.#all().filter((each) => "request" in each);
  }

  #all(): (Entry | RefusedLine)[] {
    const all: (Entry | RefusedLine)[] = [];
    for (let kept = this.#kept; kept !== null; kept = kept.before) all.push(kept.entry);
    return all.reverse();
  }
}
