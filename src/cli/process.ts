import { constants } from "node:os";

/** Where the program prints: stdout or stderr. */
type Printed = NodeJS.WriteStream;

/**
 * Calls `gone` when nobody reads a stream any more: the other end of its pipe is closed, or its terminal. Any other
 * error of it is thrown. What was called before is called no more.
 */
export function whenUnread(stream: Printed, gone: () => void): void {
  stream.removeAllListeners("error").on("error", (error: NodeJS.ErrnoException) => {
    const isGone = error.code === "EPIPE" || (error.code === "EIO" && stream.isTTY === true);
    if (!isGone) throw error;
    gone();
  });
}

/** npm passes on the Ctrl-C that the terminal has sent already: two signals this close, in milliseconds, are one. */
const SAME_KEY_PRESS_MS = 500;

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when nobody reads stderr any more. A later SIGINT or SIGTERM ends
 * the process at once, with 128 and the signal's number; a later SIGHUP does not, for a terminal that closes and its
 * shell may both send one.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | null = null;
    const stop = (): void => {
      first ??= performance.now();
      resolve();
    };
    const hear = (signal: "SIGINT" | "SIGTERM"): void => {
      const now = performance.now();
      if (first !== null && now - first > SAME_KEY_PRESS_MS) process.exit(128 + constants.signals[signal]);
      stop();
    };
    process.on("SIGINT", hear);
    process.on("SIGTERM", hear);
    process.on("SIGHUP", stop);
    whenUnread(process.stderr, stop);
  });
}
