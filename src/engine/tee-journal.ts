import type { DomainEvent } from "../core/events.ts";
import type { Entry, Journal, RefusedEntry } from "../engine/journal.ts";
import type { SessionLog } from "../engine/session-log.ts";
import type { JournalFile } from "./journal-file.ts";

/** What both had kept when a snapshot was taken. */
interface Marks {
  readonly session: unknown;
  readonly file: unknown;
}

/**
 * Keeps accepted commands and refused requests for the session and in a file. What a world's opening makes happen is in neither: a file has
 * the world itself.
 */
export class TeeJournal implements Journal {
  readonly #session: SessionLog;
  #file: JournalFile | null = null;
  #isOpening = true;

  constructor(session: SessionLog) {
    this.#session = session;
  }

  /** The world stands: what is accepted from now on is kept, in the file if there is one. */
  begin(file: JournalFile | null = this.#file): void {
    this.#file = file;
    this.#isOpening = false;
    this.#session.begin();
  }

  /** Forgets the session: what comes until `begin` brings the exchange to where the file has it. */
  pause(): void {
    this.#isOpening = true;
  }

  append(entry: Entry, events: readonly DomainEvent[]): void {
    if (this.#isOpening) return;
    this.#file?.append(entry, events);
    this.#session.append(entry);
  }

  /** Notes a refused request. That it cannot be kept harms nothing else. */
  refuse(refused: RefusedEntry): void {
    if (this.#isOpening) return;
    this.#file?.refuse(refused);
    this.#session.refuse(refused);
  }

  unapplied(error: unknown): void {
    if (!this.#isOpening) this.#file?.unapplied(error);
  }

  mark(): unknown {
    return { session: this.#session.mark(), file: this.#file?.mark() } satisfies Marks;
  }

  rewind(sequence: number, mark?: unknown): void {
    if (mark === undefined) {
      if (!this.#isOpening) this.#file?.rewind(sequence);
      this.#isOpening = true;
      this.#session.rewind(sequence);
      return;
    }
    if (this.#isOpening) return;
    const { session, file } = mark as Marks;
    this.#file?.rewind(sequence, file);
    this.#session.rewind(sequence, session);
  }
}
