/**
 * What happens in a phase. `steady`: all kinds of traffic and nothing else. `disturbed`: the same beside snapshots,
 * restores, faults and changes of the clock. `crash`: steady, and the server is killed half-way and opened again.
 * `settling` and `reads`: nothing but reads; what the first has brought into caches does not count in the second.
 */
export type PhaseKind = "steady" | "disturbed" | "crash" | "settling" | "reads";

/** How long a phase lasts: milliseconds, or requests of each client. */
export type Extent =
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
