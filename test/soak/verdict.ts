import { median } from "../bench/rounds.ts";
import type { Figures, PhaseFigures, PhaseKind } from "./plan.ts";

/** Returns the percentile for `share` (0 to 1) by nearest rank. @throws RangeError if there are no values. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError("no values, no percentile");
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Returns the slope of the regression line (least squares). @throws RangeError if all points have the same x. */
export function slope(points: readonly Point[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = { x: mean(points.map(({ x }) => x)), y: mean(points.map(({ y }) => y)) };
  let [covariance, variance] = [0, 0];
  for (const { x, y } of points) {
    covariance += (x - middle.x) * (y - middle.y);
    variance += (x - middle.x) * (x - middle.x);
  }
  if (!(variance > 0)) throw new RangeError("a slope needs two points with different x");
  return covariance / variance;
}

/** Result of one check. */
export interface Verdict {
  readonly what: string;
  /** The measured value with its unit. */
  readonly figure: string;
  readonly limit: string;
  /** Whether the check passed; null if there were too few data. */
  readonly holds: boolean | null;
  /** Details of a failed check. */
  readonly why?: readonly string[];
}

/** Limit of the 99th percentile of latency, from the due time of a request, in milliseconds. The median is below 2 on an idle machine. */
const P99_MS = 250;
/** Maximum ratio of the last quarter's 99th percentile to the first's. Values below the exchange always pass. */
const P99_RATIO = 3;
const P99_FLOOR_MS = 25;
/**
 * Maximum growth of used memory per command, in bytes. Orders, trades, transactions and the session log are kept, which is
 * about a third of this.
 */
const LIVE_BYTES = 3_000;
/** The same for the memory of the process, which V8 grows ahead of use. */
const RESIDENT_BYTES = 9_000;
/** Maximum growth of used memory per read, in bytes. Garbage collection varies by about 100; a leaked request has kilobytes. */
const BYTES_PER_READ = 256;
/** Fewer commands or reads are not checked because garbage collection would dominate. */
const MIN_COMMANDS = 5_000;
const MIN_READS = 5_000;
/** Descriptors are the minimum over a cycle, because the state file may be open in some of its phases. */
const PHASES_PER_CYCLE = 4;

/** Errors that clients get from a correct server. */
const STEADY = ["INSUFFICIENT_BALANCE", "INVALID_TICK_SIZE", "ORDER_NOT_FOUND"];
/** The same if the clock changes while requests are pending. */
const MOVED = [...STEADY, "TIMESTAMP_OUT_OF_WINDOW", "EXPIRATION_IN_PAST"];
const EXPECTED: Readonly<Record<PhaseKind, readonly string[]>> = {
  steady: STEADY,
  crash: MOVED,
  // A restore or a reorganization may have removed a block.
  disturbed: [...MOVED, "RPC -32602"],
  settling: [],
  reads: [],
};

/** Checks the figures of a soak. */
export function checkFigures(figures: Figures): Verdict[] {
  return [...requests(figures), ...speed(figures.phases), ...resources(figures.phases), ...state(figures)];
}

function requests({ phases, end }: Figures): Verdict[] {
  type Counts = readonly (readonly [key: string, count: number])[];
  const noneOf = (what: string, countsOf: (phase: PhaseFigures) => Counts): Verdict => {
    const found = phases.flatMap((phase) => countsOf(phase).map(([key, count]) => ({ phase, key, count })));
    const examples = found.map(
      ({ phase: { kind, cycle, examples }, key }) =>
        `${kind} phase of cycle ${cycle + 1}: ${key}: ${examples[key] ?? ""}`,
    );
    return none(what, sum(found.map(({ count }) => count)), examples);
  };
  return [
    noneOf("5xx and 429 that no fault explains", (phase) => unexplainedIn(phase, false)),
    noneOf("requests without an answer that no fault explains", (phase) => unexplainedIn(phase, true)),
    noneOf("refusals of an unexpected code", ({ kind, refusals }) =>
      Object.entries(refusals).filter(([code]) => !EXPECTED[kind].includes(code)),
    ),
    none("bug reports of the server", end.defects.length, end.defects),
  ];
}

/** Counts failed requests that neither an injected fault nor the crash explains, by status. */
const unexplainedIn = ({ kind, failures, injected }: PhaseFigures, isLost: boolean): [string, number][] =>
  Object.entries(failures)
    .filter(([status]) => (status === "0") === isLost)
    .map(([status, count]): [string, number] => {
      const explained = isLost && kind === "crash" ? count : (injected[status] ?? 0);
      return [status, count - explained];
    })
    .filter(([, count]) => count > 0);

/** Uses the median of the phases, which temporary load of the machine does not change. */
function speed(phases: readonly PhaseFigures[]): Verdict[] {
  const p99s = phases
    .filter(({ kind, requests }) => kind === "steady" && requests > 0)
    .map(({ latencies }) => percentile(latencies, 0.99));
  const [all, first, last] = [median(p99s), median(quarter(p99s, "first")), median(quarter(p99s, "last"))];
  const ratio = last / first;
  const ms = (figure: number): string => figure.toFixed(1);
  return [
    {
      what: "p99 of ordinary requests",
      figure: `${ms(all)} ms (${ms(Math.min(...p99s))} to ${ms(Math.max(...p99s))})`,
      limit: `${P99_MS} ms`,
      holds: all <= P99_MS,
    },
    {
      what: "p99 of the last quarter to the first",
      figure: `${ratio.toFixed(2)} (${ms(last)} / ${ms(first)} ms)`,
      limit: `${P99_RATIO}, or ${P99_FLOOR_MS} ms`,
      holds: ratio <= P99_RATIO || last <= P99_FLOOR_MS,
    },
  ];
}

function quarter(p99s: readonly number[], which: "first" | "last"): readonly number[] {
  const count = Math.ceil(p99s.length / 4);
  return which === "first" ? p99s.slice(0, count) : p99s.slice(-count);
}

function resources(phases: readonly PhaseFigures[]): Verdict[] {
  return [
    growth("memory in use", phases, LIVE_BYTES, ({ liveBytes }) => liveBytes),
    growth("memory of the process", phases, RESIDENT_BYTES, ({ residentBytes }) => residentBytes),
    perRead(phases),
    descriptors(phases),
  ];
}

/** Checks the maximum growth per accepted command over all server processes, without their first cycle. */
function growth(
  what: string,
  phases: readonly PhaseFigures[],
  limit: number,
  bytesOf: (phase: PhaseFigures) => number,
): Verdict {
  const slopes = byProcess(phases).flatMap((ofProcess) => {
    const points: Point[] = ofProcess
      .filter(({ cycle }) => cycle > (ofProcess[0] as PhaseFigures).cycle)
      .map((phase) => ({ x: phase.accepted, y: bytesOf(phase) }));
    const commands = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
    return commands < MIN_COMMANDS ? [] : [slope(points)];
  });
  const limitText = `${limit} bytes a command`;
  if (slopes.length === 0) return unchecked(what, `fewer than ${MIN_COMMANDS} commands`, limitText);
  const highest = Math.max(...slopes);
  return { what, figure: `${highest.toFixed(0)} bytes a command`, limit: limitText, holds: highest <= limit };
}

/** Checks the growth of used memory in phases of reads: the median of the cycles, without the first cycle of each process. */
function perRead(phases: readonly PhaseFigures[]): Verdict {
  const what = "memory in use, only reads";
  const limit = `${BYTES_PER_READ} bytes a read`;
  const reading = phases.flatMap((phase, index) => {
    const before = phases[index - 1];
    const isWarm = phases.some(({ process, cycle }) => process === phase.process && cycle < phase.cycle);
    return phase.kind === "reads" && isWarm && before !== undefined ? [{ phase, before }] : [];
  });
  const reads = sum(reading.map(({ phase }) => phase.requests));
  if (reads < MIN_READS) return unchecked(what, `fewer than ${MIN_READS} reads`, limit);
  const bytes = median(
    reading.map(({ phase, before }) => (phase.liveBytes - before.liveBytes) / phase.requests),
  );
  return { what, figure: `${bytes.toFixed(0)} bytes a read`, limit, holds: bytes <= BYTES_PER_READ };
}

/** Compares the minimum of open descriptors in the last cycle of each process with those after its first phase. */
function descriptors(phases: readonly PhaseFigures[]): Verdict {
  const what = "open file descriptors";
  const limit = "as after the first phase";
  const counts = byProcess(phases).map((ofProcess) => {
    const open = ofProcess.map((phase) => phase.descriptors ?? Number.NaN);
    return { first: open[0] as number, last: Math.min(...open.slice(-PHASES_PER_CYCLE)) };
  });
  if (counts.some(({ first, last }) => Number.isNaN(first + last))) {
    return unchecked(what, "no /proc on this system", limit);
  }
  return {
    what,
    figure: counts.map(({ first, last }) => `${first} to ${last}`).join(", then "),
    limit,
    holds: counts.every(({ first, last }) => last <= first),
  };
}

/** Groups phases by server process. */
const byProcess = (phases: readonly PhaseFigures[]): PhaseFigures[][] =>
  [...new Set(phases.map(({ process }) => process))].map((process) =>
    phases.filter((phase) => phase.process === process),
  );

function state({ phases, crash, end }: Figures): Verdict[] {
  const violations = phases.flatMap(({ violations: found }) => found);
  const inOrder = end.stopCode === 0 && end.replayCode === 0 && end.doctorCode === 0;
  return [
    none(`invariants broken, of ${phases.length} checks of all`, violations.length, violations),
    none(`acknowledged orders lost, of ${crash.checked}`, crash.contradictions.length, crash.contradictions),
    {
      what: "exit codes of serve, replay and doctor",
      figure: [end.stopCode, end.replayCode, end.doctorCode].join(", "),
      limit: "0, 0, 0",
      holds: inOrder,
      why: end.stderr.split("\n").filter((line) => line !== "" && line !== "clobsim: stopping"),
    },
    {
      what: "state of the replay",
      figure: end.replayedHash?.slice(0, 16) ?? "none",
      limit: `${end.lastHash.slice(0, 16)}, the last of the server`,
      holds: end.replayedHash === end.lastHash,
    },
  ];
}

/** Returns the verdict of a count that must be 0. */
const none = (what: string, count: number, why: readonly string[]): Verdict => ({
  what,
  figure: String(count),
  limit: "0",
  holds: count === 0,
  why,
});

const unchecked = (what: string, why: string, limit: string): Verdict => ({
  what,
  figure: `not checked: ${why}`,
  limit,
  holds: null,
});

export const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);
