/** What the exit code of the process says. */
export const EXIT = {
  ok: 0,
  /** What was run did not come out as it should: a scenario failed. */
  failed: 1,
  /** The command line, the environment or a file that it names cannot be used. */
  usage: 2,
  /** What was kept is damaged. */
  corrupt: 3,
  /** The disk is full or broken. */
  disk: 4,
  /** Another process has the directory. */
  locked: 5,
  /** A newer version has written what was kept. */
  newer: 6,
  /** What was done comes out otherwise when it is done again. */
  differs: 7,
  /** A signal has stopped it before its end. */
  interrupted: 130,
  /** The program is wrong, not its user. */
  defect: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line cannot be read; the message is a sentence for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
