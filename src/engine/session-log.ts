import type { DomainEvent } from "../core/events.ts";
import { MAX_REFUSED } from "../core/refusals.ts";
import type { Entry, Journal, RefusedEntry } from "./journal.ts";
import type { JournalFile } from "./journal-file.ts";

/** How many commands of one session are kept unless told otherwise. */
const MAX_COMMANDS = 250_000;

/** The latest item, and those before it; a snapshot holds on to them for as long as it lives. */
interface Kept<Item> {
  readonly item: Item;
  readonly before: Kept<Item> | null;
  readonly count: number;
}

/** Nothing is kept while a world is opened, nor of a session that has grown too long; null when nothing happened yet. */
type Memory = Kept<Entry> | null | "opening" | "too long";

/** What was kept when a snapshot was taken. */
interface Mark {
  readonly memory: Memory;
  readonly refused: Kept<RefusedEntry> | null;
  readonly file: unknown;
}

/**
 * Keeps the commands accepted since the world was opened, and the requests refused: in memory, and in a file if there is
 * one. What a world's opening makes happen is in neither: a file has the world itself. In memory they are linked from the
 * latest back, so that going to a snapshot, and from there to a later one again, costs nothing and copies nothing.
 */
export class SessionLog implements Journal {
  /** How many commands it keeps. */
  readonly most: number;
  #file: JournalFile | null = null;
  #memory: Memory = "opening";
  #refused: Kept<RefusedEntry> | null = null;
  #refusedLeftOut = 0;

  constructor(most = MAX_COMMANDS) {
    this.most = most;
  }

  /** The world stands: the session begins here, and what is accepted from now on goes to the file, too. */
  begin(file: JournalFile | null = this.#file): void {
    this.#file = file;
    this.#memory = null;
    this.#refused = null;
    this.#refusedLeftOut = 0;
  }

  /** Forgets the session: what comes until `begin` brings the exchange to where the session begins. */
  pause(): void {
    this.#memory = "opening";
    this.#refused = null;
  }

  append(entry: Entry, events: readonly DomainEvent[]): void {
    const before = this.#memory;
    if (before === "opening") return;
    this.#file?.append(entry, events);
    if (before === "too long") return;
    const kept = linked(entry, before);
    this.#memory = kept.count > this.most ? "too long" : kept;
  }

  /** Notes a refused request; only the first ones are kept in memory. */
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

  /** Without a mark the exchange starts anew: its world comes first. */
  rewind(sequence: number, mark?: unknown): void {
    const isOpening = this.#memory === "opening";
    const marked = mark as Mark | undefined;
    if (!isOpening) this.#file?.rewind(sequence, marked?.file);
    if (marked === undefined) this.pause();
    else if (!isOpening) ({ memory: this.#memory, refused: this.#refused } = marked);
  }

  /** What the session did so far, oldest first; null when that was more than is kept. */
  get entries(): readonly Entry[] | null {
    const memory = this.#memory;
    if (memory === "too long") return null;
    return memory === "opening" ? [] : listed(memory);
  }

  /** The requests that were refused meanwhile, oldest first. */
  get refused(): readonly RefusedEntry[] {
    return listed(this.#refused);
  }

  /** How many more were refused than are kept. */
  get refusedLeftOut(): number {
    return this.#refusedLeftOut;
  }
}

const linked = <Item>(item: Item, before: Kept<Item> | null): Kept<Item> => ({
  item,
  before,
  count: (before?.count ?? 0) + 1,
});

/** Oldest first. */
function listed<Item>(latest: Kept<Item> | null): Item[] {
  const items: Item[] = [];
  for (let kept = latest; kept !== null; kept = kept.before) items.push(kept.item);
  return items.reverse();
}

/** Accepted commands and refused requests, both oldest first, in the order in which they came. */
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
