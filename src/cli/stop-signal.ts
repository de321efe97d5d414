import { constants } from "node:os";
import { whenUnread } from "./unread.ts";

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
