/** Longest time for which a job holds the event loop. */
const SLICE_MS = 5;

/**
 * Shares the event loop between long jobs and everything else: one job runs for one slice in each turn of the loop,
 * however many jobs there are, so that a request waits for at most one slice.
 */
export class Slices {
  readonly #waiting: (() => void)[] = [];
  readonly #sliceMs: number;

  /** A slice of 0 ms is one step. */
  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  /** Runs steps to their end and returns their result: one slice now, the others in turn. */
  async run<T>(steps: Iterator<undefined, T>): Promise<T> {
    for (let hasTime = this.#slice(); ; hasTime = await this.next()) {
      do {
        const { done, value } = steps.next();
        if (done === true) return value;
      } while (hasTime());
    }
  }

  /** Waits for the next slice; the returned function returns whether it still lasts. */
  async next(): Promise<() => boolean> {
    await new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#startNext());
    });
    return this.#slice();
  }

  /** Begins a slice; the returned function returns whether it still lasts. */
  #slice(): () => boolean {
    const end = performance.now() + this.#sliceMs;
    return () => performance.now() < end;
  }

  #startNext(): void {
    const [start] = this.#waiting;
    start?.();
    this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(() => this.#startNext());
  }
}
