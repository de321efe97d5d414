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

/** Thrown if the command line is invalid. The message is printed as it is. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
