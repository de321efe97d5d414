import { writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { grouped } from "../scenario/report/text.ts";

/** Progress of a command. */
interface Counts {
  readonly done: number;
  /** 0 if unknown. */
  readonly total: number;
}

/** Reports the progress of a command. */
export interface Progress {
  update(counts: Counts): void;
  /** Removes the line and draws no other. */
  end(): void;
}

/** Description of a command that takes long, and the unit that it counts. */
export interface Busy {
  readonly what: string;
  readonly unit?: string;
}

/** Indexes into the arrays shared by both threads. */
export const SHARED = {
  /** In the flags: whether a thread is writing, and whether a line is drawn. */
  lock: 0,
  isDrawn: 1,
  /** In the numbers: the counts, and the Unix ms from which a line may be drawn; Infinity for never. */
  done: 0,
  total: 1,
  from: 2,
} as const;

/** Data of the thread that draws the line. */
export interface Drawing {
  readonly busy: Busy;
  readonly columns: number;
  readonly flags: Int32Array;
  readonly numbers: Float64Array;
}

/** Time without a line at the start and after each output, in milliseconds. */
const QUIET_MS = 1000;
const ERASE = "\r\u001b[K";

/**
 * Shows on stderr what a command is doing if that takes longer than a second. Another thread draws the line because much of
 * the work blocks the event loop. All other output erases the line.
 */
export function startProgress(busy: Busy): Progress {
  const flags = new Int32Array(new SharedArrayBuffer(8));
  const numbers = new Float64Array(new SharedArrayBuffer(24));
  const erase = (from: number): void => {
    while (Atomics.compareExchange(flags, SHARED.lock, 0, 1) !== 0);
    numbers[SHARED.from] = from;
    if (flags[SHARED.isDrawn] === 1) writeSync(2, ERASE);
    flags[SHARED.isDrawn] = 0;
    Atomics.store(flags, SHARED.lock, 0);
  };
  numbers[SHARED.from] = Date.now() + QUIET_MS;
  const workerData: Drawing = { busy, columns: process.stderr.columns || 80, flags, numbers };
  const worker = new Worker(new URL("./progress-worker.js", import.meta.url), { workerData });
  worker.unref();
  // Errors of the progress line must not stop the command.
  worker.on("error", () => {});
  const restore = [process.stdout, process.stderr].map((stream) => eraseBeforeWrites(stream, erase));
  return {
    update: ({ done, total }) => {
      numbers[SHARED.done] = done;
      numbers[SHARED.total] = total;
    },
    end: () => {
      erase(Number.POSITIVE_INFINITY);
      for (const undo of restore) undo();
      void worker.terminate();
    },
  };
}

/** Makes each write to a stream erase the line first. Returns a function that undoes this. */
function eraseBeforeWrites(stream: NodeJS.WriteStream, erase: (from: number) => void): () => void {
  const { write } = stream;
  stream.write = ((...args: Parameters<typeof write>) => {
    // No progress line is drawn behind an incomplete line.
    const isComplete = String(args[0]).endsWith("\n");
    erase(isComplete ? Date.now() + QUIET_MS : Number.POSITIVE_INFINITY);
    return write.apply(stream, args);
  }) as typeof write;
  return () => {
    stream.write = write;
  };
}

const BAR_WIDTH = 20;

/**
 * Formats `running scenarios  [=====               ]  25 %  70 of 281 scenarios  3 s`, truncated to the terminal's width.
 * @param ms since the work began
 */
export function progressText(
  { what, unit = "" }: Busy,
  { done, total }: Counts,
  ms: number,
  columns: number,
): string {
  const seconds = `${Math.floor(ms / 1000)} s`;
  const parts = [what];
  if (total > 0) {
    const share = Math.min(1, done / total);
    parts.push(
      `[${"=".repeat(Math.floor(share * BAR_WIDTH)).padEnd(BAR_WIDTH)}]`,
      `${Math.floor(share * 100)} %`.padStart(5),
      `${grouped(done)} of ${grouped(total)} ${unit}`.trimEnd(),
    );
  } else if (done > 0) parts.push(`${grouped(done)} ${unit}`.trimEnd());
  // A line as wide as the terminal would wrap.
  return [...parts, seconds].join("  ").slice(0, Math.max(0, columns - 1));
}
