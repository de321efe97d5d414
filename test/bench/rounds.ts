import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Programs } from "./programs.ts";

/** Number of rounds, and of those before them that do not count, for compilation. */
export type Rounds = Readonly<Record<"rounds" | "warmUps", number>>;

type Sample = () => number | Promise<number>;

/**
 * Returns the figures of each subject, one per round. Subjects run one after another, alternate within a round, and the first
 * one changes, so that a slower machine affects all of them equally. tinybench completes one before it begins the next.
 */
async function takeTurns(
  subjects: readonly { readonly sample: Sample }[],
  { rounds, warmUps }: Rounds,
): Promise<number[][]> {
  const samples: number[][] = subjects.map(() => []);
  for (let round = 0; round < warmUps + rounds; round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      const index = (turn + round) % subjects.length;
      const sample = await subjects[index]?.sample();
      if (round >= warmUps) samples[index]?.push(sample as number);
    }
  }
  return samples;
}

/** Work in this process: `prepare` makes the input of one run, not measured, and returns that run. */
interface Work<Result> {
  prepare(): () => Result;
  /** Checks the result of a run, not measured. @throws Error if it is wrong. */
  check?(result: Result): void;
}

/**
 * Returns a sample: the milliseconds per run, which it repeats until its runs together take `sampleMs`. Garbage is collected
 * before each run.
 */
export function timed<Result>({ prepare, check }: Work<Result>, sampleMs = 0): () => number {
  const collectGarbage = garbageCollector();
  // Keeps its objects alive between runs, because V8 discards compiled code with the last object of a shape.
  let run: (() => Result) | undefined;
  return () => {
    let spent = 0;
    let runs = 0;
    do {
      run = prepare();
      collectGarbage();
      const start = performance.now();
      const result = run();
      spent += performance.now() - start;
      runs += 1;
      check?.(result);
    } while (spent < sampleMs);
    return spent / runs;
  };
}

/** Returns the milliseconds of a work. */
export async function elapsed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Garbage collector of V8, which Node exposes only with a flag. */
export function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

/** Returns a function that collects garbage and returns the bytes in use, heap and buffers together. */
export function memoryMeter(): () => number {
  const collectGarbage = garbageCollector();
  return () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
}

/** Returns the middle value, or the mean of the middle two. @throws RangeError if there are none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("no values, no median");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** A line of a report: a subject with one workload. */
interface Line {
  readonly workload: string;
  readonly subject: string;
}

/** Result of a line, over all rounds. */
export interface Measurement extends Line {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** Median divided by that of the baseline; null if there is no baseline. */
  readonly ratio: number | null;
}

/** Part of the benchmark, selected by name. */
export interface Section {
  readonly name: string;
  readonly about: string;
  /** Unit of median, lowest and highest. */
  readonly unit: string;
  /** What has ratio 1; null if no line has a ratio. */
  readonly baseline: string | null;
  /** Limits of the number of rounds. */
  readonly fewest?: number;
  readonly most?: number;
  /** @throws Error if a subject gives wrong results. */
  measure(rounds: number, programs: Programs): Promise<Results>;
}

/** Results of a section. `notes` say how to read the figures. */
export interface Results {
  readonly measurements: readonly Measurement[];
  readonly notes: readonly string[];
}

/** Summarizes the rounds of a line; `baseline` is the median with ratio 1. */
export const measurementOf = (
  workload: string,
  subject: string,
  figures: readonly number[],
  baseline: number | null = null,
): Measurement => ({
  workload,
  subject,
  median: median(figures),
  lowest: Math.min(...figures),
  highest: Math.max(...figures),
  ratio: baseline === null ? null : median(figures) / baseline,
});

/** Returns the index of the line with ratio 1 for a line; -1 for none. */
type BaselineOf = (line: Line, lines: readonly Line[]) => number;

/** The line of one of these subjects with the same workload is the baseline. */
export const against =
  (...subjects: readonly string[]): BaselineOf =>
  ({ workload }, lines) =>
    lines.findIndex((other) => other.workload === workload && subjects.includes(other.subject));

/** No line has a ratio. */
export const alone: BaselineOf = () => -1;

/** Summarizes lines with their figures, which are compared with those of the first or of another baseline. */
export const compared = (
  lines: readonly (Line & { readonly figures: readonly number[] })[],
  baselineOf: BaselineOf = () => 0,
): Measurement[] =>
  lines.map((line) => {
    const baseline = lines[baselineOf(line, lines)];
    const one = baseline === undefined ? null : median(baseline.figures);
    return measurementOf(line.workload, line.subject, line.figures, one);
  });

/** Makes a line that is measured by its sample. */
export const lineOf = (workload: string, subject: string, sample: Sample) => ({ workload, subject, sample });

/** Measures lines in turns. */
export async function measured(
  lines: readonly ReturnType<typeof lineOf>[],
  plan: Rounds,
  baselineOf?: BaselineOf,
): Promise<Measurement[]> {
  const samples = await takeTurns(lines, plan);
  const measuredLines = lines.map((line, index) => ({ ...line, figures: samples[index] as number[] }));
  return compared(measuredLines, baselineOf);
}
