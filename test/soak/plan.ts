/**
 * Kinds of phases. `steady`: all kinds of traffic. `disturbed`: the same with snapshots, restores, faults and clock changes.
 * `crash`: steady, and the server is killed half-way and started again. `settling` and `reads`: only reads; the first warms
 * the caches for the second.
 */
export type PhaseKind = "steady" | "disturbed" | "crash" | "settling" | "reads";

/** Length of a phase: milliseconds, or requests per client. */
type Extent =
  | { readonly kind: "time"; readonly ms: number }
  | { readonly kind: "requests"; readonly each: number };

export interface Phase {
  readonly kind: PhaseKind;
  /** From 0. */
  readonly cycle: number;
  readonly extent: Extent;
}

/** Phases of a cycle, with their shares of its length. */
const SHARES: readonly (readonly [PhaseKind, number])[] = [
  ["steady", 0.5],
  ["disturbed", 0.3],
  ["settling", 0.1],
  ["reads", 0.1],
];

/** Returns the phases of all cycles. In the middle cycle a crash replaces the disturbances. */
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

/** At least four, because quarters of the run are compared. */
const MIN_CYCLES = 4;

/** Returns a plan with a cycle per minute, or four shorter ones. */
export function timedPlan(minutes: number): Phase[] {
  const cycles = Math.max(MIN_CYCLES, Math.round(minutes));
  const cycleMs = (minutes * 60_000) / cycles;
  return planOf(cycles, (share) => ({ kind: "time", ms: share * cycleMs }));
}

/** Measurements of a phase, and of the idle server after it. */
export interface PhaseFigures {
  readonly kind: PhaseKind;
  readonly cycle: number;
  /** Number of the server process, from 1. */
  readonly process: number;
  readonly seconds: number;
  readonly requests: number;
  /** Latency of each request from its due time, in milliseconds. */
  readonly latencies: readonly number[];
  /** Number of commands accepted since the soak began. */
  readonly accepted: number;
  /** Number of failed requests by status (0: no answer), and of those that injected faults explain. */
  readonly failures: Readonly<Record<string, number>>;
  readonly injected: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly examples: Readonly<Record<string, string>>;
  /** Memory of the server after garbage collection, in bytes: used, and of the process. */
  readonly liveBytes: number;
  readonly residentBytes: number;
  /** Number of open file descriptors without clients; null if unknown on this system. */
  readonly descriptors: number | null;
  /** Broken invariants. */
  readonly violations: readonly string[];
}

/** Check of acknowledged orders after the crash. */
export interface CrashFigures {
  readonly checked: number;
  readonly contradictions: readonly string[];
}

/** Results after the server has stopped. */
export interface EndFigures {
  /** The last state hash from the server. */
  readonly lastHash: string;
  readonly replayedHash: string | null;
  readonly stopCode: number | null;
  readonly replayCode: number | null;
  readonly doctorCode: number | null;
  /** Output of the server, replay and doctor on stderr. */
  readonly stderr: string;
  /** Names of the bug reports that the server wrote. */
  readonly defects: readonly string[];
  readonly journalBytes: number;
}

export interface Figures {
  readonly phases: readonly PhaseFigures[];
  readonly crash: CrashFigures;
  readonly disturbances: Readonly<Record<string, number>>;
  readonly end: EndFigures;
}
