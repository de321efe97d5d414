import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Number of rounds. */
interface Rounds {
  readonly rounds: number;
  /** Rounds before these that do not count, for compilation. */
  readonly warmUps: number;
}

/**
 * Yields the subject of each run, and whether it counts. Subjects alternate within a round and the first one changes, so
 * that a slower machine affects all of them equally.
 */
export function* turns(
  subjects: number,
  { rounds, warmUps }: Rounds,
): Generator<{ readonly index: number; readonly counts: boolean }> {
  for (let round = 0; round < warmUps + rounds; round++) {
    for (let turn = 0; turn < subjects; turn++) {
      yield { index: (turn + round) % subjects, counts: round >= warmUps };
    }
  }
}

/** Returns the figures of each subject, one per round; subjects run one after another. */
export async function takeTurns(
  subjects: readonly (() => Promise<number>)[],
  plan: Rounds,
): Promise<number[][]> {
  const samples: number[][] = subjects.map(() => []);
  for (const { index, counts } of turns(subjects.length, plan)) {
    const sample = await (subjects[index] as () => Promise<number>)();
    if (counts) (samples[index] as number[]).push(sample);
  }
  return samples;
}

/** Subject of a measurement: `prepare` makes the input of one run, not measured, and returns that run. */
export interface Subject {
  readonly name: string;
  prepare(): () => void;
  /** Checks the result of a run, not measured. @throws Error if it is wrong. */
  check?(): void;
}

interface RoundPlan extends Rounds {
  /** A sample repeats prepare and run until its runs together take this long. */
  readonly sampleMs: number;
  /** Milliseconds from any origin. */
  readonly clock?: () => number;
}

/**
 * Returns the milliseconds per run of each subject, one sample per round, in alternation; garbage is collected before
 * each run. Does not use tinybench, which completes one task before it begins the next.
 */
export function alternate(subjects: readonly Subject[], plan: RoundPlan): number[][] {
  const { sampleMs, clock = () => performance.now() } = plan;
  const collectGarbage = garbageCollector();
  const samples: number[][] = subjects.map(() => []);
  for (const { index, counts } of turns(subjects.length, plan)) {
    const sample = sampleOf(subjects[index] as Subject, sampleMs, clock, collectGarbage);
    if (counts) (samples[index] as number[]).push(sample);
  }
  return samples;
}

function sampleOf(
  subject: Subject,
  sampleMs: number,
  clock: () => number,
  collectGarbage: () => void,
): number {
  let spent = 0;
  let runs = 0;
  do {
    const run = subject.prepare();
    collectGarbage();
    const start = clock();
    run();
    spent += clock() - start;
    runs += 1;
    subject.check?.();
  } while (spent < sampleMs);
  return spent / runs;
}

/** Garbage collector of V8, which Node exposes only with a flag. */
export function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

/** Returns the middle value, or the mean of the middle two. @throws RangeError if there are none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("no values, no median");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
