/** How every seed of a campaign is run. */
export interface SeedSettings {
  /** Commands of one history, 1 or more. */
  readonly commands: number;
}

/** What is wrong with one history. */
export interface Failure {
  /** Equal where the same is wrong: what broke, without numbers, names or seeds. */
  readonly fingerprint: string;
  /** The same for a person, with its figures. */
  readonly sentence: string;
  /** After which command it showed, from 1. */
  readonly command: number;
}

/** Thrown where a history goes wrong: of what kind, what it is about, and the figures. */
export class Wrong extends Error {
  readonly failure: Omit<Failure, "command">;

  constructor(kind: string, about: string, text: string) {
    super(text);
    this.failure = { fingerprint: `${kind}: ${about}`, sentence: `${kind}: ${text}` };
  }
}

/** What became of one seed. The same seed and settings give the same, on any machine and with any number of workers. */
export interface SeedOutcome {
  readonly seed: number;
  /** The profile that the seed has drawn, in one line. */
  readonly profile: string;
  /** How many commands were run. */
  readonly commands: number;
  readonly failure: Failure | null;
  /** Of a failure that may not come again: what was seen of it. */
  readonly evidence?: Evidence;
}

/** What clients saw of a server, for the files that tell a failure. */
export interface Evidence {
  /** The report of the session, as bytes of a journal. */
  readonly report: string;
  /** Every request and answer, a line each. */
  readonly observations: string;
  /** Whether the report alone shows the failure, so that a history of commands can tell it. */
  readonly isOfHistory: boolean;
}

/** The files that tell a failure; null where there is none of the kind, and `remark` says why. */
export interface FailureFiles {
  /** A scenario that fails in the same way. */
  readonly scenario: string | null;
  /** A bug report that `clobsim replay` and `clobsim shrink` read. */
  readonly report: string | null;
  readonly remark: string | null;
}

/** A way to run seeds: in this process, or over HTTP. */
export interface SeedRunner {
  run(seed: number, settings: SeedSettings): Promise<SeedOutcome>;
  /** Writes what tells a failure of `run` into a folder that is there, in files whose names begin with `name`. */
  write(outcome: SeedOutcome, settings: SeedSettings, folder: string, name: string): Promise<FailureFiles>;
}
