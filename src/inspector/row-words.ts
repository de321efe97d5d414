import { signal } from "@preact/signals";
import { type LineWords, wordsOf } from "../history/words.ts";
import type { History } from "./history.ts";

/** So many rows stay in words. */
const MAX_KEPT = 20_000;
/** For so long at a time rows are put into words before the page has its turn. */
const TURN_MS = 12;

/** Raised when rows have been put into words. */
export const wordsRevision = signal(0);

/** The rows of a history in words: each is worked out when it is wanted, from the exchange as it stood there. */
export class RowWords {
  readonly #history: History;
  readonly #words = new Map<number, LineWords>();
  #wanted: readonly number[] = [];
  #isWaiting = false;

  constructor(history: History) {
    this.#history = history;
  }

  /** The words of a row; null until they have been worked out. */
  get(row: number): LineWords | null {
    return this.#words.get(row) ?? null;
  }

  /** Works rows out, in ascending order: some at once, the rest when the page has had its turn. */
  want(rows: readonly number[]): void {
    this.#wanted = rows.filter((row) => !this.#words.has(row));
    this.#work(false);
  }

  #work(isLater: boolean): void {
    const began = performance.now();
    let done = 0;
    for (const row of this.#wanted) {
      if (performance.now() - began > TURN_MS) break;
      this.#history.tell(row, row + 1, (_row, told, state) => this.#keep(row, wordsOf(told, state)));
      done += 1;
    }
    this.#wanted = this.#wanted.slice(done);
    if (isLater && done > 0) wordsRevision.value += 1;
    if (this.#wanted.length === 0 || this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => {
      this.#isWaiting = false;
      this.#work(true);
    });
  }

  #keep(row: number, words: LineWords): void {
    if (this.#words.size >= MAX_KEPT) {
      const [oldest] = this.#words.keys();
      if (oldest !== undefined) this.#words.delete(oldest);
    }
    this.#words.set(row, words);
  }
}
