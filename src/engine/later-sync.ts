/** How long what was written waits for the disk itself, at most. */
const INTERVAL_MS = 1_000;

/** Brings a file to the disk a while after it was written; once for all that is written meanwhile. */
export class LaterSync {
  readonly #sync: () => Promise<void>;
  #timer: NodeJS.Timeout | null = null;

  /** Where `sync` fails, it tells those who ask later. */
  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  ask(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#sync().catch(() => {});
    }, INTERVAL_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
