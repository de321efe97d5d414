import { median } from "../bench/rounds.ts";
import type { Figures, PhaseFigures, PhaseKind } from "./plan.ts";

/** The value that `share` (0 to 1) of all values do not exceed, by nearest rank. @throws RangeError when there are none. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError("no values, no percentile");
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The slope of the straight line nearest to the points, by least squares. @throws RangeError when all have one x. */
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

/** One thing that is judged. */
export interface Verdict {
  readonly what: string;
  /** As a person reads it, with its unit. */
  readonly figure: string;
  readonly limit: string;
  /** Null: there was too little to judge it by. */
  readonly holds: boolean | null;
  /** Lines that lead to the cause, where it does not hold. */
  readonly why?: readonly string[];
}

/**
 * Milliseconds in which 99 of 100 ordinary requests are answered, each counted from the moment at which it was due.
 * The median is below 2; the rest is room for a machine that others use, too.
 */
const P99_MS = 250;
/** How much slower the last quarter may be than the first; below the floor, a ratio says nothing but how the machine was. */
const P99_RATIO = 3;
const P99_FLOOR_MS = 25;
/**
 * Bytes that a command may leave behind. Orders and trades, their transactions and what the log of the session tells of them
 * are kept for ever, as the README says; together they are about a third of this.
 */
const LIVE_BYTES = 3_000;
/** The same of the whole process, which V8 lets grow ahead of what lives. */
const RESIDENT_BYTES = 9_000;
/** Bytes that a read may leave behind: a request that is not forgotten is kilobytes, and what is collected when makes a hundred. */
const BYTES_PER_READ = 256;
/** Fewer commands, or reads, say nothing of memory: what is collected when would outweigh them. */
const LEAST_COMMANDS = 5_000;
const LEAST_READS = 5_000;
/** A state is being written now and then while one looks: not in all phases of a cycle. */
const PHASES_A_CYCLE = 4;

/** Errors that clients of this traffic get of a server that is in order. */
const STEADY = ["INSUFFICIENT_BALANCE", "INVALID_TICK_SIZE", "ORDER_NOT_FOUND"];
/** Where the clock moves on or back under requests that are on their way. */
const MOVED = [...STEADY, "TIMESTAMP_OUT_OF_WINDOW", "EXPIRATION_IN_PAST"];
const EXPECTED: Readonly<Record<PhaseKind, readonly string[]>> = {
  steady: STEADY,
  crash: MOVED,
  // A block that a restore or a reorganization has undone.
  disturbed: [...MOVED, "RPC -32602"],
  settling: [],
  reads: [],
};

/** Judges a soak: all that must hold, each with its figure and its limit. */
export function judge(figures: Figures): Verdict[] {
  return [...requests(figures), ...speed(figures.phases), ...resources(figures.phases), ...state(figures)];
}

function requests({ phases, end }: Figures): Verdict[] {
  const unexplained = (what: string, isLost: boolean): Verdict => {
    const found = phases.map((phase) => ({ phase, statuses: unexplainedIn(phase, isLost) }));
    const count = sum(found.flatMap(({ statuses }) => [...statuses.values()]));
    return none(
      what,
      count,
      found.flatMap(({ phase, statuses }) => [...statuses.keys()].map((status) => exampleOf(phase, status))),
    );
  };
  const unexpected = phases.flatMap((phase) =>
    Object.entries(phase.refusals)
      .filter(([code]) => !EXPECTED[phase.kind].includes(code))
      .map(([code, count]) => ({ count, example: exampleOf(phase, code) })),
  );
  return [
    unexplained("5xx and 429 that no fault explains", false),
    unexplained("requests without an answer that no fault explains", true),
    none(
      "refusals of an unexpected code",
      sum(unexpected.map(({ count }) => count)),
      unexpected.map(({ example }) => example),
    ),
    none("bug reports of the server", end.defects.length, end.defects),
  ];
}

/** Failed requests that neither an injected fault nor the crash explains, by status. */
function unexplainedIn({ kind, failures, injected }: PhaseFigures, isLost: boolean): Map<string, number> {
  const found = new Map<string, number>();
  for (const [status, count] of Object.entries(failures)) {
    const isOfKind = (status === "0") === isLost;
    const explained = isLost && kind === "crash" ? count : (injected[status] ?? 0);
    if (isOfKind && count > explained) found.set(status, count - explained);
  }
  return found;
}

const exampleOf = ({ kind, cycle, examples }: PhaseFigures, key: string): string =>
  `${kind} phase of cycle ${cycle + 1}: ${key}: ${examples[key] ?? ""}`;

/** Judged by the median of the phases, which whatever else the machine did for a while cannot move. */
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

/** The steepest growth with accepted commands of any life of the server, its first cycle left out. */
function growth(
  what: string,
  phases: readonly PhaseFigures[],
  limit: number,
  bytesOf: (phase: PhaseFigures) => number,
): Verdict {
  const slopes = [...new Set(phases.map(({ life }) => life))].flatMap((life) => {
    const ofLife = phases.filter((phase) => phase.life === life);
    const points: Point[] = ofLife
      .filter(({ cycle }) => cycle > (ofLife[0] as PhaseFigures).cycle)
      .map((phase) => ({ x: phase.accepted, y: bytesOf(phase) }));
    const commands = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
    return commands < LEAST_COMMANDS ? [] : [slope(points)];
  });
  const limitText = `${limit} bytes a command`;
  if (slopes.length === 0) return unjudged(what, `fewer than ${LEAST_COMMANDS} commands`, limitText);
  const steepest = Math.max(...slopes);
  return {
    what,
    figure: `${steepest.toFixed(0)} bytes a command`,
    limit: limitText,
    holds: steepest <= limit,
  };
}

/** How much what lives grows while all only read, once caches are warm: the median of the cycles, but the first of each life. */
function perRead(phases: readonly PhaseFigures[]): Verdict {
  const what = "memory in use, only reads";
  const limit = `${BYTES_PER_READ} bytes a read`;
  const reading = phases.flatMap((phase, index) => {
    const before = phases[index - 1];
    const isWarm = phases.some(({ life, cycle }) => life === phase.life && cycle < phase.cycle);
    return phase.kind === "reads" && isWarm && before !== undefined ? [{ phase, before }] : [];
  });
  const reads = sum(reading.map(({ phase }) => phase.requests));
  if (reads < LEAST_READS) return unjudged(what, `fewer than ${LEAST_READS} reads`, limit);
  const bytes = median(
    reading.map(({ phase, before }) => (phase.liveBytes - before.liveBytes) / phase.requests),
  );
  return { what, figure: `${bytes.toFixed(0)} bytes a read`, limit, holds: bytes <= BYTES_PER_READ };
}

/** The fewest descriptors of the last cycle of each life of the server, to those after its first phase. */
function descriptors(phases: readonly PhaseFigures[]): Verdict {
  const what = "open file descriptors";
  const limit = "as after the first phase";
  const lives = [...new Set(phases.map(({ life }) => life))].map((life) => {
    const open = phases
      .filter((phase) => phase.life === life)
      .map((phase) => phase.descriptors ?? Number.NaN);
    return { first: open[0] as number, last: Math.min(...open.slice(-PHASES_A_CYCLE)) };
  });
  if (lives.some(({ first, last }) => Number.isNaN(first + last))) {
    return unjudged(what, "no /proc here", limit);
  }
  return {
    what,
    figure: lives.map(({ first, last }) => `${first} to ${last}`).join(", then "),
    limit,
    holds: lives.every(({ first, last }) => last <= first),
  };
}

function state({ phases, crash, end }: Figures): Verdict[] {
  const violations = phases.flatMap(({ violations: found }) => found);
  const inOrder = end.stopCode === 0 && end.replayCode === 0 && end.doctorCode === 0;
  return [
    none(`invariants broken, of ${phases.length} looks at all of them`, violations.length, violations),
    none(`acknowledged orders lost, of ${crash.checked}`, crash.contradictions.length, crash.contradictions),
    {
      what: "exit codes of serve, replay and doctor",
      figure: [end.stopCode, end.replayCode, end.doctorCode].join(", "),
      limit: "0, 0, 0",
      holds: inOrder,
      why: end.said.split("\n").filter((line) => line !== "" && line !== "clobsim: stopping"),
    },
    {
      what: "state of the replay",
      figure: end.replayedHash?.slice(0, 16) ?? "none",
      limit: `${end.toldHash.slice(0, 16)}, told last`,
      holds: end.replayedHash === end.toldHash,
    },
  ];
}

/** Something of which there must be none. */
const none = (what: string, count: number, why: readonly string[]): Verdict => ({
  what,
  figure: String(count),
  limit: "0",
  holds: count === 0,
  why,
});

const unjudged = (what: string, why: string, limit: string): Verdict => ({
  what,
  figure: `not judged: ${why}`,
  limit,
  holds: null,
});

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
