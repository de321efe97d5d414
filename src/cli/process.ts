import { constants } from "node:os";

/**
 * Calls `onClosed` when the reader of a stream closes its pipe or terminal. Any other error of the stream is thrown. The
 * callback replaces an earlier one.
 */
export function whenClosed(stream: NodeJS.WriteStream, onClosed: () => void): void {
  stream.removeAllListeners("error").on("error", (error: NodeJS.ErrnoException) => {
    const isClosed = error.code === "EPIPE" || (error.code === "EIO" && stream.isTTY === true);
    if (!isClosed) throw error;
    onClosed();
  });
}

/** Signals within this time, in milliseconds, count as one because npm forwards the terminal's Ctrl-C. */
const SAME_KEY_PRESS_MS = 500;

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when stderr is closed. A later SIGINT or SIGTERM exits at once with
 * 128 and the signal's number. A later SIGHUP does not, because a closing terminal and its shell may both send one.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | null = null;
    const stop = (): void => {
      first ??= performance.now();
      resolve();
    };
    const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
      const now = performance.now();
      if (first !== null && now - first > SAME_KEY_PRESS_MS) process.exit(128 + constants.signals[signal]);
      stop();
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
    process.on("SIGHUP", stop);
    whenClosed(process.stderr, stop);
  });
}
