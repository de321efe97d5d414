import { constants } from "node:os";

/** npm passes on the Ctrl-C that the terminal has sent already: two signals this close, in milliseconds, are one. */
const SAME_KEY_PRESS_MS = 500;

/** Resolves at the first SIGINT or SIGTERM. A later one ends the process at once, with 128 and the signal's number. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | null = null;
    const hear = (signal: "SIGINT" | "SIGTERM"): void => {
      const now = performance.now();
      if (first !== null && now - first > SAME_KEY_PRESS_MS) process.exit(128 + constants.signals[signal]);
      first ??= now;
      resolve();
    };
    process.on("SIGINT", hear);
    process.on("SIGTERM", hear);
  });
}
