import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Busy, Counts, Progress } from "./progress-text.ts";

/** Where both threads write what they share. */
export const SHARED = {
  /** Whole numbers: whether a thread is writing, and whether a line is drawn. */
  lock: 0,
  isDrawn: 1,
  /** Decimals: what is done, what there is to do, and the Unix ms from which a line may be drawn; Infinity for never. */
  done: 0,
  total: 1,
  from: 2,
} as const;

/** What the thread is given that draws. */
export interface Drawing {
  readonly busy: Busy;
  readonly columns: number;
  readonly flags: Int32Array;
  readonly numbers: Float64Array;
}

/** Nothing is drawn of work that takes less, in milliseconds, nor so soon after something was printed. */
const QUIET_MS = 1000;
const ERASE = "\r\u001b[K";

/**
 * Shows on stderr what a command is doing, once that takes longer than a second. A thread of its own draws the line, because
 * much of the work leaves the event loop no turn. Whatever is printed erases the line first.
 */
export class ProgressLine implements Progress {
  readonly #flags = new Int32Array(new SharedArrayBuffer(8));
  readonly #numbers = new Float64Array(new SharedArrayBuffer(24));
  readonly #worker: Worker;
  readonly #restore: readonly (() => void)[];

  constructor(busy: Busy) {
    this.#numbers[SHARED.from] = Date.now() + QUIET_MS;
    const drawing: Drawing = {
      ...{ busy, columns: process.stderr.columns || 80 },
      ...{ flags: this.#flags, numbers: this.#numbers },
    };
    this.#worker = new Worker(new URL("./progress-worker.js", import.meta.url), { workerData: drawing });
    this.#worker.unref();
    // A line that cannot be drawn stops nobody.
    this.#worker.on("error", () => {});
    this.#restore = [process.stdout, process.stderr].map((stream) => this.#givingWay(stream));
  }

  update({ done, total }: Counts): void {
    this.#numbers[SHARED.done] = done;
    this.#numbers[SHARED.total] = total;
  }

  end(): void {
    this.#erase(Number.POSITIVE_INFINITY);
    for (const restore of this.#restore) restore();
    void this.#worker.terminate();
  }

  /** Lets all that is written to a stream erase the line before; answers what ends that. */
  #givingWay(stream: NodeJS.WriteStream): () => void {
    const { write } = stream;
    stream.write = ((...args: Parameters<typeof write>) => {
      const isWhole = String(args[0]).endsWith("\n");
      // A line that is still being written is not drawn over.
      this.#erase(isWhole ? Date.now() + QUIET_MS : Number.POSITIVE_INFINITY);
      return write.apply(stream, args);
    }) as typeof write;
    return () => {
      stream.write = write;
    };
  }

  #erase(from: number): void {
    while (Atomics.compareExchange(this.#flags, SHARED.lock, 0, 1) !== 0);
    this.#numbers[SHARED.from] = from;
    if (this.#flags[SHARED.isDrawn] === 1) writeSync(2, ERASE);
    this.#flags[SHARED.isDrawn] = 0;
    Atomics.store(this.#flags, SHARED.lock, 0);
  }
}
