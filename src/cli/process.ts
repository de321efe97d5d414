/** Exit codes of the process. */
export const EXIT = {
  ok: 0,
  /** A scenario or a seed failed, or a check such as --min. */
  failed: 1,
  /** The command line, the environment or a file that it names is invalid. */
  usage: 2,
  /** Persisted data are damaged. */
  corrupt: 3,
  /** The disk is full or broken. */
  disk: 4,
  /** Another process has locked the directory. */
  locked: 5,
  /** A newer version wrote the persisted data. */
  newer: 6,
  /** A replay differs from the record. */
  differs: 7,
  /** A defect of the program. */
  defect: 70,
} as const;

/** Exit codes of a command that a signal stopped: 128 and the signal's number, as shells say it. */
export const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type StopSignal = keyof typeof SIGNAL_EXIT;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT] | (typeof SIGNAL_EXIT)[StopSignal];

/** Thrown if the command line is invalid. The message is printed, and `more` as lines below it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly more: readonly string[];

  constructor(message: string, more: readonly string[] = []) {
    super(message);
    this.more = more;
  }
}

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
