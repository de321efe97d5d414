/**
 * What happens in a phase. `steady`: all kinds of traffic and nothing else. `disturbed`: the same beside snapshots,
 * restores, faults and changes of the clock. `crash`: steady, and the server is killed half-way and opened again.
 * `settling` and `reads`: nothing but reads; what the first has brought into caches does not count in the second.
 */
export type PhaseKind = "steady" | "disturbed" | "crash" | "settling" | "reads";

/** How long a phase lasts: milliseconds, or requests of each client. */
type Extent =
  | { readonly kind: "time"; readonly ms: number }
  | { readonly kind: "requests"; readonly each: number };

export interface Phase {
  readonly kind: PhaseKind;
  /** From 0. */
  readonly cycle: number;
  readonly extent: Extent;
}

/** Shares of a cycle. */
const SHARES: readonly (readonly [PhaseKind, number])[] = [
  ["steady", 0.5],
  ["disturbed", 0.3],
  ["settling", 0.1],
  ["reads", 0.1],
];

/** A cycle has all phases once; in the middle one the crash takes the place of the disturbances. */
export function planOf(cycles: number, extentOf: (share: number) => Extent): Phase[] {
  const middle = Math.floor(cycles / 2);
  return Array.from({ length: cycles }, (_, cycle) =>
    SHARES.map(([kind, share]) => ({
      kind: kind === "disturbed" && cycle === middle ? ("crash" as const) : kind,
      cycle,
      extent: extentOf(share),
    })),
  ).flat();
}

/** Quarters of the run are compared. */
const LEAST_CYCLES = 4;

/** A cycle a minute, or four shorter ones. */
export function timedPlan(minutes: number): Phase[] {
  const cycles = Math.max(LEAST_CYCLES, Math.round(minutes));
  const cycleMs = (minutes * 60_000) / cycles;
  return planOf(cycles, (share) => ({ kind: "time", ms: share * cycleMs }));
}

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
