import type { DomainEvent } from "../core/events.ts";
import { MAX_REFUSED } from "../core/refusals.ts";
import type { Entry, Journal, RefusedEntry } from "./journal.ts";
import type { JournalFile } from "./journal-file.ts";

/** Default maximum of commands in memory per session. */
const MAX_COMMANDS = 250_000;

/** A linked list, latest item first; a snapshot may share it. */
export interface LinkedItem<Item> {
  readonly item: Item;
  readonly before: LinkedItem<Item> | null;
  readonly count: number;
}

/** Nothing is recorded while the world is opened, nor after the session has become too long; null while it is empty. */
type Memory = LinkedItem<Entry> | null | "opening" | "too long";

/** Position of the log when a snapshot was taken. */
interface Mark {
  readonly memory: Memory;
  readonly refused: LinkedItem<RefusedEntry> | null;
  readonly file: unknown;
}

/**
 * Records the commands accepted since the world was opened, and the refused requests: in memory, and in a file if there
 * is one. The commands of the opening are in neither: a file has the world itself. In memory they are linked from the
 * latest back, so that restoring an older or newer snapshot copies nothing.
 */
export class SessionLog implements Journal {
  /** Maximum of commands in memory. */
  readonly maximum: number;
  #file: JournalFile | null = null;
  #memory: Memory = "opening";
  #refused: LinkedItem<RefusedEntry> | null = null;
  #refusedLeftOut = 0;

  constructor(maximum = MAX_COMMANDS) {
    this.maximum = maximum;
  }

  /** Starts the session after the opening; commands accepted from now on also go to the file. */
  begin(file: JournalFile | null = this.#file): void {
    this.#file = file;
    this.#memory = null;
    this.#refused = null;
    this.#refusedLeftOut = 0;
  }

  /** Clears the session, and records nothing until `begin`. */
  pause(): void {
    this.#memory = "opening";
    this.#refused = null;
  }

  append(entry: Entry, events: readonly DomainEvent[]): void {
    const before = this.#memory;
    if (before === "opening") return;
    this.#file?.append(entry, events);
    if (before === "too long") return;
    const entries = linked(entry, before);
    this.#memory = entries.count > this.maximum ? "too long" : entries;
  }

  /** Records a refused request; only the first ones stay in memory. */
  refuse(refused: RefusedEntry): void {
    if (this.#memory === "opening") return;
    this.#file?.refuse(refused);
    if (this.#refused?.count === MAX_REFUSED) this.#refusedLeftOut += 1;
    else this.#refused = linked(refused, this.#refused);
  }

  unapplied(error: unknown): void {
    if (this.#memory !== "opening") this.#file?.unapplied(error);
  }

  mark(): unknown {
    return { memory: this.#memory, refused: this.#refused, file: this.#file?.mark() } satisfies Mark;
  }

  /** Without a mark the exchange restarts: the opening comes first. */
  rewind(sequence: number, mark?: unknown): void {
    const isOpening = this.#memory === "opening";
    const marked = mark as Mark | undefined;
    if (!isOpening) this.#file?.rewind(sequence, marked?.file);
    if (marked === undefined) this.pause();
    else if (!isOpening) ({ memory: this.#memory, refused: this.#refused } = marked);
  }

  /** Accepted commands, oldest first; null if there are too many. */
  get entries(): readonly Entry[] | null {
    const memory = this.#memory;
    if (memory === "too long") return null;
    return memory === "opening" ? [] : listed(memory);
  }

  /** Refused requests, oldest first. */
  get refused(): readonly RefusedEntry[] {
    return listed(this.#refused);
  }

  /** Number of refused requests that were left out. */
  get refusedLeftOut(): number {
    return this.#refusedLeftOut;
  }
}

export const linked = <Item>(item: Item, before: LinkedItem<Item> | null): LinkedItem<Item> => ({
  item,
  before,
  count: (before?.count ?? 0) + 1,
});

/** Oldest first. */
export function listed<Item>(latest: LinkedItem<Item> | null): Item[] {
  const items: Item[] = [];
  for (let each = latest; each !== null; each = each.before) items.push(each.item);
  return items.reverse();
}

/** Merges accepted commands and refused requests, both oldest first, in the order in which they came. */
export function* withRefused<Command extends Pick<Entry, "sequence">>(
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
