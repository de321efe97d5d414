import type { Entry, Journal } from "./journal.ts";

/** How many commands of one session are kept unless told otherwise. */
export const MOST_COMMANDS = 250_000;

/** The latest entry, and those before it; a snapshot holds on to them for as long as it lives. */
interface Kept {
  readonly entry: Entry;
  readonly before: Kept | null;
  readonly count: number;
}

/** Nothing is kept while a world is opened, nor of a session that has grown too long; null when nothing happened yet. */
type Memory = Kept | null | "opening" | "too long";

/**
 * Keeps the commands accepted since the world was opened, in memory. Entries are linked from the latest back, so that
 * going to a snapshot, and from there to a later one again, costs nothing and copies nothing.
 */
export class SessionLog implements Journal {
  /** How many commands it keeps. */
  readonly most: number;
  #memory: Memory = "opening";

  constructor(most = MOST_COMMANDS) {
    this.most = most;
  }

  /** The world stands: the session begins here. */
  begin(): void {
    this.#memory = null;
  }

  append(entry: Entry): void {
    const before = this.#memory;
    if (before === "opening" || before === "too long") return;
    const count = (before?.count ?? 0) + 1;
    this.#memory = count > this.most ? "too long" : { entry, before, count };
  }

  mark(): unknown {
    return this.#memory;
  }

  /** Without a mark the exchange starts anew: its world comes first. */
  rewind(_sequence: number, mark: unknown = "opening"): void {
    this.#memory = mark as Memory;
  }

  /** What the session did so far, oldest first; null when that was more than is kept. */
  get entries(): readonly Entry[] | null {
    const memory = this.#memory;
    if (memory === "too long") return null;
    if (memory === "opening") return [];
    const entries: Entry[] = [];
    for (let kept = memory; kept !== null; kept = kept.before) entries.push(kept.entry);
    return entries.reverse();
  }
}
