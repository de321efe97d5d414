/** Settings with which every seed of a campaign is run. */
export interface SeedSettings {
  /** Commands per history, 1 or more. */
  readonly commands: number;
}

/** The first failed check of a history. */
export interface Failure {
  /** Kind of failure without numbers, names or seeds: equal for failures of the same cause. */
  readonly fingerprint: string;
  /** Description with figures. */
  readonly sentence: string;
  /** Number of the command after which the check failed, from 1. */
  readonly command: number;
}

/** Thrown when a check of a history fails. */
export class CheckFailed extends Error {
  readonly failure: Omit<Failure, "command">;

  constructor(kind: string, about: string, text: string) {
    super(text);
    this.failure = { fingerprint: `${kind}: ${about}`, sentence: `${kind}: ${text}` };
  }
}

/** Result of running one seed: the same on any machine and with any number of workers. */
export interface SeedOutcome {
  readonly seed: number;
  /** The profile drawn from the seed, in one line. */
  readonly profile: string;
  /** Number of commands that were run. */
  readonly commands: number;
  readonly failure: Failure | null;
  /** Record of a failed session, kept because running the seed again may pass. */
  readonly evidence?: Evidence;
}

/** Record of a session over HTTP, from which the files of a failure are written. */
export interface Evidence {
  /** The report of the session: text of a journal. */
  readonly report: string;
  /** Every request and answer, one per line. */
  readonly observations: string;
  /** Whether the report alone shows the failure, so that replaying its commands can reproduce it. */
  readonly isInJournal: boolean;
}

/** Paths of the files written for a failure. */
export interface FailureFiles {
  /** A scenario that fails in the same way; null if there is none. */
  readonly scenario: string | null;
  /** A bug report for `clobsim replay` and `clobsim shrink`; null if there is none. */
  readonly report: string | null;
  /** Why a file is missing, or a caveat; null if there is nothing to say. */
  readonly remark: string | null;
}

/** Runs seeds, in this process or over HTTP. */
export interface SeedRunner {
  run(seed: number, settings: SeedSettings): Promise<SeedOutcome>;
  /** Writes the files of a failure into an existing folder. Their names begin with `name`. */
  write(outcome: SeedOutcome, settings: SeedSettings, folder: string, name: string): Promise<FailureFiles>;
}
