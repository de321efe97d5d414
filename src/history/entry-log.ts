import type { Entry, Journal } from "../runtime/journal.ts";

interface Kept {
  readonly entry: Entry;
  readonly before: Kept | null;
}

/** Keeps every accepted command from the very beginning, those of a world's own history among them, as one line of events. */
export class EntryLog implements Journal {
  #kept: Kept | null = null;

  append(entry: Entry): void {
    this.#kept = { entry, before: this.#kept };
  }

  mark(): unknown {
    return this.#kept;
  }

  rewind(_sequence: number, mark: unknown = null): void {
    this.#kept = mark as Kept | null;
  }

  /** Oldest first. */
  get entries(): Entry[] {
    const entries: Entry[] = [];
    for (let kept = this.#kept; kept !== null; kept = kept.before) entries.push(kept.entry);
    return entries.reverse();
  }
}
