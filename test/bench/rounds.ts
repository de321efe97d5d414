import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How often subjects are measured. */
interface Rounds {
  readonly rounds: number;
  /** Rounds before these, thrown away: compilers settle in them. */
  readonly warmUps: number;
}

/**
 * Whose turn it is, and whether it counts. Subjects take turns within every round, and the one that begins changes, so
 * that a machine that slows down slows all of them.
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

/** The figures that each subject answers, one a round, one subject after the other. */
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

/** Something to be measured: `prepare` builds, unmeasured, what one run uses up, and answers that run. */
export interface Subject {
  readonly name: string;
  prepare(): () => void;
  /** Judges, unmeasured, what a run has done. @throws Error when it did wrong. */
  check?(): void;
}

interface RoundPlan extends Rounds {
  /** A sample repeats prepare and run until its runs took this long together. */
  readonly sampleMs: number;
  /** Milliseconds from any origin. */
  readonly clock?: () => number;
}

/**
 * Milliseconds a run of each subject takes, one sample a round, the subjects taking turns; garbage is collected before
 * each run. By hand and not with tinybench, which measures one task to its end before it begins the next.
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

/** The engine's own collector, which Node shows only behind a flag. */
export function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

/** The middle value, or the mean of the middle two. @throws RangeError when there are none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("no values, no median");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
