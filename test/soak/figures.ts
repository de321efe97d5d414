import type { PhaseKind } from "./plan.ts";

/** What was seen of a phase, and of the server when it was quiet again. */
export interface PhaseFigures {
  readonly kind: PhaseKind;
  readonly cycle: number;
  /** How often the server had been opened when the phase ended. */
  readonly life: number;
  readonly seconds: number;
  readonly requests: number;
  /** Milliseconds of each answer, from the moment at which its request was due. */
  readonly latencies: readonly number[];
  /** Commands accepted since the soak began. */
  readonly accepted: number;
  /** How many requests failed, by status (0: no answer), and how many of them injected faults explain. */
  readonly failures: Readonly<Record<string, number>>;
  readonly injected: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly examples: Readonly<Record<string, string>>;
  /** Bytes of the server's memory after a collection of garbage: what lives, and what the process has. */
  readonly liveBytes: number;
  readonly residentBytes: number;
  /** Open file descriptors without any client; null where the system does not tell. */
  readonly descriptors: number | null;
  /** What is wrong with the invariants. */
  readonly violations: readonly string[];
}

/** What became of what was acknowledged before and after the server was killed. */
export interface CrashFigures {
  readonly checked: number;
  readonly contradictions: readonly string[];
}

/** How the soak ended. */
export interface EndFigures {
  /** The hash of the state that the server told last. */
  readonly toldHash: string;
  readonly replayedHash: string | null;
  readonly stopCode: number | null;
  readonly replayCode: number | null;
  readonly doctorCode: number | null;
  /** What the server, replay and doctor said on stderr. */
  readonly said: string;
  /** Bug reports that the server wrote. */
  readonly defects: readonly string[];
  readonly journalBytes: number;
}

export interface Figures {
  readonly phases: readonly PhaseFigures[];
  readonly crash: CrashFigures;
  readonly disturbances: Readonly<Record<string, number>>;
  readonly end: EndFigures;
}
