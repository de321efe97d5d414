import { type ExitCode, SIGNAL_EXIT, type StopSignal } from "./exit-code.ts";

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
 * Resolves to the exit code for the first SIGINT, SIGTERM or SIGHUP; that of SIGHUP when stderr is closed. A later SIGINT or
 * SIGTERM exits at once. A later SIGHUP does not, because a closing terminal and its shell may both send one.
 */
export function stopSignal(): Promise<ExitCode> {
  return new Promise((resolve) => {
    let first: number | null = null;
    const stop = (signal: StopSignal): void => {
      first ??= performance.now();
      resolve(SIGNAL_EXIT[signal]);
    };
    const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
      const now = performance.now();
      if (first !== null && now - first > SAME_KEY_PRESS_MS) process.exit(SIGNAL_EXIT[signal]);
      stop(signal);
    };
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
    process.on("SIGHUP", () => stop("SIGHUP"));
    whenClosed(process.stderr, () => stop("SIGHUP"));
  });
}
