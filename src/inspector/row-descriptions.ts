import { signal } from "@preact/signals";
import { describeLine, type LineDescription } from "../history/describe-line.ts";
import type { History } from "./history.ts";

/** Maximum number of cached rows. */
const MAX_CACHED = 20_000;
/** Time for describing rows before yielding to the page. */
const SLICE_MS = 12;

/** Incremented when further rows have been described. */
export const descriptionsRevision = signal(0);

/** Descriptions of the rows of a history, computed on request from the exchange at that row. */
export class RowDescriptions {
  readonly #history: History;
  readonly #descriptions = new Map<number, LineDescription>();
  #requested: readonly number[] = [];
  #isWaiting = false;

  constructor(history: History) {
    this.#history = history;
  }

  /** Returns the description of a row; null until it has been computed. */
  get(row: number): LineDescription | null {
    return this.#descriptions.get(row) ?? null;
  }

  /** Describes rows, in ascending order: some at once, the rest in later frames. */
  request(rows: readonly number[]): void {
    this.#requested = rows.filter((row) => !this.#descriptions.has(row));
    this.#work(false);
  }

  #work(isLater: boolean): void {
    const began = performance.now();
    let done = 0;
    for (const row of this.#requested) {
      if (performance.now() - began > SLICE_MS) break;
      this.#history.visit(row, row + 1, (_row, replayed, state) =>
        this.#store(row, describeLine(replayed, state)),
      );
      done += 1;
    }
    this.#requested = this.#requested.slice(done);
    if (isLater && done > 0) descriptionsRevision.value += 1;
    if (this.#requested.length === 0 || this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => {
      this.#isWaiting = false;
      this.#work(true);
    });
  }

  #store(row: number, description: LineDescription): void {
    if (this.#descriptions.size >= MAX_CACHED) {
      const [oldest] = this.#descriptions.keys();
      if (oldest !== undefined) this.#descriptions.delete(oldest);
    }
    this.#descriptions.set(row, description);
  }
}
