/** How long one job may hold the event loop before others have their turn. */
const SLICE_MS = 5;

/**
 * Shares the event loop between long jobs and everything else: in each turn of the loop one job runs for one slice,
 * however many jobs there are, so that a request never waits for more than a slice of them.
 */
export class Slices {
  readonly #waiting: (() => void)[] = [];
  readonly #sliceMs: number;

  /** With slices of 0 ms, each has one step. */
  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  /** Runs steps to their end and answers their result: one slice at once, the others in turn. */
  async run<T>(steps: Iterator<undefined, T>): Promise<T> {
    for (let hasTime = this.#slice(); ; hasTime = await this.next()) {
      do {
        const { done, value } = steps.next();
        if (done === true) return value;
      } while (hasTime());
    }
  }

  /** Waits for the next slice; the answer says whether it still lasts. */
  async next(): Promise<() => boolean> {
    await new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#grant());
    });
    return this.#slice();
  }

  /** Begins a slice; the answer says whether it still lasts. */
  #slice(): () => boolean {
    const end = performance.now() + this.#sliceMs;
    return () => performance.now() < end;
  }

  #grant(): void {
    const [grant] = this.#waiting;
    grant?.();
    this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(() => this.#grant());
  }
}
